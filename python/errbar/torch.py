r"""The Accuracy-Reliability cost as a PyTorch loss.

A network that puts out sigma learns error bars that are sharp and of the right size:

>>> import torch
>>> from errbar.torch import AccuracyReliabilityLoss
>>> loss = AccuracyReliabilityLoss()
>>> forecast = torch.tensor([1.0, 2.0, 3.0, 4.0])
>>> observation = torch.tensor([1.3, 0.8, 3.7, 4.1])
>>> sigma = torch.full((4,), 9.0, requires_grad=True)
>>> loss(forecast, observation, sigma).backward()
>>> bool((sigma.grad > 0).all())  # every sigma is too large
True

The words are those of the rest of errbar: ``error`` is observation minus forecast, ``sigma`` its
standard deviation. Where errors are skewed, ``two_piece_accuracy_reliability`` takes a scale for each
side of the forecast.

- Any device; float32 and float64, and half precision computed (and returned) as float32.
- All elements of a tensor count alike, whatever its shape. Reliability is a property of the whole
  batch: it compares the batch's scaled errors with the distribution they claim. The Reliability
  Score of n rows of a *perfect* forecast is :math:`1/(\sqrt{2\pi}\,n)` on average (0.4 at n = 1,
  0.004 at n = 100), and cannot be less than ``errbar.reliability_score_min(n)``. In batches of n
  rows sigma is learned too large by about 0.9/n of itself: take 100 rows or more.
- What cannot be makes the loss NaN or infinite, as with PyTorch's own losses: an error that is not
  finite, a sigma that is not positive, a negative weight. Looking for them would make a GPU wait.
  Shapes that differ are a ``ValueError``.
- Rows of weight zero count for nothing, whatever they hold: NaN in padding does no harm.
- Gradients are computed with the value, by hand, and are finite wherever the input can be. They
  can be taken once, not twice.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

import errbar

from . import _two_piece

__all__ = [
    "AccuracyReliabilityLoss",
    "accuracy_reliability",
    "crps",
    "heuristic_beta",
    "reliability_score",
    "two_piece_accuracy_reliability",
    "two_piece_crps",
]

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_1_OVER_SQRT_PI = 1.0 / math.sqrt(math.pi)
# What a reported RS leaves out, so that 0 is perfect.
_CONSTANT = 1.0 / math.sqrt(2.0 * math.pi)
# Least CRPS over the mean absolute error: right, and as the paper prints it.
_CRPS_MIN = {
    "heuristic": math.erf(math.sqrt(math.log(4.0)) / 2.0),
    "printed": math.sqrt(math.log(4.0)) / 2.0,
}


class AccuracyReliabilityLoss(nn.Module):
    r"""The Accuracy-Reliability cost of a batch,
    :math:`\beta\,\overline{\mathrm{CRPS}} + (1-\beta)\,\mathrm{RS}`.

    Called as ``loss(forecast, observation, sigma, weight=None)``, in the order of
    ``torch.nn.GaussianNLLLoss`` (whose third argument is a variance, and this one a standard
    deviation). Gradients flow to sigma, and to the forecast where it needs them: then mean and
    error bars are learned together.

    Parameters
    ----------
    beta : "heuristic", "printed", float or torch.Tensor
        The weight of accuracy. "heuristic" is the paper's, from the batch's own mean absolute
        error. "printed" is the same with the paper's misprint. Or a number from 0 to 1. The
        heuristic is taken as a constant: no gradient flows through it. In small batches it varies;
        take it once, from all errors: ``AccuracyReliabilityLoss(heuristic_beta(all_errors))``.
    """

    beta: Any

    def __init__(self, beta: str | float | Tensor = "heuristic") -> None:
        super().__init__()
        _check_beta(beta)
        if isinstance(beta, Tensor) and not isinstance(beta, nn.Parameter):
            self.register_buffer("beta", beta, persistent=False)  # .to(device) takes it along
        else:
            self.beta = beta

    def forward(
        self, forecast: Tensor, observation: Tensor, sigma: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        _check_same_shape("forecast", forecast, "observation", observation)
        return accuracy_reliability(observation - forecast, sigma, self.beta, weight)

    def extra_repr(self) -> str:
        return f"beta={self.beta!r}"


def accuracy_reliability(
    error: Tensor,
    sigma: Tensor,
    beta: str | float | Tensor = "heuristic",
    weight: Tensor | None = None,
) -> Tensor:
    """The Accuracy-Reliability cost, from errors: see :class:`AccuracyReliabilityLoss`.

    The value is ``beta * crps + (1 - beta) * (rs + 1 / sqrt(2 * pi))`` with ``rs`` of
    :func:`reliability_score`: the cost leaves out the constant that makes a reported RS zero at
    best.
    """
    _check_beta(beta)
    error, sigma, weight = _checked(error, sigma, weight)
    return _cost(error, sigma, weight, *_parts(beta, error, weight))


def two_piece_accuracy_reliability(
    error: Tensor,
    left: Tensor,
    right: Tensor,
    base: str = "normal",
    beta: str | float | Tensor = "heuristic",
    weight: Tensor | None = None,
) -> Tensor:
    r"""The Accuracy-Reliability cost of skewed laws: the forecast is the mode, with the scale ``left``
    below it and ``right`` above.

    ``base`` is "normal" (the two-piece normal law) or "laplace" (the asymmetric Laplace law). The
    CRPS is that of ``errbar.Law(base, forecast, left=left, right=right)``. The Reliability Score is
    that of the Gaussian values which are as improbable as the errors, :math:`\Phi^{-1}(F)`, so that
    equal scales of base "normal" give :func:`accuracy_reliability`. Beta is the Gaussian's for every
    base. Gradients flow to the error and to both scales.
    """
    _check_beta(beta)
    error, left, right, weight = _checked_sides(base, error, left, right, weight)
    accuracy, reliability = _parts(beta, error, weight)
    value: Any = 0.0
    if accuracy is not None:
        value = accuracy * _mean(_by_hand(_two_piece.crps, base, error, left, right), weight)
    if reliability is not None:
        quantile = _by_hand(_two_piece.gaussian_quantile, base, error, left, right)
        value = value + _cost(quantile, torch.ones_like(quantile), weight, None, reliability)
    cost: Tensor = value.to(error.dtype)
    return cost


def two_piece_crps(error: Tensor, left: Tensor, right: Tensor, base: str = "normal") -> Tensor:
    """The CRPS of each element of a skewed law: see :func:`two_piece_accuracy_reliability`."""
    flat = _checked_sides(base, error, left, right, None)
    return _by_hand(_two_piece.crps, base, *flat[:3]).reshape(error.shape)


def reliability_score(error: Tensor, sigma: Tensor, weight: Tensor | None = None) -> Tensor:
    """The Reliability Score: 0 is perfect.

    n rows of a perfect forecast have ``1 / (sqrt(2 * pi) * n)`` on average.
    """
    error, sigma, weight = _checked(error, sigma, weight)
    return _cost(error, sigma, weight, None, 1.0, _CONSTANT)


def crps(error: Tensor, sigma: Tensor) -> Tensor:
    """The CRPS of each element, in the units of the error."""
    _check_same_shape("error", error, "sigma", sigma)
    value: Tensor = _Crps.apply(*_same_type(error, sigma))
    return value


def heuristic_beta(error: Tensor, weight: Tensor | None = None) -> Tensor:
    """The paper's weight of accuracy for these errors, ``RS_min / (CRPS_min + RS_min)``."""
    error, _, weight = _checked(error, torch.ones_like(error), weight)
    return _heuristic(error.detach(), weight, "heuristic")[0].to(error.dtype)


