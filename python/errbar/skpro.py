"""Error bars as skpro's probabilistic regressors have them: ``predict_proba`` and its distributions.

It needs ``pip install 'errbar[skpro]'``. ::

    from errbar.skpro import ErrorBarProbaRegressor

    model = ErrorBarProbaRegressor(LinearRegression()).fit(X, y)
    model.predict_proba(X_new)              # a distribution for each row, of skpro's kind
    model.predict_interval(X_new, coverage=0.9)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._error_bar_regressor import ErrorBarRegressor
from ._law import Law

try:
    import pandas as pd
    from skpro.distributions.base import BaseDistribution
    from skpro.regression.base import BaseProbaRegressor
except ImportError as missing:
    raise ImportError("this needs skpro: pip install 'errbar[skpro]'") from missing

__all__ = ["ErrorBarProbaRegressor", "LawDistribution"]

# The smaller tails at which integrals over all probabilities are looked at, and how much each counts: nodes of the double
# exponential rule, which goes far into tails.
_T = np.linspace(0.0, 3.4, 171)
_TAILS = 1.0 / (1.0 + np.exp(np.pi * np.sinh(_T)))
_COUNTS = _T[1] * np.pi * np.cosh(_T) * _TAILS * (1.0 - _TAILS)
_COUNTS[0] *= 0.5  # it is in both halves


class LawDistribution(BaseDistribution):
    """Distributions of skpro's kind that are those of an :class:`errbar.Law`.

    Its CRPS in skpro's metrics is that of the law, to all digits.

    Parameters
    ----------
    law : errbar.Law
        The distributions, one for each row; or a single one.
    index, columns : pandas.Index, optional
        The rows, and the one column; by default counted from 0.

    Examples
    --------
    >>> from errbar import Law
    >>> from errbar.skpro import LawDistribution
    >>> wind = LawDistribution(Law("logistic", [3.0, 8.0], left=1.0, right=[2.0, 1.0]))
    >>> wind.cdf(5.0).round(3).iloc[:, 0].tolist()
    [0.641, 0.047]
    """

    _tags = {
        "capabilities:approx": ["pdfnorm", "energy"],
        "capabilities:exact": ["mean", "var", "pdf", "log_pdf", "cdf", "ppf"],
        "distr:measuretype": "continuous",
        "distr:paramtype": "general",
        "broadcast_init": "off",
    }

    def __init__(self, law: Law, index: Any = None, columns: Any = None) -> None:
        self.law = law
        if law.shape and index is None:
            index = pd.RangeIndex(len(law))
        if law.shape and columns is None:
            columns = pd.RangeIndex(1)
        super().__init__(index=index, columns=columns)
        if law.shape and (law.shape != (len(index),) or len(columns) != 1):
            raise ValueError(f"a law of shape {law.shape} has no place for {len(index)} rows and {len(columns)} columns")
        if self._bounds():
            # What lies beyond a bound counts as the bound.
            told = {"approx": ["pdfnorm", "energy", "mean", "var"], "exact": ["pdf", "log_pdf", "cdf", "ppf"]}
            self.set_tags(**{"distr:measuretype": "mixed", **{f"capabilities:{k}": v for k, v in told.items()}})

    def _bounds(self) -> bool:
        return any(np.isfinite(self.law._named[name]).any() for name in ("lower", "upper") if name in self.law._named)

    @property
    def _laws(self) -> Law:
        """The laws in a column, as values come."""
        return self.law[:, np.newaxis] if self.law.shape else self.law

    def _cdf(self, x: Any) -> Any:
        return self._laws.cdf(x)

    def _surv(self, x: Any) -> Any:
        return self._laws.sf(x)

    def _pdf(self, x: Any) -> Any:
        return self._laws.pdf(x)

    def _log_pdf(self, x: Any) -> Any:
        return self._laws.logpdf(x)

    def _ppf(self, p: Any) -> Any:
        return self._laws.ppf(p)

    def _mean(self) -> Any:
        return self._over_all(self._quantiles()) if self._bounds() else self._laws.mean()

    def _var(self) -> Any:
        if not self._bounds():
            return self._laws.var()
        found = self._quantiles()
        mean = self._over_all(found)
        return self._over_all((found - mean[..., np.newaxis]) ** 2)

    def _energy_self(self) -> Any:
        # The CRPS when a value of the distribution itself is observed is on average half of it.
        found = self._quantiles()
        half = self._over_all(np.stack([self._laws.crps(one) for one in np.moveaxis(found, -1, 0)], axis=-1))
        return self._of_rows(2.0 * half)

    def _energy_x(self, x: Any) -> Any:
        return self._of_rows(self._laws.crps(x)) + 0.5 * self._energy_self()

    def _quantiles(self) -> Any:
        found = [np.asarray(tail(q)) for tail in (self._laws.ppf, self._laws.isf) for q in _TAILS.tolist()]
        return np.stack(found, axis=-1)

    def _over_all(self, values: Any) -> Any:
        return values @ np.tile(_COUNTS, 2)

    def _of_rows(self, values: Any) -> Any:
        """Energies are of rows, over their columns, of which there is one."""
        return np.asarray(values)[:, 0] if self.law.shape else values

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> Any:
        if np.ndim(rowidx) == 0 and rowidx is not None and np.ndim(colidx) == 0 and colidx is not None:
            return self._iat(rowidx, colidx)
        rows = np.arange(len(self.index))[slice(None) if rowidx is None else np.atleast_1d(rowidx)]
        columns = self.columns if colidx is None else self.columns.take(np.atleast_1d(np.asarray(colidx)))
        return type(self)(self.law[rows], self.index.take(rows), columns)

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> Any:
        if rowidx is None or colidx is None:
            raise ValueError("iat needs the place of a row and that of a column")
        return type(self)(self.law[int(rowidx)])

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Examples, for skpro's tests."""
        rows, column = pd.Index([3, 1, 2]), pd.Index(["a"])
        return [
            {"law": Law("normal", [1.0, 2.0, 3.0], [0.5, 1.0, 2.0]), "index": rows, "columns": column},
            {"law": Law("laplace", [1.0, 2.0, 3.0], left=1.0, right=2.0)},
            {"law": Law("logistic", 1.0, 2.0)},
        ]


