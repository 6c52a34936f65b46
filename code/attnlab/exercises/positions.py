"""Checks of the page on positional encoding."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape
from attnlab.positions import frequencies, rotation, sinusoidal_encoding

N, D = 7, 10  # d must be even: twice a prime


def encoding_with(sin_frequency: Tensor, cos_frequency: Tensor, n: int = N) -> Tensor:
    """An encoding whose sines and cosines may disagree on the frequencies: (n, d) float64."""
    p = torch.arange(n, dtype=torch.float64).unsqueeze(-1)
    return torch.stack(((p * sin_frequency).sin(), (p * cos_frequency).cos()), dim=-1).flatten(-2)


@check
def check_encoding(answer: Callable[[int, int], Tensor]) -> str:
    """answer(n, d) must be PE(p, 2i) = sin(p ω_i), PE(p, 2i+1) = cos(p ω_i) for p = 0 … n−1."""
    pe = tensor_of_shape(answer(N, D), (N, D), "位置編碼")
    right = sinusoidal_encoding(N, D, dtype=torch.float64)
    if not close(pe, right, 1e-5):
        i, omega = torch.arange(D // 2, dtype=torch.float64), frequencies(D)
        for wrong, hint in (
            (
                torch.cat((right[:, 0::2], right[:, 1::2]), -1),
                "數字都對，排列不對：你把正弦全放左半、餘弦全放右半；公式是正弦、餘弦一欄隔一欄。",
            ),
            (right.unflatten(-1, (-1, 2)).flip(-1).flatten(-2), "正弦和餘弦對調了：偶數維是正弦，奇數維是餘弦。"),
            (
                encoding_with(omega, 10000.0 ** (-2 * (i + 1) / D)),
                "餘弦用了下一對的頻率。同一對的正弦與餘弦要用同一個 ω：看一看每一列的平方和是不是 d/2。",
            ),
            (
                encoding_with(omega, 10000.0 ** (-(2 * i + 1) / D)),
                "餘弦的指數用了 2i+1。維度編號是 2i+1，頻率仍是 2i/d：同一對共用一個 ω。",
            ),
            (
                encoding_with(10000.0 ** (-i / D), 10000.0 ** (-i / D)),
                "指數少了 2：ω = 10000^(−2i/d)，i 編號的是維度對。",
            ),
            (encoding_with(1 / omega, 1 / omega), "頻率倒過來了：p 是除以 10000^(2i/d)，不是乘。"),
            (sinusoidal_encoding(torch.arange(1, N + 1), D), "位置要從 0 開始數，你的第一列是 PE(1)。"),
            (
                (torch.arange(N).unsqueeze(-1) * omega.repeat_interleave(2)).sin(),
                "每一維都是正弦。奇數維要用餘弦，否則旋轉性質不成立。",
            ),
        ):
            if close(pe, wrong, 0.01):  # loose: wrong frequencies may be so high that float32 blurs the angle
                raise Wrong(hint)
        raise Wrong("形狀對了，數字不對。先印出 d = 4 的 PE(0) 與 PE(1)，和習題 1 手算的結果比對。")
    for n, d in ((1, 2), (13, 6)):
        if not close(answer(n, d), sinusoidal_encoding(n, d, dtype=torch.float64), 1e-5):
            raise Wrong(f"n = {N}、d = {D} 時對，n = {n}、d = {d} 時不對：有沒有把長度或寬度寫死？")
    return "每一個數都和公式相同。"


@check
def check_norm_test(answer: Callable[[Tensor], bool]) -> str:
    """answer(pe) must say whether every row of pe (n, d) has squared length d/2."""
    for n, d, dtype in ((7, 10, torch.float64), (48, 32, torch.float32), (300, 64, torch.float32)):
        if not answer(sinusoidal_encoding(n, d, dtype=dtype)):
            raise Wrong(
                f"把正確的編碼（n = {n}、d = {d}、{dtype}）判成錯的。"
                "平方和應該是 d/2，而且浮點數要留一點誤差，不能用 == 比。"
            )
    i, omega = torch.arange(D // 2, dtype=torch.float64), frequencies(D)
    for pe, story in (
        (encoding_with(omega, 10000.0 ** (-2 * (i + 1) / D)), "餘弦用了下一對頻率的編碼"),
        (encoding_with(omega, 10000.0 ** (-(2 * i + 1) / D)), "餘弦的指數是 2i+1 的編碼"),
        ((torch.arange(N).unsqueeze(-1) * omega.repeat_interleave(2)).sin(), "每一維都是正弦的編碼"),
    ):
        if answer(pe):
            raise Wrong(
                f"{story}沒有被抓到。第 0 列永遠是 (0, 1, 0, 1, …)，什麼也看不出來；要每一列都檢查，不能只看平均。"
            )
    uneven = sinusoidal_encoding(N, D, dtype=torch.float64)
    uneven[1] *= 0.9**0.5
    uneven[-1] *= 1.1**0.5  # the mean over the rows stays d/2
    if answer(uneven):
        raise Wrong(
            "第 1 列短了 5%、最後一列長了 5% 的編碼沒有被抓到：每一列都要檢查，不能只看平均，容許誤差也不能太大。"
        )
    return "對的都放行，頻率不成對的都抓到了。"


@check
def check_rotation(answer: Callable[[int, int], Tensor]) -> str:
    """answer(k, d) must be the matrix M_k with M_k PE(p) = PE(p + k) for every p."""
    k = 3
    matrix = tensor_of_shape(answer(k, D), (D, D), "矩陣").double()
    right = rotation(k, D)
    if not close(matrix, right, 1e-5):
        order = torch.cat((torch.arange(0, D, 2), torch.arange(1, D, 2)))
        for wrong, hint in (
            (right.T, "轉的方向反了：這是 M₋ₖ，會把 PE(p) 帶到 PE(p − k)。右上角是 +sin，左下角是 −sin。"),
            (
                right[order][:, order],
                "每一塊都對，但排列是「正弦全在前、餘弦全在後」；這裡的向量是正弦、餘弦交錯，要排成 2×2 的方塊。",
            ),
            (rotation(1, D), "這是 M₁，沒有用到 k：角度是 kω。"),
            (rotation(k / 2, D), "角度只有一半：第 i 對的角度是 k·ωᵢ。"),
            (torch.eye(D), "這是單位矩陣，只有 k = 0 時才對。"),
        ):
            if close(matrix, wrong, 1e-5):
                raise Wrong(hint)
        raise Wrong("M_k PE(p) 不等於 PE(p + k)。先寫對 d = 2 的那一塊，再把各塊排到對角線上。")
    for k, d in ((-1, 6), (0, 2), (5, 14)):
        if not close(answer(k, d), rotation(k, d), 1e-5):
            raise Wrong(f"k = 3、d = {D} 時對，k = {k}、d = {d} 時不對：有沒有把 k 或 d 寫死？")
    return "對每一個 p，M_k PE(p) 都等於 PE(p + k)。"


@check
def check_look_ahead(answer: Callable[[int, float, int], Tensor]) -> str:
    """answer(k, beta, d) must be W_Q such that, with W_K = I, position i looks at i + k with gain beta."""
    n, k, beta, d = 23, 2, 40.0, 26
    w = tensor_of_shape(answer(k, beta, d), (d, d), "W_Q").double()
    pe = sinusoidal_encoding(n, d, dtype=torch.float64)
    scores = pe @ w.T @ pe.T
    right = beta * pe @ rotation(k, d).T @ pe.T
    if not close(scores, right, 1e-3):
        ahead = scores[: n - k].argmax(-1) - torch.arange(n - k)
        behind = scores[k:].argmax(-1) - torch.arange(k, n)
        if (behind == -k).all():
            raise Wrong(f"方向反了：查詢 i 看到的是 i − {k}。要往後看 k 個位置，查詢要長得像 PE(i + k)。")
        if (ahead == 0).all():
            raise Wrong("每個位置都在看自己：W_Q 裡沒有旋轉。")
        if (ahead == k).all():
            raise Wrong("看的位置對了，增益不對：整個旋轉矩陣要乘上 beta。1/√d 由注意力函式處理，這裡不用管。")
        raise Wrong(f"分數最大的位置不是 i + {k}。查詢是 W_Q PE(i)，想一想它要等於什麼。")
    if not close(answer(-5, 3.0, 6), 3.0 * rotation(-5, 6), 1e-4):
        raise Wrong("k = 2 時對，k = −5、beta = 3、d = 6 時不對：有沒有把數字寫死？")
    return "分數最大的都是 i + k，增益也對。"
