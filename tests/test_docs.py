"""Pages that people read: links lead somewhere, commands and imports exist, and nothing that there is stays unsaid."""

import ast
import re
import shlex
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from shortlist.cli._app import program
from shortlist.feedback.strategies.catalogue import STRATEGIES
from shortlist.rankers.catalogue import MODELS
from shortlist.review.log.settings import Settings
from shortlist.review.server.app import TeamServer
from shortlist.review.web.access import NEEDS
from shortlist.review.web.site import Site
from shortlist.tables.io.files import FORMATS

PROJECT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in [*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")]
    if not {"_build", "reference", "gallery"} & {*page.parts}
)
COMMANDS = typer.main.get_command(program()).commands
#: Options of commands that are not ours, in lines that begin with ours.
OTHERS = {"--version"}


def named(page):
    return str(page.relative_to(PROJECT))


def anchors(page):
    """The headings of a page as GitHub and MyST name them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", head)).strip().lower() for head in heads)
    return {head.replace(" ", "-") for head in plain}


def blocks(page, *languages):
    """Blocks of code in any of these languages."""
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [text for language, text in found if language in languages]


def commands_of(page):
    """Every line of a page that calls our program, with its lines of continuation, as words."""
    for block in blocks(page, "bash", "console", "sh"):
        for line in re.sub(r"\\\n", " ", block).splitlines():
            command = line.strip().removeprefix("$ ")
            if command.startswith("shortlist "):
                yield shlex.split(command, comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_within_the_project_leads_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or path.split("/")[-2:-1] == ["reference"]:
            continue
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{named(page)}: {target}"
        if anchor:
            assert anchor in anchors(other), f"{named(page)}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_of_a_page_exists_with_its_options(page):
    for words in commands_of(page):
        if not words or words[0].startswith("-"):
            continue
        command = COMMANDS.get(words[0])
        assert command, f"{named(page)}: shortlist {words[0]}"
        known = flags(command)
        asked = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert asked <= {*known, "--help", "-h", *OTHERS}, f"{named(page)}: shortlist {' '.join(words)}"
        # Types and numbers of arguments, too: all but what only running it can tell.
        if not {"...", "list"} & {*words} and asked.isdisjoint({"--help", "-h", *OTHERS}):
            command.make_context(words[0], up_to_the_shell(words[1:]))


def up_to_the_shell(words):
    """What the program is given: not what a shell makes of the rest."""
    ends = (at for at, word in enumerate(words) if word in (">", "|", "&&"))
    return list(words[: next(ends, len(words))])


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_block_with_commands_says_that_it_has_some(page):
    """Or nobody would look whether they exist."""
    for block in re.findall(r"^ *```(?:text)?\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL):
        assert not re.search(r"^ *(\$ )?shortlist [a-z]", block, re.MULTILINE), block


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_within_a_sentence_exists_with_its_options(page):
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    if page.name == "CHANGELOG.md":  # what older versions had may be gone
        text = text.split("\n## ")[1]
    for name, rest in re.findall(r"`shortlist ([a-z]+)((?:\s[^`]*)?)`", text):
        assert name in COMMANDS, f"{named(page)}: shortlist {name}"
        asked = set(re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", rest)) - {"--help", "-h"}
        assert asked <= flags(COMMANDS[name]), f"{named(page)}: shortlist {name}{rest}"


def flags(command):
    return {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_of_python_can_be_read_and_what_it_imports_is_there(page):
    for block in blocks(page, "python"):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shortlist"):
                exec(compile(ast.Module([node], []), named(page), "exec"), {})


def test_every_command_and_option_says_what_it_is_for():
    for name, command in COMMANDS.items():
        assert "Example:" in command.help, name
        for option in command.params:
            assert option.hidden or option.help, f"{name} {option.name}"


@pytest.fixture(scope="module")
def written():
    sys.path.insert(0, str(PROJECT / "docs"))
    try:
        import written
    finally:
        sys.path.pop(0)
    return {name: page() for name, page in written.PAGES.items()}


def test_the_reference_has_every_command_and_option(written):
    sections = dict(re.findall(r"^## shortlist (\S+)\n(.*?)(?=^## |\Z)", written["commands"], re.M | re.S))
    assert set(sections) == set(COMMANDS)
    for name, command in COMMANDS.items():
        for option in command.params:
            shown = [f"`{flag}`" for flag in option.opts if flag.startswith("-")]
            assert all(flag in sections[name] for flag in shown), f"{name} {option.opts}"


def test_the_reference_explains_every_setting(written):
    rows = [line for line in written["settings"].splitlines() if line.startswith("| `")]
    assert {row.split("`")[1] for row in rows} == {each.name for each in fields(Settings)}
    assert all(row.split("|")[3].strip() for row in rows)


def test_the_reference_has_every_address_of_a_team_server(written, tmp_path):
    server = TeamServer.open(tmp_path, Site("http://127.0.0.1:1", is_team=True))
    described = server.app.openapi()["paths"]
    server.close()
    rows = re.findall(r"^\| `([A-Z]+) (/\S+)` \| (\w+) \| (.+) \|$", written["http"], re.MULTILINE)
    there = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert {(method, path) for method, path, *_ in rows} == there
    assert {role for _, _, role, _ in rows} <= {role.word for role in NEEDS.values()}
    assert all(text.endswith((".", ")")) for *_, text in rows)


def test_the_reference_has_every_model_strategy_and_format(written):
    told = set(re.findall(r"^\| `(\S+)` \|", written["names"], re.MULTILINE))
    assert told == {*MODELS, *STRATEGIES}
    endings = set(re.findall(r"`(\.\w+)`", written["files"]))
    assert endings == {ending for each in FORMATS for ending in each.endings}
    by_hand = (PROJECT / "docs" / "tables.md").read_text()
    assert [ending for ending in endings if ending not in by_hand] == []


def test_the_reference_has_every_variable_of_the_environment(written):
    sources = "".join(path.read_text() for path in (PROJECT / "src").rglob("*.py"))
    heeded = set(re.findall(r"SHORTLIST_[A-Z_]+", sources))
    assert set(re.findall(r"^\| `(SHORTLIST_[A-Z_]+)` \| \S", written["files"], re.MULTILINE)) == heeded


def test_every_page_of_the_reference_and_every_guide_is_in_the_contents(written):
    contents = (PROJECT / "docs" / "index.md").read_text()
    for name in written:
        assert f"\nreference/{name}\n" in contents
    for part in ("tutorials", "how-to", "explanation", "evidence"):
        for page in (PROJECT / "docs" / part).glob("*.md"):
            assert f"\n{part}/{page.stem}\n" in contents, page.name


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_target_of_make_that_a_page_names_is_there(page):
    targets = set(re.findall(r"^([a-z][a-z0-9.%-]*):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    named_there = set(re.findall(r"`make ([a-z][a-z0-9-]*)\b", page.read_text()))
    assert named_there <= targets


@pytest.mark.parametrize("page", sorted((PROJECT / "docs" / "how-to").glob("*.md")), ids=named)
def test_results_are_elsewhere_than_in_guides(page):
    """One table of figures with intervals at most; the others are evidence."""
    tables = re.findall(r"(?:^\|.*\n)+", page.read_text(), re.MULTILINE)
    assert sum(bool(re.search(r"± ?[.\d]|\d x \||\| \.\d{3} \|", each)) for each in tables) <= 1
