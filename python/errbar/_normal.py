"""Normal distributions, one for each row: a forecast with its error bar."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import floats
from ._law import Law


class Normal(Law):
    """Normal distributions with these means and standard deviations.

    They are the simplest :class:`Law`, and have all of its methods: those of ``scipy.stats``, without
    needing SciPy, and scores. Arguments are broadcast against the means.

    Examples
    --------
    >>> from errbar import Normal
    >>> tomorrow = Normal([12.0, 15.0], [0.5, 2.0])
    >>> tomorrow.sf(16.0).round(4)  # the probability of more than 16
    array([0.    , 0.3085])
    >>> low, high = tomorrow.interval(0.9)
    >>> low.round(2), high.round(2)
    (array([11.18, 11.71]), array([12.82, 18.29]))
    """

    def __init__(self, mean: Any, std: Any) -> None:
        self._take("normal", {"mean": floats("mean", mean), "std": floats("std", std)})

    def __repr__(self) -> str:
        return self._told("Normal(")

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random values; ``size`` broadcasts against the means. ``random_state`` is a seed or a
        ``numpy.random.Generator``."""
        # NumPy's way, which is faster than quantiles.
        generator = np.random.default_rng(random_state)
        mean, std = self._named["mean"], self._named["std"]
        return generator.normal(mean, std, self._shape if size is None else size)
