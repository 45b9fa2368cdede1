"""What is declared in ``shortlist.question``, as typer takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from shortlist.cli._log import Log, Quiet, log_end, speak
from shortlist.exceptions import InvalidInputError
from shortlist.question.declare import Argument, Declared, InPython, Option, declared, split_hint

#: How the work is done comes last in the ``--help`` of a question.
LAST = ("random_state", "n_jobs", "memory", "dask", "spark", "json")


@dataclass(frozen=True)
class Spoken:
    """An option as typer takes it, and how what it gives is turned into what Python takes."""

    parameter: Parameter
    understand: Callable[[Any], Any] = lambda given: given


@dataclass(frozen=True)
class Taken:
    """What a command takes under one name: an option, or a question with all of its options."""

    options: list[Spoken]
    question: type | None = None

    def hear(self, given: dict[str, Any]) -> Any:
        """What Python takes, from all that typer gives."""
        names = {option.parameter.name: option for option in self.options}
        values = {name: option.understand(given[name]) for name, option in names.items()}
        return self.question(**values) if self.question else next(iter(values.values()))


def for_typer(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: a question's fields stand in the question's place."""
    hints = get_type_hints(command, include_extras=True)
    taken = {name: _taken(hints[name], each) for name, each in signature(command).parameters.items()}

    def run(quiet: bool, log: Path | None, **given: Any) -> None:
        from shortlist.tables.io.readable import Panics

        speak(quiet, log)
        try:
            with Panics.hidden():
                command(**{name: each.hear(given) for name, each in taken.items()})
        except typer.Exit as end:
            log_end(end.exit_code)
            raise
        except KeyboardInterrupt:
            log_end(130)
            raise
        except SystemExit as end:  # told to end from outside
            log_end(end.code if isinstance(end.code, int) else 1)
            raise
        log_end(0)

    parameters = [option.parameter for each in taken.values() for option in each.options]
    if any(each.question for each in taken.values()):
        parameters.sort(key=lambda each: LAST.index(each.name) if each.name in LAST else -1)
    parameters += [_parameter("quiet", Quiet, False), _parameter("log", Log, None)]
    run.__doc__ = command.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _taken(hint: Any, parameter: Parameter) -> Taken:
    if isinstance(hint, type) and is_dataclass(hint):
        offered = (each for each in declared(hint) if isinstance(each.about, Argument | Option))
        return Taken([_speak(each.name, each.type, _default(each), each.about) for each in offered], hint)
    kind, about = split_hint(hint)
    if about is None:  # typer's already
        return Taken([Spoken(_parameter(parameter.name, hint, parameter.default))])
    return Taken([_speak(parameter.name, kind, parameter.default, about)])


def _default(option: Declared) -> Any:
    return Parameter.empty if option.default is MISSING else option.default


def _speak(name: str, kind: Any, default: Any, about: InPython) -> Spoken:
    if not isinstance(about, Option):
        help_ = typer.Argument(help=_sentence(about))
        return Spoken(_parameter(name, Annotated[_text(default), help_], default))
    if about.counts:
        return Spoken(_parameter(name, Annotated[str, _option(name, about)], str(default)), _counts)
    if about.commas:
        return Spoken(_parameter(name, Annotated[_text(default), _option(name, about)], default), _names)
    if get_origin(kind) is Sequence or about.repeated:
        repeated = _option(name, about, "; may be repeated")
        understand = _one_or_several if about.repeated else _several
        return Spoken(_parameter(name, Annotated[list[str] | None, repeated], None), understand)
    if kind is Any or str in get_args(kind):  # what may be a text or something else is a text here
        kind = _text(default)
    return Spoken(_parameter(name, Annotated[kind, _option(name, about)], default))


def _option(name: str, about: Option, remark: str = "") -> Any:
    flags = [f"--{about.name or name.rstrip('_').replace('_', '-')}", about.short]
    return typer.Option(
        *(flag for flag in flags if flag is not None),
        metavar=about.metavar,
        min=about.least,
        max=about.most,
        help=_sentence(about, remark),
        callback=_SHOW[about.shows] if about.shows else None,
        is_eager=about.shows is not None,
    )


def _sentence(about: InPython, remark: str = "") -> str:
    default = "" if about.default is None else f" \\[default: {about.default}]"
    return f"{about.help}{remark}.{default}"


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=hint, default=default)


def _text(default: Any) -> Any:
    return str | None if default is None else str


def _several(given: list[str] | None) -> tuple[str, ...]:
    return tuple(given or ())


def _one_or_several(given: list[str] | None) -> str | tuple[str, ...] | None:
    return given[0] if given and len(given) == 1 else _several(given) or None


def _names(given: str | None) -> list[str] | None:
    return None if given is None else split_names(given)


def _counts(given: str) -> int | tuple[int, ...]:
    """One whole number, or several.

    >>> _counts("50"), _counts("20, 50")
    (50, (20, 50))
    """
    try:
        several = tuple(int(each) for each in split_names(given))
    except ValueError:
        several = ()
    if not several:
        raise InvalidInputError(f"--budget takes whole numbers, such as 50 or 20,50,100; got {given!r}.")
    return several[0] if len(several) == 1 else several


def split_names(text: str) -> list[str]:
    """The names in a list with commas.

    >>> split_names("logistic, xgboost")
    ['logistic', 'xgboost']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def _show_models(name: str | None) -> str | None:
    if name != "list":
        return name
    import polars as pl

    from shortlist.cli._output import print_names
    from shortlist.rankers.catalogue import MODELS

    rows = [(name, model.learns_from, model.summary) for name, model in MODELS.working().items()]
    print_names(pl.DataFrame(rows, schema=["model", "learns from", "what it is"], orient="row"))
    raise typer.Exit


#: What the value "list" shows, by the word in the declaration.
_SHOW = {"models": _show_models}
