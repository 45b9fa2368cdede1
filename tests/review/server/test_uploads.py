"""Files that leads send: none fills the server, leads out of its folder, or leaves something behind."""

import html
import io
import re

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.review.web.access import Role
from shortlist.tables.stranger import MOST_COLUMNS, MOST_ROWS, check_table
from tests.review.conftest import make_rows
from tests.review.server.conftest import Team


@pytest.fixture(scope="module")
def bomb():
    """A file of less than a million bytes, whose rows take more than a thousand times as many."""
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    rows, content = pa.table({"claim": pa.array(np.zeros(10_000_000, dtype=np.int64))}), io.BytesIO()
    with pq.ParquetWriter(content, rows.schema, compression="zstd") as file:
        for _ in range(15):
            file.write_table(rows)
    return content.getvalue()


@pytest.fixture
def lead(team):
    return team.program("lead", Role.LEAD)


@pytest.mark.slow
def test_a_file_that_unpacks_to_very_much_is_refused_and_nothing_stays(team, folder, lead, bomb):
    assert len(bomb) < 10**6
    refused = lead.post("/base/api/v1/queues", params={"name": "bomb", "format": "parquet"}, content=bomb)
    assert (refused.status_code, "unpack to more" in refused.json()["detail"]) == (422, True)
    refused = lead.post("/base/api/v1/queues/claims/rows", content=bomb)
    assert (refused.status_code, "unpack to more" in refused.json()["detail"]) == (422, True)
    form, files = {"name": "bomb"}, {"rows": ("rows.parquet", bomb)}
    page = team.people[Role.LEAD].post("/base/new", data=form, files=files)
    assert (page.status_code, "unpack to more" in page.text) == (422, True)
    assert not [*folder.glob("bomb*")]
    assert team.browser().get("/base/readyz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"a\n" + b"1\n" * (MOST_ROWS + 1),
        ",".join(f"c{n}" for n in range(MOST_COLUMNS + 1)).encode() + b"\n" + b"1," * MOST_COLUMNS + b"1\n",
    ],
    ids=["rows", "columns"],
)
def test_rows_and_columns_have_an_end(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match="unpack to more"):
        check_table(path)


@pytest.mark.slow
def test_honest_tables_pass_and_what_is_no_table_is_told_as_ever(team, lead, tmp_path):
    path = tmp_path / "rows.parquet"
    make_rows(50_000, 50).write_parquet(path)
    check_table(path)
    broken = lead.post("/base/api/v1/queues", params={"name": "broken", "format": "parquet"}, content=b"PAR1")
    assert (broken.status_code, "unpack" in broken.json()["detail"]) == (422, False)


@pytest.mark.parametrize(
    "name",
    ["../../etc/cron.d/x.csv", "..\\..\\x.csv", "/etc/passwd", "x.csv\0.exe", "a" * 5000 + ".csv", ".csv"],
)
def test_the_name_that_a_browser_gives_to_a_file_leads_nowhere(team, folder, name):
    before = {path for path in folder.rglob("*") if ".review" not in str(path)}
    content = make_rows(40, 4).drop("truth").write_csv().encode()
    form = {"name": "../out", "id": "claim"}
    answer = team.people[Role.LEAD].post("/base/new", data=form, files={"rows": (name, content)})
    assert answer.status_code in (400, 422)
    assert {path for path in folder.rglob("*") if ".review" not in str(path)} == before
    assert not (folder.parent / "out.csv").exists()


def alert(page):
    assert page.status_code == 422
    return html.unescape(re.search(r'role="alert">(.*?)</p>', page.text, re.DOTALL)[1])


@pytest.mark.slow
def test_what_is_wrong_with_a_file_is_told_by_the_name_its_sender_knows(team, folder, lead):
    page, ragged = team.people[Role.LEAD], b"claim,amount\n1,2\n1,2,3\n"

    def send(name, content):
        return alert(page.post("/base/new", data={"name": "x1"}, files={"rows": (name, content)}))

    assert send("march.csv", ragged).startswith("march.csv, line 3: 3 fields")
    assert send("C:\\mine\\march.parquet", ragged).startswith("cannot read march.parquet: ")
    assert send("march.csv", b"claim,amount\n").startswith("march.csv has no rows")
    sent = ("queues?name=x1", "queues/claims/rows")
    for path in sent:
        told = lead.post(f"/base/api/v1/{path}", content=ragged).json()["detail"]
        assert told.startswith("cannot read the file that was sent: ")
        assert told.endswith(" It was read as parquet; another format is named so: ?format=csv")
        as_csv = path + ("&" if "?" in path else "?") + "format=csv"
        told = lead.post(f"/base/api/v1/{as_csv}", content=ragged).json()["detail"]
        assert told.startswith("the file that was sent, line 3: 3 fields")
        assert str(folder) not in told


