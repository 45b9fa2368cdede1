"""How many of something, as a sentence has it."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what it counts: one row, but two rows.

    >>> counted(1, "row"), counted(2_000, "row"), counted(3, "entry", "entries")
    ('1 row', '2,000 rows', '3 entries')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def about(number: float) -> str:
    """A count that may be a mean, as where equal scores come in any order: whole, or about what people say of it.

    >>> about(17.0), about(21.857), about(1.46), about(-3.2), about(0.001)
    ('17', 'about 22', 'about 1.5', 'about -3', 'about 0')
    """
    near = nearly(number)
    return near if is_whole(number) else f"about {near}"


def nearly(number: float) -> str:
    """As ``about``, where the sentence says already that it is not exact.

    >>> nearly(129.4), nearly(0.29)
    ('129', '0.29')
    """
    return f"{number:,.0f}" if is_whole(number) or abs(number) >= 2 else f"{round(number, 2):.2g}"


def is_whole(number: float) -> bool:
    """Whether it is a whole number, but for what sums of floats leave behind.

    >>> is_whole(17.000000001), is_whole(17.5)
    (True, False)
    """
    return abs(number - round(number)) < 1e-6
