"""The loops against exact answers: a right Smith predictor is a first-order loop, delayed."""

import math

import pytest
import torch

from attnlab.deadtime import Process
from attnlab.smith import PI, delay_free_pi, set_point_step, simc_pi, step_marks

PROCESS = Process(noise=0.0)


@pytest.mark.parametrize("d", [0, 7, 13])
def test_right_smith_predictor_is_a_delayed_first_order_loop(d):
    process = Process(a=0.7, b=0.9, d=d)
    run = set_point_step(process, delay_free_pi(process, closed_loop_time=3.0), model=process, step=5.0, length=83)
    t = torch.arange(83).double()
    p = math.exp(-1 / 3.0)
    assert torch.allclose(run.y, 5 * (1 - p ** (t - d).clamp(min=0)), atol=1e-12)
    assert run.u[-1].item() == pytest.approx(5 / process.gain)


def test_loop_against_a_matrix_equation():
    """Without predictor: u = C(r − y), y = G u as lower-triangular Toeplitz matrices, solved together."""
    n, controller = 31, PI(gain=0.3, integral_time=5.0)
    run = set_point_step(PROCESS, controller, length=n)
    i = torch.arange(n).unsqueeze(1) - torch.arange(n)  # (n, n): t − s
    kernel = PROCESS.b * PROCESS.a ** (i - PROCESS.d - 1).clamp(min=0).double()
    plant = kernel * (i >= PROCESS.d + 1)
    pi = controller.gain * (torch.eye(n, dtype=torch.float64) + (i >= 0) / controller.integral_time)
    r = torch.ones(n, dtype=torch.float64)
    y = torch.linalg.solve(torch.eye(n, dtype=torch.float64) + plant @ pi, plant @ pi @ r)
    assert torch.allclose(run.y, y, atol=1e-12) and torch.allclose(run.u, pi @ (r - y), atol=1e-12)


def test_simc_rule_on_numbers_by_hand():
    controller = simc_pi(Process(a=math.exp(-1 / 20), b=3 * (1 - math.exp(-1 / 20)), d=4))
    assert controller.gain == pytest.approx(20 / (3 * 9)) and controller.integral_time == pytest.approx(20)
    slow = simc_pi(Process(a=math.exp(-1 / 200), b=0.01, d=4))
    assert slow.integral_time == pytest.approx(4 * 9)  # the other branch of the minimum


def marks(controller, d_hat=None):
    model = None if d_hat is None else PROCESS._replace(d=d_hat)
    return step_marks(set_point_step(PROCESS, controller, model=model, length=200).y)


def test_a_wrong_dead_time_costs():
    smith = delay_free_pi(PROCESS, closed_loop_time=3.0)
    right = marks(smith, 7)
    assert right.overshoot < 1e-9 and right.settling_time == pytest.approx(7 + math.ceil(3 * math.log(50)))
    assert all(marks(smith, d).settling_time > 1.3 * right.settling_time for d in (3, 5, 6, 8, 9, 10))
    assert marks(smith, 3).overshoot > 40 and math.isinf(marks(smith, 12).settling_time)

    pi = {d: marks(simc_pi(PROCESS._replace(d=d))) for d in (3, 7, 14)}
    assert pi[7].overshoot < 5 and 30 < pi[7].settling_time < 45
    assert pi[3].overshoot > 40 and pi[3].settling_time > 2 * pi[7].settling_time
    assert pi[14].overshoot == 0 and pi[14].settling_time > 2 * pi[7].settling_time


def test_step_marks():
    y = torch.tensor([0.0, 5.5, 4.85, 5.2, 5.05, 4.95])
    assert step_marks(y, step=5.0) == pytest.approx((10.0, 4.0))
    assert step_marks(y[:4], step=5.0) == pytest.approx((10.0, math.inf))
    assert step_marks(torch.full((3,), 2.0), step=2.0) == (0.0, 0.0)
    with pytest.raises(ValueError, match=r"\(2, 3\).*step=1"):
        step_marks(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="step=-1"):
        step_marks(y, step=-1.0)
