"""Counts and amounts as sentences have them."""

from __future__ import annotations


def amount(value: float) -> str:
    """A count or an amount: whole, with thousands apart; small ones with a digit after the point where it is not 0.

    >>> amount(12345.48), amount(3.25), amount(51.025)
    ('12,345', '3.2', '51')
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    value = round(value, 1)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
