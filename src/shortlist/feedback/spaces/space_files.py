"""A score space on disk: leaf numbers as one memory-mappable file, structure and header in another."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shortlist.feedback.spaces.files import read_arrays, write_arrays
from shortlist.feedback.spaces.forest import Floats, Forest
from shortlist.feedback.spaces.loda import Projection
from shortlist.kernels.feedback.trees import BLOCK
from shortlist.tables import Schema
from shortlist.tables.features import Columns
from shortlist.tables.io.write import atomic_path

KIND = "shortlist score space"


@dataclass(frozen=True, eq=False)
class SpaceFile:
    """What the files hold of a space."""

    forest: Forest
    values: Floats
    columns: Columns
    leaf_counts: Floats | None
    projection: Projection | None
    single: bool
    n_rows: int
    first_rows: int
    indexed: bool
    leaf_ids: NDArray

    def write(self, folder: Any) -> None:
        """Write ``leaf_ids.npy`` and ``space.npz`` into a folder, made if it is not there."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder / "leaf_ids.npy") as half_written, half_written.open("wb") as file:
            np.save(file, self.leaf_ids[: -(-self.n_rows // BLOCK)])
        write_arrays(folder / "space.npz", self._header(), self._arrays())

    @classmethod
    def read(cls, folder: Any, *, mmap: bool) -> Self:
        """Read what ``write`` wrote."""
        folder = Path(folder)
        header, arrays = read_arrays(folder / "space.npz", KIND)
        schema = Schema.from_dict(header["schema"]) if header["schema"] else None
        return cls(
            forest=Forest(**{field.name: arrays[field.name] for field in fields(Forest)}),
            values=arrays["values"],
            columns=Columns(header["names"], arrays["categorical"], schema),
            leaf_counts=arrays.get("leaf_counts"),
            projection=_projection(arrays),
            leaf_ids=np.load(folder / "leaf_ids.npy", mmap_mode="r" if mmap else None, allow_pickle=False),
            **{name: header[name] for name in ("single", "n_rows", "first_rows", "indexed")},
        )

    def _header(self) -> dict[str, Any]:
        return {
            "kind": KIND,
            "format": 1,
            "names": self.columns.names,
            "schema": self.columns.schema.to_dict() if self.columns.schema else None,
            "single": self.single,
            "n_rows": self.n_rows,
            "first_rows": self.first_rows,
            "indexed": self.indexed,
        }

    def _arrays(self) -> dict[str, NDArray]:
        arrays = {field.name: getattr(self.forest, field.name) for field in fields(Forest)}
        arrays |= {"values": self.values, "categorical": self.columns.categorical}
        if self.leaf_counts is not None:
            arrays["leaf_counts"] = self.leaf_counts
        if self.projection is not None:
            part = self.projection
            arrays |= {"middle": part.middle, "scale": part.scale, "projection": part.weights.toarray()}
        return arrays


def rewrite_schema(source: Path, target: Path, schema: Schema) -> None:
    """Write what stands beside the leaf numbers of a space to another folder, with another schema."""
    header, arrays = read_arrays(source / "space.npz", KIND)
    target.mkdir(parents=True, exist_ok=True)
    write_arrays(target / "space.npz", {**header, "schema": schema.to_dict()}, arrays)


def _projection(arrays: dict[str, NDArray]) -> Projection | None:
    if "projection" not in arrays:
        return None
    return Projection(arrays["middle"], arrays["scale"], csr_array(arrays["projection"]))
