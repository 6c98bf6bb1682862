"""How a notebook shows an estimator: scikit-learn's diagram, and under it what the model is worth."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

if TYPE_CHECKING:
    from ._sigma_regressor import SigmaRegressor, Validation


class Shown(BaseEstimator):
    """An estimator that says in sentences what it is worth, once it is fitted."""

    def _verdict(self) -> list[str]:
        """The sentences; none where nothing is known."""
        return []

    def _repr_html_inner(self) -> str:
        return _under(super()._repr_html_inner(), self._verdict())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        found: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in found:
            found["text/html"] = _under(found["text/html"], self._verdict())
        return found


def _under(diagram: str, sentences: list[str]) -> str:
    if not sentences:
        return diagram
    said = "<br>".join(html.escape(one) for one in sentences)
    body = diagram.removesuffix("</body>")
    return f'{body}<p class="errbar-verdict">{said}</p>{diagram[len(body) :]}'


def of_sigma(model: SigmaRegressor) -> list[str]:
    """What a fitted model of sigma is, and how it did on rows it had not seen."""
    what = model.explanation_
    law = f"Errors in units of sigma: {model.law_}."
    return [f"{what[:1].upper()}{what[1:]}.", law, _of_validation(model.validation_)]


def of_forecaster(forecaster: Any, sigma: Any) -> list[str]:
    """The same of a forecaster with error bars."""
    while isinstance(sigma, Pipeline):
        sigma = sigma.steps[-1][1]
    first = f"Error bars around the forecasts of {type(forecaster).__name__}, learned from forecasts it made of rows held out."
    return [first, *(sigma._verdict() if isinstance(sigma, Shown) else [f"Sigma by {type(sigma).__name__}."])]


def _of_validation(found: Validation | None) -> str:
    if found is None:
        return "No rows were held out, so how good it is is not known."
    share = 100 * found.crps_skill
    if abs(share) < 0.05:
        skill = "as good as one constant sigma"
    else:
        noise = 100 * found.skill_standard_error
        way = "better" if share > 0 else "worse"
        skill = f"{abs(share):.1f}% {way} than one constant sigma (standard error {noise:.1f}%)"
    inside = 100 * found.coverage_90
    return f"On {found.rows} rows held out: CRPS {found.crps:.4g}, {skill}; 90% intervals held {inside:.1f}%."
