"""The process against a scalar loop and its step response; what is read from weights and gradients, on known truth."""

import math

import pytest
import torch

from attnlab.deadtime import (
    NextOutput,
    Process,
    delayed_inputs,
    draw_records,
    hand_built_predictor,
    hit_share,
    input_gradient,
    lag_profile,
    random_input,
    simulate,
    train_next_output,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_process_against_a_scalar_loop():
    u = torch.randn(5, 23, generator=generator(), dtype=torch.float64)
    a, b = torch.tensor([0.5, 0.6, 0.7, 0.8, 0.9]).double(), torch.tensor([1.0, -1.0, 0.3, 2.0, 0.1]).double()
    d = torch.tensor([0, 2, 3, 7, 30])
    y = simulate(u, a=a, b=b, d=d)
    assert y.shape == (5, 24)
    for i in range(5):
        value = 0.0
        for t in range(23):
            assert y[i, t].item() == pytest.approx(value, abs=1e-12)
            past = u[i, t - d[i]].item() if t >= d[i] else 0.0
            value = a[i].item() * value + b[i].item() * past
    assert (y[4] == 0).all()  # nothing arrives within the record


def test_dead_time_that_changes_inside_a_record():
    u = torch.randn(2, 19, generator=generator(1), dtype=torch.float64)
    d = torch.full((2, 19), 3)
    d[:, 11:] = 5
    y = simulate(u, a=0.7, b=0.4, d=d)
    for t in range(5, 19):
        lag = 3 if t < 11 else 5
        assert torch.allclose(y[:, t + 1], 0.7 * y[:, t] + 0.4 * u[:, t - lag])


@pytest.mark.parametrize("d", [0, 3, 12])
def test_step_response_is_the_one_of_the_textbook(d):
    process = Process(a=0.8, b=0.4, d=d, noise=0.0)
    assert process.gain == pytest.approx(2.0) and process.dead_time == d
    assert process.time_constant == pytest.approx(1 / math.log(1 / 0.8))
    y = simulate(torch.ones(1, 60, dtype=torch.float64), **process._asdict())[0]
    t = torch.arange(61)
    continuous = process.gain * (1 - torch.exp(-(t - d).clamp(min=0).double() / process.time_constant))
    assert torch.allclose(y, continuous, atol=1e-12)


def test_noise_has_the_stated_size():
    u, y = draw_records(Process(), 400, generator(2))
    residual = y[:, 8:] - 0.8 * y[:, 7:-1] - 0.4 * u[:, :-7]
    assert residual.std().item() == pytest.approx(0.1, rel=0.02)


def test_process_refuses_what_makes_no_sense():
    with pytest.raises(ValueError, match=r"records, samples.*\(7,\)"):
        simulate(torch.zeros(7), a=0.5, b=1.0, d=0)
    with pytest.raises(ValueError, match="negative, got -2"):
        simulate(torch.zeros(3, 7), a=0.5, b=1.0, d=torch.tensor([1, -2, 0]))
    with pytest.raises(ValueError, match=r"hold.*0\.5"):
        random_input(3, 7, generator(), hold=0.5)
    for lags in (0, 8):
        with pytest.raises(ValueError, match=f"lags.*got {lags}"):
            delayed_inputs(torch.zeros(7), lags)


@pytest.mark.parametrize("hold", [1.0, 2.0, 6.0])
def test_inputs_are_held_as_long_as_stated(hold):
    u = random_input(300, 200, generator(3), hold=hold)
    changes = (u[:, 1:] != u[:, :-1]).double().mean().item()
    assert changes == pytest.approx(1 / hold, abs=0.01)
    assert u.std().item() == pytest.approx(1.0, abs=0.05)


def test_constant_inputs():
    u = random_input(11, 17, generator(3), hold=math.inf)
    assert (u == u[:, :1]).all() and len(u[:, 0].unique()) == 11


def test_delayed_inputs_against_a_loop():
    u = torch.arange(11.0) ** 2
    delayed = delayed_inputs(torch.stack((u, -u)), 4)
    assert delayed.shape == (2, 4, 8)
    for k in range(4):
        assert torch.equal(delayed[0, k], u[3 - k : 11 - k])


def test_predictor_is_causal_and_shows_its_weights():
    torch.manual_seed(4)
    model = NextOutput(width=14)
    u, y = torch.randn(3, 11, generator=generator(4)), torch.randn(3, 11, generator=generator(5))
    prediction, weights = model.attend(u, y)
    assert prediction.shape == (3, 11) and weights.shape == (3, 11, 11)
    assert (weights.triu(1) == 0).all() and torch.allclose(weights.sum(-1), torch.ones(3, 11))
    assert torch.allclose(model(u[:, :7], y[:, :7]), prediction[:, :7], atol=1e-6)


def test_lag_statistics_against_a_loop():
    weights = torch.rand(3, 13, 13, generator=generator(6)).tril()
    weights[:, torch.arange(5, 13), torch.arange(5, 13) - 5] += 1  # lag 5, from row 5 on
    weights[0, 12, 12] += 9  # but one row of 3 · 8
    profile = lag_profile(weights, 7)
    for k in range(7):
        loop = [weights[i, t, t - k].item() for i in range(3) for t in range(6, 13)]
        assert profile[k].item() == pytest.approx(sum(loop) / len(loop))
    assert hit_share(weights, 5) == pytest.approx(1 - 1 / 24)
    assert torch.allclose(lag_profile(weights[1], 3), lag_profile(weights[1:2], 3))
    with pytest.raises(ValueError, match="got 14"):
        lag_profile(weights, 14)


def test_input_gradient_of_the_process_itself_is_b_at_the_dead_time():
    class Known(torch.nn.Module):
        def forward(self, u, y):
            return 0.8 * y + 0.4 * torch.nn.functional.pad(u, (5, 0))[:, :-5] ** 3 / 3

    u = torch.ones(3, 17, dtype=torch.float64)
    gradient = input_gradient(Known(), u, torch.zeros(3, 17, dtype=torch.float64), 7)
    wanted = torch.zeros(7, dtype=torch.float64)
    wanted[5] = 0.4
    assert torch.allclose(gradient, wanted)


def test_hand_built_head_becomes_the_process():
    """Linear and without noise there is an exact answer, and the gain leads to it."""
    process = Process(d=5, noise=0.0)
    u, y = draw_records(process, 7, generator(7), length=29)
    u, y = u.double(), simulate(u.double(), **process._asdict())
    errors = []
    for gain in (10, 100, 1000, 10_000):
        prediction, weights = hand_built_predictor(u, y[:, :-1], process, gain=gain)
        errors.append((prediction - y[:, 1:])[:, process.d :].abs().max().item())
        assert hit_share(weights, process.d) == 1
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-12


def test_training_finds_the_dead_time():
    """The page's example at a shorter length, so that it takes a second."""
    process = Process(d=3)
    u, y = draw_records(process, 6400, generator(0), length=17)
    torch.manual_seed(0)
    model = NextOutput()
    train_next_output(model, u, y, steps=400, batch_size=16)
    u, y = draw_records(process, 200, generator(99), length=17)
    with torch.no_grad():
        prediction, weights = model.attend(u, y[:, :-1])
    assert hit_share(weights, 3) > 0.9
    assert lag_profile(weights, 8).argmax() == 3
    assert (prediction - y[:, 1:]).square().mean().item() < 1.5 * process.noise**2


def test_records_are_all_used_once_before_any_is_used_again():
    seen = []

    class Spy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(()))

        def forward(self, u, y):
            seen.extend(u[:, 0].tolist())
            return u * self.w

    u = torch.arange(15.0).unsqueeze(-1).expand(15, 4)
    train_next_output(Spy(), u, torch.zeros(15, 5), steps=6, batch_size=5)
    assert sorted(seen[:15]) == sorted(seen[15:]) == list(range(15)) and seen[:15] != seen[15:]
