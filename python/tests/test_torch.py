"""errbar.torch against 60-digit references, against the library, and against finite differences."""

import copy
import doctest
import json
import math
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: errbar.torch is not tested")

import errbar
import errbar.torch
from errbar.torch import (
    AccuracyReliabilityLoss,
    accuracy_reliability,
    crps,
    heuristic_beta,
    reliability_score,
    two_piece_accuracy_reliability,
    two_piece_crps,
)

CRATES = Path(__file__).resolve().parents[2] / "crates"
VECTORS = json.loads((CRATES / "errbar/tests/score_vectors.json").read_text())
GPU = torch.cuda.is_available()


@pytest.fixture(params=["cpu", "cpu, sorted by tensors", "gpu"])
def way(request, monkeypatch):
    """On a CPU the library ranks the rows; the way of GPUs is tried there as well."""
    if request.param == "gpu" and not GPU:
        pytest.skip("there is no GPU: the loss is not tested there")
    if request.param == "cpu, sorted by tensors":
        monkeypatch.setattr(errbar.torch, "_gap", errbar.torch._gap_by_sort)
    return request.param


def doubles(values):
    return torch.tensor([float(value) for value in values], dtype=torch.float64)


def sample(n, seed=0, ties=False):
    """Errors and sigmas that are wrong by some 30%."""
    rng = np.random.default_rng(seed)
    truth = np.exp(0.5 * rng.standard_normal(n))
    error, sigma = truth * rng.standard_normal(n), truth * np.exp(0.3 * rng.standard_normal(n))
    if ties:
        error, sigma = np.round(error), np.full(n, 0.75)
    return error, sigma


def send(way, error, sigma, weight=None):
    """New leaves where and as this way has them; sigma needs gradients."""
    device = "cuda" if way == "gpu" else "cpu"
    error, sigma = (x.detach().clone().to(device) for x in (error, sigma))
    weight = None if weight is None else weight.to(device)
    return error, sigma.requires_grad_(), weight


def gradient(way, error, sigma, beta="heuristic", weight=None):
    """The cost and its gradient by sigma."""
    error, sigma, weight = send(way, error, sigma, weight)
    value = accuracy_reliability(error, sigma, beta, weight)
    value.backward()
    return value.detach().cpu(), sigma.grad.cpu()


@pytest.mark.parametrize("case", range(len(VECTORS["sets"])))
def test_sets_have_their_reference_values(case, way):
    reference = VECTORS["sets"][case]
    error, sigma = doubles(reference["error"]), doubles(reference["sigma"])
    value, slope = gradient(way, error, sigma)
    error, sigma, _ = send(way, error, sigma)
    assert value.item() == pytest.approx(float(reference["ar_exact"]), rel=1e-13)
    printed = accuracy_reliability(error, sigma, "printed").item()
    assert printed == pytest.approx(float(reference["ar_as_printed"]), rel=1e-13)
    assert heuristic_beta(error).item() == pytest.approx(float(reference["beta_exact"]), rel=1e-13)
    # RS is a difference from 0.4: its digits are those of 0.4.
    rs, constant = float(reference["rs"]), 1.0 / math.sqrt(2.0 * math.pi)
    assert abs(reliability_score(error, sigma).item() - rs) < 1e-15 * (rs + constant) * 4.0
    expected = doubles(reference["dar_dsigma_exact"])
    assert (slope - expected).abs().max() <= 1e-13 * expected.abs().max()


@pytest.mark.parametrize("case", range(len(VECTORS["weighted"])))
def test_weighted_sets_have_their_reference_values(case, way):
    reference = VECTORS["weighted"][case]
    columns = (doubles(reference[name]) for name in ("error", "sigma", "weight"))
    error, sigma, weight = send(way, *columns)
    rs = reliability_score(error, sigma, weight).item()
    assert abs(rs - float(reference["rs"])) < 1e-15
    accuracy_only = accuracy_reliability(error, sigma, 1.0, weight).item()
    assert accuracy_only == pytest.approx(float(reference["mean_crps"]), rel=1e-13)


