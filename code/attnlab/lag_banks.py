"""What attention over lags has to be measured against: cross-correlations, and banks with one model for each lag.

All of them see the same windows as ``lag_attention`` — u (..., WINDOW + LAGS − 1) in kW, y (..., WINDOW) in °C — and
know, as it does from its training, that the gain is positive.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.deadtime import delayed_inputs
from attnlab.lag_attention import GAINS, LAGS, POLES, RIDGE, Windows


class Belief(NamedTuple):
    """A score for each lag (..., LAGS), and the prediction of the next output (...,)."""

    scores: Tensor
    prediction: Tensor

    @property
    def lag(self) -> Tensor:
        return self.scores.argmax(-1)


def cross_correlation(u: Tensor, y: Tensor, *, output_pole: float = 0.0, input_pole: float = 0.0) -> Tensor:
    """Correlate y[s+1] with u[s−k] over the window, both filtered first; normalised by the length of u. (..., LAGS)

    The output goes through (1 − output_pole q⁻¹)(1 − input_pole q⁻¹), the input through (1 − input_pole q⁻¹).
    output_pole = 1 differences the output, and the process's pole would undo the process. input_pole = 1 − 1/hold
    makes the input white; the output has to go through the same filter (prewhitening; Ljung 1999, section 6.1).
    """
    y = _high_pass(_high_pass(y, output_pole), input_pole)
    u = _high_pass(delayed_inputs(u, LAGS)[..., :-1], input_pole)
    n = min(y.shape[-1], u.shape[-1])
    y, u = y[..., -n:], u[..., -n:]  # the last output belongs to the last input
    return (u @ y.unsqueeze(-1)).squeeze(-1) / u.norm(dim=-1)


def arx_bank(u: Tensor, y: Tensor) -> Belief:
    """Fit y[s+1] = a y[s] + b u[s−k] for each k by itself; the lag with the smallest residual predicts.

    Scores: the logarithm of the likelihood, with the noise's variance estimated for each lag. A lag whose b is
    negative is out.
    """
    m = _moments(u, y)
    s11, suu = m.s11 + RIDGE, m.suu + RIDGE
    determinant = s11 * suu - m.s1u.square()
    a = (suu * m.sy1 - m.s1u * m.syu) / determinant  # (..., LAGS)
    b = (s11 * m.syu - m.s1u * m.sy1) / determinant
    residual = m.syy - 2 * (a * m.sy1 + b * m.syu) + a**2 * m.s11 + 2 * a * b * m.s1u + b**2 * m.suu
    # Without noise the sum of squares is 0, and rounding may take it below.
    scores = (-m.count / 2 * residual.clamp(min=1e-9).log()).masked_fill(b <= 0, -torch.inf)
    prediction = a * y[..., -1:] + b * m.last
    return Belief(scores, prediction.gather(-1, scores.argmax(-1, keepdim=True)).squeeze(-1))


def bayes_bank(u: Tensor, y: Tensor, *, noise: float, points: int = 16) -> Belief:
    """The best there is when the noise drives the process: posterior over lag, pole and gain on a grid.

    Knows the distribution that the processes are drawn from and the standard deviation of the noise (°C). Scores:
    the logarithm of the posterior of each lag; prediction: the posterior mean. Best up to the width of the grid,
    and given the window's first output, whose own likelihood is left out.
    """
    m = _moments(u, y)
    a, gain = (x.flatten() for x in torch.meshgrid(_grid(POLES, points), _grid(GAINS, points), indexing="ij"))
    b = gain * (1 - a)
    columns = [x.unsqueeze(-1) for x in (m.syy, m.sy1, m.syu, m.s11, m.s1u, m.suu)]
    syy, sy1, syu, s11, s1u, suu = columns
    # (..., LAGS, points²): the sum of squares of y[s+1] − a y[s] − b u[s−k]
    residual = syy - 2 * (a * sy1 + b * syu) + a**2 * s11 + 2 * a * b * s1u + b**2 * suu
    posterior = (-residual / (2 * noise**2)).flatten(-2).softmax(-1).view_as(residual)
    prediction = (posterior * a).sum((-2, -1)) * y[..., -1] + ((posterior * b).sum(-1) * m.last).sum(-1)
    return Belief(posterior.sum(-1).log(), prediction)


def output_error_bank(u: Tensor, y: Tensor, *, points: int = 16) -> Belief:
    """For noise in the measurement alone: simulate each lag and pole, fit b and the initial state to the window.

    y[s] = a^s x₀ + b Σ_i a^{s−1−i} u[i−k] + v[s]. Scores: minus the smallest sum of squares of each lag.
    """
    delayed = delayed_inputs(u, LAGS)  # (..., LAGS, WINDOW)
    y = y[..., None, :, None]  # (..., 1, WINDOW, 1)
    n = delayed.shape[-1]
    residuals, predictions = [], []
    for a in _grid(POLES, points):
        response = [torch.zeros(delayed.shape[:-1])]
        for s in range(n):
            response.append(a * response[-1] + delayed[..., s])
        free = (a ** torch.arange(n + 1)).expand(*delayed.shape[:-1], n + 1)
        phi = torch.stack((free, torch.stack(response, dim=-1)), dim=-1)  # (..., LAGS, WINDOW + 1, 2)
        seen, following = phi[..., :n, :], phi[..., n, :]
        theta = torch.linalg.solve(seen.mT @ seen + RIDGE * torch.eye(2), seen.mT @ y)  # (..., LAGS, 2, 1)
        misfit = (y - seen @ theta).square().sum((-2, -1))
        residuals.append(misfit.masked_fill(theta[..., 1, 0] <= 0, torch.inf))
        predictions.append((following.unsqueeze(-2) @ theta).squeeze(-1).squeeze(-1))
    residual, prediction = torch.stack(residuals, dim=-1), torch.stack(predictions, dim=-1)  # (..., LAGS, points)
    best = residual.flatten(-2).argmin(-1, keepdim=True)
    return Belief(-residual.amin(-1), prediction.flatten(-2).gather(-1, best).squeeze(-1))


def oracle(windows: Windows) -> Tensor:
    """The prediction of whoever knows a, b and d of each record; its error is the noise alone. (B,)"""
    past = delayed_inputs(windows.u, LAGS)[..., -1].gather(-1, windows.d.unsqueeze(-1)).squeeze(-1)
    return windows.a * windows.y[:, -1] + windows.b * past


class _Moments(NamedTuple):
    """Sums over the window of products of y[s+1], y[s] and u[s−k]: (..., 1) without u, (..., LAGS) with it."""

    syy: Tensor
    sy1: Tensor
    s11: Tensor
    syu: Tensor
    s1u: Tensor
    suu: Tensor
    last: Tensor  # u[t−k] of the step that is to be predicted
    count: int


def _moments(u: Tensor, y: Tensor) -> _Moments:
    delayed = delayed_inputs(u, LAGS)
    u, old, new = delayed[..., :-1], y[..., None, :-1], y[..., None, 1:]
    products = ((new, new), (new, old), (old, old), (new, u), (old, u), (u, u))
    return _Moments(*((p * q).sum(-1) for p, q in products), delayed[..., -1], new.shape[-1])


def _grid(limits: tuple[float, float], points: int) -> Tensor:
    low, high = limits
    return low + (high - low) * (torch.arange(points) + 0.5) / points


def _high_pass(x: Tensor, pole: float) -> Tensor:
    return x[..., 1:] - pole * x[..., :-1] if pole else x
