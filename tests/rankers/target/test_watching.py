"""Watching and stopping: whatever ends a search, the best tree so far is kept."""

import io
import pickle
import signal
import sys
import threading
import time
import types

import numpy as np
import pytest
from joblib import effective_n_jobs
from rich.console import Console

from shortlist.exceptions import InvalidInputError
from shortlist.kernels.target.breeding import draw_population
from shortlist.models.file import load, save
from shortlist.rankers import TargetTree
from shortlist.rankers.target import evolution, target_tree
from shortlist.rankers.target.chart import LiveChart
from shortlist.rankers.target.problem import Problem
from shortlist.rankers.target.training import train
from shortlist.rankers.target.watching import Generation


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    return X, X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=400) > 1


def test_the_callback_sees_every_generation(rows):
    seen = []
    watch = lambda *told: seen.append(told)  # noqa: E731
    ranker = TargetTree(generations=7, n_restarts=2, callback=watch, n_jobs=1, random_state=0).fit(*rows)
    history = {name: values.tolist() for name, values in ranker.history_.items()}
    assert [(done, total) for done, total, _ in seen] == [(done, 16) for done in range(1, 17)]
    assert [value for *_, value in seen] == np.maximum.accumulate(history["best"]).tolist()
    places = list(zip(history["restart"], history["generation"], strict=True))
    assert places == [(restart, generation) for restart in range(2) for generation in range(8)]
    for restart in range(2):
        best = history["best"][8 * restart : 8 * restart + 8]
        assert best == sorted(best)
    assert all(mean <= best for mean, best in zip(history["mean"], history["best"], strict=True))
    assert min(history["leaves"]) >= 1
    assert ranker.stopped_by_ == "generations"


def test_no_threads_named_are_all_threads(rows, monkeypatch):
    used = []
    monkeypatch.setattr(target_tree, "train", lambda *a: used.append(a[-1]) or train(*a))
    for n_jobs in (None, -1, 1):
        TargetTree(generations=1, n_restarts=1, n_jobs=n_jobs, random_state=0).fit(*rows)
    assert used == [effective_n_jobs(-1), effective_n_jobs(-1), 1]


def test_the_best_restart_wins(rows):
    ranker = TargetTree(generations=10, n_restarts=3, random_state=0).fit(*rows)
    restart, best = ranker.history_["restart"], ranker.history_["best"]
    assert best.max() == max(best[restart == r][-1] for r in range(3))


