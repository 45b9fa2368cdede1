"""XGBoost's model files in binary JSON (UBJSON), read and written with arrays as they lie.

Its documented JSON model is the same tree of objects; as text, the numbers of an ensemble take longer to write and to
read than some trees take to grow. Only what XGBoost writes is understood.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_MARKS = {np.dtype(kind): mark for mark, kind in _NUMBERS.items()}
#: The same for one number, where an array would take longer to make than to read.
_SINGLE = {
    mark: struct.Struct(kind)
    for mark, kind in {
        b"i": ">b",
        b"U": ">B",
        b"I": ">h",
        b"l": ">i",
        b"L": ">q",
        b"d": ">f",
        b"D": ">d",
    }.items()
}
_CONSTANTS = {b"T": True, b"F": False, b"Z": None}


def read_ubjson(raw: bytes | bytearray) -> Any:
    """Objects as dicts, arrays of numbers as NumPy arrays.

    >>> read_ubjson(write_ubjson({"trees": [], "ids": np.array([1, 2], np.int32), "name": "x"}))
    {'trees': [], 'ids': array([1, 2], dtype=int32), 'name': 'x'}
    """
    return _Reader(raw).value()


class _Reader:
    def __init__(self, raw: bytes | bytearray) -> None:
        self.raw, self.at = bytes(raw), 0

    def take(self, size: int) -> bytes:
        part = self.raw[self.at : self.at + size]
        if len(part) != size:  # also of a size below 0, by which a reader would go back and never end
            raise ValueError("the bytes end within a value")
        self.at += size
        return part

    def value(self) -> Any:
        mark = self.take(1)
        if mark == b"{":
            return dict(self.items())
        if mark == b"[":
            return self.array()
        if mark == b"S":
            return self.text()
        return _CONSTANTS[mark] if mark in _CONSTANTS else self.number(mark)

    def number(self, mark: bytes) -> Any:
        kind = _SINGLE[mark]
        return kind.unpack(self.take(kind.size))[0]

    def text(self) -> str:
        return self.take(self.number(self.take(1))).decode()

    def items(self) -> Any:
        while self.raw[self.at : self.at + 1] != b"}":
            yield self.text(), self.value()
        self.at += 1

    def array(self) -> Any:
        if self.raw[self.at : self.at + 1] == b"$":
            kind = np.dtype(_NUMBERS[self.take(2)[1:]])
            size = self.number(self.take(2)[1:]) * kind.itemsize
            return np.frombuffer(self.take(size), kind).astype(kind.newbyteorder("="))
        if self.raw[self.at : self.at + 1] == b"#":
            return [self.value() for _ in range(self.number(self.take(2)[1:]))]
        values = []
        while self.raw[self.at : self.at + 1] != b"]":
            values.append(self.value())
        self.at += 1
        return values


def write_ubjson(value: Any) -> bytes:
    """What :func:`read_ubjson` reads."""
    parts: list[bytes] = []
    _write(value, parts.append)
    return b"".join(parts)


def _write(value: Any, put: Any) -> None:
    if isinstance(value, dict):
        put(b"{")
        for key, inner in value.items():
            put(_sized(key))
            _write(inner, put)
        put(b"}")
    elif isinstance(value, np.ndarray):
        kind = value.dtype.newbyteorder(">")
        put(b"[$" + _MARKS[kind] + b"#L" + struct.pack(">q", value.size) + value.astype(kind).tobytes())
    elif isinstance(value, list):
        put(b"[")
        for inner in value:
            _write(inner, put)
        put(b"]")
    elif isinstance(value, str):
        put(b"S" + _sized(value))
    elif value is None or isinstance(value, bool):
        put({True: b"T", False: b"F", None: b"Z"}[value])
    elif isinstance(value, int):
        put(b"L" + struct.pack(">q", value))
    else:
        put(b"d" + struct.pack(">f", value))


def _sized(text: str) -> bytes:
    raw = text.encode()
    return b"L" + struct.pack(">q", len(raw)) + raw
