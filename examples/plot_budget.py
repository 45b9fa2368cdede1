"""What a budget of fifty finds
============================

An investigator can look at fifty claims a week. How many of them turn out to be fraud depends on which fifty; this
example trains a ranker on last year's claims and compares its fifty with sorting by amount.
"""

import matplotlib.pyplot as plt

from shortlist.datasets import make_claims
from shortlist.metrics import CurveDisplay, average_precision, precision_at_k
from shortlist.rankers import Baseline

old, new = make_claims(8_000, random_state=1), make_claims(4_000, random_state=2)
features = [name for name in old.columns if name not in ("claim_id", "fraud")]

ranker = Baseline().fit(old[features], old["fraud"])
score = ranker.decision_function(new[features])

# %%
# Average precision looks at the whole ranking, precision at 50 at what the investigator sees.
print(f"average precision   {average_precision(new['fraud'], score):.3f}")
print(f"precision at 50     {precision_at_k(new['fraud'], score, 50):.2f}")
print(f"sorting by amount   {precision_at_k(new['fraud'], new['amount'], 50):.2f}")

# %%
# The share of fraud among the first rows, with a bootstrap interval.
CurveDisplay.from_predictions(new["fraud"], score, name="logistic ranker")
plt.show()
