"""The checks of the page on control accept right answers and name the typical wrong ones."""

import math

import pytest
import torch

from attnlab.arx import arx_least_squares
from attnlab.deadtime import lag_profile
from attnlab.exercises.control import check_arx, check_lag_profile, check_settling_time
from attnlab.smith import step_marks


def stub(*_):
    raise NotImplementedError


def profile(weights, lags):
    return torch.stack([weights.diagonal(-k)[lags - 1 - k :].mean() for k in range(lags)])


def test_lag_profile_accepts_right_answers():
    assert check_lag_profile(profile)
    assert check_lag_profile(lag_profile)
    assert check_lag_profile(lambda weights, lags: profile(weights.double(), lags))


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (lambda w, lags: profile(w, lags).flip(0), "順序反了"),
    (lambda w, lags: profile(w, lags) * (len(w) - lags + 1), "沒有平均"),
    (lambda w, lags: torch.stack([w.diagonal(-k).mean() for k in range(lags)]), "列數不同"),
    (lambda w, lags: w[lags - 1 :].mean(0)[:lags], "對行平均"),
    (lambda w, lags: torch.stack([w.roll(k, dims=-1).diagonal().mean() for k in range(lags)]), "負索引"),
    (lambda w, lags: profile(w.T, lags), "對調"),
    (lambda w, lags: torch.stack([w.diagonal(k)[: len(w) - lags + 1].mean() for k in range(lags)]), "對調"),
    (lambda w, lags: profile(w, lags) ** 2, "數字不對"),
    (lambda w, lags: profile(w, lags + 1), "形狀"),
    (lambda w, lags: profile(w, lags).tolist(), "張量"),
])  # fmt: skip
def test_lag_profile_rejects(answer, hint):
    verdict = check_lag_profile(answer)
    assert not verdict and hint in verdict.message


def arx(u, y, lags, *, shift=0, past=1, rows=None):
    """Least squares with the input shifted and the output's regressor y[t + 1 − past]."""
    rows = range(lags, len(u) - 1) if rows is None else rows
    phi = torch.stack([torch.cat((y[t + 1 - past].reshape(1), u[t + shift - torch.arange(lags)])) for t in rows])
    theta = torch.linalg.lstsq(phi, torch.stack([y[t + 1] for t in rows]).unsqueeze(1)).solution.flatten()
    return theta[0], theta[1:]


def without_output(u, y, lags):
    phi = torch.stack([u[t - torch.arange(lags)] for t in range(lags, len(u))])
    theta = torch.linalg.lstsq(phi, torch.stack([y[t + 1] for t in range(lags, len(u))]).unsqueeze(1)).solution
    return 0.0, theta.flatten()


def test_arx_accepts_right_answers():
    assert check_arx(arx)
    assert check_arx(lambda u, y, lags: arx(u, y, lags, rows=range(lags - 1, len(u))))

    def library(u, y, lags):
        fit = arx_least_squares(u.unsqueeze(0), y.unsqueeze(0), lags=lags)
        return fit.a.item(), fit.b.float()

    assert check_arx(library)


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (lambda u, y, lags: (arx(u, y, lags)[0], arx(u, y, lags)[1].flip(0)), "順序反了"),
    (lambda u, y, lags: (arx(u, y, lags)[0], arx(u, y, lags)[1].roll(1)), "差了一個取樣"),
    (lambda u, y, lags: (arx(u, y, lags)[0], arx(u, y, lags)[1].roll(-1)), "差了一個取樣"),
    (without_output, "上一個輸出"),
    (lambda u, y, lags: arx(u, y, lags, past=0), "混進了"),
    (lambda u, y, lags: arx(u, y, lags, past=2), "係數不對"),
    (lambda u, y, lags: arx(u, y, lags, shift=1), "不對|差了"),
    (lambda u, y, lags: arx(u, y, lags + 1), "形狀"),
    (lambda u, y, lags: torch.cat((arx(u, y, lags)[0].reshape(1), arx(u, y, lags)[1])), "兩樣"),
    (lambda u, y, lags: u @ y, "出錯"),
])  # fmt: skip
def test_arx_rejects(answer, hint):
    verdict = check_arx(answer)
    assert not verdict and any(words in verdict.message for words in hint.split("|")), verdict.message


def settling(y, step, sampling_time):
    outside = ((y - step).abs() > 0.02 * step).nonzero().flatten()
    first = outside[-1].item() + 1 if len(outside) else 0
    return first * sampling_time if first < len(y) else math.inf


def first_inside(y, step, sampling_time):
    return ((y - step).abs() <= 0.02 * step).nonzero()[0].item() * sampling_time


def last_outside(y, wide):
    return wide.nonzero()[-1].item()


def test_settling_time_accepts_right_answers():
    assert check_settling_time(settling)
    assert check_settling_time(lambda y, step, ts: step_marks(y, step=step).settling_time * ts)


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (first_inside, "第一次進入"),
    (lambda y, step, ts: settling(y, step, 1), "取樣數"),
    (lambda y, step, ts: settling(y, step, ts) - ts, "下一個取樣"),
    (lambda y, step, ts: ts * (1 + last_outside(y, (y - step).abs() > 0.02)), "0.02 × step"),
    (lambda y, step, ts: ts * (1 + last_outside(y, y > 1.02 * step)), "絕對值"),
    (lambda y, step, ts: 100 * (y.max() / step - 1), "過衝"),
    (lambda y, step, ts: ts * (1 + last_outside(y, (y - step).abs() > 0.02 * step)), "還沒安定"),
    (lambda y, step, ts: settling(y, step, ts) if len(y) > 4 else 1 / 0, "出錯"),
    (lambda y, step, ts: settling(y, step, ts) if y[0] != step else math.inf, "安定時間是 0"),
    (lambda y, step, ts: 42.0, "應該是 3.5 秒"),
])  # fmt: skip
def test_settling_time_rejects(answer, hint):
    verdict = check_settling_time(answer)
    assert not verdict and hint in verdict.message, verdict.message
