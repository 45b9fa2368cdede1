"""A scorecard for a regulator
===========================

Somebody must be able to work out every score by hand. A scorecard is a few small trees; each gives whole points, which
are added up.
"""

import matplotlib.pyplot as plt

from shortlist.datasets import make_claims
from shortlist.metrics import CurveDisplay, average_precision
from shortlist.rankers import Baseline, TargetTree

old, new = (
    make_claims(3_000, random_state=1, fraud_rate=0.1),
    make_claims(2_000, random_state=2, fraud_rate=0.1),
)
features = ["amount", "policy_age_days", "days_to_report", "previous_claims", "witnesses", "police_report"]

card = TargetTree(scorecard=3, generations=40, n_restarts=2, random_state=0)
card.fit(old[features], old["fraud"])
print(card.to_text())

# %%
# Why is a claim where it is? By these rules:
for rule in card.explain(new[features][:2]):
    print(rule)

# %%
# It can run in the database, without Python.
print(card.to_sql()[:400])

# %%
# Beside a logistic model of the same columns:
plain = Baseline().fit(old[features], old["fraud"])
for name, ranker in {"scorecard": card, "logistic": plain}.items():
    score = ranker.decision_function(new[features])
    print(f"{name:10} average precision {average_precision(new['fraud'], score):.3f}")
CurveDisplay.from_predictions(new["fraud"], card.decision_function(new[features]), name="scorecard")
plt.show()