class _ByHand(torch.autograd.Function):
    """A function of error, left and right scale that has its slopes with its value."""

    @staticmethod
    def forward(ctx: Any, of: Any, base: str, error: Tensor, left: Tensor, right: Tensor) -> Tensor:
        value, slopes = of(torch, torch.special, base, error, left, right)
        ctx.save_for_backward(*slopes)
        result: Tensor = value
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        _refuse_twice()
        return None, None, *(grad * slope for slope in ctx.saved_tensors)


def _by_hand(of: Any, base: str, error: Tensor, left: Tensor, right: Tensor) -> Tensor:
    value: Tensor = _ByHand.apply(of, base, error, left, right)
    return value


class _Crps(torch.autograd.Function):
    """CRPS with its derivatives by hand: those of its terms cancel, and are NaN far out."""

    @staticmethod
    def forward(ctx: Any, error: Tensor, sigma: Tensor) -> Tensor:
        ctx.save_for_backward(error, sigma)
        sigma = _positive(sigma)
        eta = _eta(error, sigma)
        # error * erf rather than sigma * z * erf: z may overflow where the score does not.
        return error * torch.erf(eta) + sigma * _dcrps_dsigma(_bell(eta))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        error, sigma = ctx.saved_tensors
        eta = _eta(error, _positive(sigma))
        by_error, by_sigma = ctx.needs_input_grad
        return (
            grad * torch.erf(eta) if by_error else None,
            grad * _dcrps_dsigma(_bell(eta)) if by_sigma else None,
        )


