"""The reverse task: read ten digits, write them backwards. Two models that try, their training, their marks."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.attention import causal_mask
from attnlab.positions import reflection, sinusoidal_encoding
from attnlab.progress import progress
from attnlab.transformer import TransformerBlock

DIGITS = 10
LENGTH = 10
TEST_SEED = 99


def reversal_batch(count: int, generator: torch.Generator, *, length: int = LENGTH) -> tuple[Tensor, Tensor]:
    """Draw random digits and turn them round: y_i = x_{length−1−i}. Both (count, length), integers 0 … 9."""
    x = torch.randint(0, DIGITS, (count, length), generator=generator)
    return x, x.flip(-1)


def held_out(length: int = LENGTH, *, count: int = 2000) -> tuple[Tensor, Tensor]:
    """The test sequences, the same for every model. For length 10 they are those of the course's first script."""
    return reversal_batch(count, torch.Generator().manual_seed(TEST_SEED), length=length)


class ReversalTransformer(nn.Module):
    """Digit embedding + position, one Transformer block, one linear read-out.

    With the values given here: 9 194 parameters, post-norm, one head.

    Args:
        length: the length it is trained at. Only a learned encoding is tied to it.
        encoding: "sinusoidal", "learned" (one free vector per position, N(0, 1) at the start) or "none".
        base: of the sinusoidal encoding.
        position_scale: multiplies the encoding (a learned one: its initial values).
        embedding_scale: multiplies the embedding's initial values, N(0, 1).
        norm_first: pre-norm, with one more normalisation after the block.
        causal: position i may look at positions 0 … i only.

    Raises:
        ValueError: an encoding that is none of the three.
    """

    def __init__(
        self,
        *,
        length: int = LENGTH,
        width: int = 32,
        num_heads: int = 1,
        encoding: str = "sinusoidal",
        base: float = 10000.0,
        position_scale: float = 1.0,
        embedding_scale: float = 1.0,
        norm_first: bool = False,
        causal: bool = False,
    ):
        super().__init__()
        if encoding not in ("sinusoidal", "learned", "none"):
            raise ValueError(
                f"ReversalTransformer: encoding must be 'sinusoidal', 'learned' or 'none', got {encoding!r}"
            )
        self.encoding, self.base, self.position_scale, self.causal = encoding, base, position_scale, causal
        self.embedding = nn.Embedding(DIGITS, width)
        with torch.no_grad():
            self.embedding.weight.mul_(embedding_scale)
        if encoding == "learned":
            self.position = nn.Parameter(position_scale * torch.randn(length, width))
        self.block = TransformerBlock(width, num_heads, 2 * width, norm_first=norm_first)
        self.final_norm = nn.LayerNorm(width) if norm_first else nn.Identity()
        self.readout = nn.Linear(width, DIGITS)

    def positions(self, n: int) -> Tensor:
        """What is added to the embeddings of n digits: (n, width).

        Raises:
            ValueError: more positions than a learned encoding has learned.
        """
        if self.encoding == "learned":
            if n > len(self.position):
                raise ValueError(f"positions: the learned encoding has {len(self.position)} positions, got n={n}")
            return self.position[:n]
        if self.encoding == "none":
            return torch.zeros(n, self.embedding.embedding_dim)
        return self.position_scale * sinusoidal_encoding(n, self.embedding.embedding_dim, base=self.base)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Digits (B, n) -> scores of each digit (B, n, 10), and attention weights (B, h, n, n)."""
        n = x.shape[-1]
        h = self.embedding(x) + self.positions(n)  # (B, n, d_model)
        h, weights = self.block(h, allowed=causal_mask(n) if self.causal else None)
        return self.readout(self.final_norm(h)), weights

    def forward(self, x: Tensor) -> Tensor:
        return self.attend(x)[0]


class ReversalLSTM(nn.Module):
    """Digit embedding, a recurrent network in each direction, one linear read-out.

    Two directions, so that every position may know the whole sequence. With the values given here: 32 778
    parameters.

    Args:
        forget_bias: added to the forget gates' initial biases, in both directions; 0 leaves them as PyTorch draws
            them.
    """

    def __init__(self, *, width: int = 32, hidden: int = 48, forget_bias: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        with torch.no_grad():
            for bias in (self.lstm.bias_ih_l0, self.lstm.bias_ih_l0_reverse):
                bias[hidden : 2 * hidden] += forget_bias  # PyTorch stacks the gates as input, forget, cell, output
        self.readout = nn.Linear(2 * hidden, DIGITS)

    def forward(self, x: Tensor) -> Tensor:
        """Digits (B, n) -> scores of each digit (B, n, 10)."""
        h, _ = self.lstm(self.embedding(x))  # (B, n, 2 hidden)
        return self.readout(h)


def count_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


class Marks(NamedTuple):
    """Shares of right answers, each between 0 and 1."""

    token: float  # of single digits
    sequence: float  # of sequences without any mistake
    by_position: list[float]  # of single digits, for each output position


@torch.no_grad()
def evaluate(model: nn.Module, x: Tensor, y: Tensor) -> Marks:
    """Mark the model's most probable digits against y."""
    right = model(x).argmax(-1) == y  # (B, n)
    return Marks(
        right.double().mean().item(),
        right.all(-1).double().mean().item(),
        right.double().mean(0).tolist(),
    )


