"""A whole day of a team in Chromium, with the program itself: invited, made, reviewed, settled, exported, and moved."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from studies.postgres import own_schema
from tests.browser import IN_BROWSER
from tests.review.conftest import make_rows
from tests.review.server.conftest import PASSWORD

pytestmark = [pytest.mark.slow, *IN_BROWSER]
BUDGET, NOBODY = 12, 65534
ROWS = make_rows(80, 8, seed=5)
TRUTH = dict(zip(ROWS["claim"], ROWS["truth"], strict=True))
#: The interpreter may lie where only its owner can read: another user may then read everything, and still owns nothing.
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
             "--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]  # fmt: skip


class Program:
    """The program as a user of the machine runs it."""

    def __init__(self, home, *, is_nobody=False):
        self._before = AS_NOBODY if is_nobody else []
        # Only its owner can write compiled kernels beside the sources.
        own = {"HOME": str(home), "NUMBA_CACHE_DIR": str(home / "numba"), "PYTHONDONTWRITEBYTECODE": "1"}
        self._environment = {**os.environ, "SHORTLIST_CONFIG": "", **(own if is_nobody else {})}

    def _command(self, words):
        return [*self._before, sys.executable, "-m", "shortlist", *map(str, words)]

    def run(self, *words):
        """What a command says, as JSON."""
        done = subprocess.run(
            self._command([*words, "--json"]),
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def serving(self, folder, *options):
        """A server on a port of its own: what it says when it listens."""
        command = self._command(["serve", folder, "--port", 0, "--json", *options])
        process = subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, text=True)
        try:
            yield _first_json(process)
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def _first_json(process):
    said = ""
    for line in process.stdout:
        said += line
        try:
            return json.loads(said)
        except ValueError:
            continue
    raise AssertionError(f"the server ended: {said}")


class Colleague:
    """Somebody with a browser of their own."""

    def __init__(self, chromium, url, name, complaints):
        self.url, self.name = url, name
        self._context = chromium.new_context(locale="en", accept_downloads=True)
        self.page = self._context.new_page()
        self.page.set_default_timeout(240_000)  # kernels may have to be compiled first
        self.page.on("pageerror", lambda error: complaints.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and complaints.append(said.text))

    def go(self, path):
        self.page.goto(f"{self.url}{path}")

    def click(self, role, name):
        self.page.get_by_role(role, name=name, exact=True).click()
        self.page.wait_for_load_state("load")

    def join(self, address):
        self.page.goto(address)
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_label("Password, at least 10 characters").fill(PASSWORD)
        self.click("button", "Join")
        self.page.wait_for_selector(f"a.who:text-is('{self.name}')")
        return self

    def sign_in(self):
        self.go("/login")
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.click("button", "Sign in")
        self.page.wait_for_selector(f"a.who:text-is('{self.name}')")
        return self

    def invite(self, role):
        self.go("/people")
        self.page.locator("form[action='/people/invite'] select").select_option(role)
        self.click("button", "Make an invitation")
        return self.page.inner_text("#invitation")

    @property
    def row(self):
        """The row on the screen; None: there is none just now."""
        shown = self.page.inner_text("#row-title")
        return shown if shown in TRUTH else None

    @property
    def is_second(self):
        return self.page.locator(".place .tag", has_text="second opinion").count() > 0

    def press(self, key):
        """Press a key and wait for the page that it brings."""
        self.page.wait_for_load_state("load")
        self.page.evaluate("document.getElementById('main').dataset.old = 'yes'")
        self.page.keyboard.press(key)
        self.page.wait_for_selector("#main:not([data-old])")

    def judge(self, *, contrary=False):
        self.press("y" if TRUTH[self.row] != contrary else "n")

    def export(self):
        self.go("/q/south")
        with self.page.expect_download() as found:
            self.page.get_by_role("link", name="Export as CSV").click()
        return Path(found.value.path()).read_bytes()

    def ask(self, path):
        return self.page.request.get(f"{self.url}/api/v1/queues/south{path}").json()


class People:
    """Colleagues, each with a browser."""

    def __init__(self, chromium):
        self._chromium, self._met, self._complaints = chromium, [], []

    def meet(self, url, name):
        self._met.append(Colleague(self._chromium, url, name, self._complaints))
        return self._met[-1]

    def go_home(self):
        """Close all pages, before the servers that they ask are gone; none of them has complained."""
        for each in self._met:
            each.page.context.close()
        self._met.clear()
        assert self._complaints == []


@pytest.fixture
def people(chromium):
    people = People(chromium)
    yield people
    people.go_home()


@pytest.fixture
def elsewhere():
    """A folder that another user of the machine owns, where there is one."""
    place = Path(tempfile.mkdtemp(prefix="shortlist-elsewhere-"))
    is_nobody = os.getuid() == 0 and shutil.which("setpriv") is not None
    if is_nobody:
        os.chown(place, NOBODY, NOBODY)
    yield place, is_nobody
    shutil.rmtree(place)


@pytest.fixture(params=["file", "database"])
def stores(request):
    """Where the logs and the people are, before and after: two options for the program."""
    if request.param == "file":
        yield [], []
        return
    first = request.getfixturevalue("postgres")
    with own_schema(request.getfixturevalue("postgres_server").url) as second:
        yield ["--db", first], ["--db", second]


def test_a_day_of_a_team_and_its_move_to_another_machine(people, stores, elsewhere, tmp_path):
    (tmp_path / "reviews").mkdir()
    (tmp_path / "south.csv").write_text(ROWS.drop("truth").write_csv())
    here, (place, is_nobody) = Program(tmp_path), elsewhere
    there = Program(place, is_nobody=is_nobody)
    with here.serving(tmp_path / "reviews", *stores[0]) as served:
        lead = morning(people, served, tmp_path / "south.csv")
        reviewers = [people.meet(served["url"], name).join(link) for name, link in lead.invitations.items()]
        work(reviewers, lead)
        settle(lead)
        exported, standing = lead.export(), lead.ask("/digest")
        check_export(exported)
        here.run("backup", tmp_path / "reviews", "-o", tmp_path / "day.tar.gz", *stores[0])
        before = here.run("replay", tmp_path / "reviews" / "south.review")

        shutil.copy(tmp_path / "day.tar.gz", place / "day.tar.gz")
        there.run("restore", place / "day.tar.gz", place / "moved", *stores[1])
        owners = {path.stat().st_uid for path in (place / "moved").rglob("*")}
        assert owners == {NOBODY if is_nobody else os.getuid()}
        after = there.run("replay", place / "moved" / "south.review")
        assert after["holds"] is before["holds"] is True
        assert (after["events"], after["head"]) == (before["events"], before["head"])
        with there.serving(place / "moved", *stores[1]) as moved:  # the first one runs on, on its port
            assert (moved["first"], moved["queues"]) == (None, ["south"])
            lead = people.meet(moved["url"], "Lena").sign_in()
            assert lead.ask("/digest") == standing  # every score, bit for bit
            assert lead.export() == exported
            go_on(lead, people.meet(moved["url"], "Ann").sign_in())
            people.go_home()
        assert there.run("replay", place / "moved" / "south.review")["holds"] is True


def morning(people, served, rows):
    """The admin invites, and the lead makes the queue; the lead, with the invitations of the others."""
    admin = people.meet(served["url"], "Root").join(served["first"])
    lead = people.meet(served["url"], "Lena").join(admin.invite("lead"))
    lead.invitations = {name: admin.invite("reviewer") for name in ("Ann", "Bob", "Cara")}
    lead.click("link", "New queue")
    lead.page.get_by_label("Name", exact=True).fill("south")
    lead.page.get_by_label(re.compile("Rows: a file")).set_input_files(rows)
    lead.page.get_by_label("Column that names a row").fill("claim")
    lead.page.get_by_label("Budget, rows").fill(str(BUDGET))
    lead.page.get_by_label(re.compile("Random checks")).fill("0")
    lead.click("button", "Make the queue")
    lead.page.wait_for_selector("#row-title")
    lead.go("/q/south/settings")
    lead.page.get_by_label(re.compile("Second opinions")).fill("100")
    lead.page.locator("form.stack").first.get_by_role("button", name="Save").click()
    lead.page.wait_for_load_state("load")
    return lead


def work(reviewers, lead):
    """All in turn, until nobody has a row; Bob is unsure once, and Cara sees otherwise what others have judged.

    The lead, who got a row when the queue was made, judges it in the end, and may be asked for second opinions.
    """
    is_unsure, seconds = False, 0
    for _ in range(5 * BUDGET):
        busy = [each for each in reviewers if has_row(each)] or [each for each in [lead] if has_row(each)]
        if not busy:
            break
        for each in busy:
            seconds += each.is_second
            if each.name == "Bob" and not is_unsure and not each.is_second:
                each.page.fill("#note", "ask the garage")
                each.page.locator("#row-title").focus()
                each.press("u")
                is_unsure = True
            else:
                each.judge(contrary=each.name == "Cara" and each.is_second)
    assert is_unsure
    assert seconds > BUDGET / 2


def has_row(person):
    """Whether somebody has a row, or gets one now: what others have judged since waits for a second opinion."""
    if not person.page.url.endswith("/q/south") or person.row is None:
        person.go("/q/south")
    return person.row is not None


def settle(lead):
    """What two see otherwise, and what one was unsure of, the lead decides on the page of the row."""
    lead.go("/q/south/people")
    for table in ("#disputes", "#waiting"):
        assert lead.page.locator(f"{table} tbody tr").count() > 0, table
        while lead.page.locator(f"{table} tbody tr").count():
            row = lead.page.locator(f"{table} tbody th a").first.inner_text()
            lead.page.locator(f"{table} tbody th a").first.click()
            lead.page.wait_for_selector(f"h1:text-is('{row}')")
            lead.click("button", "wanted" if TRUTH[row] else "not wanted")
            lead.go("/q/south/people")
    assert "Nobody differs." in lead.page.inner_text("#main")
    lead.go("/q/south/figures")
    assert lead.page.locator("#kappas").count() == 1


def check_export(content):
    """One line per row, with the verdict that stands: the lead has put right what was wrong."""
    table = pl.read_csv(content)
    assert table.height == BUDGET
    words = {True: "wanted", False: "not wanted"}
    assert dict(zip(table["id"], table["verdict"], strict=True)) == {
        claim: words[bool(TRUTH[claim])] for claim in table["id"]
    }


def go_on(lead, ann):
    """The review goes on where it was: a larger budget, and a verdict that counts."""
    lead.go("/q/south/settings")
    lead.page.get_by_label("Budget, rows").fill(str(BUDGET + 2))  # one is on the screen of the lead then
    lead.page.locator("form.stack").first.get_by_role("button", name="Save").click()
    lead.page.wait_for_load_state("load")
    ann.go("/q/south")
    ann.judge()
    assert ann.ask("")["reviewed"] == BUDGET + 1
