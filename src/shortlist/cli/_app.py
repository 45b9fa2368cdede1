"""The program ``shortlist``: finds its commands, runs one, and turns errors into messages."""

from __future__ import annotations

import ast
import errno
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

import shortlist
from shortlist import cli
from shortlist.cli._config import config_file, read_config
from shortlist.cli._log import log, log_end
from shortlist.exceptions import ShortlistError
from shortlist.later import load_learners

#: The exit code of a program that was told to end.
ENDED = 128 + signal.SIGTERM


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shortlist {shortlist.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    pass


def _app() -> typer.Typer:
    app = typer.Typer(
        name="shortlist",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(help=shortlist.__doc__)(_root)
    return app


@cache
def program() -> typer.Typer:
    """The app with ``command`` of every command module, under the module's name."""
    for_typer = import_module("shortlist.cli._declared").for_typer
    app = _app()
    for module in _commands():
        command = import_module(f"shortlist.cli.{module}").command
        app.command(name=command_name(module))(for_typer(command))
    return app


def outline() -> typer.Typer:
    """The app as its own ``--help`` shows it: commands are read, not loaded, which would take ten times as long."""
    app = _app()
    for module in _commands():
        tree = ast.parse(Path(cli.__path__[0], f"{module}.py").read_text(encoding="utf-8"))
        command = next(
            each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "command"
        )
        app.command(name=command_name(module), help=ast.get_docstring(command))(lambda: None)
    return app


def _commands() -> Iterator[str]:
    names = sorted(module.name for module in pkgutil.iter_modules(cli.__path__))
    return (name for name in names if not name.startswith("_"))


def command_name(module: str) -> str:
    """The command of a module; a name that Python keeps for itself has an underscore at its end.

    >>> command_name("import_")
    'import'
    """
    return module.rstrip("_").replace("_", "-")


def main() -> None:
    """Run the program; exit code 0: done, 1: our fault, 2: something the user can mend, 130: Ctrl-C, 143: SIGTERM."""
    # Threads of XGBoost that wait would otherwise spin, and keep our own from their cores between two trees.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    with suppress(ValueError):  # only the first thread of a program is told of signals
        # Ended from outside, it must not leave behind what an error would not: half a file, or gigabytes of bins.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(ENDED))
    try:
        _run(sys.argv[1:])
    except ShortlistError as error:
        _stop(str(error), 2)
    except KeyboardInterrupt:  # while commands are still being loaded; later typer sees to it
        sys.exit(130)
    except MemoryError:
        _stop(
            "not enough memory for this table. Use fewer columns (--ignore) or a machine with more memory.", 1
        )
    except Exception as error:
        if os.environ.get("SHORTLIST_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            _stop(f"nothing more can be written: {error.strerror}. Make room, or write elsewhere.", 2)
        _stop(
            f"a fault in shortlist itself: {type(error).__name__}: {error}\n"
            "Please report it; SHORTLIST_DEBUG=1 shows where it happened.",
            1,
        )


def _run(arguments: list[str]) -> None:
    if not arguments or arguments[0] in ("-h", "--help", "--version"):
        outline()()
        return
    load_learners()
    path = config_file()
    if path is None:
        program()()
        return
    commands = typer.main.get_command(program()).commands  # type: ignore[attr-defined]
    settings: dict[str, Any] = read_config(path, commands)
    try:
        program()(default_map=settings)
    except SystemExit as end:
        if end.code == 2:  # a usage error speaks of options that may stand in the file
            Console(stderr=True, soft_wrap=True).print(f"Options are read from {path}, too.")
        raise


def _stop(message: str, code: int) -> NoReturn:
    log("error", message)
    log_end(code)
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(message)}", highlight=False)
    sys.exit(code)
