"""Checks of the page on the reverse task."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape


@check
def check_marks(answer: Callable[[Tensor, Tensor], Sequence[float]]) -> str:
    """answer(prediction, answer) must return the share of right digits and the share of faultless sequences."""
    g = torch.Generator().manual_seed(21)
    wanted_digits = torch.randint(0, 10, (7, 5), generator=g)
    prediction = wanted_digits.clone()
    # Two faults in one sequence and one in each of two others; no column is without a fault but the last.
    for row, column in ((0, 0), (0, 1), (2, 2), (6, 3)):
        prediction[row, column] = (prediction[row, column] + 1) % 10
    result = answer(prediction, wanted_digits)
    try:
        token, sequence = (float(share) for share in result)
    except (TypeError, ValueError, RuntimeError):
        raise Wrong("要傳回兩個數：每個數字的正確率，以及整串全對的比例。") from None
    right = prediction == wanted_digits
    right_token, right_sequence = 31 / 35, 4 / 7

    def same(a: float, b: float) -> bool:
        return math.isclose(a, b, abs_tol=1e-6)

    if same(token, right_token) and same(sequence, right_sequence):
        return "兩種正確率都對。"
    if same(token, right_sequence) and same(sequence, right_token):
        raise Wrong("兩個數的順序反了：先是每個數字，再是整串。")
    if same(token, 31) or same(sequence, 4):
        raise Wrong("傳回的是個數，要的是比例：除以總數（或用 .mean()）。")
    if not same(token, right_token):
        raise Wrong(f"每個數字的正確率不對：35 個數字對了 31 個，應該是 {right_token:.3f}，得到 {token:.3f}。")
    for wrong, hint in (
        (right.all(dim=0).double().mean().item(), "整串全對的軸錯了：要沿著序列（最後一個軸）檢查，不是沿著批次。"),
        (float(right.all()), "整批一起檢查了：要每一串各自檢查，再算比例。"),
        (right.any(dim=-1).double().mean().item(), "用了 any：只要有一個對就算對。整串全對要用 all。"),
        (right_token**5, "把每個數字的正確率連乘了：那只有在錯誤互相獨立時才成立，這裡要真的去數。"),
        (right_token, "兩個數相同：第二個要先看每一串是不是全對，再平均。"),
    ):
        if same(sequence, wrong):
            raise Wrong(hint)
    raise Wrong(f"整串全對的比例不對：7 串裡有 4 串全對，應該是 {right_sequence:.3f}，得到 {sequence:.3f}。")


@check
def check_reflection_pair(answer: Callable[[float, int], Tensor]) -> str:
    """answer(omega, length) must map (sin pω, cos pω) to (sin (L−1−p)ω, cos (L−1−p)ω)."""
    for omega, length in ((1.0, 10), (0.3, 7), (0.05, 23)):
        matrix = tensor_of_shape(answer(omega, length), (2, 2), "反射矩陣").double()
        p = torch.arange(length, dtype=torch.float64)

        def clock(positions: Tensor, omega: float = omega) -> Tensor:
            return torch.stack(((positions * omega).sin(), (positions * omega).cos()))  # (2, n)

        for target, hint in (
            (clock(length - 1 - p), None),
            (clock(length - p), "矩陣裡用了 L，位置從 0 數起，最後一個位置是 L − 1。"),
            (clock(p + length - 1), "這是旋轉，把 p 變成 p + (L − 1)；要的是 (L − 1) − p，p 前面有負號。"),
            (clock(p - length + 1), "這是反方向的旋轉，把 p 變成 p − (L − 1)；正負號再檢查一次。"),
            (clock(-p), "這只把 p 變成 −p，還沒有加上 L − 1。"),
            (clock(length - 1 - p).flip(0), "sin 和 cos 的順序反了：第一列算 sin，第二列算 cos。"),
            (-clock(length - 1 - p), "整個矩陣差一個負號。"),
        ):
            if close(matrix @ clock(p), target, 1e-4):
                if hint is not None:
                    raise Wrong(hint)
                break
        else:
            raise Wrong(f"ω = {omega}、L = {length} 時不對。把和角公式寫開，係數逐一對照。")
    return "每個位置都翻到了 L − 1 − p，行列式是 −1。"