class _Cost(torch.autograd.Function):
    """``accuracy * mean CRPS + reliability * RS - constant``, RS without its own.

    The gradients are made together with the value, while what they share is at hand, and are all
    that is kept.
    """

    @staticmethod
    def forward(
        ctx: Any,
        error: Tensor,
        sigma: Tensor,
        weight: Tensor | None,
        accuracy: float | Tensor | None,
        reliability: float | Tensor | None,
        constant: float,
    ) -> Tensor:
        sigma = _positive(sigma)
        share = 1.0 / error.numel() if weight is None else weight / weight.sum()
        eta = _eta(error, sigma)
        bell = _bell(eta)
        needed = ctx.needs_input_grad
        by_error, by_sigma = (torch.zeros_like(eta) if need else None for need in needed[:2])
        value: Any = -constant
        crps: Any = None
        rs: Any = None
        if accuracy is not None:
            slope, erf = _dcrps_dsigma(bell), torch.erf(eta)
            crps = _mean((error * erf).addcmul_(sigma, slope), weight)
            value = value + accuracy * crps
            if by_sigma is not None:
                by_sigma = slope.mul_(accuracy)
            if by_error is not None:
                by_error = erf.mul_(accuracy)
        if reliability is not None:
            gap = _gap(eta, weight)
            pull = eta * gap
            rs = _mean(torch.add(pull, bell, alpha=_1_OVER_SQRT_PI), weight)
            value = value + reliability * rs
            if by_sigma is not None:
                by_sigma.addcdiv_(pull.mul_(reliability), sigma, value=-1.0)
            if by_error is not None:
                by_error.addcdiv_(gap.mul_(reliability), sigma, value=_SQRT_HALF)
        # Finite, however small sigma: what comes before it in a network makes them smaller again.
        most = torch.finfo(error.dtype).max
        kept = [
            None if slope is None else slope.mul_(share).clamp_(-most, most)
            for slope in (by_error, by_sigma)
        ]
        for part, need in zip((crps, rs), needed[3:]):
            kept.append(part.to(error.dtype) if need else None)
        ctx.save_for_backward(*kept)
        cost: Tensor = value.to(error.dtype)
        return cost

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        _refuse_twice()
        by_error, by_sigma, by_accuracy, by_reliability = (
            None if slope is None else slope * grad for slope in ctx.saved_tensors
        )
        return by_error, by_sigma, None, by_accuracy, by_reliability, None


def _refuse_twice() -> None:
    """Autograd would take gradients made by hand for constants, and say nothing."""
    if torch.is_grad_enabled():
        raise RuntimeError("this loss is differentiated once: it takes no create_graph=True")


