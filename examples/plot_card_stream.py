"""Card fraud as a stream
======================

Payments come by the hour, twenty of each hour can be checked, and a verdict costs minutes. ``ActiveRanker`` shows the
top twenty of each hour and asks for ten more that teach it most. In hour 8 the fraudsters change their ways.
"""

import matplotlib.pyplot as plt
import numpy as np

from shortlist.stream import ActiveRanker

rng = np.random.default_rng(0)


def hour(number):
    """A thousand payments; 3 % are fraud, and lie elsewhere from hour 8 on."""
    X = rng.normal(size=(1_000, 6))
    fraud = rng.random(1_000) < 0.03
    X[fraud, 0 if number < 8 else 3] += 3.0
    return X, fraud


ranker = ActiveRanker(20, extra_labels=10, random_state=0)
precision, labels = [], {}
for number in range(16):
    X, fraud = hour(number)
    rows = ranker.ask(X)  # numbers of rows over the whole stream, the twenty to show first
    labels.update(zip(number * 1_000 + np.arange(1_000), fraud, strict=True))
    precision.append(np.mean([labels[row] for row in rows[:20]]))
    ranker.tell(rows, [labels[row] for row in rows])

print(f"labels asked for: {ranker.labels_asked_} of {16_000} payments")
print(f"fraud among those shown in the last four hours: {np.mean(precision[-4:]):.0%}")

# %%
plt.plot(precision, marker="o")
plt.axvline(8, linestyle="--", color="grey")
plt.xlabel("hour")
plt.ylabel("fraud among the twenty shown")
plt.ylim(0, 1)
plt.show()
