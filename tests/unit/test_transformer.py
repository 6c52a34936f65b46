"""The block against PyTorch's layer, its causality on the derivative, and what would be a different network."""

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import causal_mask
from attnlab.causality import influence_map
from attnlab.transformer import FeedForward, TransformerBlock, TransformerEncoder

B, N, D, HEADS, D_FF = 3, 5, 14, 2, 11  # different, and prime but for d = 2 · 7
TOLERANCE = {torch.float32: 5e-6, torch.float64: 1e-12}


def torch_layer(*, norm_first: bool, activation: str = "relu", dtype: torch.dtype = torch.float64) -> nn.Module:
    torch.manual_seed(60)
    layer = nn.TransformerEncoderLayer(
        D, HEADS, D_FF, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first, dtype=dtype
    )
    randomise_norms(layer)
    return layer


def randomise_norms(module: nn.Module) -> None:
    """At gain 1 and bias 0 two exchanged normalisations would look the same."""
    for norm in module.modules():
        if isinstance(norm, nn.LayerNorm):
            nn.init.normal_(norm.weight, 1.0, 0.5)
            nn.init.normal_(norm.bias)


def white(*shape: int, seed: int = 61, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("training", [True, False])  # in evaluation PyTorch takes another, fused path
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [True, False])
def test_block_is_pytorchs_layer(norm_first, activation, causal, training, dtype):
    layer = torch_layer(norm_first=norm_first, activation=activation, dtype=dtype).train(training)
    own = TransformerBlock.from_torch(layer)
    x = white(B, N, D, dtype=dtype)
    allowed = causal_mask(N) if causal else None
    with torch.no_grad():
        wanted = layer(x, src_mask=~allowed if causal else None)  # the layer's mask has the opposite polarity
        out, weights = own(x, allowed=allowed)
    assert out.dtype == dtype
    assert weights.shape == (B, HEADS, N, N)
    torch.testing.assert_close(out, wanted, atol=TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize("norm_first", [True, False])
def test_gradients_are_pytorchs(norm_first):
    layer = torch_layer(norm_first=norm_first).train()
    own = TransformerBlock.from_torch(layer)
    gradients = []
    for function in (layer, lambda x: own(x)[0]):
        x = white(B, N, D).requires_grad_()
        gradients.append(torch.autograd.grad(function(x).square().sum(), x)[0])
    torch.testing.assert_close(*gradients, atol=1e-10, rtol=0)


def test_from_torch_copies_and_does_not_share():
    layer = torch_layer(norm_first=True)
    own = TransformerBlock.from_torch(layer)
    before = own(white(N, D))[0]
    with torch.no_grad():
        for p in layer.parameters():
            p.zero_()
    assert torch.equal(own(white(N, D))[0], before)


def test_from_torch_takes_over_epsilon():
    layer = nn.TransformerEncoderLayer(D, HEADS, D_FF, layer_norm_eps=0.1, dtype=torch.float64, dropout=0.0)
    x = white(N, D)
    torch.testing.assert_close(TransformerBlock.from_torch(layer)(x)[0], layer.train()(x), atol=1e-12, rtol=0)


def test_parameters():
    block = TransformerBlock(32, 4, 64, norm_first=True)
    assert sum(p.numel() for p in block.parameters()) == 8544
    block = TransformerBlock(D, HEADS, D_FF, norm_first=False)
    assert sum(p.numel() for p in block.parameters()) == 4 * D**2 + 2 * D * D_FF + D_FF + 9 * D


def test_the_two_orders_differ():
    pre = TransformerBlock.from_torch(torch_layer(norm_first=True))
    post = TransformerBlock.from_torch(torch_layer(norm_first=False))
    post.load_state_dict(pre.state_dict())
    x = white(N, D)
    assert (pre(x)[0] - post(x)[0]).abs().max() > 0.1


def test_a_residual_that_carries_the_normalised_input_is_another_network():
    block = TransformerBlock.from_torch(torch_layer(norm_first=True))
    x = white(N, D)

    def carries_normalised(x: Tensor) -> Tensor:
        x = block.norm1(x)
        x = x + block.attention(x)[0]
        x = block.norm2(x)
        return x + block.feed_forward(x)

    assert (carries_normalised(x) - block(x)[0]).abs().max() > 0.1


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_under_a_causal_mask_no_output_feels_a_later_input(norm_first, activation):
    block = TransformerBlock.from_torch(torch_layer(norm_first=norm_first, activation=activation))
    influence = influence_map(lambda x: block(x, allowed=causal_mask(N))[0], white(N, D))
    assert torch.equal(influence.triu(1), torch.zeros(N, N, dtype=torch.float64))
    assert (influence.tril() > 0).sum() == N * (N + 1) // 2


def test_without_a_mask_every_output_feels_every_input():
    block = TransformerBlock.from_torch(torch_layer(norm_first=True))
    assert (influence_map(lambda x: block(x)[0], white(N, D)) > 0).all()


def test_feed_forward_passes_nothing_between_positions():
    torch.manual_seed(62)
    influence = influence_map(FeedForward(D, D_FF).double(), white(N, D))
    assert torch.equal(influence, influence.diag().diag())
    assert (influence.diag() > 0).all()


def test_feed_forward_is_two_dense_layers():
    torch.manual_seed(63)
    net = FeedForward(3, 7).double()
    x = white(2, 3)
    hidden = [[max(0.0, (net[0].weight[j] @ row + net[0].bias[j]).item()) for j in range(7)] for row in x]
    wanted = torch.tensor(hidden, dtype=torch.float64) @ net[2].weight.T + net[2].bias
    torch.testing.assert_close(net(x), wanted, atol=1e-12, rtol=0)


def test_any_leading_dimensions():
    block = TransformerBlock(D, HEADS, D_FF, norm_first=True).double()
    x = white(2, 3, N, D)
    out, weights = block(x)
    assert out.shape == x.shape and weights.shape == (2, 3, HEADS, N, N)
    torch.testing.assert_close(out[1, 2], block(x[1, 2])[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_is_pytorchs(norm_first):
    layer = torch_layer(norm_first=norm_first)
    final = nn.LayerNorm(D, dtype=torch.float64) if norm_first else None
    stack = nn.TransformerEncoder(layer, 3, norm=final, enable_nested_tensor=False).train()
    for p in stack.parameters():  # the three layers start as copies of one
        nn.init.normal_(p, std=0.3)
    own = TransformerEncoder(3, D, HEADS, D_FF, norm_first=norm_first).double()
    for i, block in enumerate(stack.layers):
        own.blocks[i] = TransformerBlock.from_torch(block)
    if norm_first:
        own.final_norm.load_state_dict(stack.norm.state_dict())
    x = white(B, N, D)
    allowed = causal_mask(N)
    out, maps = own(x, allowed=allowed)
    torch.testing.assert_close(out, stack(x, mask=~allowed), atol=1e-11, rtol=0)
    assert [m.shape for m in maps] == [(B, HEADS, N, N)] * 3


def test_a_stack_of_causal_blocks_is_causal():
    torch.manual_seed(64)
    stack = TransformerEncoder(4, D, HEADS, D_FF, norm_first=True).double()
    influence = influence_map(lambda x: stack(x, allowed=causal_mask(N))[0], white(N, D))
    assert (influence.triu(1) == 0).all() and (influence.tril().diag() > 0).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FeedForward(D, D_FF, activation="tanh"), "'tanh'"),
        (lambda: TransformerBlock(D, 3, D_FF, norm_first=True), "num_heads=3"),
        (lambda: TransformerEncoder(0, D, HEADS, D_FF, norm_first=True), "num_layers"),
        (
            lambda: TransformerBlock.from_torch(nn.TransformerEncoderLayer(D, HEADS, D_FF, activation=torch.tanh)),
            "activation",
        ),
        (
            lambda: TransformerBlock.from_torch(
                nn.TransformerEncoderLayer(D, HEADS, D_FF, activation=nn.GELU(approximate="tanh"))
            ),
            "activation",
        ),
        (lambda: TransformerBlock.from_torch(nn.TransformerEncoderLayer(D, HEADS, D_FF, bias=False)), "bias"),
    ],
)
def test_what_does_not_fit_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
