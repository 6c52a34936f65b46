"""Attention over lags and its rivals: exact without noise, and equal to brute force where they can be."""

import numpy as np
import pytest
import torch

from attnlab.deadtime import random_input, simulate
from attnlab.lag_attention import (
    LAGS,
    TAPS,
    WINDOW,
    LagAttention,
    draw_jump,
    draw_windows,
    least_squares_step,
    slide,
    train_lags,
)
from attnlab.lag_banks import arx_bank, bayes_bank, cross_correlation, oracle, output_error_bank


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def share(lag, windows):
    return (lag == windows.d).double().mean().item()


def test_windows_are_the_end_of_records_and_the_next_output():
    windows = draw_windows(500, generator(1), noise=0.0)
    assert windows.u.shape == (500, WINDOW + LAGS - 1) and windows.y.shape == (500, WINDOW)
    # Without noise whoever knows the process knows the next output.
    assert torch.allclose(oracle(windows), windows.target, atol=1e-5)
    for values, low, high in ((windows.a, 0.6, 0.95), (windows.b / (1 - windows.a), 0.5, 2.0)):
        assert low <= values.min() < low + 0.01 and high - 0.01 < values.max() <= high + 1e-6
    assert sorted(windows.d.unique().tolist()) == list(range(LAGS))
    noisy = draw_windows(500, generator(1), noise=0.0, measurement_noise=0.3)
    assert (noisy.y - windows.y).std().item() == pytest.approx(0.3, rel=0.02)


def test_starts_as_the_cross_correlation_of_the_textbook():
    windows = draw_windows(7, generator(2))
    with torch.no_grad():
        _, weights = LagAttention().attend(windows.u, windows.y)
    for i in range(7):
        scores = []
        for k in range(LAGS):
            past = windows.u[i, LAGS - 1 - k : LAGS - 1 - k + WINDOW].numpy()  # u[s−k]
            x, y = past[TAPS - 1 : -1], windows.y[i, TAPS:].numpy()
            scores.append(10 * np.dot(x, y) / np.linalg.norm(x) / np.linalg.norm(y))
        assert np.allclose(weights[i].numpy(), np.exp(scores) / np.exp(scores).sum(), atol=1e-5)


def test_query_and_keys_are_filters():
    model = LagAttention()
    assert sum(p.numel() for p in model.parameters()) == 13
    windows = draw_windows(5, generator(3))
    with torch.no_grad():
        model.query_taps.copy_(torch.tensor([1.0, -0.8, 0, 0, 0, 0]))
        model.log_gain.fill_(np.log(1000.0))
        _, weights = model.attend(windows.u, windows.y)
        y = windows.y[:, 1:] - 0.8 * windows.y[:, :-1]
        shifted = windows._replace(y=torch.cat((windows.y[:, :1], y), dim=-1))
        _, same = LagAttention().attend(shifted.u, shifted.y)
    assert torch.equal(weights.argmax(-1), same.argmax(-1))


def test_least_squares_step_is_exact_without_noise_and_passes_gradients():
    x = 100 * torch.randn(3, 19, generator=generator(4), dtype=torch.float64)  # large: the ridge does not count
    x.requires_grad_()
    y = simulate(x.detach(), a=0.7, b=2.0, d=0)
    step = least_squares_step(x, y[:, :-1])
    assert torch.allclose(step, y[:, -1], rtol=1e-5)
    (gradient,) = torch.autograd.grad(step.sum(), x)
    assert gradient.isfinite().all() and (gradient.abs() > 0).all()


def test_slide_gives_the_windows_of_each_moment():
    u, y = draw_jump(3, generator(5), length=60)
    window_u, window_y = slide(u, y)
    assert window_u.shape == (3, 13, 48) and window_y.shape == (3, 13, 33)
    for i in range(13):
        now = 47 + i
        assert torch.equal(window_u[:, i], u[:, now - 47 : now + 1])
        assert torch.equal(window_y[:, i], y[:, now - 32 : now + 1])


def test_jump_happens_where_it_is_said():
    g = generator(6)
    u, y = draw_jump(400, g, before=2, after=9, at=50, length=90)
    # What y[t+1] − a y[t] correlates with: u[t−2] before, u[t−9] after. Poles lie around .78.
    rest = y[:, 1:] - 0.78 * y[:, :-1]
    for times, right, wrong in ((range(20, 50), 2, 9), (range(50, 90), 9, 2)):
        at = {d: sum((rest[:, t] * u[:, t - d]).mean().item() for t in times) for d in (right, wrong)}
        assert at[right] > 3 * abs(at[wrong])


