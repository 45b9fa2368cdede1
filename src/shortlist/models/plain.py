"""Models that are made of our own rankers, plain values and arrays, read without skops.

skops loads most of scikit-learn to know which classes it may trust: that takes longer than to score a day's rows.
Boosted models and evolved trees hold nothing of scikit-learn. What is not known here is left to skops.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist import objectives, rankers
from shortlist.models.moved import SCHEMA
from shortlist.objectives.base import Objective
from shortlist.rankers.base import Ranker

#: The way of writing that is read here; skops numbers them, and reads all.
PROTOCOL = 2
_PLAIN = {f"builtins.{kind.__name__}": kind for kind in (bool, float, int, str)}

Node = dict[str, Any]


class _NotPlainError(Exception):
    """Something that is for skops to read."""


def read_plain(payload: bytes) -> Any | None:
    """What skops would read from this payload; None where that is for skops to say."""
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as stored:
            root = json.loads(stored.read(SCHEMA))
            if root["protocol"] != PROTOCOL:
                return None
            return _Reading(stored).build(root)
    except Exception:  # whatever it is, skops meets it too, and its refusal is the one that is told
        return None


@dataclass
class _Reading:
    """One payload: nodes are built once, as what they stand for was once."""

    stored: zipfile.ZipFile
    built: dict[int, Any] = field(default_factory=dict)

    def build(self, node: Node) -> Any:
        number = node.get("__id__")
        if number is None:
            return _BUILD[node["__loader__"]](self, node)
        if number not in self.built:
            self.built[number] = _BUILD[node["__loader__"]](self, node)
        return self.built[number]

    def ranker(self, node: Node) -> Any:
        """As skops does it: without the constructor, the attributes as they were."""
        made: Any = object.__new__(_class_of(_name(node)))
        attributes = self.build(node["content"])
        if hasattr(made, "__setstate__"):
            made.__setstate__(attributes)
        else:
            vars(made).update(attributes)
        return made

    def dict(self, node: Node) -> dict[Any, Any]:
        kinds = self.build(_of(node, "builtins.dict")["key_types"])
        items = node["content"].items()
        return {kind(key): self.build(value) for kind, (key, value) in zip(kinds, items, strict=True)}

    def list(self, node: Node) -> list[Any]:
        return [self.build(each) for each in _of(node, "builtins.list")["content"]]

    def tuple(self, node: Node) -> tuple[Any, ...]:
        return tuple(self.build(each) for each in _of(node, "builtins.tuple")["content"])

    def array(self, node: Node) -> Any:
        content = self.stored.read(_of(node, "numpy.ndarray")["file"])
        return np.load(io.BytesIO(content), allow_pickle=False)


_BUILD: dict[str, Callable[[_Reading, Node], Any]] = {
    "DictNode": _Reading.dict,
    "JsonNode": lambda _, node: json.loads(node["content"]),
    "ListNode": _Reading.list,
    "NdArrayNode": _Reading.array,
    "ObjectNode": _Reading.ranker,
    "TupleNode": _Reading.tuple,
    "TypeNode": lambda _, node: _PLAIN[_name(node)],
}


def _of(node: Node, name: str) -> Node:
    if _name(node) != name:
        raise _NotPlainError(_name(node))
    return node


def _name(node: Node) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def _class_of(name: str) -> type:
    """The ranker or objective of this name, among those that our rooms list: a file does not say what is imported."""
    inside = name.rpartition(".")[2]
    for room, kind in ((rankers, Ranker), (objectives, Objective)):
        found = getattr(room, inside) if inside in room.__all__ else None
        if (
            isinstance(found, type)
            and issubclass(found, kind)
            and f"{found.__module__}.{found.__name__}" == name
        ):
            return found
    raise _NotPlainError(name)
