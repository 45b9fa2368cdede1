"""``shortlist compare``: models side by side on the same folds."""

from shortlist.cli._study import study_command

command = study_command(
    "compare",
    """Compare models on the same folds: all measures of the top, what is noise, which to use.

With --time, each period is ranked by what the rows before it teach.

Example: [bold]shortlist compare claims.csv --label fraud --id claim_id --models logistic,xgboost --budget 50[/]""",
)
