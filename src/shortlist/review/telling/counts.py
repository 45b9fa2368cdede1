"""What is still missed as a function of counts, for tools that have checks and no queue of ours."""

from __future__ import annotations

from itertools import repeat

from shortlist.exceptions import InvalidInputError
from shortlist.review.telling.missed import CONFIDENCE, Missed, Out, missed


def missed_rows(
    checks: int, wanted: int, rows: int, *, reviewed: int = 0, found: int = 0, confidence: float = CONFIDENCE
) -> Missed:
    """Bounds on the wanted rows that nobody has found, which hold however often they are asked for.

    The checks are drawn evenly and without repeats from the rows that nobody had reviewed before the first of them, and
    each is decided. In which order wanted ones came does not matter. Where a ranking goes on between checks, or some
    are undecided, the order of all rows matters: ``missed`` takes it.

    Parameters
    ----------
    checks, wanted : random checks, and the wanted among them
    rows : all rows, reviewed or not
    reviewed, found : rows that were reviewed before the checks, and the wanted among them
    confidence : how likely the truth is inside at all times

    Examples
    --------
    >>> seen = missed_rows(200, 3, 10_000, reviewed=1_000, found=60)
    >>> (seen.low, seen.high), round(seen.recall[0], 2)
    ((13, 472), 0.12)
    """
    _check(checks, wanted, rows, reviewed, found)
    if not 0 < confidence < 1:
        raise InvalidInputError(f"confidence is {confidence}; use a number between 0 and 1, such as 0.9.")
    before = [*repeat(Out(True, False), found), *repeat(Out(False, False), reviewed - found)]
    drawn = [*repeat(Out(True, True), wanted), *repeat(Out(False, True), checks - wanted)]
    seen = missed([rows], before + drawn, confidence=confidence)
    assert seen is not None  # as it would be without a check
    return seen


def _check(checks: int, wanted: int, rows: int, reviewed: int, found: int) -> None:
    """Refuse counts that cannot be."""
    if checks < 1:
        raise InvalidInputError("checks is less than 1; what is missed is known after random checks only.")
    for part, whole, of in (
        ("wanted", "checks", (wanted, checks)),
        ("found", "reviewed", (found, reviewed)),
        ("checks and reviewed together", "rows", (checks + reviewed, rows)),
    ):
        if not 0 <= of[0] <= of[1]:
            raise InvalidInputError(f"{part} is {of[0]}; use 0 to {of[1]}, which is {whole}.")
