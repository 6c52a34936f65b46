"""How much of a gradient arrives at the far end: of many blocks, or of a long sequence. Nothing is trained here."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.transformer import TransformerBlock, TransformerEncoder

Step = Callable[[TransformerBlock, Tensor], Tensor]


def whole_block(block: TransformerBlock, x: Tensor) -> Tensor:
    """The block as it is. (..., n, d_model) -> the same shape."""
    return block(x)[0]


def without_residual(block: TransformerBlock, x: Tensor) -> Tensor:
    """The same block with both additions struck out: x ← Attention(LN(x)); x ← FFN(LN(x)).

    With norm_first=False each normalisation follows its layer instead. (..., n, d_model) -> the same shape.
    """
    if block.norm_first:
        x = block.attention(block.norm1(x))[0]
        return block.feed_forward(block.norm2(x))
    x = block.norm1(block.attention(x)[0])
    return block.norm2(block.feed_forward(x))


def layers_alone(block: TransformerBlock, x: Tensor) -> Tensor:
    """Neither additions nor normalisations: x ← FFN(Attention(x)). (..., n, d_model) -> the same shape."""
    return block.feed_forward(block.attention(x)[0])


def through_depth(
    depth: int, step: Step, *, norm_first: bool, seed: int, n: int = 10, d: int = 32, num_heads: int = 4
) -> tuple[float, float]:
    """Send a signal up a stack of fresh blocks and a gradient down again.

    The input is white, N(0, 1), and so is the gradient r that is put in at the output. float64.

    Args:
        depth: how many blocks, with PyTorch's initialisation and d_ff = 4d.
        step: how each block is passed: ``whole_block``, ``without_residual`` or ``layers_alone``.
        norm_first: pre-norm or post-norm; with pre-norm the signal goes through one more normalisation at the end.
        seed: of the weights, the input and r.

    Returns:
        The gradient's norm at the input of the first block, divided by ‖r‖; and the spread of the outputs, that
        is how much of them differs between positions: ‖Y − mean over positions‖ / ‖Y‖, 0 when all are equal.
    """
    torch.manual_seed(seed)
    stack = TransformerEncoder(depth, d, num_heads, 4 * d, norm_first=norm_first).double()
    x = torch.randn(n, d, dtype=torch.float64, requires_grad=True)
    r = torch.randn(n, d, dtype=torch.float64)
    y = x
    for block in stack.blocks:
        y = step(block, y)
    y = stack.final_norm(y)
    (gradient,) = torch.autograd.grad(y, x, r)
    y = y.detach()
    spread = (y - y.mean(dim=0)).norm() / y.norm()
    return (gradient.norm() / r.norm()).item(), spread.item()


def lstm_with_forget_bias(d: int, bias: float) -> nn.LSTM:
    """An LSTM layer of width d whose forget gates start at σ(bias + the usual small random number).

    bias = 0 leaves PyTorch's initialisation as it is.
    """
    lstm = nn.LSTM(d, d, batch_first=True)
    with torch.no_grad():
        lstm.bias_ih_l0[d : 2 * d] += bias  # PyTorch stacks the gates as input, forget, cell, output
    return lstm


def first_to_last(layer: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """How much the last output feels the first input: ‖∂ output_n / ∂ input_1‖ (Frobenius).

    Args:
        layer: takes (B, n, d), returns (B, n, d); the sequences of a batch do not touch each other.
        x: (n, d), where the derivative is taken.

    Raises:
        ValueError: x is not (n, d).
    """
    if x.dim() != 2:
        raise ValueError(f"first_to_last: x must have shape (n, d), got {tuple(x.shape)}")
    d = x.shape[1]
    # One copy of the sequence for each component of the output: a single backward pass gives all d rows.
    copies = x.expand(d, *x.shape).clone().requires_grad_()  # (d, n, d)
    last = layer(copies)[:, -1]  # (d, d)
    (gradient,) = torch.autograd.grad(last.diagonal().sum(), copies)
    return gradient[:, 0].norm().item()
