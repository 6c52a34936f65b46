"""Dead time the classical way: one linear model with every lag in it, by least squares."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnlab.deadtime import delayed_inputs


class Arx(NamedTuple):
    """y[t+1] ≈ a y[t] + Σ_k b[k] u[t−k], with the standard errors of a and of each b[k]."""

    a: Tensor  # (...,), no unit
    b: Tensor  # (..., lags), °C per kW
    a_error: Tensor
    b_error: Tensor

    @property
    def lag(self) -> Tensor:
        """The lag of the largest coefficient: the estimate of the dead time, in samples."""
        return self.b.abs().argmax(-1)


def arx_least_squares(u: Tensor, y: Tensor, *, lags: int = 16) -> Arx:
    """Fit one first-order ARX model with the lags 0 … lags−1 to several records together, in float64.

    θ = (ΦᵀΦ)⁺ Φᵀ y. The records start at rest: u[t−k] counts as 0 before the beginning.

    Args:
        u: (..., R, T), kW.
        y: (..., R, T + 1), °C.

    Raises:
        ValueError: shapes that do not belong together; not more equations than coefficients.

    Source: Ljung 1999, sections 4.2 and 7.3.
    """
    if u.dim() < 2 or y.shape != (*u.shape[:-1], u.shape[-1] + 1):
        raise ValueError(f"arx: wanted u (..., R, T) and y (..., R, T + 1), got {tuple(u.shape)} and {tuple(y.shape)}")
    equations, unknowns = u.shape[-2] * u.shape[-1], lags + 1
    if equations <= unknowns:
        raise ValueError(f"arx: {unknowns} coefficients need more than {equations} equations")
    u, y = u.double(), y.double()
    delayed = delayed_inputs(pad(u, (lags - 1, 0)), lags)  # (..., R, lags, T)
    regressors = torch.cat((y[..., :-1].unsqueeze(-2), delayed), dim=-2)  # (..., R, lags + 1, T)
    phi = regressors.mT.flatten(-3, -2)  # (..., R T, lags + 1)
    target = y[..., 1:].flatten(-2).unsqueeze(-1)  # (..., R T, 1)
    inverse = torch.linalg.pinv(phi.mT @ phi, hermitian=True)  # pseudo: a dull input leaves ΦᵀΦ singular
    theta = inverse @ (phi.mT @ target)
    variance = (target - phi @ theta).square().sum((-2, -1)) / (equations - unknowns)
    error = (variance.unsqueeze(-1) * inverse.diagonal(dim1=-2, dim2=-1)).sqrt()
    theta = theta.squeeze(-1)
    return Arx(theta[..., 0], theta[..., 1:], error[..., 0], error[..., 1:])
