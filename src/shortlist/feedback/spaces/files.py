"""One file of arrays with a readable header; nothing in it is executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.tables.io.write import atomic_path


def write_arrays(path: Path, header: dict[str, Any], arrays: dict[str, NDArray]) -> None:
    """Write to a file beside it first, so that a crash leaves the old file whole."""
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8)
    with atomic_path(path) as half_written, half_written.open("wb") as file:
        np.savez(file, header=text, **arrays)  # type: ignore[arg-type]


def read_arrays(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """The header and the arrays of a file of this kind."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {path}.") from None
    except Exception as error:
        raise InvalidInputError(
            f"{path} is not a file that Shortlist wrote, or is damaged ({error})."
        ) from None
    if header.get("kind") != kind or header.get("format") != 1:
        raise InvalidInputError(
            f"{path} holds {header.get('kind')!r} in format {header.get('format')!r}; "
            f"{kind!r} in format 1 is needed here."
        )
    return header, arrays
