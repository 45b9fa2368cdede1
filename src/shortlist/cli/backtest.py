"""``shortlist backtest``: walk through history as it would have happened."""

from shortlist.cli._study import study_command

command = study_command(
    "backtest",
    """Walk through your own history: learn from the past, rank the next period, count what would have been found.

Without --time, folds stand in for periods: whole lists with --list, else rows.

Example: [bold]shortlist backtest claims.csv --label fraud --id claim_id --time date --every quarter[/]""",
)