def test_points_have_their_reference_values():
    points = VECTORS["points"]
    error, sigma = (
        doubles(p[name] for p in points).requires_grad_() for name in ("error", "sigma")
    )
    values = crps(error, sigma)
    values.sum().backward()
    # CRPS is a difference of terms as large as the larger of error and sigma.
    digits = 1e-15 * torch.maximum(error.abs(), sigma).detach()
    assert ((values - doubles(p["crps"] for p in points)).abs() <= 4 * digits).all()
    assert (sigma.grad - doubles(p["dcrps_dsigma"] for p in points)).abs().max() < 1e-15
    assert (error.grad + doubles(p["dcrps_dforecast"] for p in points)).abs().max() < 1e-15


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("beta", ["heuristic", "printed", 0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "n, ties", [(1, False), (2, False), (7, True), (1000, False), (1000, True)]
)
def test_value_and_gradient_are_the_librarys(n, ties, beta, weighted, way):
    error, sigma = sample(n, ties=ties)
    weight = np.random.default_rng(1).integers(0, 4, n) + (n == 1) if weighted else None
    expected = errbar.accuracy_reliability(error, sigma, beta, weight)
    slope = errbar.accuracy_reliability_gradient(error, sigma, beta, weight)
    weight = None if weight is None else torch.tensor(weight)
    value, found = gradient(way, doubles(error), doubles(sigma), beta, weight)
    assert value.item() == pytest.approx(expected.value, rel=1e-12)
    assert np.abs(found.numpy() - slope).max() <= 1e-10 * np.abs(slope).max()
    if ties:  # equal rows are treated equally
        same = error == error[0]
        shares = np.ones(n) if weight is None else weight.numpy()
        per_weight = (found.numpy() / np.where(shares > 0, shares, 1))[same & (shares > 0)]
        assert np.ptp(per_weight) <= 1e-16 + 1e-12 * np.abs(slope).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_finite_differences(weighted, way):
    error, sigma, _ = send(way, *(doubles(values) for values in sample(40)))
    error.requires_grad_()
    beta = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    weight = torch.linspace(0.0, 2.0, 40, device=error.device) if weighted else None
    by_all = lambda e, s, b: accuracy_reliability(e, s, b, weight)
    assert torch.autograd.gradcheck(by_all, (error, sigma, beta))
    by_sigma = lambda s: accuracy_reliability(error.detach(), s, "heuristic", weight)
    assert torch.autograd.gradcheck(by_sigma, (sigma,))
    assert torch.autograd.gradcheck(lambda e, s: reliability_score(e, s, weight), (error, sigma))
    assert torch.autograd.gradgradcheck(crps, (error, sigma))


def test_gradients_of_errors_of_zero(way):
    """Three of them in the middle of six: the gap is known by hand."""
    error, sigma, _ = send(way, doubles([-1.0, 0.0, 0.0, 0.0, 2.0, 3.0]), doubles([1.0] * 6))
    accuracy_reliability(error.requires_grad_(), sigma, 0.0).backward()
    # The mean rank of rows 2, 3 and 4 of 6 makes (2i - 1) / n = 5 / 6, so that the gap is 1 / 6.
    expected = torch.full((3,), math.sqrt(0.5) / 36.0, dtype=torch.float64)
    assert torch.allclose(error.grad[1:4].cpu(), expected, rtol=1e-14)
    assert (sigma.grad[1:4] == 0.0).all()


def test_the_heuristic_beta_is_a_constant():
    """Through it, larger errors could lower the cost."""
    error, sigma = (doubles(values) for values in sample(40))
    error.requires_grad_()
    heuristic = torch.autograd.grad(accuracy_reliability(error, sigma), error)[0]
    fixed = torch.autograd.grad(accuracy_reliability(error, sigma, heuristic_beta(error)), error)[0]
    assert torch.equal(heuristic, fixed) and heuristic.abs().max() > 0.0


def test_float32_keeps_its_digits(way):
    error, sigma = (doubles(values) for values in sample(100_000))
    value, slope = gradient(way, error, sigma)
    value32, slope32 = gradient(way, error.float(), sigma.float())
    assert value32.dtype == slope32.dtype == torch.float32
    assert value32.item() == pytest.approx(value.item(), rel=3e-7)
    # Rounding makes neighbours change places, and with them their ranks.
    one_rank = 2.0 / len(error) ** 2 * (error / (math.sqrt(2.0) * sigma**2)).abs()
    assert ((slope32 - slope).abs() <= 1e-6 * slope.abs().max() + 3.0 * one_rank).all()
    rs = errbar.reliability_score(error, sigma)
    e, s, _ = send(way, error.float(), sigma.float())
    assert abs(reliability_score(e, s).item() - rs) < 1e-7


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(half, way):
    error, sigma = (doubles(values).to(half) for values in sample(200))
    value, slope = gradient(way, error, sigma)
    expected, exact = gradient(way, error.float(), sigma.float())
    assert value.dtype == torch.float32 and slope.dtype == half
    assert torch.equal(value, expected) and torch.equal(slope, exact.to(half))


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_gradients_are_finite_however_extreme_the_input(kind, way):
    """Squares and quotients overflow here; no infinity may meet a zero."""
    far = 1e30 if kind == torch.float32 else 1e200
    error = torch.tensor([0.0, 0.0, 1.0, -1.0, 1.0, -far, far, 1.0], dtype=kind)
    sigma = torch.tensor([1.0, 1 / far, 1 / far, 1 / far, far, 1 / far, far, 1.0], dtype=kind)
    for beta in ["heuristic", 0.0, 0.5, 1.0]:
        value, slope = gradient(way, error, sigma, beta)
        assert not value.isnan() and slope.isfinite().all(), beta
        e, s = error.clone().requires_grad_(), sigma.clone().requires_grad_()
        accuracy_reliability(e, s, beta).backward()
        assert e.grad.isfinite().all() and s.grad.isfinite().all(), beta
    e, s = error.clone().requires_grad_(), sigma.clone().requires_grad_()
    values = crps(e, s)
    values.sum().backward()
    assert values.isfinite().all() and e.grad.isfinite().all() and s.grad.isfinite().all()
    assert values[2] == 1.0 and values[5] == far  # sigma to 0 gives |error|


def test_one_row_by_hand(way):
    """An error of 0: CRPS is sigma (sqrt 2 - 1) / sqrt(pi), RS without constant 1 / sqrt(pi)."""
    value, slope = gradient(way, doubles([0.0]), doubles([2.0]), 0.25)
    expected = (0.25 * 2.0 * (math.sqrt(2.0) - 1.0) + 0.75) / math.sqrt(math.pi)
    assert value.item() == pytest.approx(expected, rel=1e-14)
    assert slope.item() == pytest.approx(
        0.25 * (math.sqrt(2.0) - 1.0) / math.sqrt(math.pi), rel=1e-14
    )


def test_a_weight_of_two_is_a_row_twice(way):
    error, sigma = (doubles(values) for values in sample(50))
    weight = 1.0 + (torch.arange(50) % 3 == 0)
    twice = torch.repeat_interleave(torch.arange(50), weight.long())
    value, slope = gradient(way, error, sigma, 0.4, weight)
    expected, parts = gradient(way, error[twice], sigma[twice], 0.4)
    summed = torch.zeros(50, dtype=torch.float64).index_add_(0, twice, parts)
    assert value.item() == pytest.approx(expected.item(), rel=1e-14)
    assert (slope - summed).abs().max() <= 1e-14 * slope.abs().max()


def test_rows_of_weight_zero_do_not_count(way):
    error, sigma = (doubles(values) for values in sample(50))
    padded = torch.cat([error, doubles([math.nan, math.inf, 1.0])])
    sigmas = torch.cat([sigma, doubles([1.0, -1.0, math.nan])])
    weight = torch.cat([torch.ones(50), torch.zeros(3)])
    for beta in ["heuristic", "printed", 0.4]:
        value, slope = gradient(way, padded, sigmas, beta, weight)
        expected, exact = gradient(way, error, sigma, beta)
        assert value.item() == pytest.approx(expected.item(), rel=1e-12)
        assert (slope[:50] - exact).abs().max() <= 1e-12 * exact.abs().max()
        assert (slope[50:] == 0.0).all()


def test_what_cannot_be_is_nan_in_loss_and_gradient(way):
    error, sigma = (doubles(values) for values in sample(5))
    at = lambda values, bad: torch.cat([values[:4], doubles([bad])])
    for e, s, w in [
        (at(error, math.nan), sigma, None),
        (error, at(sigma, math.nan), None),
        (error, at(sigma, 0.0), None),
        (error, at(sigma, -1.0), None),
        (error, sigma, torch.tensor([1.0, 1.0, 1.0, 1.0, -1.0])),
    ]:
        value, slope = gradient(way, e, s, "heuristic", w)
        assert value.isnan() and slope.isnan().any(), (e, s, w)
    assert gradient(way, error, sigma, weight=torch.zeros(5))[0].isnan()
    assert crps(error, at(sigma, -1.0)).isnan().tolist() == [False] * 4 + [True]


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda x: accuracy_reliability(x, x[:, None]),
            r"error has shape \(4,\) but sigma has shape \(4, 1\)",
        ),
        (lambda x: crps(x, x[:3]), r"error has shape \(4,\) but sigma has shape \(3,\)"),
        (lambda x: AccuracyReliabilityLoss()(x[:, None], x, x), "forecast has shape"),
        (
            lambda x: accuracy_reliability(x, x, weight=x[:2]),
            "weight has 2 elements but error has 4",
        ),
        (lambda x: accuracy_reliability(x[:0], x[:0]), "at least one row"),
        (
            lambda x: accuracy_reliability(x, x, "best"),
            'beta is \'best\': .*"heuristic", "printed"',
        ),
        (lambda x: AccuracyReliabilityLoss(1.5), "beta is 1.5: give a number from 0 to 1"),
        (lambda x: AccuracyReliabilityLoss(math.nan), "beta is nan"),
        (lambda x: AccuracyReliabilityLoss(x), "beta has 4 elements"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call(torch.ones(4))


def test_the_module_is_the_function():
    error, sigma = (torch.tensor(values).reshape(10, 5) for values in sample(50))
    forecast = torch.randn(10, 5, dtype=torch.float64, requires_grad=True)
    loss = AccuracyReliabilityLoss()(forecast, forecast.detach() + error, sigma)
    assert torch.allclose(loss, accuracy_reliability(error, sigma), rtol=1e-12)
    # The error is observation minus forecast: the forecast's gradient has the other sign.
    loss.backward()
    flat = error.clone().requires_grad_()
    accuracy_reliability(flat, sigma).backward()
    assert torch.allclose(forecast.grad, -flat.grad, rtol=1e-9, atol=1e-15)
    assert repr(AccuracyReliabilityLoss(0.3)) == "AccuracyReliabilityLoss(beta=0.3)"
    assert copy.deepcopy(AccuracyReliabilityLoss(torch.tensor(0.3))).beta == torch.tensor(0.3)


def test_beta_may_be_learned():
    loss = AccuracyReliabilityLoss(torch.nn.Parameter(torch.tensor(0.3)))
    assert [name for name, _ in loss.named_parameters()] == ["beta"]
    error, sigma = (torch.tensor(values) for values in sample(50))
    loss(torch.zeros_like(error), error, sigma).backward()
    parts = errbar.accuracy_reliability(error, sigma)
    without_constant = parts.rs + 1.0 / math.sqrt(2.0 * math.pi)
    assert loss.beta.grad.item() == pytest.approx(parts.crps - without_constant, rel=1e-6)


def test_a_second_derivative_is_refused():
    error, sigma = (doubles(values).requires_grad_() for values in sample(5))
    with pytest.raises(RuntimeError, match="differentiated once"):
        torch.autograd.grad(accuracy_reliability(error, sigma), sigma, create_graph=True)


def test_order_does_not_matter(way):
    error, sigma = (doubles(values) for values in sample(1000, ties=True))
    shuffled = torch.randperm(1000, generator=torch.Generator().manual_seed(0))
    value, slope = gradient(way, error, sigma)
    other, permuted = gradient(way, error[shuffled], sigma[shuffled])
    assert value.item() == pytest.approx(other.item(), rel=1e-14)
    assert (slope[shuffled] - permuted).abs().max() <= 1e-14 * slope.abs().max()


def test_a_network_learns_sigma(way):
    """sigma(x) = 0.2 + x; 4,000 rows tell it to a few percent."""
    torch.manual_seed(0)
    x = torch.rand(4000, 1)
    error = (0.2 + x) * torch.randn(4000, 1)
    network = torch.nn.Sequential(
        torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1), torch.nn.Softplus()
    )
    error, x, _ = send(way, error, x)
    network = network.to(x.device)
    loss = AccuracyReliabilityLoss(heuristic_beta(error).item())
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(300):
        optimizer.zero_grad()
        loss(torch.zeros_like(error), error, network(x)).backward()
        optimizer.step()
    at = torch.tensor([[0.1], [0.5], [0.9]], device=x.device)
    assert (network(at) / (0.2 + at) - 1.0).abs().max() < 0.12


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_are_as_in_the_library(weighted, way):
    error, sigma = (doubles(values) for values in sample(100_000))
    weight = torch.arange(100_000) % 5 if weighted else None
    expected = errbar.accuracy_reliability(error, sigma, 0.4, weight)
    exact = torch.from_numpy(errbar.accuracy_reliability_gradient(error, sigma, 0.4, weight))
    value, slope = gradient(way, error, sigma, 0.4, weight)
    assert value.item() == pytest.approx(expected.value, rel=1e-13)
    assert (slope - exact).abs().max() <= 1e-12 * exact.abs().max()


