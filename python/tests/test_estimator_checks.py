"""The estimators keep scikit-learn's contract."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator

from errbar import ErrorBarRegressor, SigmaRegressor

# What does not apply, and why.
EXPECTED = {
    "check_fit_score_takes_y": "the target is an error, and is called so; y is taken by keyword",
    "check_sample_weight_equivalence_on_dense_data": "which rows are held out depends on how many "
    "rows there are, so a row of weight 2 is not two rows (it is for model='constant': see "
    "test_sigma_regressor.py)",
}


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        # Without local units, which take as long again and change nothing here.
        (SigmaRegressor(n_jobs=1, local_units=False), EXPECTED),
        (
            SigmaRegressor("constant", loss="crps"),
            {name: EXPECTED[name] for name in list(EXPECTED)[:1]},
        ),
        (ErrorBarRegressor(sigma=SigmaRegressor("constant", loss="crps"), cv=3), {}),
    ],
    ids=["SigmaRegressor", "constant SigmaRegressor", "ErrorBarRegressor"],
)
@pytest.mark.filterwarnings("ignore")
def test_checks(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert failed == {}
    assert sum(one["status"] == "passed" for one in results) > 50
    # What is expected to fail must fail, or the list is out of date.
    assert {one["check_name"] for one in results if one["status"] == "xfail"} == set(expected)
