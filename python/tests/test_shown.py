"""What a notebook shows: the diagram of scikit-learn, and what the model is worth."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import errbar
from errbar import ErrorBarRegressor, SigmaRegressor


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    return X, np.exp(X[:, 0]) * random.normal(size=300)


def verdict(page):
    [found] = re.findall(r'<p class="errbar-verdict">(.*?)</p>', page)
    return found


def bare(page):
    """Without the numbers that scikit-learn gives to each page anew."""
    return re.sub(r"sk-container-id-\d+|sk-estimator-id-\d+", "", page)


def test_a_fitted_model_says_what_it_is_worth(data):
    X, error = data
    model = SigmaRegressor("polynomial").fit(X, error)
    found = model.validation_
    page = model._repr_html_()
    said = verdict(page)
    assert said.startswith("Log sigma is a polynomial of order 1 in 2 inputs.<br>Errors in units of sigma: ")
    assert html.escape(model.law_) in said
    assert f"CRPS {found.crps:.4g}, {100 * found.crps_skill:.1f}% better than one constant sigma" in said
    assert "On 300 rows held out" in said and f"90% intervals held {100 * found.coverage_90:.1f}%." in said
    assert model._repr_mimebundle_()["text/html"].count("errbar-verdict") == 1
    # The rest is the diagram as it is.
    without = re.sub(r'<p class="errbar-verdict">.*?</p>', "", page)
    assert bare(without) == bare(estimator_html_repr(model))


def test_what_is_not_known_is_not_said(data):
    X, error = data
    for model in (SigmaRegressor(), ErrorBarRegressor()):
        assert "errbar-verdict" not in model._repr_html_()
    blind = SigmaRegressor("constant", validation=0.0).fit(X, error)
    assert verdict(blind._repr_html_()).endswith("No rows were held out, so how good it is is not known.")
    constant = SigmaRegressor("constant", law="normal", recalibrate=False).fit(X, error)
    assert "as good as one constant sigma" in verdict(constant._repr_html_())
    with sklearn.config_context(display="text"):
        assert not hasattr(constant, "_repr_html_")
        assert list(constant._repr_mimebundle_()) == ["text/plain"]


def test_a_forecaster_says_what_its_sigma_is_worth(data):
    X, error = data
    y = X[:, 1] + error
    model = ErrorBarRegressor(LinearRegression(), make_pipeline(StandardScaler(), SigmaRegressor("polynomial"))).fit(X, y)
    said = verdict(model._repr_html_())
    assert said.startswith("Error bars around the forecasts of LinearRegression, ")
    assert said.endswith("<br>".join(verdict(model.sigma_[-1]._repr_html_()).split("<br>")))
    plain = ErrorBarRegressor(sigma=LinearRegression()).fit(X, y)
    assert verdict(plain._repr_html_()).endswith("<br>Sigma by LinearRegression.")


def test_what_is_shown_is_escaped(data):
    X, error = data
    hot = type("<b>Hot</b>", (LinearRegression,), {})
    page = ErrorBarRegressor(hot(), SigmaRegressor("constant")).fit(X, error)._repr_html_()
    assert "&lt;b&gt;Hot&lt;/b&gt;" in verdict(page) and "<b>" not in verdict(page)


def test_scores_have_a_verdict_and_a_table():
    random = np.random.default_rng(0)
    scores = errbar.scores(random.normal(size=200), 0.0, 0.4, intervals=True)
    page = scores._repr_html_()
    assert page.startswith(f"<p>{scores.verdict.text}</p><table>")
    rows = dict(re.findall(r"<tr><th[^>]*>(.*?)</th><td>(.*?)</td>", page))
    assert rows["crps"] == f"{scores.crps:.5g}" and rows["coverage of 90%"] == f"{scores.coverage[2].observed:.5g}"
