import numpy as np
import pytest

from shortlist.stream.learners.growing_array import GrowingArray
from shortlist.stream.learners.labels import LabelBuffer


def test_rows_are_added_and_dropped_as_in_a_list():
    rng, array, plain = np.random.default_rng(0), GrowingArray(np.empty((0, 2))), []
    for _ in range(300):
        new = rng.normal(size=(int(rng.integers(0, 6)), 2))
        array.append(new)
        plain.extend(new.tolist())
        gone = int(rng.integers(0, 5))
        array.drop_first(gone)
        plain = plain[gone:]
        assert array.values.tolist() == plain
        if rng.random() < 0.1:
            plain = rng.normal(size=(int(rng.integers(0, 9)), 2)).tolist()
            array.clear()
            array.grow(len(plain))[:] = np.array(plain).reshape(-1, 2)


def add(labels, rows, weight=1.0):
    rows = np.array(rows)
    return labels.add(rows, rows[:, None] / 10, rows % 2 == 0, weight)


def test_late_labels_take_their_place():
    labels = LabelBuffer()
    assert add(labels, [5, 3])
    assert add(labels, [9, 8])
    assert not add(labels, [4, 20, 1], 0.5)
    assert labels.rows.tolist() == [1, 3, 4, 5, 8, 9, 20]
    assert labels.X[:, 0].tolist() == [0.1, 0.3, 0.4, 0.5, 0.8, 0.9, 2.0]
    assert labels.wanted.tolist() == [row % 2 == 0 for row in labels.rows]


def test_labels_that_count_too_little_are_forgotten():
    labels = LabelBuffer()
    add(labels, [1, 2])
    assert labels.fade(0.5, least=0.3) == 0
    add(labels, [3])
    assert labels.fade(0.5, least=0.3) == 2
    assert labels.rows.tolist() == [3]
    assert labels.weights.tolist() == [0.5]


def test_labels_in_a_state_come_back():
    labels, again = LabelBuffer(), LabelBuffer()
    again.restore(labels.state())
    assert len(again) == 0
    add(labels, [2, 7])
    again.restore(labels.state())
    assert add(again, [8])
    assert again.rows.tolist() == [2, 7, 8]
    assert labels.rows.tolist() == [2, 7]


@pytest.mark.parametrize("most", [4, 7])
def test_the_newest_labels_stay(most):
    labels = LabelBuffer()
    add(labels, np.arange(20))
    labels.keep(labels.newest(most))
    assert labels.rows.tolist() == sorted(range(20))[-most:]
