from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest


@pytest.fixture
def put(tmp_path):
    """Write a small file and give its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def claims() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "claim": [f"c{i}" for i in range(40)],
            "amount": [float(i) if i % 7 else None for i in range(40)],
            "make": [("Audi", "Fiat", "Opel", None)[i % 4] for i in range(40)],
            "police": [i % 3 == 0 for i in range(40)],
            "day": pl.Series([f"2024-01-{i % 28 + 1:02d}" for i in range(40)]).str.to_date(),
            "fraud": [int(i % 10 == 0) for i in range(40)],
        }
    )
