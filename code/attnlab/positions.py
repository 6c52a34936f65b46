"""The sinusoidal positional encoding, and the two linear maps that move along it: rotation and reflection."""

import torch
from torch import Tensor


def frequencies(d: int, *, base: float = 10000.0) -> Tensor:
    """Angular frequencies ω_i = base^(−2i/d) in radians per position, one for each (sin, cos) pair: (d/2,) float64.

    i counts pairs of dimensions, not positions.

    Raises:
        ValueError: d is odd or below 2; base is not above 1.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if d < 2 or d % 2:
        raise ValueError(f"positional encoding: d must be even and at least 2 (sin and cos come in pairs), got {d}")
    if base <= 1:
        raise ValueError(f"positional encoding: base must be above 1, got {base}")
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def sinusoidal_encoding(
    positions: int | Tensor, d: int, *, base: float = 10000.0, dtype: torch.dtype | None = None
) -> Tensor:
    """Write every position as d/2 clock hands: PE(p, 2i) = sin(p ω_i), PE(p, 2i+1) = cos(p ω_i).

    Args:
        positions: how many positions n, counted from 0; or a tensor of positions (...), negative ones included.
        d: width of the encoding, even.
        base: sets the slowest hand; its wavelength is 2π base^((d−2)/d) positions.
        dtype: of the result; torch's default unless given. Angles are always computed in float64, since
            p ω in float32 loses digits as p grows.

    Returns:
        (n, d), or (..., d) for a tensor of positions. Each position's vector has squared length d/2.

    Raises:
        ValueError: less than one position; d is odd or below 2; base is not above 1.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if isinstance(positions, int):
        if positions < 1:
            raise ValueError(f"positional encoding: wanted at least 1 position, got {positions}")
        positions = torch.arange(positions)
    omega = frequencies(d, base=base).to(positions.device)
    angles = positions.to(torch.float64).unsqueeze(-1) * omega  # (..., 1) * (d/2,) -> (..., d/2)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (..., d/2, 2)
    return pairs.flatten(-2).to(dtype or torch.get_default_dtype())  # (..., d): sin and cos alternate


def rotation(k: float, d: int, *, base: float = 10000.0) -> Tensor:
    """The matrix that moves any position k steps on: M_k PE(p) = PE(p + k) for every p. (d, d) float64.

    On each pair (sin, cos) it is [[cos kω, sin kω], [−sin kω, cos kω]]: a turn by kω, clockwise when sin points
    right and cos up, as on a clock. M_k does not depend on p; M_0 = I, M_a M_b = M_{a+b}, and M_{−k} = M_kᵀ.

    Raises:
        ValueError: d is odd or below 2; base is not above 1.

    Source: Vaswani et al. 2017, section 3.5, which states that such a matrix exists.
    """
    angle = k * frequencies(d, base=base)
    c, s = angle.cos(), angle.sin()
    return _block_diagonal(c, s, -s, c)


def reflection(length: int, d: int, *, base: float = 10000.0) -> Tensor:
    """The matrix that reverses a sequence of that length: M PE(p) = PE(length − 1 − p). (d, d) float64.

    On each pair it is [[−cos Lω, sin Lω], [sin Lω, cos Lω]] with L = length − 1: determinant −1, a
    reflection. Unlike the rotation it has the length built in.

    Raises:
        ValueError: length below 1; d is odd or below 2; base is not above 1.
    """
    if length < 1:
        raise ValueError(f"reflection: length must be at least 1, got {length}")
    angle = (length - 1) * frequencies(d, base=base)
    c, s = angle.cos(), angle.sin()
    return _block_diagonal(-c, s, s, c)


def _block_diagonal(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """2 × 2 blocks [[a_i, b_i], [c_i, d_i]] along the diagonal."""
    blocks = torch.stack((torch.stack((a, b), -1), torch.stack((c, d), -1)), -2)  # (d/2, 2, 2)
    return torch.block_diag(*blocks)
