"""Addresses of a row in other systems, made from templates that name columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from shortlist.review.log.team import PLACE


def links_of(templates: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, str]:
    """The addresses by name; those that need a value the row lacks are left out.

    >>> links_of({"case": "https://cases.example/{claim id}?shop={shop}"}, {"claim id": "C/1", "shop": "A&B"})
    {'case': 'https://cases.example/C%2F1?shop=A%26B'}
    """
    return {
        name: PLACE.sub(lambda place: quote(str(values[place[1]]), safe=""), template)
        for name, template in templates.items()
        if all(values.get(column) is not None for column in PLACE.findall(template))
    }
