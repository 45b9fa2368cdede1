"""A small model of boosted trees that knows its chances, trained in a moment."""

from shortlist.models import TrainedModel
from shortlist.rankers import APBoost
from shortlist.tables import Roles, load_table


def quick_model(frame, *, budget=10, **roles):
    """APBoost with few rounds on the rows of a table."""
    table = load_table(frame, Roles(**roles))
    ranker = APBoost(n_estimators=10, folds=3, committee=False, random_state=0, n_jobs=1)
    ranker.fit(table.features, table.wanted)
    return TrainedModel(ranker, "ap-boost", table.schema, budget, "2026-11-18-quick")
