"""The loop around a process with dead time: a PI controller, and the Smith predictor around it."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.deadtime import SAMPLING_TIME, Process

BAND = 0.02  # around the set point, as a share of the step: what counts as settled


class PI(NamedTuple):
    """u[t] = gain (e[t] + SAMPLING_TIME/integral_time · Σ_{s≤t} e[s])."""

    gain: float  # kW/°C
    integral_time: float  # s


class Run(NamedTuple):
    """A set-point step: outputs y[0 … n−1] in °C and control signals u[0 … n−1] in kW."""

    y: Tensor
    u: Tensor


class StepMarks(NamedTuple):
    overshoot: float  # per cent of the step
    settling_time: float  # s; infinite if the record ends before


def simc_pi(model: Process) -> PI:
    """Skogestad's rule: K_c = τ / (K (τ_c + θ)), τ_I = min(τ, 4 (τ_c + θ)).

    θ is the dead time and half a sampling time for the hold. τ_c, the wanted time constant of the loop, is θ here:
    fast, and still robust.

    Source: Skogestad 2003, section 3.
    """
    theta = model.dead_time + SAMPLING_TIME / 2
    return PI(model.time_constant / (model.gain * 2 * theta), min(model.time_constant, 8 * theta))


def delay_free_pi(model: Process, *, closed_loop_time: float) -> PI:
    """The PI controller that makes the process without its dead time a first-order loop, exactly.

    Its zero cancels the pole a: K_c = a (1 − p)/b, τ_I = SAMPLING_TIME a/(1 − a), p = exp(−SAMPLING_TIME/λ). The loop
    is then (1 − p)/(z − p), with the time constant λ = closed_loop_time (s).
    """
    p = math.exp(-SAMPLING_TIME / closed_loop_time)
    return PI(model.a * (1 - p) / model.b, SAMPLING_TIME * model.a / (1 - model.a))


def set_point_step(
    process: Process, controller: PI, *, model: Process | None = None, step: float = 1.0, length: int = 120
) -> Run:
    """Close the loop at rest and step the set point r from 0 to ``step`` at t = 0. The process has no noise here.

    With a model it is a Smith predictor: the controller is fed y[t] + (ŷ₀[t] − ŷ₀[t−d̂]), where ŷ₀ is the model's
    answer without dead time. If the model is right, y and the delayed ŷ₀ cancel, and the controller works as
    if there were no dead time. Without a model it is fed y[t].

    Args:
        process: what is controlled.
        model: what the controller believes, with the dead time d̂.
        step: °C.
        length: samples.

    Source: Smith 1957.
    """
    y, u, undelayed = [0.0], [], [0.0]
    integral = 0.0
    for t in range(length):
        feedback = y[t]
        if model is not None:
            feedback += undelayed[t] - _past(undelayed, t - model.d)
        error = step - feedback
        integral += error
        u.append(controller.gain * (error + SAMPLING_TIME / controller.integral_time * integral))
        y.append(process.a * y[t] + process.b * _past(u, t - process.d))
        if model is not None:
            undelayed.append(model.a * undelayed[t] + model.b * u[t])
    return Run(torch.tensor(y[:length], dtype=torch.float64), torch.tensor(u, dtype=torch.float64))


def step_marks(y: Tensor, *, step: float = 1.0) -> StepMarks:
    """How far y shoots over the set point, and from when on it stays within ±2 % of the step around it.

    Args:
        y: (n,), °C, one value each SAMPLING_TIME, the set point stepping from 0 to ``step`` at the first.

    Raises:
        ValueError: y is not a row of numbers, or step is not positive.
    """
    if y.dim() != 1 or step <= 0:
        raise ValueError(f"step_marks: wanted y (n,) and a positive step, got y {tuple(y.shape)} and step={step}")
    outside = ((y - step).abs() > BAND * step).nonzero().flatten()
    first_inside = outside[-1].item() + 1 if len(outside) else 0
    settled = first_inside < len(y)
    return StepMarks(
        100 * max(0.0, y.max().item() / step - 1),
        first_inside * SAMPLING_TIME if settled else math.inf,
    )


def _past(signal: list[float], t: int) -> float:
    return signal[t] if t >= 0 else 0.0
