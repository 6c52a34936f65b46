"""What several heads can do that one cannot: two small tasks, a readable model for each, and their training."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.attention import (
    MultiHeadAttention,
    causal_mask,
    join_heads,
    scaled_dot_product_attention,
    split_heads,
)
from attnlab.transformer import FeedForward

LENGTH = 12
D_ACTION = (1.0, -1.0)  # x_t − x_{t−1}, the backward difference
SYMBOLS = 10
FRESH = 4096  # records or sequences that a trained model is marked on


def fir_filter(x: Tensor, taps: tuple[float, ...] = D_ACTION) -> Tensor:
    """Filter with a finite impulse response: y_t = Σ_k taps[k] x_{t−k}.

    Args:
        x: (..., n).
        taps: K coefficients, the newest sample's first.

    Returns:
        (..., n − K + 1): y from t = K − 1 on, the first one that has all its samples.

    Raises:
        ValueError: no taps, or more of them than samples.
    """
    n = x.shape[-1]
    if not 1 <= len(taps) <= n:
        raise ValueError(f"fir_filter: wanted 1 to {n} taps for {n} samples, got {len(taps)}")
    return sum(tap * x[..., len(taps) - 1 - k : n - k] for k, tap in enumerate(taps))


def one_head_bound(taps: tuple[float, ...]) -> float:
    """The least mean square error of one head with position-only scores: min(Σ_{w_k>0} w_k², Σ_{w_k<0} w_k²).

    For white input of variance 1 the error is the squared distance between the two impulse responses. All
    coefficients of one head have the sign of its gain: it can match the taps of that sign, and the best it can
    do for the others is 0.
    """
    return min(sum(w * w for w in taps if w > 0), sum(w * w for w in taps if w < 0))


class SignalHeads(nn.Module):
    """Causal attention from a signal to a signal, and nothing else: no residual, no feed-forward, no bias.

    z_t = w x_t + p_t,  y_t = [head₁, …, head_h]_t W_O, with the values made of z_t. The vectors p_t, one for each
    position, are learned.

    Args:
        num_heads: h.
        scores_see_signal: make queries and keys of z_t, position and signal. Without it they are made of p_t
            alone: the weights are the same for every signal, and the model is a linear filter with an offset.
        position_scale: standard deviation of the initial p_t.
        length: n, samples in a record.
        width: of z_t; every head has width/num_heads of it.

    Raises:
        ValueError: num_heads does not divide width.
    """

    def __init__(
        self,
        num_heads: int,
        *,
        scores_see_signal: bool = False,
        position_scale: float = 1.0,
        length: int = LENGTH,
        width: int = 32,
    ):
        super().__init__()
        if num_heads < 1 or width % num_heads:
            raise ValueError(f"SignalHeads: num_heads must divide width, got width={width}, num_heads={num_heads}")
        self.num_heads, self.scores_see_signal = num_heads, scores_see_signal
        self.position = nn.Parameter(position_scale * torch.randn(length, width))
        self.signal = nn.Linear(1, width, bias=False)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, 1, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, n) -> y (B, n), and the weights: (h, n, n), or (B, h, n, n) where the scores see the signal."""
        z = self.signal(x.unsqueeze(-1)) + self.position  # (B, n, width)
        known = z if self.scores_see_signal else self.position  # (B, n, width), or (n, width)
        projected = self.query(known), self.key(known), self.value(z)
        q, k, v = (split_heads(one, self.num_heads) for one in projected)  # (..., h, n, d_k)
        heads, weights = scaled_dot_product_attention(q, k, v, allowed=causal_mask(x.shape[-1]))  # (B, h, n, d_k)
        return self.output(join_heads(heads)).squeeze(-1), weights  # (B, n, width) -> (B, n)

    @torch.no_grad()
    def gains(self) -> Tensor:
        """What each head multiplies its average of the samples by: the product of w, W_V and W_O. (h,)"""
        products = (self.value.weight @ self.signal.weight).squeeze(-1) * self.output.weight.squeeze(0)  # (width,)
        return products.unflatten(0, (self.num_heads, -1)).sum(-1)


@torch.no_grad()
def impulse_responses(model: SignalHeads) -> tuple[Tensor, Tensor]:
    """Read a model that is a linear filter from outside: send in nothing, then one impulse after another.

    Returns:
        The coefficients (n, n), row t the output and column s the sample; and the offsets (n,).

    Raises:
        ValueError: the scores see the signal, so that the model is not linear.
    """
    if model.scores_see_signal:
        raise ValueError("impulse_responses: wanted scores_see_signal=False; with it the model is not a linear filter")
    n = len(model.position)
    offset = model(torch.zeros(1, n))[0].squeeze(0)  # (n,)
    return (model(torch.eye(n))[0] - offset).T, offset  # row s of the identity is the impulse at s


