"""Least squares on known truth: exact without noise, as far off as its standard errors say with noise."""

import math

import pytest
import torch

from attnlab.arx import arx_least_squares
from attnlab.deadtime import Process, draw_records, random_input, simulate


def draw(process, records, seed, **settings):
    return draw_records(process, records, torch.Generator().manual_seed(seed), **settings)


@pytest.mark.parametrize("d", [0, 7, 15])
def test_without_noise_every_coefficient_is_exact(d):
    u = torch.randn(3, 40, generator=torch.Generator().manual_seed(d), dtype=torch.float64)
    y = simulate(u, a=0.8, b=0.4, d=d)
    fit = arx_least_squares(u, y)
    wanted = torch.zeros(16, dtype=torch.float64)
    wanted[d] = 0.4
    assert abs(fit.a.item() - 0.8) < 1e-10 and torch.allclose(fit.b, wanted, atol=1e-10)
    assert fit.lag == d and fit.b_error.max() < 1e-8


def test_equals_a_library_s_least_squares():
    u, y = draw(Process(d=2), 5, 1, length=19)
    fit = arx_least_squares(u, y, lags=4)
    rows, targets = [], []
    for r in range(5):
        for t in range(19):
            rows.append([y[r, t].item()] + [u[r, t - k].item() if t >= k else 0.0 for k in range(4)])
            targets.append([y[r, t + 1].item()])
    theta = torch.linalg.lstsq(torch.tensor(rows).double(), torch.tensor(targets).double()).solution.flatten()
    assert torch.allclose(torch.cat((fit.a.reshape(1), fit.b)), theta, atol=1e-9)


def test_standard_errors_are_those_of_many_repetitions():
    u, y = draw(Process(), 8 * 300, 2)
    many = arx_least_squares(u.view(300, 8, 40), y.view(300, 8, 41))
    assert many.a.shape == (300,) and many.b.shape == (300, 16)
    for estimate, error, truth in ((many.b[:, 7], many.b_error[:, 7], 0.4), (many.b[:, 3], many.b_error[:, 3], 0.0)):
        assert estimate.std().item() == pytest.approx(error.mean().item(), rel=0.15)
        assert abs(estimate.mean().item() - truth) < 4 * estimate.std().item() / math.sqrt(300)


def test_64_records_give_what_the_page_says():
    fit = arx_least_squares(*draw(Process(), 64, 99))
    assert fit.lag == 7 and abs(fit.b[7] - 0.4) < 4 * fit.b_error[7] < 0.02 and abs(fit.a - 0.8) < 4 * fit.a_error


def test_one_record_is_nearly_always_enough():
    u, y = draw(Process(), 500, 3)
    assert (arx_least_squares(u.unsqueeze(1), y.unsqueeze(1)).lag == 7).double().mean() > 0.98


def test_a_constant_input_from_rest_is_a_step_test_and_a_settled_one_tells_nothing():
    generator = torch.Generator().manual_seed(4)
    u = random_input(64, 40, generator, hold=math.inf)
    assert arx_least_squares(u, simulate(u, a=0.8, b=0.4, d=7, noise=0.1, generator=generator)).lag == 7
    # Settled before the record begins, y is K u whatever the dead time: one and the same record for any d.
    early = torch.cat((u, u), dim=-1)
    records = [simulate(early.double(), a=0.8, b=0.4, d=d)[:, -31:] for d in (3, 7)]
    assert torch.allclose(records[0], records[1], atol=2e-3)


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\(3, 7\) and \(3, 7\)"):
        arx_least_squares(torch.zeros(3, 7), torch.zeros(3, 7))
    with pytest.raises(ValueError, match=r"17 coefficients.*14 equations"):
        arx_least_squares(torch.zeros(2, 7), torch.zeros(2, 8))