def test_cross_correlations_against_numpy():
    windows = draw_windows(5, generator(7))
    plain = cross_correlation(windows.u, windows.y)
    filtered = cross_correlation(windows.u, windows.y, output_pole=0.8, input_pole=0.5)
    for i in range(5):
        y, u = windows.y[i].numpy(), windows.u[i].numpy()
        for k in range(LAGS):
            past = u[LAGS - 1 - k : LAGS - 1 - k + WINDOW - 1]
            # y[s+1] with u[s−k]; the whole output comes along unfiltered, its first value without a partner.
            assert plain[i, k].item() == pytest.approx(np.dot(y[1:], past) / np.linalg.norm(past), rel=1e-4, abs=1e-5)
            fy = np.convolve(np.convolve(y, [1, -0.8]), [1, -0.5])[2:WINDOW]
            fu = np.convolve(past, [1, -0.5])[1 : WINDOW - 1]
            n = min(len(fy), len(fu))
            wanted = np.dot(fy[-n:], fu[-n:]) / np.linalg.norm(fu[-n:])
            assert filtered[i, k].item() == pytest.approx(wanted, rel=1e-3, abs=1e-4)


def test_arx_bank_against_a_library():
    windows = draw_windows(5, generator(8))
    bank = arx_bank(windows.u, windows.y)
    for i in range(5):
        y, residuals, predictions = windows.y[i].double(), [], []
        for k in range(LAGS):
            u = windows.u[i, LAGS - 1 - k : LAGS - 1 - k + WINDOW].double()
            phi = torch.stack((y[:-1], u[:-1]), dim=-1)
            theta = torch.linalg.lstsq(phi, y[1:, None]).solution.flatten()
            residual = (y[1:] - phi @ theta).square().sum().item()
            residuals.append(residual if theta[1] > 0 else float("inf"))
            predictions.append((theta[0] * y[-1] + theta[1] * u[-1]).item())
        best = int(np.argmin(residuals))
        assert bank.lag[i] == best
        assert bank.prediction[i].item() == pytest.approx(predictions[best], abs=4e-3)  # the ridge, and float32


def test_bayes_bank_is_a_softmax_of_squared_residuals():
    windows = draw_windows(3, generator(9))
    bank = bayes_bank(windows.u, windows.y, noise=0.3, points=5)
    for i in range(3):
        y, log_likelihoods, steps = windows.y[i].double(), [], []
        for k in range(LAGS):
            u = windows.u[i, LAGS - 1 - k : LAGS - 1 - k + WINDOW].double()
            for a in 0.6 + 0.35 * (np.arange(5) + 0.5) / 5:
                for gain in 0.5 + 1.5 * (np.arange(5) + 0.5) / 5:
                    b = gain * (1 - a)
                    residual = (y[1:] - a * y[:-1] - b * u[:-1]).square().sum().item()
                    log_likelihoods.append(-residual / (2 * 0.3**2))
                    steps.append((a * y[-1] + b * u[-1]).item())
        posterior = np.exp(np.array(log_likelihoods) - max(log_likelihoods))
        posterior /= posterior.sum()
        assert np.allclose(bank.scores[i].exp().numpy(), posterior.reshape(LAGS, 25).sum(-1), atol=1e-4)
        assert bank.prediction[i].item() == pytest.approx(posterior @ np.array(steps), abs=1e-4)


def test_without_noise_each_bank_finds_every_lag_that_the_input_shows():
    windows = draw_windows(400, generator(10), noise=0.0, hold=1.0)
    u, y = windows.u, windows.y
    for bank in (arx_bank(u, y), bayes_bank(u, y, noise=0.05), output_error_bank(u, y, points=24)):
        assert share(bank.lag, windows) > 0.99


def test_banks_take_any_leading_dimensions():
    windows = draw_windows(6, generator(12))
    u, y = windows.u.unflatten(0, (2, 3)), windows.y.unflatten(0, (2, 3))
    coarse = {"points": 3}
    for method, settings in ((arx_bank, {}), (bayes_bank, coarse | {"noise": 0.1}), (output_error_bank, coarse)):
        flat, folded = method(windows.u, windows.y, **settings), method(u, y, **settings)
        assert torch.equal(folded.lag.flatten(), flat.lag)
        assert torch.allclose(folded.prediction.flatten(), flat.prediction)


def test_output_error_bank_is_exact_where_its_pole_lies_on_the_grid():
    points, a = 4, 0.6 + 0.35 * 2.5 / 4
    u = random_input(50, 80, generator(11), hold=2.0)
    d = torch.arange(50) % LAGS
    y = simulate(u, a=a, b=0.5, d=d)
    bank = output_error_bank(u[:, -(WINDOW + LAGS - 1) :], y[:, -(WINDOW + 1) : -1], points=points)
    assert torch.equal(bank.lag, d)
    assert torch.allclose(bank.prediction, y[:, -1], atol=2e-3)


def test_training_turns_correlation_into_prewhitened_correlation():
    model = LagAttention()
    train_lags(model, draw_windows(25_600, generator(1)))
    test = draw_windows(2000, generator(99))
    with torch.no_grad():
        prediction, weights = model.attend(test.u, test.y)
    assert share(cross_correlation(test.u, test.y).argmax(-1), test) == pytest.approx(0.31, abs=0.04)
    assert 0.95 <= share(weights.argmax(-1), test) < share(arx_bank(test.u, test.y).lag, test) + 0.01
    assert (prediction - test.target).square().mean().item() < 1.3 * 0.05**2
    taps = model.query_taps.detach() / model.query_taps.detach()[0]
    assert (taps[1:4] < 0).all() and taps.sum() < 0.4  # high-pass
