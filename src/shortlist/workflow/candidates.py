"""Which rankers come into question for what is given, where their user names none, or not just one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist.exceptions import InvalidInputError
from shortlist.question import Question
from shortlist.rankers.catalogue import MODELS, Kind, Model, RankerOptions, default_model
from shortlist.tables import Roles


def options_of(question: Question, budget: int, *, tune: bool = False) -> RankerOptions:
    """What was asked for, as far as it shapes rankers."""
    options = RankerOptions(
        budget, question.random_state, question.n_jobs, tune, question.value_power, question.least_chance
    )
    if question.roles.value is None and options.weighs:
        raise InvalidInputError(
            "--value-power and --least-chance say how a chance and a value are weighed; name the column that says how "
            "much a row is worth: --value COLUMN"
        )
    return options


def model_for(roles: Roles) -> str:
    """The catalogue's default for labels, or for impacts where there is no label."""
    if roles.label is None and roles.impact is None:
        raise InvalidInputError("name the column that says which rows matter: label=... or impact=...")
    return default_model("impact" if roles.label is None else "label", lists=roles.list is not None)


def usual_models(
    roles: Roles, models: Sequence[Any] | None, options: RankerOptions | None = None
) -> list[Any]:
    """The models asked for, "all" that can learn from what is given, or the default beside a plain one."""
    # Without a label, rows with any impact count as wanted, so every model has something to learn from.
    learnable: tuple[Kind, ...] = ("label", "impact") if roles.impact else ("label",)
    if options is not None and options.weighs:
        learnable = ("label",)
    asked = [] if models is None else check_names(models, "models")
    if asked == ["all"]:
        return [name for name, model in MODELS.working().items() if model.learns_from in learnable]
    defaults = (default_model(kind, lists=roles.list is not None) for kind in learnable)
    usual = [model_for(roles), *defaults, "logistic"]
    return [*dict.fromkeys(asked or usual)]


def check_weighs(name: str, model: Model, options: RankerOptions) -> None:
    """Refuse to weigh chance and value for a model that knows no chance: it learns how much rows matter."""
    if options.weighs and model.learns_from == "impact":
        raise InvalidInputError(
            f"{name} learns how much a row matters, not its chance, so --value-power and --least-chance have nothing "
            "to weigh; leave them out, or take a model that learns from the label, such as ap-boost."
        )


def usual_rules(roles: Roles, rules: Sequence[str]) -> list[str]:
    """The rules asked for; where a value is known beforehand, sorting by it is what everybody could do.

    >>> usual_rules(Roles(label="fraud", impact="amount", impact_known=True), ["age asc"])
    ['age asc', 'amount desc']
    """
    by_value = [] if roles.value is None else [f"{roles.value} desc"]
    return [*dict.fromkeys([*rules, *by_value])]


def check_names(names: Sequence[Any], what: str) -> list[Any]:
    """Several names, not one text of which each letter would be taken for a name."""
    if isinstance(names, str):
        raise InvalidInputError(f"give {what} as a list of names: [{names!r}]")
    return [*names]
