"""Every value of score_vectors.json, which was computed with 60 digits by another program.

A value is met when its relative error is at most 1e-12, or when it is within a few units of what
rounding the inputs alone would change; crates/errbar/tests/score_vectors.rs derives those limits.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import errbar

RELATIVE = 1e-12
EPS = np.finfo(float).eps


@pytest.fixture
def vectors(root):
    return json.loads((root / "crates/errbar/tests/score_vectors.json").read_text())


def numbers(part, name):
    return np.array([float(one[name]) for one in part])


def meets(got, want, limit=0.0):
    got, want = np.asarray(got), np.asarray(want, dtype=float)
    error = np.abs(got - want)
    assert np.all((error <= RELATIVE * np.abs(want)) | (error <= limit)), error.max()


def test_points(vectors):
    points = vectors["points"]
    assert len(points) == 73
    error, sigma = numbers(points, "error"), numbers(points, "sigma")
    with np.errstate(over="ignore"):
        z = error / sigma
        square = z * z
    meets(errbar.crps(error, sigma), numbers(points, "crps"))
    meets(errbar.crps_gradient(error, sigma), numbers(points, "dcrps_dsigma"), 2 * EPS)
    parts = np.maximum(0.5 * square, np.abs(np.log(sigma)))
    meets(errbar.nlpd(error, sigma), numbers(points, "nlpd"), 2 * EPS * parts)
    want = numbers(points, "pit")  # below the smallest double they are 0
    tail = np.where(want > 0, 2 * EPS * square * want, 0.0)
    meets(errbar.pit(error, sigma), want, tail + 5e-324)


def test_sets(vectors):
    assert len(vectors["sets"]) == 21
    for one in vectors["sets"]:
        error, sigma = np.array(one["error"]), np.array(one["sigma"])
        n = len(error)
        whole = float(one["rs_without_constant"])
        meets(np.mean(errbar.crps(error, sigma)), float(one["mean_crps"]), n * EPS)
        rs = errbar.reliability_score(error, sigma)
        meets(rs, float(one["rs"]), 2 * EPS * whole)
        meets(errbar.reliability_score_min(n), float(one["rs_min"]))
        for beta, key in (("heuristic", "exact"), ("printed", "as_printed")):
            ar = errbar.accuracy_reliability(error, sigma, beta)
            meets(ar.beta, float(one[f"beta_{key}"]))
            meets(ar.value, float(one[f"ar_{key}"]))
            meets(ar.crps, float(one["mean_crps"]))
        ar, gradient = errbar.accuracy_reliability_value_and_gradient(error, sigma)
        eta = error / (np.sqrt(2) * sigma)
        terms = ar.beta + (1 - ar.beta) * np.abs(eta / sigma)
        want = np.array([float(value) for value in one["dar_dsigma_exact"]])
        meets(gradient, want, 2 * EPS * terms / n)
        assert np.array_equal(gradient, errbar.accuracy_reliability_gradient(error, sigma))


def test_weighted_sets(vectors):
    assert len(vectors["weighted"]) == 3
    for one in vectors["weighted"]:
        error, sigma, weight = one["error"], one["sigma"], one["weight"]
        meets(
            errbar.reliability_score(error, sigma, weight),
            float(one["rs"]),
            2 * EPS * float(one["rs_without_constant"]),
        )
        ar = errbar.accuracy_reliability(error, sigma, 1.0, weight)
        meets(ar.value, float(one["mean_crps"]))  # beta is 1: accuracy only
