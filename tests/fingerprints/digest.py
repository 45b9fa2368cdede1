"""One sha256 of any result: numbers by their bits, objects by the name of their class and what they have learned."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import xgboost
from scipy.sparse import issparse

#: Keys, columns and attributes that tell of the day, the clock, the libraries or the threads, and not of the result.
PASSING = re.compile(
    r"seconds|^(ms per verdict|created|libraries|at|until|when|n_jobs|nthread|callback|on_generation)$"
)
#: The day in the version of a model, before its checksum, and threads in a command or in the text of an estimator.
IN_TEXT = re.compile(r"\d{4}-\d\d-\d\d-(?=[0-9a-f]{8}\b)|(?<=--jobs )\d+|(?<=n_jobs=)-?\d+")


def digest(value: Any) -> str:
    """The fingerprint of a result.

    >>> digest({"a": np.ones(2), "seconds": 1.0}) == digest({"a": np.ones(2), "seconds": 2.0})
    True
    """
    sums = hashlib.sha256()
    _feed(value, sums.update)
    return sums.hexdigest()


def _feed(value: Any, add: Callable[[bytes], None]) -> None:
    value = _plain(value)
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            if not PASSING.search(str(key)):
                add(f"\n{key}:".encode())
                _feed(value[key], add)
    elif isinstance(value, list | tuple):
        add(f"[{len(value)}".encode())
        for each in value:
            _feed(each, add)
    elif isinstance(value, bytes):
        add(value)
    elif isinstance(value, str):
        add(IN_TEXT.sub("", value).encode() + b"\0")
    else:
        add(f"{value!r}\0".encode())


def _plain(value: Any) -> Any:  # noqa: PLR0911
    """A value as dicts, lists, texts, bytes and plain numbers."""
    if value is None or isinstance(value, dict | list | tuple | bytes | bool | int | float):
        return value
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, np.ndarray) and value.dtype.names:  # between its fields is what memory held before
        return {name: value[name] for name in value.dtype.names}
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [str(value.dtype), str(value.shape), np.ascontiguousarray(value).tobytes()]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, pl.DataFrame):
        kept = [name for name in value.columns if not PASSING.search(name)]
        return [kept, *map(list, value.select(kept).rows())]
    if isinstance(value, np.ndarray | pl.Series | set | frozenset):
        return list(value)
    return value if isinstance(value, str) else _parts(value)


def _parts(value: Any) -> Any:  # noqa: PLR0911
    """An object by the name of its class and its parts."""
    name = type(value).__name__
    if isinstance(value, type) or (callable(value) and not hasattr(value, "get_params")):
        return getattr(value, "__name__", name)
    if isinstance(value, xgboost.Booster):
        trees = json.loads(value.save_raw("json"))["learner"]
        return [name, json.dumps(trees, sort_keys=True)]
    if issparse(value):
        return [name, value.toarray()]
    if isinstance(value, np.random.Generator):
        return [name, value.bit_generator.state]
    if is_dataclass(value):
        return [name, {each.name: getattr(value, each.name) for each in fields(value)}]
    if hasattr(value, "to_dict"):
        return [name, value.to_dict()]
    if hasattr(value, "get_params"):
        return [name, value.get_params(deep=False), learned(value)]
    state = value.__getstate__() if hasattr(value, "__getstate__") else None
    return [name, state if isinstance(state, dict) else str(value)]


def learned(ranker: Any) -> dict[str, Any]:
    """What fitting has left on an estimator."""
    return {name: value for name, value in vars(ranker).items() if name.endswith("_") and name[0] != "_"}


def arrays_in(path: Path) -> dict[str, Any]:
    """The contents of a file of arrays: npy, npz, or the state of a stream."""
    if path.suffix == ".npy":
        return {path.name: np.load(path)}
    with zipfile.ZipFile(path) as archive:
        return {name: _member(name, archive.read(name)) for name in archive.namelist()}


def _member(name: str, data: bytes) -> Any:
    if not name.endswith(".npy"):
        return json.loads(data)
    array = np.load(io.BytesIO(data))
    return json.loads(array.tobytes()) if name == "header.npy" else array
