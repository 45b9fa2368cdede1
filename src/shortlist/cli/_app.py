"""The program ``shortlist``: finds its commands, runs one, and turns errors into messages."""

from __future__ import annotations

import errno
import os
import pkgutil
import sys
from functools import cache
from importlib import import_module
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

import shortlist
from shortlist import cli
from shortlist.cli._declared import for_typer
from shortlist.exceptions import ShortlistError

app = typer.Typer(
    name="shortlist",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shortlist {shortlist.__version__}")
        raise typer.Exit


@app.callback(help=shortlist.__doc__)
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    pass


@cache
def program() -> typer.Typer:
    """The app with ``command`` of every command module, under the module's name."""
    for module in sorted(pkgutil.iter_modules(cli.__path__), key=lambda found: found.name):
        if not module.name.startswith("_"):
            command = import_module(f"shortlist.cli.{module.name}").command
            app.command(name=command_name(module.name))(for_typer(command))
    return app


def command_name(module: str) -> str:
    """The command of a module; a name that Python keeps for itself has an underscore at its end.

    >>> command_name("import_")
    'import'
    """
    return module.rstrip("_").replace("_", "-")


def main() -> None:
    """Run the program; exit code 0: done, 1: a fault of ours, 2: something the user can mend, 130: Ctrl-C."""
    # Threads of XGBoost that wait would otherwise spin, and keep our own from their cores between two trees.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        program()()
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


def _stop(message: str, code: int) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(message)}", highlight=False)
    sys.exit(code)
