"""Why the scores are divided by √d: what softmax and its gradients do as the width of q and k grows.

Unless a function says otherwise, the components of q and k are independent and standard normal, and a query
compares itself with m = 8 keys.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

GROUPS, QUERIES, KEYS = 1000, 8, 8  # of the study: 1 000 groups of 8 queries, which share 8 keys


def first_table(widths: Sequence[int] = (4, 64, 512)) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Draw the random numbers behind the table of attention_check.py, in its order, from its seed.

    That script draws Q, K, V (5, 16) first and goes on with the same generator, so this does too: the
    table's digits depend on it.

    Yields:
        d, 10 000 products q·k (10000,), and 1 000 groups of 8 × 8 unscaled scores (1000, 8, 8).
    """
    g = torch.Generator().manual_seed(0)
    for _ in range(3):
        torch.randn(5, 16, generator=g)
    for d in widths:
        q, k = torch.randn(10_000, d, generator=g), torch.randn(10_000, d, generator=g)
        scores = torch.randn(1000, 8, d, generator=g) @ torch.randn(1000, d, 8, generator=g)
        yield d, (q * k).sum(-1), scores


def entropy(weights: Tensor) -> Tensor:
    """How spread out the weights are: H = −Σ αⱼ ln αⱼ, in nats; 0 for one-hot, ln m for uniform.

    (..., m) -> (...).
    """
    return torch.special.entr(weights).sum(-1)


def softmax_jacobian(weights: Tensor) -> Tensor:
    """How each weight answers to each score: ∂αᵢ/∂sⱼ = αᵢ (δᵢⱼ − αⱼ), that is diag(α) − α αᵀ.

    (..., m) -> (..., m, m). Symmetric; rows sum to 0, since the weights always sum to 1.
    """
    return torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)


def query_gradient(weights: Tensor, keys: Tensor, upstream: Tensor, *, scale: float) -> Tensor:
    """Carry a gradient from the weights back to the query: ∂L/∂q = scale · Kᵀ (diag(α) − α αᵀ) ∂L/∂α.

    Args:
        weights: α, (..., n, m).
        keys: K, (..., m, d).
        upstream: ∂L/∂α, (..., n, m).
        scale: what the scores were multiplied by before the softmax.

    Returns:
        (..., n, d).
    """
    through_softmax = weights * (upstream - (weights * upstream).sum(-1, keepdim=True))  # (..., n, m)
    return scale * through_softmax.to(keys.dtype) @ keys  # (..., n, m) @ (..., m, d) -> (..., n, d)


@dataclass(frozen=True)
class Softness:
    """What softmax makes of many rows of scores. Means over all rows, unless the name says median."""

    variance: float  # of the scores that go into the softmax
    max_weight: float
    entropy: float  # as a share of ln m
    jacobian_mean: float  # Frobenius norm of ∂α/∂s
    jacobian_median: float
    dead: float  # share of rows whose Jacobian norm is below 0.01
    gradient_mean: float  # length of ∂L/∂q, for ∂L/∂α standard normal
    gradient_median: float


def measure(q: Tensor, k: Tensor, upstream: Tensor, *, scale: float) -> Softness:
    """Compare the queries of each group with the keys of the group, and sum up.

    Args:
        q: (groups, n, d).
        k: (groups, m, d), with m ≥ n.
        upstream: ∂L/∂α, (groups, n, m).
        scale: what the scores are multiplied by.
    """
    # float64, since α (1 − α) of a nearly one-hot row is a difference of nearly equal numbers.
    scores = scale * (q @ k.transpose(-2, -1)).double()
    weights = scores.softmax(-1)  # (groups, n, m)
    jacobian = softmax_jacobian(weights).flatten(-2).norm(dim=-1)
    gradient = query_gradient(weights, k, upstream, scale=scale).norm(dim=-1)
    return Softness(
        # Query i with key i only: those products are independent of each other.
        variance=scores.diagonal(dim1=-2, dim2=-1).var().item(),
        max_weight=weights.amax(-1).mean().item(),
        entropy=entropy(weights).mean().item() / math.log(weights.shape[-1]),
        jacobian_mean=jacobian.mean().item(),
        jacobian_median=jacobian.median().item(),
        dead=(jacobian < 0.01).double().mean().item(),
        gradient_mean=gradient.mean().item(),
        gradient_median=gradient.median().item(),
    )


def study(
    widths: Sequence[int], *, powers: Sequence[float] = (0, 0.5, 1), keys: int = KEYS, seed: int = 0
) -> dict[float, list[Softness]]:
    """Divide the scores by d^power and measure, for every width and every power, on the same random vectors.

    Power 0 does not scale, 0.5 divides by √d, 1 by d. For each power one result a width.
    """
    g = torch.Generator().manual_seed(seed)
    results: dict[float, list[Softness]] = {power: [] for power in powers}
    for d in widths:
        q, k = torch.randn(GROUPS, QUERIES, d, generator=g), torch.randn(GROUPS, keys, d, generator=g)
        upstream = torch.randn(GROUPS, QUERIES, keys, generator=g)
        for power in powers:
            results[power].append(measure(q, k, upstream, scale=d**-power))
    return results


def correlated(shape: Sequence[int], rho: float, *, generator: torch.Generator) -> Tensor:
    """Draw vectors whose components, each N(0, 1), agree pairwise with correlation rho.

    x_m = √ρ · (shared by all components) + √(1−ρ) · (its own).

    Raises:
        ValueError: rho outside 0 … 1.
    """
    if not 0 <= rho <= 1:
        raise ValueError(f"correlated: rho must lie between 0 and 1, got {rho}")
    *rows, d = shape
    shared, own = torch.randn(*rows, 1, generator=generator), torch.randn(*rows, d, generator=generator)
    return math.sqrt(rho) * shared + math.sqrt(1 - rho) * own


