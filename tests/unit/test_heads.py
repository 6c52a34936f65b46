"""The tasks and models of the page on several heads, and the committed study behind it."""

import itertools

import numpy as np
import pytest
import torch

from attnlab.heads import (
    D_ACTION,
    SYMBOLS,
    SignalHeads,
    SymbolHeads,
    both_right,
    draw_symbols,
    expected_error,
    fir_filter,
    impulse_responses,
    one_head_bound,
    previous_and_first,
    sampled_error,
    train_filter,
    train_symbols,
)
from attnlab.heads_study import STUDY, run
from attnlab.study import load_group

SECOND_DIFFERENCE = (1.0, -2.0, 1.0)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


# The filter and the bound


@pytest.mark.parametrize("taps", [(1.0,), D_ACTION, SECOND_DIFFERENCE, (0.5, 0.0, -2.0, 3.0, 1.0)])
def test_fir_filter_is_numpys_convolution(taps):
    x = torch.randn(3, 7, generator=generator(), dtype=torch.float64)
    wanted = [np.convolve(row, taps, mode="valid") for row in x.numpy()]
    assert torch.allclose(fir_filter(x, taps), torch.tensor(np.array(wanted)), atol=1e-12, rtol=0)


@pytest.mark.parametrize("taps", [(), (1.0,) * 6])
def test_fir_filter_names_taps_that_do_not_fit(taps):
    with pytest.raises(ValueError, match="1 to 5 taps"):
        fir_filter(torch.zeros(5), taps)


@pytest.mark.parametrize(
    "taps", [D_ACTION, SECOND_DIFFERENCE, (0.5, 0.5), (-1.0, -0.3), (2.0, -1.0, -1.0, 0.5), (-3.0, 0.0, 1.0)]
)
def test_one_head_bound_is_what_a_search_over_all_heads_finds(taps):
    """Every gain and every weight vector on a grid: none goes below the bound, one comes close."""
    grid = np.linspace(0, 1, 21)
    weights = np.array([w for w in itertools.product(grid, repeat=len(taps)) if abs(sum(w) - 1) < 1e-9])
    gains = np.linspace(-6, 6, 241)
    errors = ((gains[:, None, None] * weights - np.array(taps)) ** 2).sum(-1)
    assert errors.min() >= one_head_bound(taps) - 1e-12
    assert errors.min() == pytest.approx(one_head_bound(taps), abs=0.02)


# The model of signals


def test_signal_heads_equal_a_scalar_loop():
    torch.manual_seed(3)
    model = SignalHeads(3, length=5, width=21).double()
    x = torch.randn(2, 5, generator=generator(), dtype=torch.float64)
    y, weights = model(x)
    assert y.shape == (2, 5) and weights.shape == (3, 5, 5)
    wq, wk, wv, wo = (layer.weight for layer in (model.query, model.key, model.value, model.output))
    for b, t in itertools.product(range(2), range(5)):
        total = 0.0
        for i in range(3):
            block = slice(7 * i, 7 * i + 7)
            scores = [wq[block] @ model.position[t] @ (wk[block] @ model.position[s]) / 7**0.5 for s in range(t + 1)]
            alpha = torch.stack(scores).softmax(0)
            assert torch.allclose(weights[i, t, : t + 1], alpha)
            for s in range(t + 1):
                h = model.signal.weight[:, 0] * x[b, s] + model.position[s]
                total = total + alpha[s] * (wo[0, block] @ (wv[block] @ h))
        assert torch.allclose(y[b, t], total)


def test_position_only_weights_do_not_see_the_signal_and_the_others_do():
    x = torch.randn(2, 12, generator=generator())
    torch.manual_seed(0)
    model = SignalHeads(2)
    assert torch.equal(model(x[:1])[1], model(x[1:])[1])
    seeing = SignalHeads(2, scores_see_signal=True)
    _, weights = seeing(x)
    assert weights.shape == (2, 2, 12, 12)
    assert not torch.allclose(weights[0], weights[1], atol=1e-3)


@pytest.mark.parametrize("scores_see_signal", [False, True])
def test_signal_heads_are_causal(scores_see_signal):
    torch.manual_seed(1)
    model = SignalHeads(2, scores_see_signal=scores_see_signal)
    x = torch.randn(12, generator=generator())
    jacobian = torch.autograd.functional.jacobian(lambda x: model(x[None])[0][0], x)  # (t, s)
    assert (jacobian.triu(1) == 0).all()
    assert (jacobian.tril().abs().sum(-1) > 1e-4).all()


def test_impulse_responses_are_gains_times_weights():
    torch.manual_seed(2)
    model = SignalHeads(2)
    coefficients, offset = impulse_responses(model)
    _, weights = model(torch.zeros(1, 12))
    assert torch.allclose(coefficients, torch.einsum("h,hts->ts", model.gains(), weights.detach()), atol=1e-6)
    x = torch.randn(5, 12, generator=generator())
    assert torch.allclose(x @ coefficients.T + offset, model(x)[0].detach(), atol=1e-5)


def test_impulse_responses_refuse_a_model_that_is_not_linear():
    with pytest.raises(ValueError, match="scores_see_signal"):
        impulse_responses(SignalHeads(1, scores_see_signal=True))


@pytest.mark.parametrize("taps", [D_ACTION, SECOND_DIFFERENCE])
def test_sampled_error_estimates_the_expected_one(taps):
    torch.manual_seed(4)
    model = SignalHeads(2)
    assert sampled_error(model, taps) == pytest.approx(expected_error(model, taps), rel=0.03)
    assert expected_error(model, taps) > 0.1  # untrained