def _cost(
    error: Tensor,
    sigma: Tensor,
    weight: Tensor | None,
    accuracy: float | Tensor | None,
    reliability: float | Tensor | None,
    constant: float = 0.0,
) -> Tensor:
    """:class:`_Cost`; a part that is None is left out."""
    value: Tensor = _Cost.apply(error, sigma, weight, accuracy, reliability, constant)
    return value


def _parts(
    beta: str | float | Tensor, error: Tensor, weight: Tensor | None
) -> tuple[float | Tensor | None, float | Tensor | None]:
    """The weights of accuracy and of reliability."""
    if isinstance(beta, str):
        return _heuristic(error.detach(), weight, beta)
    if isinstance(beta, Tensor):
        beta = beta.reshape(()).to(error)
        return beta, 1.0 - beta
    # A part that does not count must not count even where it is infinite.
    return beta or None, (1.0 - beta) or None


def _eta(error: Tensor, sigma: Tensor) -> Tensor:
    """The scaled error. Finite, so that it can be multiplied by zero; NaN stays NaN."""
    most = 0.5 * torch.finfo(error.dtype).max
    return (error / sigma).mul_(_SQRT_HALF).clamp_(-most, most)


def _bell(eta: Tensor) -> Tensor:
    return (eta * eta).neg_().exp_()


def _dcrps_dsigma(bell: Tensor) -> Tensor:
    return _SQRT_2_OVER_PI * bell - _1_OVER_SQRT_PI


def _gap(eta: Tensor, weight: Tensor | None) -> Tensor:
    """``erf(eta) + 1 - (W_i + W_(i-1)) / W``, or ``- (2i - 1) / n`` without weights: by how much
    the claimed distribution is ahead of the observed one. Equal eta share their mean rank."""
    by = _gap_by_library if eta.device.type == "cpu" else _gap_by_sort
    return by(eta, weight)


def _gap_by_sort(eta: Tensor, weight: Tensor | None) -> Tensor:
    """Nothing here makes a GPU wait."""
    n = eta.numel()
    ordered, order = torch.sort(eta)
    below, up_to = (
        torch.searchsorted(ordered, ordered, right=right, out_int32=n < 2**30)
        for right in (False, True)
    )
    total: int | Tensor = n
    if weight is None:
        twice = below.add_(up_to)
    else:
        # In double, like all sums: float32 would lose the ranks of a million rows.
        running = eta.new_zeros(n + 1, dtype=torch.float64)
        torch.cumsum(weight[order], 0, dtype=torch.float64, out=running[1:])
        total, twice = running[-1], running[below].add_(running[up_to])
    twice = torch.empty_like(twice).scatter_(0, order, twice)
    # Both parts are counted from the nearer tail: the small gap of an outlier keeps its digits.
    lower = eta < 0
    observed = torch.where(lower, twice, 2 * total - twice).to(eta.dtype).div_(total)
    gap = observed.sub_(torch.erfc(eta.abs()))
    return torch.where(lower, -gap, gap)


def _gap_by_library(eta: Tensor, weight: Tensor | None) -> Tensor:
    """From the derivative of RS by sigma, ``- share * eta * gap`` where sigma is 1: on a CPU the
    library ranks many times faster than ``torch.sort``."""
    rows, shares = eta.double(), torch.ones(()) if weight is None else weight.double()
    try:
        slope = errbar.accuracy_reliability_gradient(
            (math.sqrt(2.0) * rows).numpy(), 1.0, 0.0, None if weight is None else shares.numpy()
        )
    except ValueError:  # a value that cannot be
        return torch.full_like(eta, math.nan)
    total = shares.expand_as(rows).sum()
    gap = torch.from_numpy(slope) * -total / (shares * rows)
    # It says nothing of an eta of zero, for which counting will do, nor of rows that do not count.
    below, up_to = ((shares * side).sum() for side in (rows < 0, rows <= 0))
    gap = torch.where(rows == 0, 1.0 - (below + up_to) / total, gap)
    return torch.where(shares > 0, gap, 0.0).to(eta.dtype)


