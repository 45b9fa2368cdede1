"""``shortlist.toml``: options that are the same every time, so that a command need not repeat them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.exceptions import InvalidInputError

if TYPE_CHECKING:  # typer brings its own copy: loading another takes a tenth of the time of --help
    import click

FILE = "shortlist.toml"
#: Names another file; empty: none is read.
VARIABLE = "SHORTLIST_CONFIG"


def config_file() -> Path | None:
    """The file that holds options, if there is one."""
    named = os.environ.get(VARIABLE)
    if named is None:
        return Path(FILE) if Path(FILE).is_file() else None
    if not named:
        return None
    from shortlist.tables.io.paths import named_path

    path = named_path(named)
    if not path.is_file():
        raise InvalidInputError(f"there is no file {named}, which {VARIABLE} names.")
    return path


def read_config(path: Path, commands: dict[str, click.Command]) -> dict[str, dict[str, Any]]:
    """What each command takes where the command line says nothing, as click wants it.

    Keys are names of options, as on the command line; those of a table such as [score] are for that command alone,
    those above the tables for every command that has the option.
    """
    import tomllib

    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInputError(f"cannot read {path}: {error}. Mend or remove it.") from None
    options = {name: _options(command) for name, command in commands.items()}  # by name, as click has them
    shared = {key: value for key, value in told.items() if not isinstance(value, dict)}
    problems = [_unknown(path, key, {each for known in options.values() for each in known})
                for key in shared if not any(_plain(key) in known for known in options.values())]  # fmt: skip
    problems += [
        _unknown(path, key, options)
        for key, own in told.items()
        if isinstance(own, dict) and key not in options
    ]
    found: dict[str, dict[str, Any]] = {}
    for name, known in options.items():
        own = (
            told[name] if isinstance(told.get(name), dict) else {}
        )  # an option may have the name of a command
        problems += [_unknown(path, f"{name}.{key}", known) for key in own if _plain(key) not in known]
        meant = {**shared, **own}
        meant = {_plain(key): value for key, value in meant.items() if _plain(key) in known}
        found[name] = {str(known[key].name): _as_list(value, known[key]) for key, value in meant.items()}
    problems += [
        _imports(path, options_["models"])
        for options_ in found.values()
        if "." in str(options_.get("models"))
    ]
    if problems:
        raise InvalidInputError(" ".join(dict.fromkeys(problems)))
    return found


def _imports(path: Path, models: Any) -> str:
    return (
        f"{path} says models = {models!r}: a class with a dot in its name would be imported, which runs its code, and "
        "a file may not ask for that. Name it on the command line: --models NAME"
    )


def _as_list(value: Any, option: click.Parameter) -> Any:
    """One text where an option may be repeated is a list of one."""
    return [value] if option.multiple and isinstance(value, str) else value


def _options(command: click.Command) -> dict[str, click.Parameter]:
    """The options by their long names."""
    return {
        flag.removeprefix("--"): option
        for option in command.params
        for flag in option.opts
        if flag.startswith("--")
    }


def _plain(key: str) -> str:
    return key.replace("_", "-")


def _unknown(path: Path, key: str, known: Any) -> str:
    from shortlist.tables.roles import did_you_mean

    return f"{path} says {key!r}, which is no option or command.{did_you_mean(_plain(key.rpartition('.')[2]), known)}"
