"""The estimators keep scikit-learn's contract."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator

from errbar import ErrorBarRegressor, SigmaRegressor

KINDS = ["auto", "constant", "polynomial", "smooth", "network", "ensemble", "trees", "stack"]

# What does not apply, and why.
TARGET = {
    "check_fit_score_takes_y": "the target is an error, and is called so; y is taken by keyword",
}
CHOSEN = {
    "check_sample_weight_equivalence_on_dense_data": "all models but the constant are chosen by rows "
    "held out, where a row of weight 2 stays one and two rows may be parted; and since only ratios of "
    "weights matter, it is their number that says whether rows are enough"
}
BETA = {
    "check_sample_weight_equivalence_on_dense_data": "the paper's beta depends on the number of rows, "
    "and only ratios of weights matter: with a fixed beta, or another loss, weights are repeated rows"
}


PAPER = {"law": "normal", "recalibrate": False}


def sigma(kind, **options):
    # Few rows and turns: the contract is about other things, and there are some fifty fits to a check.
    few = {"budget": 1e6} if kind in ("auto", "stack") else {"validation": 0.0}
    return SigmaRegressor(kind, most_rows=20, local_units=False, **few, **options)


CASES = [(sigma(kind), TARGET | CHOSEN) for kind in KINDS if kind != "constant"]
CASES += [
    # With a law that held-out rows choose, weights are repeated rows only where those rows are.
    (SigmaRegressor("constant", **PAPER), TARGET | BETA),
    (SigmaRegressor("constant", beta=0.4, **PAPER), TARGET),
    (SigmaRegressor("constant", loss="crps", **PAPER), TARGET),
    (SigmaRegressor("constant", loss="nlpd", **PAPER), TARGET),
]
# To them an ensemble is a network and a stack is auto; it is forecasts that the checks compare.
CASES += [
    (ErrorBarRegressor(sigma=sigma(kind), cv=3), {})
    for kind in KINDS
    if kind not in ("ensemble", "stack")
]
CASES += [(ErrorBarRegressor(sigma=sigma("constant"), cv=3, forecast_as_input=False), {})]


@pytest.mark.parametrize(("estimator", "expected"), CASES, ids=[repr(one) for one, _ in CASES])
@pytest.mark.filterwarnings("ignore")
def test_checks(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert failed == {}
    assert sum(one["status"] == "passed" for one in results) > 50
    # What is expected to fail must fail, or the list is out of date.
    assert {one["check_name"] for one in results if one["status"] == "xfail"} == set(expected)
