"""Gradients over depth and over distance: against PyTorch's Jacobian, and inside the ranges the page speaks of."""

import math

import pytest
import torch
from torch import nn

from attnlab.attention import MultiHeadAttention
from attnlab.gradients import (
    Step,
    first_to_last,
    layers_alone,
    lstm_with_forget_bias,
    through_depth,
    whole_block,
    without_residual,
)
from attnlab.transformer import TransformerBlock, TransformerEncoder

SEEDS = range(2)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values))


@pytest.mark.parametrize("norm_first", [True, False])
def test_striking_out_the_residual_leaves_the_two_branches(norm_first):
    torch.manual_seed(80)
    block = TransformerBlock(6, 2, 7, norm_first=norm_first).double()
    for norm in (block.norm1, block.norm2):
        nn.init.normal_(norm.weight)
    x = torch.randn(5, 6, dtype=torch.float64)
    assert torch.equal(whole_block(block, x), block(x)[0])
    if norm_first:
        middle = x + block.attention(block.norm1(x))[0]
        wanted = block.feed_forward(block.norm2(middle - x))  # the first addition undone, the second left out
        torch.testing.assert_close(whole_block(block, x) - middle, block.feed_forward(block.norm2(middle)))
    else:
        wanted = block.norm2(block.feed_forward(block.norm1(block.attention(x)[0])))
    torch.testing.assert_close(without_residual(block, x), wanted, atol=1e-12, rtol=0)
    # With the normalisations made idle, only the two layers are left.
    block.norm1 = block.norm2 = nn.Identity()
    torch.testing.assert_close(layers_alone(block, x), without_residual(block, x), atol=1e-12, rtol=0)


def over_depth(depths: tuple[int, ...], step: Step, *, norm_first: bool) -> dict[int, tuple[float, float]]:
    """Geometric means of the gradient and of the spread."""
    runs = {d: [through_depth(d, step, norm_first=norm_first, seed=s) for s in SEEDS] for d in depths}
    return {d: tuple(geometric_mean(list(column)) for column in zip(*rows, strict=True)) for d, rows in runs.items()}


@pytest.mark.parametrize("norm_first", [True, False])
def test_with_residuals_the_gradient_arrives_and_positions_stay_apart(norm_first):
    for gradient, spread in over_depth((1, 16), whole_block, norm_first=norm_first).values():
        assert 0.2 < gradient < 5
        assert spread > 0.3


def test_without_residuals_it_fades_and_all_positions_become_one():
    runs = over_depth((1, 4, 16), without_residual, norm_first=True)
    assert runs[16][0] < 0.2 * runs[1][0]
    assert runs[1][1] > 0.05 and runs[4][1] < 1e-8


def test_without_normalisation_too_it_is_gone_after_a_few_blocks():
    runs = over_depth((1, 8), layers_alone, norm_first=False)
    assert runs[1][0] > 1e-3 and 0 < runs[8][0] < 1e-7


def test_through_depth_is_the_stack():
    gradient, spread = through_depth(3, whole_block, norm_first=True, seed=5, n=7, d=6, num_heads=2)
    torch.manual_seed(5)
    stack = TransformerEncoder(3, 6, 2, 24, norm_first=True).double()
    x = torch.randn(7, 6, dtype=torch.float64)
    r = torch.randn(7, 6, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: stack(x)[0], x)  # (7, 6, 7, 6)
    wanted = torch.einsum("ia,iajb->jb", r, jacobian).norm() / r.norm()
    assert gradient == pytest.approx(wanted.item(), rel=1e-10)
    y = stack(x)[0].detach()
    assert spread == pytest.approx(((y - y.mean(0)).square().sum() / y.square().sum()).sqrt().item(), rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_first_to_last_is_a_block_of_the_jacobian(n):
    torch.manual_seed(81)
    d = 5
    x = torch.randn(n, d, dtype=torch.float64)
    attention, lstm = MultiHeadAttention(d, 1).double(), nn.LSTM(d, d, batch_first=True).double()
    for layer in (lambda x: attention(x)[0], lambda x: lstm(x)[0]):
        jacobian = torch.autograd.functional.jacobian(lambda x, f=layer: f(x[None])[0, -1], x)  # (d, n, d)
        assert first_to_last(layer, x) == pytest.approx(jacobian[:, 0].norm().item(), rel=1e-10)


def test_first_to_last_wants_one_sequence():
    with pytest.raises(ValueError, match=r"\(2, 3, 5\)"):
        first_to_last(lambda x: x, torch.zeros(2, 3, 5))


def test_forget_bias_moves_the_forget_gate_alone():
    d = 3
    torch.manual_seed(82)
    plain = lstm_with_forget_bias(d, 0.0)
    torch.manual_seed(82)
    biased = lstm_with_forget_bias(d, 100.0)
    assert torch.equal(biased.weight_hh_l0, plain.weight_hh_l0)
    # With the forget gate wide open and no input, the cell keeps what it holds and the input gate adds to it:
    # the same cell by hand, from the same weights.
    state = torch.tensor([[0.3, -0.7, 2.0]])
    _, (_, cell) = biased(torch.zeros(1, 1, d), (torch.zeros(1, 1, d), state[None]))
    i, _, g, _ = (plain.bias_ih_l0 + plain.bias_hh_l0).chunk(4)
    torch.testing.assert_close(cell[0], state + i.sigmoid() * g.tanh(), atol=1e-6, rtol=0)


@pytest.fixture(scope="module")
def over_distance() -> dict[str, dict[int, float]]:
    def value(n: int, seed: int, bias: float | None) -> float:
        torch.manual_seed(seed)
        d = 32
        if bias is None:
            attention = MultiHeadAttention(d, 1).double()
            return first_to_last(lambda x: attention(x)[0], torch.randn(n, d, dtype=torch.float64))
        lstm = lstm_with_forget_bias(d, bias).double()
        return first_to_last(lambda x: lstm(x)[0], torch.randn(n, d, dtype=torch.float64))

    kinds = {"lstm": 0.0, "lstm+1": 1.0, "lstm+3": 3.0, "attention": None}
    return {
        kind: {n: geometric_mean([value(n, s, bias) for s in SEEDS]) for n in (10, 50, 100)}
        for kind, bias in kinds.items()
    }


def test_lstm_gradient_falls_geometrically(over_distance):
    fresh = over_distance["lstm"]
    assert 1e-3 < fresh[10] < 2e-2
    assert 1e-13 < fresh[50] < 1e-9
    rate_near, rate_far = (fresh[50] / fresh[10]) ** (1 / 40), (fresh[100] / fresh[50]) ** (1 / 50)
    assert rate_near == pytest.approx(rate_far, rel=0.2) and rate_far < 0.75


def test_a_forget_bias_keeps_it_alive(over_distance):
    assert over_distance["lstm"][100] < 1e-15 < over_distance["lstm+1"][100] < 1e-6
    assert over_distance["lstm+3"][100] > 0.05


def test_attention_gradient_falls_like_one_over_n(over_distance):
    attention = over_distance["attention"]
    assert 3 < attention[10] / attention[50] < 8
    assert 1.2 < attention[50] / attention[100] < 3.5
