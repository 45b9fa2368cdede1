"""What names a row wherever it lies: a hash of its id."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


def keys_of_ids(ids: Any) -> NDArray[np.uint64]:
    """A number for each id, by how it is written: 7 in whole numbers of any size is '7' in text.

    >>> bool(keys_of_ids(np.array([7, 8]))[0] == keys_of_ids(pl.Series(["7"]))[0])
    True
    """
    from shortlist.kernels.whole_sums import hash_texts  # noqa: PLC0415  whoever only scores does not wait for it

    texts = (ids if isinstance(ids, pl.Series) else pl.Series(ids)).cast(pl.String).fill_null("")
    letters = np.frombuffer(texts.str.join("").item().encode(), dtype=np.uint8)
    return hash_texts(letters, texts.str.len_bytes().to_numpy().astype(np.int64))
