"""The √d study: its random numbers, its measurements against autograd, its theory against simulation."""

import math

import pytest
import torch
from torch import nn

from attnlab import scaling

F64 = torch.float64
WIDTHS = [4, 16, 64, 256, 1024]


def normals(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


@pytest.fixture(scope="module")
def results():
    return scaling.study(WIDTHS)


def test_first_table_is_the_one_that_the_script_prints():
    rows = []
    for d, dots, scores in scaling.first_table():
        assert dots.shape == (10_000,)
        assert scores.shape == (1000, 8, 8)
        top = [s.softmax(-1).amax(-1).mean().item() for s in (scores, scores / math.sqrt(d))]
        rows.append(f"{d} {dots.var().item():.1f} {top[0]:.2f} {top[1]:.2f}")
    assert rows == ["4 4.0 0.53 0.34", "64 64.4 0.87 0.36", "512 498.2 0.95 0.36"]


def test_first_table_draws_what_the_global_generator_would():
    torch.manual_seed(0)
    torch.randn(5, 16), torch.randn(5, 16), torch.randn(5, 16)
    q, k = torch.randn(10_000, 3), torch.randn(10_000, 3)
    scores = torch.randn(1000, 8, 3) @ torch.randn(1000, 3, 8)
    state = torch.get_rng_state()
    d, dots, drawn = next(scaling.first_table((3,)))
    assert d == 3
    assert torch.equal(dots, (q * k).sum(1))
    assert torch.equal(drawn, scores)
    assert torch.equal(torch.get_rng_state(), state)  # and leaves that generator alone


def test_entropy_of_known_weights():
    weights = torch.tensor([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0]], dtype=F64)
    wanted = torch.tensor([0, math.log(4), math.log(2)], dtype=F64)
    assert torch.allclose(scaling.entropy(weights), wanted)


def test_softmax_jacobian_is_that_of_autograd():
    scores = 3 * normals(5, 7)
    own = scaling.softmax_jacobian(scores.softmax(-1))
    for row, jacobian in zip(scores, own, strict=True):
        wanted = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row)
        assert torch.allclose(jacobian, wanted, atol=1e-14, rtol=0)
    assert own.sum(-1).abs().max() < 1e-15
    assert scaling.softmax_jacobian(torch.eye(3, dtype=F64)).abs().max() == 0  # one-hot: nothing moves


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_query_gradient_is_that_of_autograd(scale):
    q, k, upstream = normals(2, 3, 11).requires_grad_(), normals(2, 7, 11, seed=1), normals(2, 3, 7, seed=2)
    weights = (scale * q @ k.mT).softmax(-1)
    (weights * upstream).sum().backward()
    own = scaling.query_gradient(weights.detach(), k, upstream, scale=scale)
    assert own.shape == (2, 3, 11)
    assert torch.allclose(own, q.grad, atol=1e-13, rtol=0)


def test_measure_keeps_the_norm_of_nearly_one_hot_rows():
    q, k = torch.tensor([[[40.0, 0]]]), torch.tensor([[[1.0, 0], [0, 0], [-1, 0]]])
    found = scaling.measure(q.expand(2, 1, 2), k.expand(2, 3, 2), torch.ones(2, 1, 3), scale=1.0)
    p = math.exp(-40)  # weights 1 − p, p, p²: the Jacobian is p [[1, −1], [−1, 1]] up to p²
    assert found.jacobian_mean == pytest.approx(2 * p, rel=0.2)
    assert found.dead == 1
    assert found.max_weight == 1


def test_variance_lies_within_four_standard_errors(results):
    pairs = scaling.GROUPS * scaling.QUERIES
    for d, raw, scaled, divided in zip(WIDTHS, *results.values(), strict=True):
        bound = 4 * math.sqrt((2 + 6 / d) / pairs)
        assert raw.variance / d == pytest.approx(1, abs=bound)
        assert scaled.variance == pytest.approx(raw.variance / d, rel=1e-5)
        assert divided.variance == pytest.approx(raw.variance / d**2, rel=1e-5)


def test_maximum_weight_follows_the_exact_curve(results):
    for power, found in results.items():
        for d, row in zip(WIDTHS, found, strict=True):
            wanted = scaling.expected_max_weight_at(d, 8, power=power)
            assert row.max_weight == pytest.approx(wanted, abs=0.008)


