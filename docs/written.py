"""Pages of the reference that the program itself writes: commands, settings, the HTTP API, names, formats, variables.

What stands on them cannot differ from what the program does, and nothing that it has can be missing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer
from rich.text import Text

from shortlist.cli._app import program
from shortlist.feedback.strategies.catalogue import STRATEGIES
from shortlist.rankers.catalogue import MODELS
from shortlist.review.log.settings import Settings
from shortlist.review.log.team import Team
from shortlist.review.server import making
from shortlist.review.server import pages as people
from shortlist.review.web.access import NEEDS
from shortlist.review.web.security import Keys
from shortlist.review.web.server import create_app
from shortlist.review.web.site import Site
from shortlist.tables.io.files import FORMATS

#: What an option takes, where it does not say so itself.
KINDS = {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}
#: Variables of the environment that the program heeds where no option says it, or that no option may say.
ENVIRONMENT = {
    "SHORTLIST_CONFIG": "the file of options in place of `shortlist.toml` in the folder; empty: none",
    "SHORTLIST_DEBUG": "a fault shows where it happened",
    "SHORTLIST_OIDC_CLIENT_SECRET": "the secret that the OpenID provider has given to this server",
    "SHORTLIST_TOKEN": "the token of an admin for `shortlist erase --server`",
    "SHORTLIST_WEBHOOK_SECRET": "what messages to `--webhook` are signed with",
}


def commands() -> str:
    """Every command with its arguments and options, in the words of ``--help``."""
    found = typer.main.get_command(program()).commands  # type: ignore[attr-defined]
    parts = [
        "# Command line",
        "Written from the program: what `shortlist COMMAND --help` says. Options that are the same every time can "
        "stand in a `shortlist.toml`; see [every morning](../how-to/every-morning.md).",
    ]
    for name, command in found.items():
        parts += [f"## shortlist {name}", _text(command.help), *_options(command.params)]
    return "\n\n".join(parts) + "\n"


def _options(params: list[Any]) -> Iterator[str]:
    rows = [(_flags(each), _text(each.help or "")) for each in params if not each.hidden]
    if rows:
        yield _table(("option", "what it does"), rows)


def _flags(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`"
    flags = ", ".join(f"`{flag}`" for flag in (*param.opts, *param.secondary_opts))
    environment = f" (`{param.envvar}`)" if param.envvar else ""
    takes = "" if param.is_flag else f" `{param.metavar or _kind(param)}`"
    return f"{flags}{takes}{environment}"


def _kind(param: Any) -> str:
    annotation = param.type_descriptor.annotation
    is_choice = isinstance(annotation, type) and issubclass(annotation, Enum)
    choices = [each.value for each in annotation] if is_choice else get_args(annotation)
    return " / ".join(map(str, choices)) or KINDS[annotation]


def settings() -> str:
    """Every setting of a review: its default, and what it means."""
    explained = {**_explained(Team), **_explained(Settings)}
    defaults = Settings().to_dict()
    rows = [
        (f"`{each.name}`", f"`{defaults[each.name]!r}`", explained[each.name]) for each in fields(Settings)
    ]
    return (
        "# Settings of a review\n\nChanged on the page *Settings*, by `shortlist review` where it has an option of "
        "that name, by `PATCH /api/v1/queues/NAME/settings`, or by `Client.change`. Every change is an "
        "event of the log.\n\n" + _table(("setting", "default", "what it means"), sorted(rows)) + "\n"
    )


def _explained(kind: type) -> dict[str, str]:
    """What a docstring says of each field, on one line."""
    return dict(re.findall(r"^(\w+) : (.+)$", inspect.getdoc(kind) or "", re.MULTILINE))


def http() -> str:
    """Every address of the HTTP API, with the role that it needs on the server of a team."""
    site = Site.local(1)
    app = create_app({}, Keys("reference"), site, apis=(people.api, making.api))
    parts = [
        "# HTTP API",
        "All that the pages do, for programs. Requests carry `Authorization: Bearer TOKEN`: the token of `server.json` "
        "in the folder of a review, or one that somebody made on their page *Account* of "
        "[a team's server](../how-to/server.md). A running server describes bodies and answers in full at "
        '`/api/v1/docs` and `/api/v1/openapi.json`. Errors are `{"detail": sentence, "kind": name}`; 503 means that '
        "nothing has changed "
        "and the request may be sent again.",
    ]
    rows = []
    for path, methods in sorted(app.openapi()["paths"].items()):
        for method, described in methods.items():
            role = NEEDS[described["operationId"].partition("_api_v1")[0]].word
            rows.append((f"`{method.upper()} {path}`", role, _text(described["description"])))
    return "\n\n".join([*parts, _table(("address", "role", "what it does"), rows)]) + "\n"


def names() -> str:
    """Every model and strategy that can be asked for by name."""
    models = [(f"`{name}`", each.learns_from, each.summary) for name, each in MODELS.items()]
    strategies = [(f"`{name}`", each.summary) for name, each in STRATEGIES.items()]
    parts = [
        "# Models and strategies",
        "What `--model`, `--models` and `make_ranker` take; `--model list` shows the same, with those of installed "
        "[plug-ins](../how-to/plug-ins.md):",
        _table(("model", "learns from", "what it is"), models),
        "What `--strategy` of `review` and `simulate` takes:",
        _table(("strategy", "what it does"), strategies),
    ]
    return "\n\n".join(parts) + "\n"


def files() -> str:
    """Every format of table files, and the variables of the environment."""
    formats = []
    for each in FORMATS:
        extra = f"`shortlist[{each.needs[1]}]`" if each.needs else ""
        written = "yes" if each.sink else "no"
        formats.append((each.name, " ".join(f"`{ending}`" for ending in each.endings), written, extra))
    found = typer.main.get_command(program()).commands  # type: ignore[attr-defined]
    options = {
        each.envvar: f"`{each.opts[0]}` of `shortlist {name}`: {_text(each.help or '')}"
        for name, command in found.items()
        for each in command.params
        if each.envvar
    }
    variables = [(f"`{name}`", text) for name, text in sorted({**options, **ENVIRONMENT}.items())]
    parts = [
        "# Files, variables, exit codes",
        "Formats of tables; what becomes of their columns is on the page about [tables](../tables.md):",
        _table(("format", "endings", "can be written", "extra"), formats),
        "Variables of the environment:",
        _table(("variable", "what it says"), variables),
        "Exit codes: 0 is done; 1 is a fault, or a `replay` that does not hold; 2 is a mistake that somebody can mend, "
        "told in a sentence on standard error, with nothing half written.",
        "Model files and queues: [model files](../how-to/workflow.md#model-files), "
        "[the log](../how-to/review.md#the-log-is-the-truth), [contracts](../design/contracts.md#files).",
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines)


def _text(marked: str) -> str:
    """What the terminal shows, as one paragraph of Markdown: examples in bold there are code here."""
    shown = re.sub(r"\[bold\](.+?)\[/(?:bold)?\]", r"`\1`", marked)
    parts = Text.from_markup(shown).plain.split("`")
    # Every other part is code already. Two dashes would become one long one.
    parts[::2] = (re.sub(r"--[a-z][a-z-]*", r"`\g<0>`", part).replace("<", "&lt;") for part in parts[::2])
    return " ".join("`".join(parts).split())


#: Where each page stands in the reference.
PAGES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "http": http,
    "names": names,
    "files": files,
}


def write_pages(folder: Path) -> None:
    """Write those that changed: the others need not be built anew."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        file, text = folder / f"{name}.md", page()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
