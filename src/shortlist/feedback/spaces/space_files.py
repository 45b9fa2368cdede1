"""A score space on disk: leaf numbers as one memory-mappable file, structure and header in another."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shortlist.feedback.spaces.door import Door
from shortlist.feedback.spaces.files import read_arrays, write_arrays
from shortlist.feedback.spaces.forest import Forest
from shortlist.feedback.spaces.loda import Projection
from shortlist.kernels.feedback.trees import BLOCK
from shortlist.tables import Schema
from shortlist.tables.io.write import atomic_path

if TYPE_CHECKING:
    from shortlist.feedback.spaces.score_space import ScoreSpace

Space = TypeVar("Space", bound="ScoreSpace")

KIND = "shortlist score space"


def save(space: ScoreSpace, folder: Any) -> None:
    """Write ``leaf_ids.npy`` and ``space.npz`` into a folder, made if it is not there."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "leaf_ids.npy") as half_written, half_written.open("wb") as file:
        np.save(file, space.leaf_ids[: -(-space.n_rows // BLOCK)])
    write_arrays(folder / "space.npz", _header(space), _arrays(space))


def load(cls: type[Space], folder: Any, *, mmap: bool) -> Space:
    """Read what ``save`` wrote."""
    folder = Path(folder)
    header, arrays = read_arrays(folder / "space.npz", KIND)
    schema = Schema.from_dict(header["schema"]) if header["schema"] else None
    space = cls(
        Forest(**{field.name: arrays[field.name] for field in fields(Forest)}),
        arrays["values"],
        Door(header["names"], arrays["categorical"], schema),
        leaf_counts=arrays.get("leaf_counts"),
        projection=_projection(arrays),
        single=header["single"],
    )
    space.leaf_ids = np.load(folder / "leaf_ids.npy", mmap_mode="r" if mmap else None, allow_pickle=False)
    space.n_rows, space.first_rows = header["n_rows"], header["first_rows"]
    return space.build_index() if header["indexed"] else space


def _header(space: ScoreSpace) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format": 1,
        "names": space.door.names,
        "schema": space.door.schema.to_dict() if space.door.schema else None,
        "single": space.single,
        "n_rows": space.n_rows,
        "first_rows": space.first_rows,
        "indexed": space.index is not None,
    }


def _arrays(space: ScoreSpace) -> dict[str, NDArray]:
    arrays = {field.name: getattr(space.forest, field.name) for field in fields(Forest)}
    arrays |= {"values": space.values, "categorical": space.door.categorical}
    if space.leaf_counts is not None:
        arrays["leaf_counts"] = space.leaf_counts
    if space.projection is not None:
        part = space.projection
        arrays |= {"middle": part.middle, "scale": part.scale, "projection": part.weights.toarray()}
    return arrays


def _projection(arrays: dict[str, NDArray]) -> Projection | None:
    if "projection" not in arrays:
        return None
    return Projection(arrays["middle"], arrays["scale"], csr_array(arrays["projection"]))
