"""What each column adds to a prediction of an ordinary model behind ``preparation.complete_numbers``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from xgboost import DMatrix, XGBModel

Floats = NDArray[np.float64]


def can_explain(model: Any) -> bool:
    """Whether a model is a weighted sum of columns or boosted trees, which can be taken apart exactly."""
    return isinstance(_core(model), XGBModel) or hasattr(_core(model), "coef_")


def prediction_parts(columns: ColumnTransformer, model: Any, X: Any) -> Floats:
    """What each column of X adds to each row's prediction; the last column is the base.

    For weights: weight x prepared value. For boosted trees: SHAP values of the trees' sum, before any link.
    Prepared columns of one category are added up.
    """
    prepared, core = np.asarray(columns.transform(X), dtype=np.float64), _core(model)
    if isinstance(core, XGBModel):
        parts = core.get_booster().predict(DMatrix(prepared, nthread=core.n_jobs), pred_contribs=True)
        parts, base = parts[:, :-1].astype(np.float64), parts[:, -1]
    else:
        parts, base = prepared * np.ravel(core.coef_), np.broadcast_to(core.intercept_, len(prepared))
    gathered = gather_parts(columns, parts, X.shape[1])
    gathered[:, -1] = base
    return gathered


def gather_parts(columns: ColumnTransformer, parts: Floats, n_columns: int) -> Floats:
    """Parts of prepared columns added up by the column that they were made from; the last column is empty."""
    gathered = np.zeros((len(parts), n_columns + 1))
    np.add.at(gathered.T, _column_of_part(columns), parts.T)
    return gathered


def _column_of_part(columns: ColumnTransformer) -> NDArray[np.int64]:
    """The column of X that each prepared column was made from."""
    numbers, categories = (np.asarray(where, dtype=np.int64) for _, _, where in columns.transformers)
    if categories.size == 0:
        return numbers
    encoder = columns.named_transformers_["categories"][-1]
    widths = [encoder._n_features_outs[i] for i in range(categories.size)]
    return np.concatenate([numbers, np.repeat(categories, widths)])


def _core(model: Any) -> Any:
    return model.regressor_ if isinstance(model, TransformedTargetRegressor) else model
