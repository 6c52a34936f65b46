"""Checks of the page on control."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape


@check
def check_lag_profile(answer: Callable[[Tensor, int], Tensor]) -> str:
    """answer(weights, lags) must average weights[t, t−k] over the rows t ≥ lags−1, for k = 0 … lags−1."""
    n, lags = 11, 5
    weights = torch.rand(n, n, generator=torch.Generator().manual_seed(20)).tril()
    profile = tensor_of_shape(answer(weights, lags), (lags,), "輪廓")

    def mean_at(k: int, first: int, matrix: Tensor = weights) -> Tensor:
        return torch.stack([matrix[t, t - k] for t in range(first, n)]).mean()

    wanted = torch.stack([mean_at(k, lags - 1) for k in range(lags)])
    if close(profile, wanted):
        return "每個延遲的平均權重都對，而且每個延遲用的是同樣的那幾列。"
    rows = n - lags + 1
    for wrong, hint in (
        (wanted.flip(0), "順序反了：第 0 個要是延遲 0（看自己），最後一個是延遲 lags − 1。"),
        (wanted * rows, "只加總，沒有平均：要除以列數。"),
        (
            torch.stack([mean_at(k, k) for k in range(lags)]),
            "每個延遲用的列數不同；題目要的都是 t ≥ lags − 1 的那些列。",
        ),
        (
            weights[lags - 1 :].mean(0)[:lags],
            "這是對行平均：第 j 個位置被看多少。延遲 k 的權重在 weights[t, t − k]，是一條斜線。",
        ),
        (
            torch.stack([torch.stack([weights[t, t - k] for t in range(n)]).mean() for k in range(lags)]),
            "t < k 的列沒有 t − k，Python 的負索引會從右邊繞回來。",
        ),
    ):
        if close(profile, wrong):
            raise Wrong(hint)
    transposed = torch.stack([mean_at(k, lags - 1, weights.T) for k in range(lags)])
    if close(profile, transposed) or bool((profile[1:].abs() < 1e-9).all()):
        raise Wrong("列和行對調了：列 t 是查詢，要看的是 weights[t, t − k]，不是 weights[t − k, t]。")
    raise Wrong("形狀對了，數字不對。先只算 k = 0：第 lags − 1 列以後的對角線平均。")


@check
def check_arx(answer: Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]) -> str:
    """answer(u, y, lags) must return (a, b) of y[t+1] = a y[t] + Σ b[k] u[t−k], by least squares."""
    a, b = 0.7, torch.tensor([0.1, -0.2, 0.6, 0.3], dtype=torch.float64)
    lags = len(b)
    u = torch.randn(37, generator=torch.Generator().manual_seed(21), dtype=torch.float64)
    y = [torch.zeros((), dtype=torch.float64)]
    for t in range(len(u)):
        past = sum(b[k] * u[t - k] for k in range(lags) if t >= k)
        y.append(a * y[-1] + past)
    y = torch.stack(y)

    result = answer(u, y, lags)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise Wrong("要傳回兩樣東西：a（一個數）與 b（每個延遲一個係數）。")
    own_a, own_b = float(result[0]), tensor_of_shape(torch.as_tensor(result[1]), (lags,), "b").double()
    if abs(own_a - a) < 1e-4 and close(own_b, b, 1e-4):
        return "沒有雜訊的紀錄，係數一個不差地找回來了。"
    if close(own_b, b.flip(0), 1e-3):
        raise Wrong("b 的順序反了：b[0] 是 u[t] 的係數，b[lags − 1] 是最久以前的。")
    if close(own_b[1:], b[:-1], 0.02) or close(own_b[:-1], b[1:], 0.02):
        raise Wrong("延遲差了一個取樣：y[t+1] 的那一列，b[0] 要配 u[t]。檢查 y 和 u 的起點有沒有對齊。")
    if abs(own_a) < 1e-9:
        raise Wrong("a 是 0：迴歸量裡要有上一個輸出 y[t]。")
    if abs(own_a - 1) < 1e-6 and own_b.abs().max() < 1e-6:
        raise Wrong("迴歸量裡混進了要預測的 y[t+1] 自己。迴歸量只能用到時刻 t。")
    raise Wrong(f"係數不對：這筆紀錄沒有雜訊，a 應該剛好是 {a}，得到 {own_a:.3f}。先用兩三列手寫看看矩陣排得對不對。")


@check
def check_settling_time(answer: Callable[[Tensor, float, float], float]) -> str:
    """answer(y, step, sampling_time) must be the time (s) from which y stays within ±2 % of the step, or inf."""
    step, sampling_time = 5.0, 0.5
    y = torch.tensor([0.0, 2.0, 4.95, 5.6, 5.05, 4.8, 4.85, 4.95, 5.02, 5.0, 5.0])
    last_outside = 6
    value = float(answer(y, step, sampling_time))
    if math.isclose(value, (last_outside + 1) * sampling_time, abs_tol=1e-9):
        restless = torch.tensor([0.0, 5.0, 5.0, 5.3])
        try:
            never = float(answer(restless, step, sampling_time))
        except Exception:
            raise Wrong("輸出最後還在誤差帶外面時，程式出錯了；這時要傳回 math.inf。") from None
        if not math.isinf(never):
            raise Wrong(f"輸出最後還在誤差帶外面，就還沒安定：要傳回 math.inf，得到 {never:g}。")
        if not math.isclose(float(answer(torch.full((4,), step), step, sampling_time)), 0.0):
            raise Wrong("輸出從頭到尾都在誤差帶裡時，安定時間是 0。")
        return "安定之後就不再跑出誤差帶；沒有安定的也認得出來。"
    for wrong, hint in (
        (2 * sampling_time, "這是第一次進入誤差帶的時刻。後來又跑出去了，要的是「之後都在裡面」的時刻。"),
        (last_outside + 1, "單位是取樣數，要的是秒：乘上取樣時間。"),
        (last_outside * sampling_time, "這是最後一個在外面的取樣；安定是從下一個取樣開始。"),
        (8 * sampling_time, "誤差帶用了 ±0.02，要的是步階的 ±2 %：0.02 × step。"),
        (4 * sampling_time, "只檢查了過衝那一側。低於設定值太多也算在外面，要取絕對值。"),
        (12.0, "這是過衝（%），不是安定時間。"),
    ):
        if math.isclose(value, wrong, abs_tol=1e-6):
            raise Wrong(hint)
    raise Wrong(f"應該是 {(last_outside + 1) * sampling_time:g} 秒，得到 {value:g}。先找出最後一個在誤差帶外面的取樣。")
