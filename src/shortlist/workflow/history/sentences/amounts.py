"""Counts and amounts as sentences have them."""

from __future__ import annotations


def amount(value: float) -> str:
    """A count or an amount: whole, with thousands apart; small ones with a digit after the point where it is not 0.

    >>> amount(12345.6), amount(3.25), amount(51.025)
    ('12,346', '3.2', '51')
    """
    value = round(value, 1)
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.1f}"
