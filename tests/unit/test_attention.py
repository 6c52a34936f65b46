"""Attention against PyTorch's own, against a loop in plain Python, and against what must hold for any input."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlab.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention, split_heads
from attnlab.causality import influence_map

B, H, N, M, D_K, D_V = 2, 3, 5, 7, 11, 13  # different primes: no two axes can be taken for each other


def inputs(*leading, dtype=torch.float64, n=N, m=M, d_k=D_K, d_v=D_V):
    g = torch.Generator().manual_seed(3)
    return (
        torch.randn(*leading, n, d_k, generator=g, dtype=dtype),
        torch.randn(*leading, m, d_k, generator=g, dtype=dtype),
        torch.randn(*leading, m, d_v, generator=g, dtype=dtype),
    )


def random_mask(*shape):
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(4)) < 0.5
    mask[..., 0] = True  # every query may look somewhere
    return mask


def test_equals_a_loop_over_the_formula():
    q, k, v = inputs()
    output, weights = scaled_dot_product_attention(q, k, v)
    for i in range(N):
        scores = [sum(a * b for a, b in zip(q[i].tolist(), k[j].tolist())) / math.sqrt(D_K) for j in range(M)]
        exponentials = [math.exp(score) for score in scores]
        alpha = [e / sum(exponentials) for e in exponentials]
        assert weights[i].tolist() == pytest.approx(alpha, abs=1e-12)
        for c in range(D_V):
            assert output[i, c].item() == pytest.approx(sum(a * v[j, c].item() for j, a in enumerate(alpha)), abs=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 5e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("leading", [(), (B,), (B, H)])
@pytest.mark.parametrize("mask", ["none", "boolean", "broadcast", "causal"])
def test_equals_pytorch(dtype, tolerance, leading, mask):
    q, k, v = inputs(*leading, dtype=dtype)
    allowed = {
        "none": None,
        "boolean": random_mask(*leading, N, M),
        "broadcast": random_mask(N, M),
        "causal": causal_mask(N, M),
    }[mask]
    output, weights = scaled_dot_product_attention(q, k, v, allowed=allowed)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    torch.testing.assert_close(output, expected, atol=tolerance, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(*leading, N, dtype=dtype), atol=tolerance, rtol=0)
    assert output.dtype == weights.dtype == dtype
    if allowed is not None:
        assert (weights.masked_select(~allowed.expand_as(weights)) == 0).all()


def test_causal_mask_is_pytorch_s_is_causal_also_for_unequal_lengths():
    for n, m in ((N, N), (N, M), (M, N)):
        q, k, v = inputs(n=n, m=m)
        output, _ = scaled_dot_product_attention(q, k, v, allowed=causal_mask(n, m))
        torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-12, rtol=0)
    assert causal_mask(2, 3).tolist() == [[True, False, False], [True, True, False]]


def test_scale_multiplies_the_scores_as_in_pytorch():
    q, k, v = inputs()
    for scale in (1.0, 1 / D_K, 0.0):
        output, _ = scaled_dot_product_attention(q, k, v, scale=scale)
        torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, v, scale=scale), atol=1e-12, rtol=0)


def test_digits_of_the_causal_example():
    torch.manual_seed(0)
    q, k, v = torch.randn(5, 16), torch.randn(5, 16), torch.randn(5, 16)
    _, weights = scaled_dot_product_attention(q, k, v, allowed=causal_mask(5))
    rows = [[1.00], [0.12, 0.88], [0.50, 0.18, 0.31], [0.30, 0.50, 0.12, 0.08], [0.09, 0.05, 0.17, 0.13, 0.56]]
    for row, expected in zip(weights.tolist(), rows):
        assert [round(w, 2) for w in row] == expected + [0.0] * (5 - len(expected))


def test_output_is_a_convex_combination_of_the_values():
    q, k, v = inputs(B)
    output, weights = scaled_dot_product_attention(5 * q, k, v)
    assert (weights >= 0).all()
    assert (output <= v.amax(-2, keepdim=True) + 1e-12).all() and (output >= v.amin(-2, keepdim=True) - 1e-12).all()


def test_a_query_that_may_look_nowhere_gives_zeros_and_finite_gradients():
    q, k, v = (t.requires_grad_() for t in inputs(B))
    allowed = random_mask(B, N, M)
    allowed[1, 2] = False
    output, weights = scaled_dot_product_attention(q, k, v, allowed=allowed)
    assert (output[1, 2] == 0).all() and (weights[1, 2] == 0).all()
    torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, v, attn_mask=allowed), atol=1e-12, rtol=0)
    output.square().sum().backward()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all() and tensor.grad.abs().sum() > 0
    assert (q.grad[1, 2] == 0).all()


def test_a_mask_cannot_be_beaten_by_low_scores():
    q, _, v = inputs(n=N, m=N)
    with_low_scores = -1e9 * q @ q.T  # far below any finite filling
    _, weights = scaled_dot_product_attention(with_low_scores, torch.eye(N, dtype=q.dtype), v, allowed=causal_mask(N))
    assert (weights.triu(1) == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(N, dtype=q.dtype))


@pytest.mark.parametrize("error, changes", [
    (ValueError, {"q": torch.zeros(N, D_K + 1)}),
    (ValueError, {"v": torch.zeros(M + 1, D_V)}),
    (ValueError, {"k": torch.zeros(D_K)}),
    (ValueError, {"allowed": torch.ones(N, M + 1, dtype=torch.bool)}),
    (ValueError, {"allowed": torch.ones(B, N, M, dtype=torch.bool)}),  # would add a dimension to the scores
    (TypeError, {"allowed": torch.ones(N, M)}),
    (TypeError, {"allowed": torch.ones(N, M, dtype=torch.int64)}),
])  # fmt: skip
def test_bad_input_is_named(error, changes):
    q, k, v = inputs(dtype=torch.float32)
    arguments = {"q": q, "k": k, "v": v} | changes
    with pytest.raises(error, match=next(iter(changes))) as raised:
        scaled_dot_product_attention(**arguments)
    assert "got" in str(raised.value)


def test_mask_needs_a_positive_length():
    with pytest.raises(ValueError, match="n=0"):
        causal_mask(0)


# --- many heads -------------------------------------------------------------------------------------------------

D_MODEL = 15  # 3 heads of 5


def torch_module(dtype=torch.float64, num_heads=H):
    torch.manual_seed(5)
    module = nn.MultiheadAttention(D_MODEL, num_heads, batch_first=True, dtype=dtype)
    nn.init.normal_(module.in_proj_bias)  # zero at the start: a forgotten bias would go unseen
    nn.init.normal_(module.out_proj.bias)
    return module


def tokens(n, dtype=torch.float64, seed=6):
    return torch.randn(B, n, D_MODEL, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 5e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("num_heads", [1, 3, 5, 15])
@pytest.mark.parametrize("causal", [False, True])
def test_heads_equal_pytorch(dtype, tolerance, num_heads, causal):
    module = torch_module(dtype, num_heads)
    own = MultiHeadAttention.from_torch(module)
    x, context = tokens(N, dtype), tokens(M, dtype, seed=7)
    allowed = causal_mask(N, M) if causal else None
    output, weights = own(x, context, allowed=allowed)
    blocked = None if allowed is None else ~allowed  # the opposite polarity
    expected, expected_weights = module(x, context, context, attn_mask=blocked, average_attn_weights=False)
    torch.testing.assert_close(output, expected, atol=tolerance, rtol=0)
    torch.testing.assert_close(weights, expected_weights, atol=tolerance, rtol=0)


def test_heads_equal_a_loop_over_heads():
    own = MultiHeadAttention.from_torch(torch_module())
    x = tokens(N)
    d_k = D_MODEL // H
    heads = []
    for i in range(H):
        rows = slice(i * d_k, (i + 1) * d_k)
        q, k, v = (x @ layer.weight[rows].T + layer.bias[rows] for layer in (own.query, own.key, own.value))
        heads.append(torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d_k), -1) @ v)
    expected = torch.cat(heads, -1) @ own.output.weight.T + own.output.bias
    torch.testing.assert_close(own(x)[0], expected, atol=1e-12, rtol=0)


def test_heads_scale_by_their_own_width():
    """At the start, scores of variance 1 come out with variance 1, whatever the number of heads."""
    for num_heads in (1, 4, 16):
        torch.manual_seed(8)
        own = MultiHeadAttention(64, num_heads)
        for layer in (own.query, own.key):
            nn.init.normal_(layer.weight, std=64**-0.5)
            nn.init.zeros_(layer.bias)
        x = torch.randn(50, 7, 64)
        q, k = split_heads(own.query(x), num_heads), split_heads(own.key(x), num_heads)
        _, weights = own(x)
        log_ratio = (weights[..., :1] / weights[..., 1:2]).log()  # difference of two scores
        expected = ((q * (k[..., :1, :] - k[..., 1:2, :])).sum(-1, keepdim=True)) / math.sqrt(64 / num_heads)
        torch.testing.assert_close(log_ratio, expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("num_heads", [1, 2, 4, 8])
def test_parameters_do_not_depend_on_the_number_of_heads(num_heads):
    own = MultiHeadAttention(32, num_heads)
    assert sum(p.numel() for p in own.parameters()) == 4 * 32**2 + 4 * 32 == 4224


def test_heads_take_any_leading_dimensions():
    own = MultiHeadAttention.from_torch(torch_module())
    x = torch.randn(2, 3, N, D_MODEL, dtype=torch.float64)
    output, weights = own(x, allowed=causal_mask(N))
    assert output.shape == x.shape and weights.shape == (2, 3, H, N, N)
    torch.testing.assert_close(output[1, 2], own(x[1, 2], allowed=causal_mask(N))[0])


def test_heads_do_not_leak():
    own = MultiHeadAttention.from_torch(torch_module()).eval()
    influence = influence_map(lambda x: own(x, allowed=causal_mask(N))[0], tokens(N)[0])
    assert (influence.triu(1) == 0).all()
    assert (influence[torch.ones(N, N).tril().bool()] > 1e-3).all()


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="d_model=10, num_heads=3"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="num_heads=0"):
        MultiHeadAttention(10, 0)


def test_from_torch_refuses_what_it_cannot_copy():
    for module in (nn.MultiheadAttention(6, 2, bias=False), nn.MultiheadAttention(6, 2, kdim=3)):
        with pytest.raises(ValueError, match="from_torch"):
            MultiHeadAttention.from_torch(module)


# --- influence ---------------------------------------------------------------------------------------------------


def test_influence_of_a_linear_map_is_its_matrix():
    matrix = torch.randn(N, N, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    x = torch.randn(N, 3, dtype=torch.float64)
    influence = influence_map(lambda x: matrix @ x, x)  # block (i, j) is matrix[i, j] times the identity
    torch.testing.assert_close(influence, matrix.abs() * math.sqrt(3))


def test_influence_wants_one_output_for_each_input():
    with pytest.raises(ValueError, match="influence_map"):
        influence_map(lambda x: x, torch.zeros(2, 3, 4))
    with pytest.raises(ValueError, match="influence_map"):
        influence_map(lambda x: x[:2], torch.zeros(3, 4))