def test_near_tie_laws_at_large_width(results):
    raw, p0, root = results[0][-1], scaling.expected_maximum(8), math.sqrt(1024)
    assert 1 - raw.max_weight == pytest.approx(p0 * math.log(2) / root, rel=0.1)
    assert raw.entropy * math.log(8) == pytest.approx(p0 * math.pi**2 / 6 / root, rel=0.1)
    assert raw.jacobian_mean == pytest.approx(p0 / root, rel=0.12)
    assert raw.gradient_mean == pytest.approx(p0 * math.sqrt(2 / math.pi), rel=0.12)
    exponent = -math.log(raw.jacobian_median / 2) / root
    assert exponent == pytest.approx(scaling.median_gap(8), rel=0.06)


def test_medians_die_without_scaling_and_live_with_it(results):
    raw, scaled, divided = (results[power] for power in (0, 0.5, 1))
    assert raw[-1].jacobian_median < 1e-4 < raw[-1].jacobian_mean
    assert raw[-1].gradient_median < 1e-3
    assert raw[-1].dead > 0.7
    for row in scaled[1:]:
        assert row.jacobian_median == pytest.approx(0.367, abs=0.01)
        assert row.gradient_median == pytest.approx(0.31, abs=0.03)
        assert row.entropy == pytest.approx(0.83, abs=0.01)
        assert row.dead == 0
    assert divided[-1].jacobian_mean == pytest.approx(math.sqrt(7) / 8, abs=0.002)  # uniform weights
    assert divided[-1].gradient_mean < 0.02


def test_study_compares_the_powers_on_the_same_vectors():
    alone = scaling.study([5], powers=[0.5], keys=11)[0.5]
    together = scaling.study([5], keys=11)[0.5]
    assert alone == together
    assert scaling.study([5], seed=1, powers=[0.5], keys=11)[0.5] != alone


@pytest.mark.parametrize("m", [2, 8, 61])
def test_gap_constants_against_simulation(m):
    top = normals(200_000, m).topk(2).values
    gap = top[:, 0] - top[:, 1]
    assert scaling.expected_maximum(m) == pytest.approx(top[:, 0].mean().item(), abs=0.01)
    assert scaling.median_gap(m) == pytest.approx(gap.median().item(), abs=0.01)
    near_zero = (gap < 0.02).double().mean().item() / 0.02  # the density of the gap at 0
    assert scaling.expected_maximum(m) == pytest.approx(near_zero, rel=0.1)


def test_expected_maximum_in_closed_form():
    assert scaling.expected_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-9)
    assert scaling.expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)


@pytest.mark.parametrize(
    ("m", "wanted"),
    [(2, 0.7252), (4, 0.5171), (8, 0.3612), (16, 0.2466), (32, 0.1645), (64, 0.1073), (128, 0.0685)],
)
def test_expected_max_weight_for_unit_scores(m, wanted):
    assert scaling.expected_max_weight(1.0, m) == pytest.approx(wanted, abs=6e-5)
    simulated = normals(100_000, m).softmax(-1).amax(-1).mean().item()
    assert scaling.expected_max_weight(1.0, m) == pytest.approx(simulated, abs=0.003)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0])
def test_expected_max_weight_of_two_keys_is_a_single_integral(sigma):
    gap = torch.linspace(0, 14 * sigma, 200_001, dtype=F64)
    density = torch.exp(-((gap / sigma) ** 2) / 4) / (sigma * math.sqrt(math.pi))  # of σ |z₁ − z₂|
    wanted = torch.trapezoid(density * gap.sigmoid(), gap).item()
    assert scaling.expected_max_weight(sigma, 2) == pytest.approx(wanted, abs=5e-6)


def test_expected_max_weight_limits():
    assert scaling.expected_max_weight(1e-9, 7) == pytest.approx(1 / 7, abs=5e-6)
    tie = 1 - scaling.expected_maximum(8) * math.log(2) / 100
    assert scaling.expected_max_weight(100.0, 8) == pytest.approx(tie, abs=5e-5)
    assert scaling.expected_max_weight_at(100_000, 8, power=0.5) == pytest.approx(0.3612, abs=1e-4)