def score_variance(cov_q: Tensor, cov_k: Tensor) -> Tensor:
    """Var(q·k) = trace(Σ_q Σ_k) for independent q and k with mean 0 and these covariances, of any law.

    (..., d, d), (..., d, d) -> (...). Independent components: d σ_q² σ_k². Correlation ρ between any two:
    d (1 + ρ² (d − 1)).
    """
    return (cov_q * cov_k.transpose(-2, -1)).sum((-2, -1))


def expected_maximum(m: int) -> float:
    """E max of m independent standard normals; also the density at 0 of the gap between the two largest.

    ∫ t m φ(t) Φ(t)^(m−1) dt = m (m−1) ∫ φ(t)² Φ(t)^(m−2) dt, by parts. 1.4236 for m = 8.
    """
    t, step = _line(-9, 9, 901)
    return (m * step * t * _phi(t) * _cdf(t) ** (m - 1)).sum().item()


def median_gap(m: int) -> float:
    """The median of the gap between the largest and the second largest of m ≥ 2 standard normals.

    P(gap > g) = m ∫ φ(t) Φ(t−g)^(m−1) dt, solved for 1/2 by halving. 0.4429 for m = 8.
    """
    t, step = _line(-9, 9, 901)
    low, high = 0.0, 9.0
    for _ in range(50):
        middle = (low + high) / 2
        above = (m * step * _phi(t) * _cdf(t - middle) ** (m - 1)).sum()
        low, high = (middle, high) if above > 0.5 else (low, middle)
    return low


def expected_max_weight(sigma: float, m: int) -> float:
    """E max softmax(σ z), z of m independent standard normals, by numerical integration.

    If key 1 has the largest score t, its weight is 1/(1 + Σ e^{σ(zⱼ−t)}). With 1/x = ∫₀^∞ e^{−sx} ds the m−1
    others come apart, each below t: E = m ∫₀^∞ e^{−s} ∫ φ(t) h(s, t)^{m−1} dt ds with
    h(s, t) = ∫₀^∞ φ(t−u) exp(−s e^{−σu}) du. Limits: 1/m for σ → 0, 1 for σ → ∞.
    """
    t, dt = _line(-8, 8, 81)
    # s = e^x and u = e^y: on these axes a plain sum over equal steps is right to 1e-6.
    x, dx = _line(-14, 4, 91)
    y, dy = _line(-14, 3, 171)
    s, u = x.exp(), y.exp()
    h = (_phi(t.unsqueeze(-1) - u) * u * dy) @ torch.exp(-s * torch.exp(-sigma * u).unsqueeze(-1))  # (t, s)
    return (m * _phi(t).unsqueeze(-1) * h ** (m - 1) * (torch.exp(-s) * s)).sum().item() * dt * dx


def expected_max_weight_at(d: int, m: int, *, power: float) -> float:
    """E max weight at width d, scores divided by d^power: exact for standard normal q and k.

    Given q, the m scores are independent N(0, |q|²); so this averages ``expected_max_weight`` over |q|, which
    follows the chi distribution with d degrees of freedom: density ∝ r^(d−1) e^(−r²/2).
    """
    centre = math.sqrt(d)
    r, _ = _line(max(0.05, centre - 5), centre + 5, 41)
    log_density = (d - 1) * r.log() - r**2 / 2
    weights = log_density.softmax(0)
    values = [expected_max_weight(length * d**-power, m) for length in r.tolist()]
    return (weights * torch.tensor(values, dtype=torch.float64)).sum().item()


def shares_found(
    rates: Sequence[float], *, d: int, power: float, adam: bool, problems: int = 100, steps: int = 100
) -> list[float]:
    """Let gradient descent turn random queries towards a key that was picked by lot; how many get there?

    Each problem has its own 8 keys and its own query, all N(0, 1); only the query learns. The values are
    one-hot, the wanted output is the picked key's value, and the loss is half the squared error. Scores are
    divided by d^power.

    Args:
        rates: learning rates, of plain gradient descent or of Adam; each starts from the same queries.

    Returns:
        For each rate the share of problems that end with more than 0.9 of the weight on the picked key.
    """
    g = torch.Generator().manual_seed(3)
    k = torch.randn(problems, KEYS, d, generator=g)
    start = torch.randn(problems, d, generator=g)
    wanted = torch.nn.functional.one_hot(torch.randint(KEYS, (problems, 1), generator=g), KEYS)
    queries = [start.clone().requires_grad_() for _ in rates]
    groups = [{"params": [q], "lr": rate} for q, rate in zip(queries, rates, strict=True)]
    optimizer = torch.optim.Adam(groups) if adam else torch.optim.SGD(groups)

    def attend() -> Tensor:
        return (torch.stack(queries, dim=1) @ k.mT / d**power).softmax(-1)  # (problems, rates, keys)

    for _ in range(steps):
        loss = (attend() - wanted).square().sum() / 2  # a sum: no problem shares anything with another
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return ((attend() * wanted).sum(-1) > 0.9).double().mean(0).tolist()


def _line(low: float, high: float, points: int) -> tuple[Tensor, float]:
    return torch.linspace(low, high, points, dtype=torch.float64), (high - low) / (points - 1)


def _phi(x: Tensor) -> Tensor:
    return torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _cdf(x: Tensor) -> Tensor:
    return torch.special.ndtr(x)