def expected_error(model: SignalHeads, taps: tuple[float, ...] = D_ACTION) -> float:
    """The mean square error over all white input of variance 1, exactly: Σ_s (c_ts − w_ts)² + offset_t², averaged
    over t = K − 1 … n − 1.
    """
    coefficients, offset = impulse_responses(model)
    first = len(taps) - 1
    wanted = fir_filter(torch.eye(len(offset)), taps).T  # (n − K + 1, n): row t, column s
    return ((coefficients[first:] - wanted).square().sum(-1) + offset[first:].square()).mean().item()


def sampled_error(model: SignalHeads, taps: tuple[float, ...] = D_ACTION, *, seed: int = 99) -> float:
    """The mean square error on ``FRESH`` records of white noise: an estimate, for models that are not linear too."""
    x = torch.randn(FRESH, len(model.position), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return _filter_error(model, x, taps).item()


def train_filter(
    model: SignalHeads,
    taps: tuple[float, ...] = D_ACTION,
    *,
    steps: int = 600,
    learning_rate: float = 5e-3,
    batch_size: int = 64,
    seed: int = 0,
) -> None:
    """Teach the model to filter white noise of variance 1, on records drawn freshly for every step."""
    generator = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        return _filter_error(model, torch.randn(batch_size, len(model.position), generator=generator), taps)

    _minimise(model, loss, steps, learning_rate)


def _filter_error(model: SignalHeads, x: Tensor, taps: tuple[float, ...]) -> Tensor:
    y, _ = model(x)
    return (y[:, len(taps) - 1 :] - fir_filter(x, taps)).square().mean()


class SymbolHeads(nn.Module):
    """Name two earlier symbols from one causal attention: embedding + position, attention, norm, two read-outs.

    No residual around the attention: whatever is known of the other positions has come through its weights.

    Args:
        num_heads: h.
        feed_forward: put a feed-forward network with its residual, h ← LN(h + FFN(h)), before the read-outs.
        length: n, symbols in a sequence.
        width: of the vectors, d_model.
    """

    def __init__(self, num_heads: int, *, feed_forward: bool = False, length: int = LENGTH, width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, width)
        self.position = nn.Parameter(torch.randn(length, width))
        self.attention = MultiHeadAttention(width, num_heads)
        self.norm1 = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, 2 * width) if feed_forward else None
        self.norm2 = nn.LayerNorm(width) if feed_forward else None
        self.readout = nn.Linear(width, 2 * SYMBOLS)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Symbols (B, n) -> scores (B, n, 2, 10) for the previous and the first symbol, weights (B, h, n, n)."""
        h = self.embedding(x) + self.position  # (B, n, width)
        h, weights = self.attention(h, allowed=causal_mask(x.shape[-1]))
        h = self.norm1(h)
        if self.feed_forward is not None:
            h = self.norm2(h + self.feed_forward(h))
        return self.readout(h).unflatten(-1, (2, SYMBOLS)), weights  # (B, n, 20) -> (B, n, 2, 10)


def draw_symbols(count: int, *, seed: int = 99, length: int = LENGTH) -> Tensor:
    """Uniformly random symbols, integers 0 … 9: (count, length)."""
    return torch.randint(0, SYMBOLS, (count, length), generator=torch.Generator().manual_seed(seed))


def previous_and_first(x: Tensor) -> Tensor:
    """What is asked at positions 1 … n−1: the symbol before it, and symbol 0. (B, n) -> (B, n − 1, 2)"""
    previous = x[:, :-1]
    return torch.stack((previous, x[:, :1].expand_as(previous)), dim=-1)


def train_symbols(
    model: SymbolHeads, *, steps: int = 400, learning_rate: float = 1e-2, batch_size: int = 64, seed: int = 0
) -> None:
    """Teach the model both answers by cross-entropy, on sequences drawn freshly for every step."""
    generator = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        x = torch.randint(0, SYMBOLS, (batch_size, len(model.position)), generator=generator)
        scores = model(x)[0][:, 1:]  # (B, n − 1, 2, 10)
        return nn.functional.cross_entropy(scores.flatten(0, 2), previous_and_first(x).flatten())

    _minimise(model, loss, steps, learning_rate)


@torch.no_grad()
def both_right(model: SymbolHeads) -> float:
    """The share of places, in ``FRESH`` new sequences, where both answers are right."""
    x = draw_symbols(FRESH, length=len(model.position))
    answers = model(x)[0][:, 1:].argmax(-1)  # (B, n − 1, 2)
    return (answers == previous_and_first(x)).all(-1).double().mean().item()


def _minimise(model: nn.Module, loss: Callable[[], Tensor], steps: int, learning_rate: float) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
