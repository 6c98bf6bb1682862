"""What inputs are worth to sigma, as ``feature_importances_`` of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Floats
from ._given import usual_names

if TYPE_CHECKING:
    from ._sigma_regressor import SigmaRegressor


def importances_of(model: SigmaRegressor) -> Floats:
    """Of each column of X the share by which the CRPS of held-out rows grows without what it tells."""
    if model.fitted_.ensemble is not None:
        raise AttributeError(
            "inputs are made of members here, so columns of X have no worth of their own: see validation_.importance"
        )
    found = model.validation_
    if found is None:
        raise AttributeError(
            "no rows were held out, so what inputs are worth is not known: fit 20 rows or more with validation above 0"
        )
    if not found.importance and model.model_ != "constant":
        raise AttributeError(f'a model of kind "{model.model_}" does not say what its inputs are worth')
    worth = {one.name: one.crps_share for one in found.importance}
    for one in found.importance:
        for twin in one.twins:
            worth.setdefault(twin, one.crps_share)
    names = usual_names(model.n_features_in_)
    names = [str(name) for name in getattr(model, "feature_names_in_", names)]
    return np.array([max(worth.get(name, 0.0), 0.0) for name in names])


def without(importances: Any, added: tuple[str, int] | None, columns: int) -> Floats:
    """Those of the columns of X, without that of the forecast beside them."""
    worth = np.asarray(importances, dtype=float)
    if added is not None and worth.ndim == 1 and len(worth) == columns + 1:
        worth = np.delete(worth, added[1])
    if worth.shape != (columns,):
        raise AttributeError(f"sigma says what {worth.size} inputs are worth, and X has {columns} columns")
    return worth
