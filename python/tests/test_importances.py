"""feature_importances_ are those of validation_, column by column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from errbar import ErrorBarRegressor, SigmaRegressor


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    return X, np.exp(X[:, 2]) * random.normal(size=300)


def test_they_are_in_the_order_of_columns(data):
    X, error = data
    model = SigmaRegressor("polynomial").fit(X, error)
    shares = {one.name: one.crps_share for one in model.validation_.importance}
    want = [max(shares[f"x{k}"], 0.0) for k in range(4)]
    assert model.feature_importances_.tolist() == want
    assert np.argmax(want) == 2 and list(shares) != sorted(shares)
    named = SigmaRegressor("polynomial").fit(pd.DataFrame(X[:, ::-1], columns=list("dcba")), error)
    assert np.argmax(named.feature_importances_) == 1
    # By chance a shuffle gains a little.
    gained = SigmaRegressor("polynomial").fit(X, error * np.exp(X[:, 0] - X[:, 2]))
    assert gained.validation_.importance[-1].name == "x2" and gained.validation_.importance[-1].crps_share < 0
    assert gained.feature_importances_[2] == 0.0
    chosen = SelectFromModel(SigmaRegressor("polynomial"), threshold=0.1).fit(X, error)
    assert chosen.get_support().tolist() == [False, False, True, False]


def test_twins_have_that_of_both_and_what_is_left_out_has_none(data):
    X, error = data
    model = SigmaRegressor("polynomial").fit(np.c_[X, 2 * X[:, 2]], error)
    worth = model.feature_importances_
    assert worth[2] == worth[4] > 0.1
    constant = SigmaRegressor("constant").fit(X, error)
    assert constant.feature_importances_.tolist() == [0.0] * 4
    # What the last column says turns round before the end, so it is left out.
    random = np.random.default_rng(1)
    X = random.normal(size=(1000, 2))
    turned = np.where(np.arange(1000) < 750, 1.0, -1.0) * X[:, 1]
    late = SigmaRegressor("polynomial", time_order=True).fit(X, np.exp(X[:, 0] + turned) * random.normal(size=1000))
    assert late.validation_.left_out == ["x1"]
    assert late.feature_importances_[0] > 0.1 and late.feature_importances_[1] == 0.0


def test_a_forecaster_has_those_of_its_sigma(data):
    X, error = data
    y = X[:, 0] + error
    model = ErrorBarRegressor(LinearRegression(), SigmaRegressor("polynomial")).fit(X, y)
    assert model.feature_importances_.tolist() == model.sigma_.feature_importances_[:4].tolist()
    assert len(model.sigma_.feature_importances_) == 5
    table = pd.DataFrame(X, columns=list("abcd"))
    alone = ErrorBarRegressor(sigma=SigmaRegressor("polynomial"), forecast_as_input=False).fit(table, y)
    assert alone.feature_importances_.tolist() == alone.sigma_.feature_importances_.tolist()
    forest = ErrorBarRegressor(sigma=RandomForestRegressor(10, random_state=0)).fit(X, y)
    assert forest.feature_importances_.tolist() == forest.sigma_.feature_importances_[:4].tolist()


def test_where_there_are_none_it_is_said(data):
    X, error = data
    with pytest.raises(NotFittedError):
        SigmaRegressor().feature_importances_
    blind = SigmaRegressor("polynomial", validation=0.0).fit(X, error)
    with pytest.raises(AttributeError, match="no rows were held out, so what inputs are worth is not known"):
        blind.feature_importances_
    assert not hasattr(blind, "feature_importances_")
    members = SigmaRegressor("constant", members=[0, 1, 2]).fit(X, observation=error)
    with pytest.raises(AttributeError, match="made of members here"):
        members.feature_importances_
    piped = ErrorBarRegressor(sigma=make_pipeline(StandardScaler(), SigmaRegressor("constant"))).fit(X, error)
    with pytest.raises(AttributeError, match="Pipeline does not say what columns of X are worth"):
        piped.feature_importances_
