"""An audit queue, from no labels to a model
=========================================

An auditor has invoices and no history of findings. The oddest come first, but odd is not wanted: large invoices that
are paid late are honest, invoices that are split to stay below a limit are not. Every verdict re-ranks the rest. After
a hundred verdicts there is enough to train a model for next month.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from shortlist.feedback import LeafSimilarity, Offline, ScoreSpace
from shortlist.metrics import precision_at_k
from shortlist.rankers import Baseline


def invoices(seed):
    """A month: most are as usual, some are odd and honest (large, paid late), as many are odd and wanted."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["usual", "large", "split"], 2_000, p=[0.94, 0.03, 0.03])
    return pl.DataFrame(
        {
            "amount": np.exp(rng.normal(7, 0.8, 2_000) + 2.5 * (kind == "large")),
            "days_to_pay": rng.gamma(4, 8, 2_000) + 40 * (kind == "large"),
            "invoices_that_day": rng.poisson(1.5, 2_000) + 6 * (kind == "split"),
            "below_limit": rng.beta(2, 2, 2_000) * np.where(kind == "split", 0.1, 1.0),
            "supplier_age": rng.gamma(3, 3, 2_000),
            "wanted": kind == "split",
        }
    )


month, next_month = invoices(1), invoices(2)
columns = [name for name in month.columns if name != "wanted"]
X, wanted = month.select(columns), month["wanted"].to_numpy()

# %%
# The auditor is played by the outcome. ``Offline`` never learns: it is the list as the forest made it.
space = ScoreSpace.from_isolation_forest(X, random_state=0)
found, verdicts = {}, {}
for name, ranker in {
    "learning": LeafSimilarity(space, random_state=0),
    "never learning": Offline(space),
}.items():
    hits = []
    for _ in range(100):
        row = ranker.ask()
        ranker.tell(row, bool(wanted[row]))
        hits.append(wanted[row])
        if name == "learning":
            verdicts[row] = wanted[row]
    found[name] = np.cumsum(hits)
    print(f"{name:16}{found[name][-1]:3} wanted rows in 100 reviews")

# %%
for name, hits in found.items():
    plt.plot(range(1, 101), hits, label=name)
plt.xlabel("reviews")
plt.ylabel("wanted rows found")
plt.legend()
plt.show()

# %%
# The verdicts are labels. A small, plain model is enough for so few.
reviewed = list(verdicts)
model = Baseline().fit(X[reviewed], np.array([verdicts[row] for row in reviewed]))
score = model.decision_function(next_month.select(columns))
print(f"precision at 50 next month: {precision_at_k(next_month['wanted'], score, 50):.2f}")
print(f"share of wanted rows:       {next_month['wanted'].mean():.2f}")