def _mean(values: Tensor, weight: Tensor | None) -> Tensor:
    """The mean, added up in double: float32 would leave few digits of a small RS."""
    if weight is None:
        return values.mean(dtype=torch.float64)
    return torch.sum(values * weight, dtype=torch.float64) / weight.sum(dtype=torch.float64)


def _heuristic(error: Tensor, weight: Tensor | None, which: str) -> tuple[Tensor, Tensor]:
    """Beta and 1 - beta, each with all its digits: one of them may be tiny."""
    crps_min = _CRPS_MIN[which] * _mean(error.abs(), weight)
    n = error.numel()
    if weight is None:
        rs_min: float | Tensor = _rs_min(n) + _CONSTANT
    else:
        # The same as a sum over the rows that count, whose number only the device knows.
        counted = torch.sum(weight > 0)
        rank = torch.arange(1, n + 1, device=error.device, dtype=torch.float64)
        level = (2.0 * rank - 1.0) / counted - 1.0
        bell = torch.exp(-(torch.erfinv(level.clamp(max=1.0)) ** 2))  # zero from 1 on
        rs_min = _1_OVER_SQRT_PI * bell.sum() / counted
    total = crps_min + rs_min
    return rs_min / total, crps_min / total


_rs_min = lru_cache(errbar.reliability_score_min)  # batches have few different sizes


def _positive(sigma: Tensor) -> Tensor:
    return torch.where(sigma > 0, sigma, math.nan)


def _checked(
    error: Tensor, sigma: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Flat and of one floating type; what does not count is made harmless."""
    _check_same_shape("error", error, "sigma", sigma)
    if error.numel() == 0:
        raise ValueError("there are no errors: a batch needs at least one row")
    error, sigma = (tensor.reshape(-1) for tensor in _same_type(error, sigma))
    if weight is None:
        return error, sigma, None
    if weight.numel() != error.numel():
        raise ValueError(
            f"weight has {weight.numel()} elements but error has {error.numel()}: give one per row"
        )
    weight = weight.detach().reshape(-1).to(error.dtype)
    weight = torch.where(weight >= 0, weight, math.nan)
    counts = weight != 0
    return torch.where(counts, error, 0.0), torch.where(counts, sigma, 1.0), weight


def _checked_sides(
    base: str, error: Tensor, left: Tensor, right: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """:func:`_checked` for two scales."""
    if base not in _two_piece.BASES:
        raise ValueError(f'base is {base!r}: give "normal" or "laplace"')
    _check_same_shape("error", error, "left", left)
    _check_same_shape("error", error, "right", right)
    left, right = _same_type(left, right)
    error, left, counted = _checked(error, left, weight)
    error, right, counted = _checked(error, right.reshape(-1), weight)
    return error, left, right, counted


def _same_type(error: Tensor, sigma: Tensor) -> tuple[Tensor, Tensor]:
    kind = torch.promote_types(error.dtype, sigma.dtype)
    kind = kind if kind in (torch.float32, torch.float64) else torch.float32
    return error.to(kind), sigma.to(kind)


def _check_same_shape(first: str, a: Tensor, second: str, b: Tensor) -> None:
    if a.shape != b.shape:
        raise ValueError(
            f"{first} has shape {tuple(a.shape)} but {second} has shape {tuple(b.shape)}: "
            "give equal shapes (.squeeze(-1) takes a last dimension of 1 away)"
        )


def _check_beta(beta: str | float | Tensor) -> None:
    if isinstance(beta, str):
        if beta not in _CRPS_MIN:
            known = '"heuristic", "printed" or a number from 0 to 1'
            raise ValueError(f"beta is {beta!r}: give {known}")
    elif isinstance(beta, Tensor):
        if beta.numel() != 1:
            raise ValueError(f"beta has {beta.numel()} elements: give a single number")
    elif not 0.0 <= beta <= 1.0:
        raise ValueError(f"beta is {beta}: give a number from 0 to 1")
