"""The state of a stream as one file: arrays and plain values, nothing that runs when it is read."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.tables.io.write import atomic_path

#: Raised whenever an older version could not read a state, or would go on with other numbers.
FORMAT = 3
#: The formats that are read.
READ = (2, FORMAT)


class StateFileError(InvalidInputError):
    """A file does not hold the state of a stream, or one that this version cannot read."""


def pack(state: dict[str, Any]) -> bytes:
    """A tree of dicts, lists, arrays and plain values as bytes; ``unpack`` gives it back bit for bit."""
    arrays: dict[str, Any] = {}
    tree = json.dumps({"format": FORMAT, "state": _without_arrays(state, arrays)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(_entry("state.json"), tree)
        for name, array in arrays.items():
            with archive.open(_entry(f"{name}.npy"), "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def unpack(data: bytes, name: str = "the state") -> dict[str, Any]:
    """The tree that ``pack`` was given.

    >>> unpack(pack({"w": np.array([0.1]), "steps": 3}))
    {'w': array([0.1]), 'steps': 3}
    """
    try:
        tree, arrays = _read(data)
        version = tree.get("format")
        state: dict[str, Any] = _with_arrays(tree["state"], arrays) if version in READ else {}
    except Exception as error:  # whatever zipfile, zlib, JSON and NumPy make of bytes that make no sense
        raise StateFileError(
            f"{name} is not the state of a stream, or is damaged ({error}). Put a copy of it back, or begin a new "
            "stream with another --state."
        ) from None
    if version not in READ:
        raise StateFileError(
            f"{name} was written by another version of Shortlist (format {version!r}, this one reads up to "
            f"{FORMAT}). Go on with that version, or begin a new stream with another --state."
        )
    return state


def _read(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        arrays = {
            entry.removesuffix(".npy"): np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
            for entry in archive.namelist()
            if entry.endswith(".npy")
        }
        return json.loads(archive.read("state.json")), arrays


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Replace a state file in one step: after a crash it holds either the old state or the new one."""
    with atomic_path(path) as beside:
        beside.write_bytes(pack(state))


def read_state(path: Path) -> dict[str, Any]:
    """The state in a file."""
    if not path.is_file():
        raise StateFileError(f"there is no state {path}; give the file that an earlier run wrote.")
    return unpack(path.read_bytes(), str(path))


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # same state, same bytes


def _without_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _without_arrays(each, arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(each, arrays) for each in value]
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    return value.item() if isinstance(value, np.generic) else value


def _with_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            return arrays[value["array"]]
        return {key: _with_arrays(each, arrays) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_arrays(each, arrays) for each in value]
    return value
