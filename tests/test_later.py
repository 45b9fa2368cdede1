"""What a short run does not need is not loaded, and what is loaded later is the same."""

import json
import subprocess
import sys

import pytest

from shortlist.later import imported_later


def test_a_module_that_is_imported_later_is_the_module(monkeypatch):
    for name in ("wave", "colorsys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with imported_later("wave", "colorsys", "no_such_module"):
        import wave
        from colorsys import rgb_to_hsv

        assert "__path__" not in dir(wave)
        with pytest.raises(AttributeError):
            _ = wave.__path__
    assert not {"wave", "colorsys"} & set(sys.modules)
    assert wave.WAVE_FORMAT_PCM == 1
    assert rgb_to_hsv(1, 0, 0) == (0.0, 1.0, 1.0)
    import wave as real

    assert wave.open is real.open


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Which modules a fresh process has loaded when it has scored a few rows."""
    folder = tmp_path_factory.mktemp("scored")
    import polars as pl

    from shortlist.workflow import train

    rows = pl.DataFrame({"a": range(60), "kind": ["x", "y", "z"] * 20, "wanted": [0, 0, 0, 0, 1, 0] * 10})
    train(rows, label="wanted", budget=5).save(folder / "m.shortlist")
    rows.drop("wanted").write_csv(folder / "new.csv")
    code = """
import json, sys
from shortlist.cli._app import main
sys.argv = ["shortlist", "score", "m.shortlist", "new.csv", "-o", "out.csv"]
try:
    main()
except SystemExit as end:
    assert not end.code
print(json.dumps([*sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "unused",
    [
        "numba",
        "pandas",
        "scipy.optimize",
        "scipy.stats",
        "skops",
        "sklearn.linear_model",
        "sklearn.metrics",
        "sqlalchemy",
    ],
)
def test_to_score_by_a_boosted_model_loads_no_more_than_it_takes(scored, unused):
    assert "xgboost" in scored
    assert unused not in scored


def test_the_names_of_a_room_are_loaded_from_their_homes():
    from shortlist import objectives, rankers

    for room in (objectives, rankers):
        assert {*room._HOME} == {*room.__all__} <= {*dir(room)}
        assert all(getattr(room, name) is not None for name in room.__all__)
        with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
            _ = room.Nothing
