import numpy as np
import pytest

from shortlist.stream.drift import DriftAlarm


@pytest.mark.parametrize("precision", [0.05, 0.5, 0.9, 1.0])
def test_false_alarms_are_rare(precision):
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(40):
        alarm = DriftAlarm()
        alarms += sum(alarm.measure(rng.binomial(50, precision), 50) for _ in range(50))
    assert alarms <= 0.01 * 40 * 50


def test_a_collapse_is_noticed_at_once():
    rng = np.random.default_rng(1)
    noticed = 0
    for _ in range(50):
        alarm = DriftAlarm()
        for _ in range(10):
            alarm.measure(rng.binomial(50, 0.8), 50)
        noticed += alarm.measure(rng.binomial(50, 0.3), 50)
    assert noticed >= 49


def test_rising_precision_and_empty_windows_raise_nothing():
    alarm = DriftAlarm()
    assert not any(alarm.measure(hits, 50) for hits in (1, 5, 20, 40, 48))
    assert not alarm.measure(0, 0)


def test_recovery_ends_when_precision_is_back_or_after_five_windows():
    alarm = DriftAlarm()
    for _ in range(5):
        alarm.measure(45, 50)
    assert alarm.measure(5, 50)
    assert alarm.recovering
    alarm.measure(44, 50)
    assert not alarm.recovering
    for _ in range(5):
        alarm.measure(45, 50)
    assert alarm.measure(2, 50)
    for _ in range(5):
        assert alarm.recovering
        alarm.measure(3, 50)
    assert not alarm.recovering


def test_windows_that_vary_more_than_chance_need_more_to_alarm():
    steady, wild = DriftAlarm(), DriftAlarm()
    for i in range(30):
        steady.measure(35, 50)
        wild.measure(25 + 18 * (i % 2), 50)
    assert steady.measure(20, 50)
    assert not wild.measure(20, 50)


def test_state_goes_on():
    alarm = DriftAlarm()
    for hits in (40, 41, 10, 12):
        alarm.measure(hits, 50)
    again = DriftAlarm.from_state(alarm.state())
    assert [again.measure(h, 50) for h in (11, 2)] == [alarm.measure(h, 50) for h in (11, 2)]
    assert again.state() == alarm.state()
