"""A heated pipe: a first-order process with dead time, and a Transformer block that learns to predict it.

Signals carry the names of control texts. u is the heater's power in kW and y the outlet temperature in °C, both
as deviations from the operating point; time is counted in samples of SAMPLING_TIME seconds.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.attention import causal_mask, scaled_dot_product_attention
from attnlab.positions import rotation, sinusoidal_encoding
from attnlab.progress import progress
from attnlab.transformer import TransformerBlock

SAMPLING_TIME = 1.0  # seconds
LENGTH = 40  # samples in a record


class Process(NamedTuple):
    """y[t+1] = a y[t] + b u[t−d] + w[t+1], with w white and Gaussian.

    What a zero-order hold and a sampler make of K exp(−T_d s)/(τ s + 1) when T_d is d sampling times.

    Args:
        a: the pole, exp(−SAMPLING_TIME/τ), between 0 and 1; no unit.
        b: °C per kW, K (1 − a).
        d: dead time in samples.
        noise: standard deviation of w, °C.
    """

    a: float = 0.8
    b: float = 0.4
    d: int = 7
    noise: float = 0.1

    @property
    def gain(self) -> float:
        """K in °C/kW: what one more kW comes to in the end."""
        return self.b / (1 - self.a)

    @property
    def time_constant(self) -> float:
        """τ in seconds."""
        return -SAMPLING_TIME / math.log(self.a)

    @property
    def dead_time(self) -> float:
        """T_d in seconds."""
        return self.d * SAMPLING_TIME


def random_input(count: int, length: int, generator: torch.Generator, *, hold: float = 1.0) -> Tensor:
    """Draw inputs that keep a normal value (kW) for a random time, ``hold`` samples on average. (count, length)

    Args:
        hold: 1 gives white noise, math.inf one constant value for each record.

    Raises:
        ValueError: hold below 1.
    """
    if hold < 1:
        raise ValueError(f"random_input: hold must be at least 1 sample, got {hold}")
    values = torch.randn(count, length, generator=generator)
    changes = torch.rand(count, length, generator=generator) < 1 / hold
    changes[:, 0] = True
    # The value in force is the one drawn at the latest change.
    latest = torch.where(changes, torch.arange(length), 0).cummax(-1).values  # (count, length)
    return values.gather(-1, latest)


def simulate(
    u: Tensor,
    *,
    a: float | Tensor,
    b: float | Tensor,
    d: int | Tensor,
    noise: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Run the process from rest: y[0] = 0, and u is 0 before the record begins.

    Args:
        u: inputs in kW, (B, T).
        a, b: as in ``Process``; a number, or one for each record, (B,).
        d: dead time in samples; an integer, one for each record (B,), or one for each sample (B, T), so that it
            may change inside a record.
        noise: standard deviation of w, °C.

    Returns:
        y in °C, (B, T + 1): y[t+1] is the answer to u[t−d] and to everything before.

    Raises:
        ValueError: a negative dead time, or inputs that are not (B, T).
    """
    if u.dim() != 2:
        raise ValueError(f"simulate: u must have shape (records, samples), got {tuple(u.shape)}")
    d = torch.as_tensor(d)
    if (d < 0).any():
        raise ValueError(f"simulate: d must not be negative, got {d.min().item()}")
    count, length = u.shape
    source = torch.arange(length) - (d.unsqueeze(-1) if d.dim() == 1 else d)  # (T,) or (B, T): t − d
    source = source.expand(count, length)
    delayed = u.gather(-1, source.clamp(min=0)) * (source >= 0)  # (B, T): u[t−d]
    drive = torch.as_tensor(b, dtype=u.dtype).reshape(-1, 1) * delayed
    if noise:
        drive = drive + noise * torch.randn(count, length, generator=generator, dtype=u.dtype)
    y = [torch.zeros(count, dtype=u.dtype)]
    for t in range(length):
        y.append(a * y[-1] + drive[:, t])
    return torch.stack(y, dim=-1)


def delayed_inputs(u: Tensor, lags: int) -> Tensor:
    """Lay copies of the input over each other, row k delayed by k samples.

    Args:
        u: (..., n + lags − 1); the first lags − 1 samples are the past that the delayed copies need.

    Returns:
        (..., lags, n): entry (k, i) is u[i + lags − 1 − k].

    Raises:
        ValueError: fewer samples than lags, or no lag.
    """
    n = u.shape[-1] - lags + 1
    if lags < 1 or n < 1:
        raise ValueError(f"delayed_inputs: wanted 1 to {u.shape[-1]} lags for {u.shape[-1]} samples, got {lags}")
    return u.unfold(-1, n, 1).flip(-2)


