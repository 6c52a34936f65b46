"""Attention over lags: the query is what came out, the keys are what went in, delayed by 0, 1, 2, … samples.

Each record has its own pole, gain and dead time; nobody tells the model any of them.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from attnlab.attention import scaled_dot_product_attention
from attnlab.deadtime import delayed_inputs, random_input, simulate
from attnlab.progress import progress

LAGS = 16  # dead times 0 … 15 samples
WINDOW = 33  # outputs that are seen: 32 steps from one to the next
TAPS = 6
RIDGE = 1e-3  # keeps the least squares solvable where an input did not move
POLES, GAINS = (0.6, 0.95), (0.5, 2.0)  # ranges of a, and of K in °C/kW


class Windows(NamedTuple):
    """The last samples of records, the next output, and the truth about each record."""

    u: Tensor  # (B, WINDOW + LAGS − 1), kW
    y: Tensor  # (B, WINDOW), °C
    target: Tensor  # (B,), the output after the last of y
    a: Tensor  # (B,)
    b: Tensor  # (B,), °C per kW
    d: Tensor  # (B,), samples


def draw_windows(
    count: int,
    generator: torch.Generator,
    *,
    noise: float = 0.05,
    hold: float = 2.0,
    measurement_noise: float = 0.0,
    length: int = 80,
) -> Windows:
    """Draw processes with a, K and d uniform over their ranges, run each, and keep the end of its record.

    Args:
        noise: standard deviation of what drives the process, °C.
        hold: samples for which an input is kept, on average.
        measurement_noise: standard deviation of what is added to each output that is seen, °C.
        length: samples of the whole record, from rest.
    """
    a = torch.empty(count).uniform_(*POLES, generator=generator)
    b = torch.empty(count).uniform_(*GAINS, generator=generator) * (1 - a)
    d = torch.randint(0, LAGS, (count,), generator=generator)
    u = random_input(count, length, generator, hold=hold)
    y = simulate(u, a=a, b=b, d=d, noise=noise, generator=generator)
    if measurement_noise:
        y = y + measurement_noise * torch.randn(y.shape, generator=generator)
    return Windows(u[:, -(WINDOW + LAGS - 1) :], y[:, -(WINDOW + 1) : -1], y[:, -1], a, b, d)


def draw_jump(
    count: int, generator: torch.Generator, *, before: int = 4, after: int = 11, at: int = 100, length: int = 200
) -> tuple[Tensor, Tensor]:
    """Records whose dead time changes from ``before`` to ``after`` samples at sample ``at``; else as ``draw_windows``.

    Returns:
        u (count, length) in kW, y (count, length + 1) in °C.
    """
    a = torch.empty(count).uniform_(*POLES, generator=generator)
    b = torch.empty(count).uniform_(*GAINS, generator=generator) * (1 - a)
    d = torch.full((count, length), before)
    d[:, at:] = after
    u = random_input(count, length, generator, hold=2.0)
    return u, simulate(u, a=a, b=b, d=d, noise=0.05, generator=generator)


def slide(u: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Every window of a record, oldest first: what could be seen at t = WINDOW + LAGS − 2, and at each t after it.

    Args:
        u: (B, T).
        y: (B, T + 1); its last value is not seen.

    Returns:
        (B, N, WINDOW + LAGS − 1) and (B, N, WINDOW), with N = T − WINDOW − LAGS + 2.
    """
    past = WINDOW + LAGS - 1
    return u.unfold(-1, past, 1), y[..., LAGS - 1 : -1].unfold(-1, WINDOW, 1)


def least_squares_step(x: Tensor, y: Tensor) -> Tensor:
    """Fit y[s+1] ≈ a y[s] + b x[s] to the window and predict the output after it.

    Args:
        x: inputs that act without delay, (..., n).
        y: outputs, (..., n).

    Returns:
        (...,): a y[n−1] + b x[n−1] with a and b of the window, through which gradients pass.
    """
    phi = torch.stack((y[..., :-1], x[..., :-1]), dim=-1)  # (..., n − 1, 2)
    gram = phi.mT @ phi + RIDGE * torch.eye(2, dtype=y.dtype)
    theta = torch.linalg.solve(gram, phi.mT @ y[..., 1:].unsqueeze(-1)).squeeze(-1)  # (..., 2)
    return theta[..., 0] * y[..., -1] + theta[..., 1] * x[..., -1]


class LagAttention(nn.Module):
    """Score each lag by the correlation of two filtered signals, take the softmax, average the delayed inputs.

    s_k = gain · cos∠(W_Q y, W_K u_k), α = softmax(s), ũ = Σ_k α_k u_k, and from y and ũ the next output by
    ``least_squares_step``. W_Q and W_K are filters with TAPS coefficients, the same for every lag: 13 parameters
    with the gain. At the start both filters let the signal through unchanged, and s is the cross-correlation of
    the textbooks.
    """

    def __init__(self):
        super().__init__()
        self.query_taps = nn.Parameter(_impulse())
        self.key_taps = nn.Parameter(_impulse())
        self.log_gain = nn.Parameter(torch.tensor(10.0).log())

    def attend(self, u: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """u (..., WINDOW + LAGS − 1), y (..., WINDOW) -> the next output (...,), and weights (..., LAGS)."""
        delayed = delayed_inputs(u, LAGS)  # (..., LAGS, WINDOW)
        # The effect of u[s−d] is seen in y[s+1]: so the query leaves out the first output, the keys the last input.
        query = normalize(_filter(y[..., 1:], self.query_taps), dim=-1)  # (..., 27)
        keys = normalize(_filter(delayed[..., :-1], self.key_taps), dim=-1)  # (..., LAGS, 27)
        attended, weights = scaled_dot_product_attention(query.unsqueeze(-2), keys, delayed, scale=self.log_gain.exp())
        return least_squares_step(attended.squeeze(-2), y), weights.squeeze(-2)

    def forward(self, u: Tensor, y: Tensor) -> Tensor:
        return self.attend(u, y)[0]


def train_lags(
    model: LagAttention,
    windows: Windows,
    *,
    learning_rate: float = 3e-2,
    batch_size: int = 64,
    label: str | None = None,
) -> None:
    """Go once through the windows, minimising the square error of the next output; the dead times are not used."""
    steps = len(windows.u) // batch_size
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for i in progress(range(steps), label):
        batch = slice(i * batch_size, (i + 1) * batch_size)
        loss = (model(windows.u[batch], windows.y[batch]) - windows.target[batch]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


def _impulse() -> Tensor:
    taps = torch.zeros(TAPS)
    taps[0] = 1
    return taps


def _filter(x: Tensor, taps: Tensor) -> Tensor:
    """Σ_m taps[m] x[s−m], for every s that has all its samples: (..., n) -> (..., n − TAPS + 1)."""
    return x.unfold(-1, TAPS, 1) @ taps.flip(0)
