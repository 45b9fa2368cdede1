"""Measures of rows of Dask are those of the same rows on one machine."""

import numpy as np
import pandas as pd
import pytest

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.metrics import average_precision, precision_at_k

dd = pytest.importorskip("dask.dataframe")


def table(digits, n_rows=5_000):
    rng = np.random.default_rng(digits)
    score = rng.normal(size=n_rows).round(digits)
    return pd.DataFrame({"score": score, "fraud": rng.random(n_rows) < 0.1 / (1 + np.exp(-score))})


def spread(rows, n_partitions=4):
    """With a partition that has no rows, and one without any that is wanted."""
    parts = dd.from_pandas(rows, npartitions=n_partitions)
    none = rows.head(0)
    return dd.concat([dd.from_pandas(none, npartitions=1), parts]) if n_partitions > 1 else parts


@pytest.mark.parametrize("digits", [9, 1, 0], ids=["distinct scores", "ties", "many ties"])
@pytest.mark.parametrize("ties", ["average", "worst"])
@pytest.mark.parametrize("n_partitions", [1, 4])
def test_those_of_one_machine(digits, ties, n_partitions):
    rows = table(digits).sort_values("fraud", ignore_index=True)
    there = spread(rows, n_partitions)
    y, score = rows["fraud"], rows["score"]
    found = average_precision(there["fraud"], there["score"], ties=ties)
    assert found == pytest.approx(average_precision(y, score, ties=ties), abs=1e-15)
    for k in (1, 7, 500, 0.03, len(rows)):
        found = precision_at_k(there["fraud"], there["score"], k, ties=ties)
        assert found == pytest.approx(precision_at_k(y, score, k, ties=ties), abs=1e-15)


def test_arrays():
    da = pytest.importorskip("dask.array")
    rows = table(1)
    y, score = rows["fraud"].to_numpy(), rows["score"].to_numpy()
    found = average_precision(da.from_array(y, chunks=700), da.from_array(score, chunks=700))
    assert found == pytest.approx(average_precision(y, score), abs=1e-15)


def test_what_cannot_be_measured_is_told():
    rows = table(1, 100)
    there = spread(rows)
    y, score = there["fraud"], there["score"]
    refused = [
        (lambda: average_precision(y, rows["score"]), "columns of the same table of Dask"),
        (
            lambda: average_precision(y, score.repartition(npartitions=2)),
            "y has 5 partitions and score has 2",
        ),
        (lambda: average_precision(y, score, groups=y), "without groups"),
        (lambda: average_precision(y, score, sample_weight=score), "without sample_weight"),
        (lambda: average_precision(y, score * np.nan), "score"),
        (lambda: average_precision(score, score), "y must be 1 for wanted rows"),
        (lambda: precision_at_k(y, score, 101), "only 100 rows|100"),
    ]
    for work, says in refused:
        with pytest.raises(InvalidInputError, match=says):
            work()
    with pytest.raises(NoWantedRowsError, match="none of its 100 rows"):
        average_precision(y & False, score)