class ErrorBarProbaRegressor(BaseProbaRegressor):
    """:class:`errbar.ErrorBarRegressor` as a probabilistic regressor of skpro.

    ``predict_proba`` gives a :class:`LawDistribution`; ``predict_interval`` and ``predict_quantiles`` are those of skpro, and
    where ``sigma`` has a guarantee the intervals are the guaranteed ones.

    Parameters
    ----------
    estimator, sigma, cv, law, forecast_as_input, n_jobs, random_state
        Those of :class:`errbar.ErrorBarRegressor`.

    Attributes
    ----------
    model_ : errbar.ErrorBarRegressor
        What was fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from errbar.skpro import ErrorBarProbaRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = ErrorBarProbaRegressor().fit(X[:400], y[:400])
    >>> model.predict_proba(X[400:]).shape
    (42, 1)
    """

    _tags = {
        "capability:missing": False,
        "capability:multioutput": False,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(
        self,
        estimator: Any = None,
        sigma: Any = None,
        cv: Any = 5,
        law: str | None = None,
        forecast_as_input: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.sigma = sigma
        self.cv = cv
        self.law = law
        self.forecast_as_input = forecast_as_input
        self.n_jobs = n_jobs
        self.random_state = random_state
        super().__init__()

    def _fit(self, X: Any, y: Any) -> ErrorBarProbaRegressor:
        self._columns = y.columns
        wanted = ("cv", "law", "forecast_as_input", "n_jobs", "random_state")
        options = {name: getattr(self, name) for name in wanted}
        self.model_ = ErrorBarRegressor(self.estimator, self.sigma, **options).fit(_named(X), y.iloc[:, 0].to_numpy())
        return self

    def _predict(self, X: Any) -> Any:
        return pd.DataFrame(self.model_.predict(_named(X)), index=X.index, columns=self._columns)

    def _predict_proba(self, X: Any) -> LawDistribution:
        return LawDistribution(self.model_.predict_distribution(_named(X)), X.index, self._columns)

    def _predict_interval(self, X: Any, coverage: Any) -> Any:
        levels = [float(level) for level in coverage]
        ends = self.model_.predict_interval(_named(X), level=levels)
        columns = pd.MultiIndex.from_product([self._columns, levels, ["lower", "upper"]])
        return pd.DataFrame(ends.reshape(len(X), 2 * len(levels)), index=X.index, columns=columns)

    def _predict_quantiles(self, X: Any, alpha: Any) -> Any:
        levels = [float(level) for level in alpha]
        columns = pd.MultiIndex.from_product([self._columns, levels])
        return pd.DataFrame(self.model_.predict_quantiles(_named(X), levels), index=X.index, columns=columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Examples, for skpro's tests."""
        from ._sigma_regressor import SigmaRegressor

        return [{"sigma": SigmaRegressor("constant")}, {"sigma": SigmaRegressor("polynomial"), "cv": 3, "law": "normal"}]


def _named(X: Any) -> Any:
    """A table whose columns have texts for names, which scikit-learn wants."""
    return X.set_axis([str(name) for name in X.columns], axis=1)
