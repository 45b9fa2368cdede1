"""A scikit-learn estimator as a ranker; what it stores is named, for it is not of this package."""

from sklearn.ensemble import ExtraTreesClassifier

from shortlist.rankers import Baseline
from shortlist.rankers.catalogue import Model


class AcmeTrees(ExtraTreesClassifier):
    """Extra trees with a name."""


MODEL = Model(
    lambda options: Baseline(estimator=AcmeTrees(n_estimators=5, random_state=options.random_state)),
    "label",
    "extra trees, by Acme",
    stores=(AcmeTrees,),
)