@pytest.mark.skipif(not GPU, reason="there is no GPU: waits for it are not looked for")
def test_the_gpu_is_never_waited_for():
    error, sigma = (torch.tensor(values).cuda() for values in sample(1000))
    sigma, weight = sigma.requires_grad_(), torch.ones_like(error)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for beta in ["heuristic", 0.5]:
            accuracy_reliability(error, sigma, beta).backward()
            accuracy_reliability(error, sigma, beta, weight).backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("n", [1, 10, 100])
def test_small_batches_have_the_bias_that_the_documents_say(n):
    """RS of calibrated rows is 1 / (sqrt(2 pi) n) on average, and never below its least value."""
    generator = torch.Generator().manual_seed(n)
    error = torch.randn(4000, n, dtype=torch.float64, generator=generator)
    rs = torch.stack([reliability_score(row, torch.ones_like(row)) for row in error])
    expected = 1.0 / (math.sqrt(2.0 * math.pi) * n)
    assert abs(rs.mean().item() - expected) < 4.0 * rs.std().item() / math.sqrt(len(rs))
    assert rs.min().item() >= errbar.reliability_score_min(n) * (1.0 - 1e-9)
    level = (2.0 * torch.arange(1, n + 1, dtype=torch.float64) - 1.0) / n - 1.0
    perfect = math.sqrt(2.0) * torch.erfinv(level)
    least = reliability_score(perfect, torch.ones_like(perfect)).item()
    assert least == pytest.approx(errbar.reliability_score_min(n), rel=1e-9)


