"""Storms and outages
==================

After a storm, crews can be sent to ten networks. Which ten saves the most customers from a night in the dark is not the
question that a model of "will this network fail?" answers: one network has fifty customers, another fifty thousand.

Here 80 storms teach, 40 test; what counts is the share of customers that the ideal ten would have saved.
"""

import matplotlib.pyplot as plt
import numpy as np

from shortlist.datasets import make_outages
from shortlist.metrics import cost_saved_at_k, cost_saved_by_k
from shortlist.objectives import CostSaved
from shortlist.rankers import Baseline, LambdaMART

rows = make_outages(120, random_state=0)
features = [name for name in rows.columns if name not in ("storm", "network", "customers_out")]
past = rows["storm"].to_numpy() < np.sort(rows["storm"].unique().to_numpy())[80]
old, new = rows.filter(past), rows.filter(~past)

# %%
# One ranker learns who fails, the other what acting on ten rows of each storm saves.
fails = Baseline().fit(old[features], old["customers_out"] > 0)
saves = LambdaMART(objective=CostSaved(k=10), n_estimators=60, random_state=0)
saves.fit(old[features], old["customers_out"], groups=old["storm"])

scores = {
    "who fails (logistic)": fails.decision_function(new[features]),
    "what is saved (CS-MART)": saves.decision_function(new[features]),
    "at random": np.random.default_rng(0).random(new.height),
}
impact, storm = new["customers_out"], new["storm"]
for name, score in scores.items():
    print(f"{name:25}{cost_saved_at_k(impact, score, k=10, groups=storm):6.1%}")

# %%
# The same for every number of crews.
for name, score in scores.items():
    saved = cost_saved_by_k(impact, score, groups=storm)
    plt.plot(saved.rank[:40], saved.value[:40], label=name)
plt.xlabel("networks that crews are sent to")
plt.ylabel("share of the avoidable outage")
plt.legend()
plt.show()