@torch.no_grad()
def anti_diagonal(weights: Tensor) -> tuple[list[float], list[float]]:
    """How much and how often output i looks at input n−1−i, for each head.

    Args:
        weights: (B, h, n, n).

    Returns:
        Mean weight on the anti-diagonal, and the share of rows whose largest weight lies on it; h numbers each.
    """
    n = weights.shape[-1]
    mirrored = weights.flip(-1)  # column n−1−i becomes column i
    weight = mirrored.diagonal(dim1=-2, dim2=-1).mean((0, 2))  # (B, h, n) -> (h,)
    hit = (mirrored.argmax(-1) == torch.arange(n)).double().mean((0, 2))
    return weight.tolist(), hit.tolist()


class Curve(NamedTuple):
    """Marks on the test sequences along the training."""

    steps: list[int]
    token: list[float]
    sequence: list[float]

    def first_step(self, share: float) -> int | None:
        """The first evaluated step with at least that share of whole sequences right; None if there is none."""
        return next((step for step, mark in zip(self.steps, self.sequence, strict=True) if mark >= share), None)


def train(
    model: nn.Module,
    *,
    steps: int = 1500,
    learning_rate: float = 3e-3,
    batch_size: int = 64,
    length: int = LENGTH,
    seed: int = 0,
    evaluate_every: int = 50,
    stop_when_perfect: bool = False,
    optimizer: torch.optim.Optimizer | None = None,
    report: Callable[[int, Marks], None] | None = None,
    label: str | None = None,
) -> Curve:
    """Minimise the cross-entropy with Adam on sequences drawn freshly for every step.

    Args:
        seed: of the training data. Two models given the same seed see the same sequences in the same order.
        evaluate_every: steps between two marks on ``held_out(length)``.
        stop_when_perfect: end at the first evaluation without a single mistake.
        optimizer: used in place of Adam at that learning rate.
        report: called with the step and its marks at each evaluation.
        label: names a progress bar for whoever watches.
    """
    if optimizer is None:
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    generator = torch.Generator().manual_seed(seed)
    x_test, y_test = held_out(length)
    curve = Curve([], [], [])
    for step in progress(range(1, steps + 1), label):
        x, y = reversal_batch(batch_size, generator, length=length)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())  # (B n, 10) against (B n,)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % evaluate_every == 0 or step == steps:
            marks = evaluate(model, x_test, y_test)
            for column, value in zip(curve, (step, marks.token, marks.sequence), strict=True):
                column.append(value)
            if report is not None:
                report(step, marks)
            if stop_when_perfect and marks.sequence == 1:
                break
    return curve


def hand_built_reversal(x: Tensor, gain: float, *, d: int = 32, base: float = 10000.0) -> tuple[Tensor, Tensor]:
    """Reverse with one attention head whose matrices are written down, not trained.

    The input is [one-hot digit, PE(position)]. W_Q = gain · M picks the position and reflects it,
    M PE(i) = PE(n−1−i); W_K picks the position; W_V picks the digit. The output is the attention-weighted vote
    for each digit, so it is right for certain where the weight on n−1−i exceeds 1/2.

    Args:
        x: digits, (..., n).

    Returns:
        Votes (..., n, 10), and weights (n, n): they do not depend on the digits.
    """
    n = x.shape[-1]
    pe = sinusoidal_encoding(n, d, base=base)
    queries = gain * pe @ reflection(n, d, base=base).to(pe).T  # (n, d)
    weights = torch.softmax(queries @ pe.T / d**0.5, dim=-1)  # (n, n)
    return weights @ nn.functional.one_hot(x, DIGITS).to(pe), weights
