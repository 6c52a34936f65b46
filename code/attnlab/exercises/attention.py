"""Checks of the page on scaled dot-product attention."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.attention import causal_mask
from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape

# Prime sizes, all different: an answer that mixes up two axes cannot have the right shape by accident.
N, M, D_K, D_V = 5, 7, 3, 2


def _inputs() -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(20)
    return tuple(2 * torch.randn(*shape, generator=g) for shape in ((N, D_K), (M, D_K), (M, D_V)))


@check
def check_attention(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> str:
    """answer(q, k, v) must return softmax(q kᵀ/√d_k) v, softmax over the keys."""
    q, k, v = _inputs()
    out = tensor_of_shape(answer(q, k, v), (N, D_V), "輸出")
    if close(out, F.scaled_dot_product_attention(q, k, v)):
        return "和 PyTorch 的 F.scaled_dot_product_attention 相同。"
    scores = q @ k.T
    for wrong, hint in (
        (scores.softmax(-1) @ v, "分數沒有除以 √d_k。"),
        ((scores / D_K).softmax(-1) @ v, "分數除以了 d_k，應該除以 √d_k。"),
        ((scores * D_K**0.5).softmax(-1) @ v, "分數乘上了 √d_k，應該除以它。"),
        ((scores / D_K**0.5).softmax(0) @ v, "softmax 的軸錯了：每一個查詢（列）的權重加起來要等於 1，軸是最後一個。"),
        ((scores / M**0.5).softmax(-1) @ v, "除以的是鍵的個數的平方根，應該是鍵的維度 d_k 的平方根。"),
        (scores / D_K**0.5 @ v, "少了 softmax：分數還不是權重。"),
    ):
        if close(out, wrong):
            raise Wrong(hint)
    raise Wrong("形狀對了，數字不對。把分數、權重、輸出三步分開印出來，和手算的例子比對。")


@check
def check_window_mask(answer: Callable[[int, int], Tensor]) -> str:
    """answer(n, width) must be the Boolean mask of a causal window: i may look at i−width+1 … i."""
    n, width = 7, 3
    mask = tensor_of_shape(answer(n, width), (n, n), "遮罩")
    if mask.dtype != torch.bool:
        raise Wrong(f"遮罩要用布林值（True＝可以看），得到的型別是 {mask.dtype}。")
    i, j = torch.arange(n).unsqueeze(1), torch.arange(n)
    wanted = (j <= i) & (j > i - width)
    if torch.equal(mask, ~wanted):
        raise Wrong("極性相反：這裡 True 是「可以看」，你的 True 是「不能看」。")
    if torch.equal(mask, wanted.T):
        raise Wrong("列和行對調了：列 i 是查詢，行 j 是被看的位置，現在看到的是未來。")
    if torch.equal(mask, causal_mask(n)):
        raise Wrong("因果沒錯，但沒有限制視窗：太久以前的位置也看得到。")
    if torch.equal(mask, (j <= i) & (j >= i - width)):
        raise Wrong(f"視窗多了一格：寬度 {width} 包含自己，最遠看到 i − {width - 1}。")
    if not torch.equal(mask, wanted):
        raise Wrong("有些格子不對。先畫出 n = 4、width = 2 的表，逐格比對。")
    for n, width in ((1, 1), (5, 1), (5, 11)):
        i, j = torch.arange(n).unsqueeze(1), torch.arange(n)
        if not torch.equal(answer(n, width), (j <= i) & (j > i - width)):
            raise Wrong(f"n = {n}、width = {width} 時不對。")
    return "每個位置只看得到自己與前面幾個位置，視窗寬度也對。"