def draw_records(
    process: Process, count: int, generator: torch.Generator, *, length: int = LENGTH, hold: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Inputs u (count, length) and outputs y (count, length + 1) of the process, started at rest."""
    u = random_input(count, length, generator, hold=hold)
    return u, simulate(u, **process._asdict(), generator=generator)


class NextOutput(nn.Module):
    """Predict y[t+1] from u[0 … t] and y[0 … t]: embedding + position, one causal block, one number out.

    Pre-norm, one head. A token is the pair (u[t], y[t]). Nothing in it says that there is a dead time.

    Args:
        width: d_model.
        base: of the sinusoidal encoding; 100 rather than 10 000, since a record has few positions.
    """

    def __init__(self, *, width: int = 32, base: float = 100.0):
        super().__init__()
        self.base = base
        self.embedding = nn.Linear(2, width)
        self.block = TransformerBlock(width, 1, 2 * width, norm_first=True)
        self.readout = nn.Linear(width, 1)

    def attend(self, u: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """u, y (B, T) -> predictions of y[t+1] (B, T), and the attention weights (B, T, T)."""
        n = u.shape[-1]
        h = self.embedding(torch.stack((u, y), dim=-1))  # (B, T, 2) -> (B, T, d_model)
        h = h + sinusoidal_encoding(n, h.shape[-1], base=self.base)
        h, weights = self.block(h, allowed=causal_mask(n))
        return self.readout(h).squeeze(-1), weights.squeeze(-3)  # one head: (B, 1, T, T) -> (B, T, T)

    def forward(self, u: Tensor, y: Tensor) -> Tensor:
        return self.attend(u, y)[0]


def train_next_output(
    model: NextOutput,
    u: Tensor,
    y: Tensor,
    *,
    steps: int = 600,
    learning_rate: float = 1e-2,
    batch_size: int = 32,
    seed: int = 0,
    label: str | None = None,
) -> None:
    """Minimise the mean square error of the next output with Adam, its rate falling to 0 along a cosine.

    Args:
        u, y: records, (N, T) and (N, T + 1). They are gone through in a random order, again when all were seen;
            with steps × batch_size records each is seen once.
        seed: of that order.
        label: names a progress bar for whoever watches.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    order = torch.empty(0, dtype=torch.long)
    for _ in progress(range(steps), label):
        if len(order) < batch_size:
            order = torch.cat((order, torch.randperm(len(u), generator=generator)))
        batch, order = order[:batch_size], order[batch_size:]
        loss = (model(u[batch], y[batch, :-1]) - y[batch, 1:]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


def lag_profile(weights: Tensor, lags: int) -> Tensor:
    """Mean weight on the input k samples back, over all rows that reach back lags − 1 samples. (lags,)

    Args:
        weights: (..., T, T), row t looking at column t − k.

    Raises:
        ValueError: more lags than rows.
    """
    n = weights.shape[-1]
    if not 1 <= lags <= n:
        raise ValueError(f"lag_profile: wanted 1 to {n} lags for {n} rows, got {lags}")
    rows = torch.arange(lags - 1, n)
    columns = rows.unsqueeze(-1) - torch.arange(lags)  # (rows, lags): t − k
    at_lag = weights[..., rows, :].gather(-1, columns.expand(*weights.shape[:-2], -1, -1))
    return at_lag.flatten(0, -2).mean(0)


def hit_share(weights: Tensor, d: int) -> float:
    """The share of rows t ≥ d whose largest weight lies on t − d. weights: (..., T, T)."""
    rows = weights[..., d:, :].argmax(-1)
    return (rows == torch.arange(rows.shape[-1])).double().mean().item()


def input_gradient(model: NextOutput, u: Tensor, y: Tensor, lags: int) -> Tensor:
    """What one kW, k samples ago, does to the predicted output: mean of ∂ŷ[t+1]/∂u[t−k]. (lags,), °C per kW

    The mean is over the records and over the rows t ≥ lags − 1. For the process itself it is b at k = d and 0
    at the other lags: with y[t] given, earlier inputs have already had their effect.

    Args:
        u, y: (B, T) each.
    """
    u = u.clone().requires_grad_()
    prediction = model(u, y)
    last = u.shape[-1]
    gradients = []
    for t in range(lags - 1, last):
        (gradient,) = torch.autograd.grad(prediction[:, t].sum(), u, retain_graph=t < last - 1)  # (B, T)
        gradients.append(gradient[:, t - lags + 1 : t + 1].flip(-1).mean(0))
    return torch.stack(gradients).mean(0)


@torch.no_grad()
def hand_built_predictor(
    u: Tensor, y: Tensor, process: Process, *, gain: float, width: int = 32, base: float = 100.0
) -> tuple[Tensor, Tensor]:
    """The process as one attention head, written down and not trained: ŷ[t+1] = a y[t] + b Σ_s α_ts u[s].

    W_Q = gain · M_{−d} turns the clock hands of position t back to t − d; W_K = I. As the gain grows, the weights
    approach a one at s = t − d, and the prediction approaches the process without noise.

    Args:
        u, y: (B, T) each.

    Returns:
        Predictions (B, T), and weights (T, T). Rows t < d, which have no t − d, mean nothing.
    """
    pe = sinusoidal_encoding(u.shape[-1], width, base=base, dtype=u.dtype)
    queries = gain * pe @ rotation(-process.d, width, base=base).to(pe).T
    allowed = causal_mask(u.shape[-1])
    delayed, weights = scaled_dot_product_attention(queries, pe, u.unsqueeze(-1), allowed=allowed)
    return process.a * y + process.b * delayed.squeeze(-1), weights