def test_a_callback_that_returns_true_ends_the_search(rows):
    ranker = TargetTree(callback=lambda done, *_: done == 4, n_jobs=1, random_state=0).fit(*rows)
    assert ranker.stopped_by_ == "callback"
    assert ranker.history_["generation"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_best_tree_so_far(rows, n_jobs):
    def interrupt(done, total, value):
        if done == (6 if n_jobs == 1 else 12):
            raise KeyboardInterrupt

    ranker = TargetTree(generations=500, n_restarts=2, n_jobs=n_jobs, callback=interrupt, random_state=0).fit(
        *rows
    )
    assert ranker.stopped_by_ == "interrupt"
    assert ranker.history_["generation"].size <= (6 if n_jobs == 1 else 13)
    quick = TargetTree(generations=5, n_restarts=2 if n_jobs == 2 else 1, random_state=0).fit(*rows)
    if n_jobs == 1:
        np.testing.assert_array_equal(ranker.decision_function(rows[0]), quick.decision_function(rows[0]))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_while_a_restart_draws_its_first_trees_keeps_those_before(rows, n_jobs, monkeypatch):
    drawn = []

    def interrupted(*args):
        drawn.append(True)
        if len(drawn) == 3:
            raise KeyboardInterrupt
        draw_population(*args)

    monkeypatch.setattr(evolution, "draw_population", interrupted)
    ranker = TargetTree(generations=5, n_restarts=50, n_jobs=n_jobs, random_state=0).fit(*rows)
    assert ranker.stopped_by_ == "interrupt"
    assert ranker.views[0].tree.leaves.size > 1
    assert len(drawn) <= 5  # the restarts that wait for their turn do not begin


def test_ctrl_c_before_the_second_tree_of_a_bag_keeps_the_first(rows, monkeypatch):
    taken = []

    def interrupted(problem, chosen):
        taken.append(True)
        if len(taken) == 2:
            raise KeyboardInterrupt
        return take(problem, chosen)

    take = Problem.take
    monkeypatch.setattr(Problem, "take", interrupted)
    ranker = TargetTree(generations=5, n_restarts=1, n_estimators=3, random_state=0).fit(*rows)
    assert ranker.stopped_by_ == "interrupt"
    assert len(ranker.trees_) == 1


def test_ctrl_c_before_the_first_tree_is_an_interrupt(rows, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(evolution, "draw_population", interrupted)
    ranker = TargetTree(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(*rows)
    assert not hasattr(ranker, "trees_")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_that_raises_ends_all_restarts(rows, n_jobs):
    told = []

    def fail(done, total, value):
        told.append(done)
        if done == 4:
            told.clear()
            raise RuntimeError("the plot is closed")

    # The time limit is the way out, should the other restart go on.
    ranker = TargetTree(
        generations=10**6, n_restarts=2, n_jobs=n_jobs, callback=fail, time_limit=60, random_state=0
    )
    with pytest.raises(RuntimeError, match="the plot is closed"):
        ranker.fit(*rows)
    assert len(told) <= 1  # the generation that the other restart was at


@pytest.fixture
def sigint():
    """SIGINT as Python handles it: a process started in the background may have been told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint")
def test_a_real_signal_reaches_a_search_in_threads(rows):
    sent = []

    def send_once(done, total, value):
        # When many generations are told, the main thread has started both restarts and waits for them.
        if done >= 2_000 and not sent:
            sent.append(True)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # The time limit is the way out, should the signal get lost.
    ranker = TargetTree(
        generations=10**6, n_restarts=2, n_jobs=2, callback=send_once, time_limit=60, random_state=0
    ).fit(*rows)
    assert ranker.stopped_by_ == "interrupt"


def test_patience_ends_a_restart_that_stalls(rows):
    ranker = TargetTree(generations=10**6, patience=5, n_restarts=2, random_state=0).fit(*rows)
    assert ranker.stopped_by_ == "patience"
    for restart in range(2):
        best = ranker.history_["best"][ranker.history_["restart"] == restart]
        assert np.all(best[-6:] == best[-1])


def test_a_time_limit_is_kept(rows):
    TargetTree(generations=1, n_restarts=1, random_state=0).fit(*rows)  # compiles, which no limit counts
    start = time.monotonic()
    ranker = TargetTree(generations=10**7, n_restarts=50, time_limit=0.3, random_state=0).fit(*rows)
    assert ranker.stopped_by_ == "time"
    assert time.monotonic() - start < 600  # all generations would take days


def test_a_callback_must_be_callable(rows):
    with pytest.raises(InvalidInputError, match="callback must be a function"):
        TargetTree(callback=3).fit(*rows)


def progress(generation, restart=0):
    return Generation(
        0, restart, generation, best=0.1 * generation, mean=0.05 * generation, leaves=3, mean_leaves=4.0
    )


def test_the_chart_draws_on_a_terminal():
    console = Console(width=60, force_terminal=True, file=io.StringIO())
    chart = LiveChart(console)
    for generation in range(10):
        chart(progress(generation))
    chart.close()
    text = chart.text(width=20, height=4)
    assert text.splitlines()[0].startswith("restart 1, generation 9: best 0.9000")
    assert len(text.splitlines()) == 5
    assert any(ord(letter) > 0x2800 for letter in text)


def test_the_chart_starts_anew_with_each_restart():
    chart = LiveChart(Console(force_terminal=False))
    chart(progress(8))
    chart(progress(0, restart=1))
    assert len(chart.history) == 1
    assert "polyline" in chart.svg()


def test_restarts_side_by_side_do_not_tear_the_chart():
    chart = LiveChart(Console(force_terminal=False))
    for generation in range(5):
        chart(progress(generation, restart=0))
        chart(progress(generation, restart=1))
    assert [(p.restart, p.generation) for p in chart.history] == [(1, g) for g in range(5)]


def test_a_generation_does_not_wait_for_its_drawing(monkeypatch):
    drawn = []
    text = LiveChart.text
    monkeypatch.setattr(LiveChart, "text", lambda chart, **size: drawn.append(1) or text(chart, **size))
    chart = LiveChart(Console(width=60, force_terminal=True, file=io.StringIO()))
    for generation in range(2_000):
        chart(progress(generation))
    chart.close()
    assert 2 <= len(drawn) < 200
    assert "generation 1999" in chart.console.file.getvalue()


class Notebook:
    """What a notebook was asked to show."""

    def __init__(self):
        self.shown = []

    def display(self, drawing, display_id):
        self.shown.append(drawing)
        return self

    def update(self, drawing):
        self.shown.append(drawing)


def test_a_notebook_shows_a_drawing_now_and_then_and_the_last(monkeypatch):
    notebook = Notebook()
    module = types.SimpleNamespace(SVG=str, display=notebook.display)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=module))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("shortlist.rankers.target.chart.in_notebook", lambda: True)
    chart = LiveChart(Console(force_terminal=False))
    for generation in range(500):
        chart(progress(generation))
    chart.close()
    assert 2 <= len(notebook.shown) < 100
    assert "generation 499" in notebook.shown[-1]
    assert all('fill="#fff"' in drawing for drawing in notebook.shown)  # readable on a dark page


def test_a_narrow_terminal_has_a_chart_too():
    chart = LiveChart(Console(width=1, force_terminal=True, file=io.StringIO()))
    chart(progress(1))
    chart.close()


def test_verbose_is_quiet_where_nobody_watches(rows, capsys):
    TargetTree(generations=3, n_restarts=1, verbose=True, random_state=0).fit(*rows)
    assert capsys.readouterr().err == ""


def test_a_model_trained_with_a_callback_can_be_saved_and_loaded(rows, tmp_path):
    ranker = TargetTree(generations=3, n_restarts=1, callback=lambda *told: None, random_state=0)
    ranker.fit(*rows)
    save(ranker, tmp_path / "model.shortlist")
    again = load(tmp_path / "model.shortlist")
    np.testing.assert_array_equal(again.decision_function(rows[0]), ranker.decision_function(rows[0]))
    assert pickle.loads(pickle.dumps(ranker)).callback is None
    assert callable(ranker.callback)


def test_a_file_in_which_the_callback_has_its_older_name_can_be_loaded(rows):
    ranker = TargetTree(generations=3, n_restarts=1, random_state=0).fit(*rows)
    state = ranker.__getstate__()
    del state["p_nudge"]  # half of these mutations were nudges before they were a parameter
    state["on_generation"] = state.pop("callback")
    older = TargetTree.__new__(TargetTree)
    older.__setstate__(state)
    assert older.get_params()["callback"] is None
    assert older.get_params()["p_nudge"] == 0.5
    assert not hasattr(older, "on_generation")
    np.testing.assert_array_equal(older.decision_function(rows[0]), ranker.decision_function(rows[0]))
