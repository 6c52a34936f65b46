"""Gradients over depth and over distance: against PyTorch's Jacobian, and inside the ranges the page speaks of."""

import math

import pytest
import torch
from attnlab.attention import MultiHeadAttention
from attnlab.gradients import block_without_residual, first_to_last, lstm_with_forget_bias, through_depth
from attnlab.transformer import TransformerBlock
from torch import nn

SEEDS = range(2)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values))


@pytest.mark.parametrize("norm_first", [True, False])
def test_striking_out_the_residual_leaves_the_two_branches(norm_first):
    torch.manual_seed(80)
    block = TransformerBlock(6, 2, 7, norm_first=norm_first).double()
    x = torch.randn(5, 6, dtype=torch.float64)
    if norm_first:
        middle = x + block.attention(block.norm1(x))[0]
        branch = block(x)[0] - middle
        torch.testing.assert_close(block.feed_forward(block.norm2(middle)), branch, atol=1e-12, rtol=0)
        wanted = block.feed_forward(block.norm2(middle - x))
    else:
        wanted = block.norm2(block.feed_forward(block.norm1(block.attention(x)[0])))
    torch.testing.assert_close(block_without_residual(block, x), wanted, atol=1e-12, rtol=0)


@pytest.mark.parametrize("norm_first", [True, False])
def test_with_residuals_the_gradient_arrives(norm_first):
    for depth in (1, 8, 32):
        gradients = [through_depth(depth, norm_first=norm_first, residual=True, seed=s)[0] for s in SEEDS]
        assert 0.1 < geometric_mean(gradients) < 10


def test_without_residuals_it_fades_and_all_positions_become_one():
    runs = {d: [through_depth(d, norm_first=True, residual=False, seed=s) for s in SEEDS] for d in (1, 4, 32)}
    gradient = {d: geometric_mean([g for g, _ in values]) for d, values in runs.items()}
    assert gradient[32] < 0.1 * gradient[1]
    assert min(spread for _, spread in runs[1]) > 0.05
    assert max(spread for _, spread in runs[4]) < 1e-8


def test_with_residuals_positions_stay_apart():
    for seed in SEEDS:
        assert through_depth(16, norm_first=True, residual=True, seed=seed)[1] > 0.3


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
