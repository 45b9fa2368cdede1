"""Every example of the gallery runs from top to bottom."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
#: Compiles kernels that no other example needs.
SLOW = {"plot_storms"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in EXAMPLES
        if path.stem.startswith("plot_")
    ],
)
def test_an_example_runs(path, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = []
    monkeypatch.setattr(pyplot, "show", lambda: drawn.append(len(pyplot.gcf().axes)))
    runpy.run_path(str(path), run_name="__main__")
    pyplot.close("all")
    assert drawn
    assert min(drawn) >= 1
    assert capsys.readouterr().out


@pytest.mark.slow
def test_the_example_of_dask_gives_the_same_scores():
    pytest.importorskip("distributed")
    module = runpy.run_path(str(next(path for path in EXAMPLES if path.stem == "ranking_on_dask")))
    assert module["main"]()
