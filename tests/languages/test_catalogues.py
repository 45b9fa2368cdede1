"""Everything a page says is in every catalogue, translated, with the same values in it."""

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

from shortlist.languages.catalogues import CATALOGUES
from shortlist.languages.collect import collect, lacking, update
from shortlist.review import errors

LANGUAGES = sorted(Path(file.name).stem for file in CATALOGUES.iterdir() if file.name.endswith(".po"))
REVIEW = Path(str(files("shortlist.review")))
TEMPLATES = sorted((REVIEW / "web" / "templates").glob("*.html"))
#: Names, keys and pieces of code are the same in every language.
UNTRANSLATED = {
    "Shortlist",
    "SHA-256",
    "C",
    "F",
    "L",
    "Z",
    "shortlist review NEW.csv --model",
    "verdicts.csv",
    "verdicts.parquet",
}
SPOKEN = {
    name
    for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.ReviewError)
}


def texts(message):
    return list(message) if isinstance(message, tuple | list) else [message]


def values_in(text):
    return set(re.findall(r"%\((\w+)\)s", text))


@pytest.fixture(scope="module")
def said():
    return {message.id for message in collect() if message.id}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_holds_all_messages_and_no_others(language, said):
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    held = {message.id: message for message in catalogue if message.id}
    assert held.keys() == said, "run: python -m shortlist.languages.collect " + language
    for message in held.values():
        assert all(texts(message.string)), f"{message.id!r} has no translation"
        assert not message.fuzzy, message.id
        wanted = set().union(*map(values_in, texts(message.id)))
        for text in texts(message.string):
            # The form for one thing may leave its number out.
            assert wanted - {"num"} <= values_in(text) <= wanted, message.id
            assert text % dict.fromkeys(wanted, "") is not None  # every other % is doubled


def test_a_language_is_one_file(tmp_path, said):
    path = tmp_path / "it.po"
    update(path)
    with path.open("rb") as file:
        fresh = read_po(file, locale="it")
    assert {message.id for message in fresh if message.id} == said
    path.write_text(path.read_text().replace('msgid "wanted"\nmsgstr ""', 'msgid "wanted"\nmsgstr "cercato"'))
    update(path)
    once = path.read_bytes()
    update(path)
    assert path.read_bytes() == once  # nothing but translations makes two versions differ
    with path.open("rb") as file:
        done = read_po(file, locale="it")
    assert done["wanted"].string == "cercato"
    assert {*lacking(done)} == said - {"wanted"}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_template_says_nothing_that_is_not_in_the_catalogue(template):
    source = template.read_text()
    html = "".join(part if isinstance(part, str) else "\0" for part in _parts(Environment().parse(source)))
    html = re.sub(r"<kbd>.</kbd>", "", html)  # keys have one name in all languages
    spoken = re.findall(r'\b(?:aria-label|title|placeholder|alt)="([^"\0]+)"', html)
    spoken += re.split(r"\0", re.sub(r"<[^>]*>", "\0", html))
    loose = {text.strip(" \n.,:;·()–?▲▼") for text in spoken if re.search(r"[^\W\d_]", text)}
    assert loose - UNTRANSLATED - {"wiki.example"} == set()


def _parts(node):
    if isinstance(node, nodes.TemplateData):
        yield node.data
    elif isinstance(
        node,
        nodes.Output | nodes.Template | nodes.Block | nodes.For | nodes.If | nodes.Macro | nodes.AssignBlock,
    ):
        for child in node.iter_child_nodes():
            yield from _parts(child)
    else:
        yield None


def test_the_script_says_nothing_that_is_not_in_the_catalogue():
    script = (REVIEW / "web" / "static" / "review.js").read_text()
    assert re.findall(r'(?:label|textContent|innerText|title)\s*[:=]\s*["\'`]', script) == []


@pytest.mark.parametrize(
    "module",
    [*REVIEW.glob("desk/*.py"), *REVIEW.glob("log/*.py"), *REVIEW.glob("web/*.py"), REVIEW / "train.py"],
    ids=lambda path: path.name,
)
def test_an_error_that_a_page_shows_can_be_translated(module):
    calls = (node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call))
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id in SPOKEN:
            loose = [arg for arg in call.args if isinstance(arg, ast.Constant | ast.JoinedStr)]
            assert not loose, f"{module.name}:{call.lineno} is not a Message"