@pytest.mark.parametrize("heads, width", [(0, 32), (5, 32), (-1, 32)])
def test_signal_heads_name_a_number_of_heads_that_does_not_divide(heads, width):
    with pytest.raises(ValueError, match=f"width={width}, num_heads={heads}"):
        SignalHeads(heads, width=width)


# The experiment on differences


@pytest.mark.parametrize("seed", [0, 3])
def test_one_head_stays_at_the_bound(seed):
    torch.manual_seed(seed)
    model = SignalHeads(1)
    train_filter(model, seed=seed)
    assert 1 <= expected_error(model) < 1.05
    assert 0.95 < sampled_error(model) < 1.05


def test_no_training_brings_one_head_below_the_bound():
    for seed in range(5):
        torch.manual_seed(seed)
        model = SignalHeads(1, position_scale=3.0)
        train_filter(model, seed=seed, steps=100)
        assert expected_error(model) >= 1


@pytest.mark.parametrize("seed", [0, 2])
def test_two_heads_take_the_two_samples(seed):
    torch.manual_seed(seed)
    model = SignalHeads(2)
    train_filter(model, seed=seed)
    assert expected_error(model) < 0.01
    gains = model.gains()
    assert gains.min() < 0 < gains.max()
    _, weights = model(torch.zeros(1, 12))
    now, before = weights[gains.argmax()], weights[gains.argmin()]
    assert now.diagonal()[1:].mean() > 0.9
    assert before.diagonal(-1).mean() > 0.9


def test_scores_that_see_the_signal_bring_one_head_below_the_bound():
    torch.manual_seed(0)
    model = SignalHeads(1, scores_see_signal=True)
    train_filter(model)
    assert sampled_error(model) < 0.1


def test_second_difference():
    errors = {}
    for heads in (1, 2):
        torch.manual_seed(0)
        model = SignalHeads(heads)
        train_filter(model, SECOND_DIFFERENCE)
        errors[heads] = expected_error(model, SECOND_DIFFERENCE)
    assert 2 <= errors[1] < 2.2
    assert errors[2] < 0.05


# The symbols


def test_previous_and_first():
    x = torch.tensor([[3, 1, 4, 1, 5]])
    assert previous_and_first(x).tolist() == [[[3, 3], [1, 3], [4, 3], [1, 3]]]


def test_symbols_are_uniform_and_repeatable():
    x = draw_symbols(2000, seed=5, length=7)
    assert x.shape == (2000, 7)
    assert torch.equal(x, draw_symbols(2000, seed=5, length=7))
    assert not torch.equal(x, draw_symbols(2000, seed=6, length=7))
    shares = torch.bincount(x.flatten(), minlength=SYMBOLS) / x.numel()
    assert shares.shape == (10,) and (shares - 0.1).abs().max() < 0.01


@pytest.mark.parametrize("feed_forward", [False, True])
def test_symbol_heads_are_causal(feed_forward):
    torch.manual_seed(0)
    model = SymbolHeads(2, feed_forward=feed_forward)
    x = draw_symbols(3)
    scores, weights = model(x)
    assert scores.shape == (3, 12, 2, 10) and weights.shape == (3, 2, 12, 12)
    changed = x.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % SYMBOLS
    assert torch.equal(model(changed)[0][:, :7], scores[:, :7])
    assert not torch.allclose(model(changed)[0][:, 7:], scores[:, 7:], atol=1e-3)


def test_both_right_of_an_untrained_model_is_chance():
    torch.manual_seed(0)
    assert both_right(SymbolHeads(2)) < 0.05


def test_two_heads_name_both_symbols_and_split_the_work():
    torch.manual_seed(0)
    model = SymbolHeads(2)
    train_symbols(model)
    assert both_right(model) > 0.995
    _, weights = model(draw_symbols(500))
    mean = weights.mean(0)[:, 2:].detach()  # (h, t = 2 … n−1, n)
    previous, first = mean.diagonal(1, dim1=-2, dim2=-1).mean(-1), mean[..., 0].mean(-1)
    assert previous.argmax() != first.argmax()
    assert previous.max() > 0.9 and first.max() > 0.9


# The study


def test_one_run_again_lies_inside_the_study():
    runs = load_group("heads", "difference/2")
    settings = STUDY.runs["difference/2/0"]
    again = run(**settings)
    assert again["expected_error"] < 0.01
    assert next(r for r in runs if r["seed"] == 0)["expected_error"] < 0.01


def test_what_the_study_says():
    groups = {name: load_group("heads", name) for name in sorted({run.rpartition("/")[0] for run in STUDY.runs})}
    assert all(len(runs) == 20 for runs in groups.values())
    assert all(1 <= r["expected_error"] < 1.05 for r in groups["difference/1"])
    assert all(r["expected_error"] < 0.01 or 1 <= r["expected_error"] < 1.05 for r in groups["difference/2"])
    assert all(r["expected_error"] < 0.01 for r in groups["difference/2-small"])
    # A pair of heads that starts with opposite signs always ends well.
    for r in groups["difference/2"]:
        if r["initial_gains"][0] * r["initial_gains"][1] < 0:
            assert r["expected_error"] < 0.01
    content = [r["error"] for r in groups["difference/1-content"]]
    assert sum(error < 0.05 for error in content) > 10 and max(content) < 1.05
    assert all(0.8 < r["both_right"] < 0.97 for r in groups["symbols/1"])
    for name in ("symbols/2", "symbols/4"):
        assert all(r["both_right"] > 0.99 for r in groups[name])
    assert all(r["both_right"] > 0.95 for r in groups["symbols/1-ffn"])