def test_examples_in_the_documentation_hold():
    found = doctest.testmod(errbar.torch)
    assert found.attempted > 3 and found.failed == 0


def sides(n, seed=0):
    """Errors and scales of both sides, which have little to do with each other."""
    rng = np.random.default_rng(seed)
    left, right = np.exp(0.5 * rng.standard_normal((2, n)))
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.4, left, 1.3 * right), left, right


def quantiles(base, error, left, right):
    """The Gaussian values that are as improbable, by the library's laws and its erfinv."""
    law = errbar.Law(base, 0.0, left=left, right=right)
    normal, below = errbar.Normal(0.0, 1.0), law.cdf(error) < 0.5
    # From the nearer tail: the other may round to 1.
    return np.where(below, normal.ppf(law.cdf(error)), normal.isf(law.sf(error)))


@pytest.mark.parametrize("base", ["normal", "laplace"])
@pytest.mark.parametrize("beta", ["heuristic", 0.0, 0.3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_pieces_are_those_of_the_library(base, beta, weighted, way):
    error, left, right = sides(500)
    weight = np.random.default_rng(1).integers(0, 4, 500) if weighted else None
    # Beta is the Gaussian's, which depends on the errors alone.
    parts = errbar.accuracy_reliability(quantiles(base, error, left, right), 1.0, 0.0, weight)
    accuracy = errbar.accuracy_reliability(error, 1.0, beta, weight).beta
    scores = errbar.Law(base, 0.0, left=left, right=right).crps(error)
    expected = accuracy * np.average(scores, weights=weight) + (1.0 - accuracy) * parts.value
    device = "cuda" if way == "gpu" else "cpu"
    columns = [doubles(one).to(device) for one in (error, left, right)]
    weight = None if weight is None else torch.tensor(weight, device=device)
    value = two_piece_accuracy_reliability(*columns, base, beta, weight)
    assert value.item() == pytest.approx(expected, rel=1e-11)
    found = two_piece_crps(*columns, base)
    assert np.abs(found.cpu().numpy() - scores).max() < 1e-14


@pytest.mark.parametrize("base", ["normal", "laplace"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_two_pieces_are_those_of_finite_differences(base, weighted, way):
    device = "cuda" if way == "gpu" else "cpu"
    columns = [doubles(one).to(device).requires_grad_() for one in sides(40)]
    weight = torch.linspace(0.0, 2.0, 40, device=device) if weighted else None
    cost = lambda e, l, r: two_piece_accuracy_reliability(e, l, r, base, 0.3, weight)
    assert torch.autograd.gradcheck(cost, columns)
    assert torch.autograd.gradcheck(lambda e, l, r: two_piece_crps(e, l, r, base), columns)


def test_two_equal_pieces_are_one_sigma(way):
    error, sigma = (doubles(values) for values in sample(300))
    value, slope = gradient(way, error, sigma)
    device = "cuda" if way == "gpu" else "cpu"
    error, left = error.to(device), sigma.clone().to(device).requires_grad_()
    right = sigma.clone().to(device).requires_grad_()
    found = two_piece_accuracy_reliability(error, left, right)
    found.backward()
    assert found.item() == pytest.approx(value.item(), rel=1e-12)
    both = (left.grad + right.grad).cpu()
    assert (both - slope).abs().max() <= 1e-10 * slope.abs().max()


def test_two_pieces_in_float32_and_with_padding(way):
    device = "cuda" if way == "gpu" else "cpu"
    columns = [doubles(one).to(device) for one in sides(1000)]
    expected = two_piece_accuracy_reliability(*columns).item()
    found = two_piece_accuracy_reliability(*(one.float() for one in columns))
    assert found.dtype == torch.float32 and found.item() == pytest.approx(expected, rel=1e-5)
    bad = torch.full((1,), math.nan, dtype=torch.float64, device=device)
    padded = [torch.cat([one, bad]).requires_grad_() for one in columns]
    weight = torch.cat([torch.ones(1000), torch.zeros(1)]).to(device)
    found = two_piece_accuracy_reliability(*padded, weight=weight)
    found.backward()
    assert found.item() == pytest.approx(expected, rel=1e-12)
    assert all(one.grad.isfinite().all() and one.grad[-1] == 0.0 for one in padded)


def test_two_pieces_that_cannot_be():
    x = torch.ones(4)
    assert two_piece_accuracy_reliability(x, x, x * torch.tensor([1.0, 0.0, 1.0, 1.0])).isnan()
    for call, words in [
        (lambda: two_piece_crps(x, x, x, "t"), "base is 't': give \"normal\" or \"laplace\""),
        (lambda: two_piece_crps(x, x[:3], x), r"left has shape \(3,\)"),
        (lambda: two_piece_crps(x, x, x[:, None]), r"right has shape \(4, 1\)"),
        (lambda: two_piece_accuracy_reliability(x, x, x, beta=2.0), "beta is 2.0"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    scale = x.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="differentiated once"):
        torch.autograd.grad(two_piece_crps(x, scale, x).sum(), scale, create_graph=True)