def test_score_variance_is_exact_for_a_law_that_is_not_normal():
    """Every outcome of six fair coins, so no sampling error; the components of q and k mix three coins each."""
    coins = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=F64)] * 6)
    mix_q, mix_k = normals(2, 3), normals(2, 3, seed=1)
    q, k = coins[:, :3] @ mix_q.T, coins[:, 3:] @ mix_k.T
    variance = (q * k).sum(-1).var(correction=0)
    assert torch.allclose(variance, scaling.score_variance(mix_q @ mix_q.T, mix_k @ mix_k.T))


def test_score_variance_special_cases():
    eye = torch.eye(7, dtype=F64)
    assert scaling.score_variance(4 * eye, 9 * eye).item() == pytest.approx(7 * 36)
    rho = 0.5
    equal = (1 - rho) * eye + rho
    assert scaling.score_variance(equal, equal).item() == pytest.approx(7 * (1 + rho**2 * 6))
    batch = scaling.score_variance(torch.stack([eye, equal]), eye)
    assert batch.shape == (2,)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 1.0])
def test_correlated_components(rho):
    x = scaling.correlated((20_000, 7), rho, generator=torch.Generator().manual_seed(5)).double()
    wanted = (1 - rho) * torch.eye(7, dtype=F64) + rho
    assert torch.allclose(x.T.cov(), wanted, atol=0.05)
    assert x.mean(0).abs().max() < 0.04


def test_correlated_scores_follow_their_theory():
    g = torch.Generator().manual_seed(6)
    q, k = (scaling.correlated((20_000, 64), 0.5, generator=g) for _ in range(2))
    assert (q * k).sum(-1).var().item() / (64 * (1 + 0.25 * 63)) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("rho", [-0.1, 1.5, math.nan])
def test_correlated_refuses_a_correlation_outside_0_1(rho):
    with pytest.raises(ValueError, match="rho"):
        scaling.correlated((3, 5), rho, generator=torch.Generator())


def test_gradient_descent_finds_the_key_only_when_scaled():
    for adam, rates in ((False, [1.0, 100.0]), (True, [0.01, 1.0])):
        assert max(scaling.shares_found(rates, d=256, power=0, adam=adam)) < 0.45
    assert scaling.shares_found([10], d=256, power=0.5, adam=False)[0] > 0.95
    assert scaling.shares_found([0.1], d=256, power=0.5, adam=True)[0] > 0.95
    small, large = scaling.shares_found([10, 1e4], d=256, power=1, adam=False)
    assert small < 0.05  # the gradient of ÷d is too small for this rate
    assert large > 0.95  # and not for this one


def test_a_saturated_gradient_only_exchanges_the_first_two_keys():
    """Whatever key is wanted: the reason why no learning rate helps an unscaled query."""
    q, k = normals(2000, 1, 256), normals(2000, 8, 256, seed=1)
    scores = (q @ k.mT)[:, 0]
    first, second, third = scores.argsort(-1, descending=True)[:, :3].T
    weights = scores.softmax(-1).unsqueeze(1)
    upstream = weights - nn.functional.one_hot(third, 8).unsqueeze(1)
    row = torch.arange(2000)
    gradient = scaling.query_gradient(weights, k, upstream, scale=1.0)[:, 0]
    alike = torch.cosine_similarity(-gradient, k[row, second] - k[row, first])
    assert alike.median() > 0.95


def test_learning_rates_do_not_disturb_each_other():
    settings = {"d": 61, "power": 0.5, "adam": True, "problems": 43, "steps": 17}
    both = scaling.shares_found([0.03, 0.3], **settings)
    assert both == [scaling.shares_found([rate], **settings)[0] for rate in (0.03, 0.3)]
    assert both[0] != both[1]


@pytest.mark.parametrize(("d_model", "heads"), [(64, 1), (64, 8), (512, 8)])
def test_the_premise_is_an_idealisation_for_xavier_weights(d_model, heads):
    torch.manual_seed(0)
    module = nn.MultiheadAttention(d_model, heads)
    x = nn.functional.layer_norm(torch.randn(512, d_model), (d_model,))
    q, k, _ = nn.functional.linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, -1)
    assert q.var().item() == pytest.approx(0.5, abs=0.02)
    d_k = d_model // heads
    scores = q.unflatten(-1, (heads, d_k)).transpose(0, 1) @ k.unflatten(-1, (heads, d_k)).permute(1, 2, 0)
    assert (scores / math.sqrt(d_k)).std().item() == pytest.approx(0.5, abs=0.03)