def test_who_sends_nothing_is_not_told_of_files_of_the_server_that_they_cannot_name(team, lead):
    page = team.people[Role.LEAD].post("/base/new", data={"name": "x1"}, files={"rows": ("march.csv", b"")})
    said = "send a file with rows; none came, or an empty one."
    assert alert(page) == said
    assert lead.post("/base/api/v1/queues", params={"name": "x1"}).json()["detail"] == said


@pytest.mark.parametrize(("more", "said"), [(1, "story0"), (12, "story9 and 2 more")])
def test_a_lead_is_told_which_columns_are_shown_and_not_learned_from(team, lead, more, said):
    stories = [pl.Series(f"story{n}", [f"what happened to row {i}" for i in range(40)]) for n in range(more)]
    content = make_rows(40, 4).drop("truth").with_columns(stories).write_csv().encode()
    asked = {"name": f"told {more}", "id": "claim"}
    made = lead.post("/base/api/v1/queues", params={**asked, "format": "csv"}, content=content).json()
    (note,) = made["notes"]
    assert note.startswith("columns that cannot be ranked by are shown all the same, and not learned from: ")
    assert note.endswith(f"{said}.")
    form = {**asked, "name": f"on a page {more}"}
    page = team.people[Role.LEAD].post("/base/new", data=form, files={"rows": ("rows.csv", content)})
    assert (page.status_code, note in html.unescape(page.text)) == (200, True)
    (link,) = re.findall(r'href="(/base/q/on%20a%20page.*?)"', page.text)
    assert 'id="row-title"' in team.people[Role.LEAD].get(link).text


def test_where_there_is_nothing_to_tell_a_lead_is_at_the_queue_at_once(team, lead):
    content = make_rows(40, 4).drop("truth").write_csv().encode()
    asked = {"name": "plain", "id": "claim", "format": "csv"}
    assert lead.post("/base/api/v1/queues", params=asked, content=content).json()["notes"] == []
    form = {"name": "plain2", "id": "claim"}
    page = team.people[Role.LEAD].post("/base/new", data=form, files={"rows": ("rows.csv", content)})
    assert page.url.path == "/base/q/plain2"


# -- files of the server


def test_a_lead_makes_a_queue_from_a_file_that_whoever_runs_the_server_allows(tmp_path):
    reviews, exports = tmp_path / "reviews", tmp_path / "exports"
    for place in (reviews, exports / "north"):
        place.mkdir(parents=True)
    rows = make_rows(40, 4).drop("truth")
    rows.write_csv(exports / "north" / "claims.csv")
    rows.write_csv(tmp_path / "secret.csv")
    rows.write_csv(exports / "claims.txt")
    (exports / "link.csv").symlink_to(tmp_path / "secret.csv")
    with Team(reviews, sources=[exports]).running() as team:
        page, lead = team.join("lead", Role.LEAD), team.program("lead", Role.LEAD)
        form = page.get("/base/new").text
        assert '<option value="north/claims.csv">' in form
        assert "link.csv" not in form
        made = page.post("/base/new", data={"name": "claims", "path": "north/claims.csv", "id": "claim"})
        assert 'id="row-title"' in made.text, made.text
        asked = {"name": "again", "id": "claim", "path": str(exports / "north" / "claims.csv")}
        assert lead.post("/base/api/v1/queues", params=asked).status_code == 200
        assert team.server.queues["again"].fixed.source == str(exports / "north" / "claims.csv")
        for path in ("../secret.csv", str(tmp_path / "secret.csv"), "link.csv", "north", ".", "nowhere.csv",
                     "north/../../secret.csv", "a\0b.csv", "x" * 900, "claims.txt", ""):  # fmt: skip
            refused = lead.post("/base/api/v1/queues", params={"name": "out", "path": path})
            assert refused.status_code == 422, path
        (exports / "broken.csv").write_bytes(b"a,b\n1,2,3\n")
        broken = lead.post("/base/api/v1/queues", params={"name": "out", "path": "broken.csv"})
        assert broken.json()["detail"].startswith("broken.csv, line 2: ")
        both = lead.post("/base/api/v1/queues", params={"name": "out", "path": "link.csv"}, content=b"a\n1\n")
        assert "or name one of the server" in both.json()["detail"]
        assert sorted(team.server.queues) == ["again", "claims"]
    assert (exports / "north" / "claims.csv").exists()


def test_without_such_a_folder_no_file_of_the_server_is_named(team, folder, lead):
    refused = lead.post("/base/api/v1/queues", params={"name": "out", "path": str(folder / "claims.csv")})
    assert (refused.status_code, "--rows-from" in refused.json()["detail"]) == (422, True)
    assert 'name="path"' not in team.people[Role.LEAD].get("/base/new").text
