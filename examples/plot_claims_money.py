"""Insurance claims, with money
============================

Investigators can open fifty claims. Those that are most likely fraud are often small, the largest are mostly honest;
what pays is the chance that a claim is fraud times its amount.
"""

import matplotlib.pyplot as plt

import shortlist
from shortlist.datasets import make_claims

history, new = make_claims(6_000, random_state=1), make_claims(3_000, random_state=2)
outcomes = new.select("claim_id", "fraud")

# %%
# ``value`` names the column with the money. Naming a model spares the comparison of several.
ranked = shortlist.rank(
    history,
    new.drop("fraud"),
    label="fraud",
    value="amount",
    id="claim_id",
    model="logistic",
    budget=50,
    keep_all=True,
)
print(ranked.frame.select("rank", "claim_id", "amount", "chance", "reason_1").head(5))

# %%
# What fifty looks find, beside the same model without money and beside sorting.
found = shortlist.evaluate(
    ranked.frame,
    outcomes=outcomes,
    id="claim_id",
    label="fraud",
    impact="amount",
    against=["chance", "amount"],
    budget=50,
)
print(found.table)

# %%
# The money found, look by look.
truth = dict(outcomes.iter_rows())
for name, order in {"chance x amount": "score", "chance alone": "chance", "amount alone": "amount"}.items():
    rows = ranked.frame.sort(order, descending=True).head(200)
    worth = [amount * truth[claim] for claim, amount in rows.select("claim_id", "amount").iter_rows()]
    plt.plot(range(1, 201), [sum(worth[:k]) for k in range(1, 201)], label=name)
plt.axvline(50, linestyle="--", color="grey")
plt.xlabel("claims looked at")
plt.ylabel("money found")
plt.legend()
plt.show()
