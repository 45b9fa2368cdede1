import hashlib
import json
import re
from importlib.resources import files

import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.report import Chart, Line, Page, Sheet, render, write_page

NASTY = "</script><script>alert(1)</script> & <b>"


@pytest.fixture
def page():
    chart = Chart(NASTY, ["a", NASTY], [Line(NASTY, [0.5, None])], x_label="x", y_label="y", kind="bars")
    frame = pl.DataFrame({"name": [NASTY, "b"], "share": [0.25, None]})
    setup = {"budget": 50, "command": f"shortlist {NASTY}"}
    return Page(NASTY, NASTY, [chart], [Sheet("table", frame, ("share",))], setup, (NASTY,))


def test_text_of_the_user_is_never_markup(page):
    assert "<script>alert" not in render(page)
    assert "&lt;script&gt;alert" in render(page)


def test_the_command_is_shown_once(page):
    assert render(page).count("shortlist &lt;/script&gt;") == 1


def test_nothing_is_asked_of_the_network(page):
    outside = re.findall(r"""(?:src|href|url\()\s*=?\s*["'(]?(https?:[^"')\s]+)""", render(page))
    assert outside == []


def test_tables_show_what_people_read(page):
    text = render(page)
    assert "25.0 %" in text
    assert '<td class="number">–</td>' in text


def test_a_word_is_not_broken_and_a_sentence_may_be():
    frame = pl.DataFrame({"id": ["C-019451"], "why": ["amount 17,204 (higher than 98 % of history)"]})
    text = render(Page("title", "answer", [], [Sheet("table", frame)], {}))
    assert '<td class="word">C-019451</td><td>amount' in text


def test_figures_stand_beside_the_page(page, tmp_path):
    write_page(page, tmp_path / "report.html", figures={"found": 3})
    assert json.loads((tmp_path / "report.json").read_text()) == {"found": 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]


def test_other_endings_and_missing_folders_are_refused(page, tmp_path):
    with pytest.raises(InvalidInputError, match=r"\.html"):
        write_page(page, tmp_path / "report.pdf", figures={})
    with pytest.raises(TableError, match="folder"):
        write_page(page, tmp_path / "none" / "report.html", figures={})


def test_a_failed_write_leaves_the_old_page(page, tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("old")
    monkeypatch.setattr(
        "pathlib.Path.write_text", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(TableError, match="unchanged"):
        write_page(page, tmp_path / "report.html", figures={})
    assert (tmp_path / "report.html").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_vendored_files_are_those_that_were_checked_in():
    vendor = files("shortlist.report").joinpath("vendor")
    for line in vendor.joinpath("SHA256SUMS").read_text().splitlines():
        checksum, name = line.split()
        assert hashlib.sha256(vendor.joinpath(name).read_bytes()).hexdigest() == checksum
    assert "MIT" in vendor.joinpath("LICENSE").read_text()
