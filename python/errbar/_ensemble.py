"""What is made of the members of an ensemble."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _errbar
from ._arrays import Floats, floats


class EnsembleInputs(NamedTuple):
    """The forecast that members make, and what they tell a model of sigma."""

    forecast: Floats
    """The mean, or the median, of the members of each row."""
    inputs: Floats
    """Three columns: the forecast, the standard deviation of the members, the share of them that are zero."""
    names: list[str]
    """What these are called in a model file."""


def ensemble_inputs(members: Any, *, center: str = "mean") -> EnsembleInputs:
    """The forecast of an ensemble, and inputs for a model of its errors: what ``errbar fit --members`` makes of them.

    Parameters
    ----------
    members : array-like of shape (rows, members)
        One row for each forecast; members may be missing (NaN).
    center : {"mean", "median"}, default="mean"
        What the forecast is of the members.

    Examples
    --------
    >>> import errbar
    >>> import numpy as np
    >>> made = errbar.ensemble_inputs([[0.0, np.nan, 3.0, 3.0]])
    >>> made.forecast, made.names
    (array([2.]), ['members_mean', 'members_spread', 'members_zeros'])
    """
    values = floats("members", members)
    if values.ndim != 2:
        raise ValueError(f"members has shape {values.shape}: give a row for each forecast, a column for each member")
    made, names = _errbar.of_members(np.ascontiguousarray(values), str(center))
    return EnsembleInputs(made[:, 0].copy(), made, names)
