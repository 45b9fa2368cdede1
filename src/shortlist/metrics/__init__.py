"""Measures of the top of a ranking, as plain functions of ``(y, score)``; larger score = look sooner."""

from shortlist.metrics.cost import act_probability, cost_saved_at_k
from shortlist.metrics.curves import Curve, cost_saved_by_k, hits_by_rank, precision_by_rank
from shortlist.metrics.displays import CurveDisplay
from shortlist.metrics.gain import dcg_at_k, ndcg_at_k
from shortlist.metrics.profit import net_value_curve, paying_budget
from shortlist.metrics.ranking import (
    average_precision,
    f1_at_k,
    pos_at_top,
    precision_at_k,
    precision_at_p,
    recall_at_k,
    roc_auc,
)
from shortlist.metrics.review import expert_effort, precision_at_budget
from shortlist.metrics.scorers import Scorer, scorer

__all__ = [
    "Curve",
    "CurveDisplay",
    "Scorer",
    "act_probability",
    "average_precision",
    "cost_saved_at_k",
    "cost_saved_by_k",
    "dcg_at_k",
    "expert_effort",
    "f1_at_k",
    "hits_by_rank",
    "ndcg_at_k",
    "net_value_curve",
    "paying_budget",
    "pos_at_top",
    "precision_at_budget",
    "precision_at_k",
    "precision_at_p",
    "precision_by_rank",
    "recall_at_k",
    "roc_auc",
    "scorer",
]
