"""Ranking on Dask
===============

Rows that lie on several machines, as partitions of a Dask table. Here the machines are two processes of this one;
elsewhere ``Client("tcp://scheduler:8786")`` joins yours. It needs ``pip install 'shortlist[dask]'``; a test runs it,
the build of this page does not.
"""

import dask.dataframe as dd
import distributed
import numpy as np

from shortlist.datasets import make_claims
from shortlist.rankers import APBoost


def main():
    """Train on two processes, and on one machine: the same scores."""
    claims = make_claims(4_000, random_state=0, fraud_rate=0.1).to_pandas()
    columns = ["amount", "policy_age_days", "days_to_report", "previous_claims", "witnesses"]
    table = dd.from_pandas(claims, npartitions=4)
    settings = {"folds": 0, "n_estimators": 20, "random_state": 0}
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster):
        there = APBoost(**settings).fit(table[columns], table["fraud"])
        first = there.decision_function(table[columns]).compute()
    here = APBoost(**settings).fit(claims[columns], claims["fraud"])
    same = np.array_equal(np.asarray(first), here.decision_function(claims[columns]))
    print(f"the same scores on two processes and on one: {same}")
    return same


if __name__ == "__main__":
    main()
