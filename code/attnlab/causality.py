"""Which input can move which output: causality measured on the derivative, not believed."""

from collections.abc import Callable

import torch
from torch import Tensor


def influence_map(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Norms of all blocks of the Jacobian: entry (i, j) is ‖∂ output_i / ∂ input_j‖ (Frobenius).

    A causal map has exact zeros above the diagonal: output i does not move when a later input j > i does.

    Args:
        function: takes (n, d_in), returns (n, d_out).
        x: (n, d_in), where the derivative is taken.

    Returns:
        (n, n), row i the output, column j the input.

    Raises:
        ValueError: x is not (n, d_in), or the function does not return one output per input.
    """
    if x.dim() != 2:
        raise ValueError(f"influence_map: x must have shape (n, d), got {tuple(x.shape)}")
    blocks = torch.autograd.functional.jacobian(function, x)  # (n, d_out, n, d_in)
    if blocks.dim() != 4 or blocks.shape[0] != x.shape[0]:
        raise ValueError(
            f"influence_map: the function must return ({x.shape[0]}, d_out), got {tuple(blocks.shape[:-2])}"
        )
    return torch.linalg.vector_norm(blocks, dim=(1, 3))
