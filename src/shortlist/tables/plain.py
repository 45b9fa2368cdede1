"""Values as JSON takes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl


def plain(value: Any) -> Any:
    """Lists, dicts, texts and numbers: a frame becomes a list of rows, NaN and infinity None, a date its text.

    >>> plain({"precision": np.float64("nan"), "rows": pl.DataFrame({"id": [7]})})
    {'precision': None, 'rows': [{'id': 7}]}
    """
    if isinstance(value, pl.DataFrame):
        return plain(value.to_dicts())
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
