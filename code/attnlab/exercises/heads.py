"""Checks of the page on several heads."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.attention import join_heads, scaled_dot_product_attention, split_heads
from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape
from attnlab.heads import one_head_bound

# Prime sizes, all different: an answer that mixes up two axes cannot have the right shape by accident.
B, N, HEADS, D_K = 2, 5, 3, 7
D = HEADS * D_K


@check
def check_split_heads(answer: Callable[[Tensor, int], Tensor]) -> str:
    """answer(x, num_heads) must cut x (B, n, D) into (B, h, n, d_k), head i holding columns i d_k … (i+1) d_k − 1."""
    x = torch.arange(B * N * D, dtype=torch.float32).reshape(B, N, D)
    out = answer(x, HEADS)
    if isinstance(out, Tensor) and out.shape == (B, N, HEADS, D_K):
        raise Wrong("還差一步：頭的軸要移到位置的前面，形狀是 (B, h, n, d_k)。")
    if isinstance(out, Tensor) and out.shape == (B, HEADS, D_K, N):
        raise Wrong("最後兩個軸對調了：每個頭裡，一列是一個位置，形狀是 (B, h, n, d_k)。")
    out = tensor_of_shape(out, (B, HEADS, N, D_K), "輸出")
    if torch.equal(out, split_heads(x, HEADS)):
        if not torch.equal(answer(x, D_K), torch.stack(x.chunk(D_K, dim=-1), dim=1)):
            raise Wrong(f"D = {D} 切成 {HEADS} 個頭時對，切成 {D_K} 個頭時不對：有沒有把頭數或 d_k 寫死？")
        return "每個頭拿到所有位置的同一段分量。"
    for wrong, hint in (
        (
            x.reshape(B, HEADS, N, D_K),
            "形狀對了，內容打散了：直接 view 成 (B, h, n, d_k) 會把不同位置的數字混在一起。先 view 成 (B, n, h, d_k)。",
        ),
        (
            x.unflatten(-1, (D_K, HEADS)).permute(0, 3, 1, 2),
            "每個頭拿到的是間隔取出的分量（0, h, 2h, …），應該是連續的一段。",
        ),
        (split_heads(x, HEADS).flip(1), "頭的順序反了：第 0 個頭要拿最前面的 d_k 個分量。"),
        (x.unflatten(-1, (HEADS, D_K))[:, :, :1].transpose(1, 2).expand(-1, HEADS, -1, -1), "每個頭都拿到同一段分量。"),
    ):
        if torch.equal(out, wrong):
            raise Wrong(hint)
    raise Wrong("形狀對了，內容不對。用 torch.arange 做一個小例子，印出每個頭來看。")


def _inputs() -> tuple[Tensor, ...]:
    g = torch.Generator().manual_seed(30)
    x = torch.randn(N, D, generator=g)
    return x, *(2 * torch.randn(D, D, generator=g) / math.sqrt(D) for _ in range(4))


@check
def check_multi_head(answer: Callable[..., Tensor]) -> str:
    """answer(x, W_Q, W_K, W_V, W_O, num_heads) must be [head₁, …, head_h] W_O, without biases; x (n, D)."""
    x, w_q, w_k, w_v, w_o = inputs = _inputs()
    out = tensor_of_shape(answer(*inputs, HEADS), (N, D), "輸出")
    q, k, v = whole = x @ w_q, x @ w_k, x @ w_v
    cut = [split_heads(z, HEADS) for z in whole]  # (h, n, d_k) each
    heads, weights = scaled_dot_product_attention(*cut)  # (h, n, d_k), (h, n, n)
    joined = join_heads(heads)  # (n, D)
    if close(out, joined @ w_o, 1e-5):
        one_head, _ = scaled_dot_product_attention(q, k, v)
        if not close(answer(*inputs, 1), one_head @ w_o, 1e-5):
            raise Wrong(f"h = {HEADS} 時對，h = 1 時不對：有沒有把頭數或 d_k 寫死？")
        return "和公式相同：各頭各自注意，接起來，再乘 W_O。"

    def with_scale(scale: float) -> Tensor:
        return join_heads(scaled_dot_product_attention(*cut, scale=scale)[0]) @ w_o

    scrambled, _ = scaled_dot_product_attention(*(z.reshape(HEADS, N, D_K) for z in whole))
    for wrong, hint in (
        (joined, "各頭接起來之後，還要乘上 W_O。"),
        (with_scale(1 / math.sqrt(D)), "縮放用了 √D。每個頭的查詢和鍵只有 d_k = D/h 維，要除以 √d_k。"),
        (with_scale(1.0), "分數沒有除以 √d_k。"),
        (scaled_dot_product_attention(q, k, v)[0] @ w_o, "沒有切成多個頭：這是一個 D 維的頭。"),
        (heads.flatten(0, 1).reshape(N, D) @ w_o, "接回去時少了 transpose：要先回到 (n, h, d_k)，再併成 (n, D)。"),
        (scrambled.reshape(N, D) @ w_o, "切頭時直接 view 成 (h, n, d_k)，不同位置的數字混在一起了。"),
        (join_heads(scrambled) @ w_o, "切頭時直接 view 成 (h, n, d_k)，不同位置的數字混在一起了。"),
        ((weights.mean(0) @ v) @ w_o, "先把各頭的權重平均了：每個頭要用自己的權重。"),
        (join_heads(heads.flip(0)) @ w_o, "各頭接起來的順序反了。"),
        (joined @ w_o.T, "W_O 轉置了：這裡向量是列，寫成 [head₁, …, head_h] W_O。"),
    ):
        if close(out, wrong, 1e-5):
            raise Wrong(hint)
    raise Wrong("形狀對了，數字不對。先令 h = 1，和單頭的注意力比對；再令 h = 2，一個頭一個頭比。")


@check
def check_one_head_bound(answer: Callable[[tuple[float, ...]], float]) -> str:
    """answer(taps) must be the least mean square error of one position-only head: min(Σ positive², Σ negative²)."""
    filters = ((2.0, -1.0, -1.5, 0.5), (1.0, -1.0), (1.0, -2.0, 1.0), (0.5, 0.5), (-3.0, 0.0, 1.0))
    given = [float(answer(taps)) for taps in filters]

    def explained_by(formula: Callable[[tuple[float, ...]], float]) -> bool:
        return all(abs(value - formula(taps)) < 1e-6 for value, taps in zip(given, filters, strict=True))

    def squares(taps: tuple[float, ...], sign: int) -> float:
        return sum(w * w for w in taps if sign * w > 0)

    if explained_by(one_head_bound):
        return "增益的符號只能選一邊，另一邊的平方和就是下限。"
    for formula, hint in (
        (lambda taps: max(squares(taps, 1), squares(taps, -1)), "取到比較大的那一邊了：兩種符號裡，要取誤差小的。"),
        (lambda taps: sum(w * w for w in taps), "這是什麼都不輸出的誤差。一個頭至少救得了一種符號的係數。"),
        (lambda taps: math.sqrt(one_head_bound(taps)), "開了根號：均方誤差是平方和，不開根號。"),
        (
            lambda taps: min(sum(w for w in taps if w > 0), sum(-w for w in taps if w < 0)),
            "加的是絕對值：白雜訊的均方誤差是係數的平方和。",
        ),
        (lambda taps: squares(taps, -1), "只算了增益為正的情形。增益也可以是負的，兩種裡取小的。"),
        (lambda taps: squares(taps, 1), "只算了增益為負的情形。增益也可以是正的，兩種裡取小的。"),
    ):
        if explained_by(formula):
            raise Wrong(hint)
    taps, value = next((t, v) for t, v in zip(filters, given, strict=True) if abs(v - one_head_bound(t)) >= 1e-6)
    raise Wrong(f"係數是 {taps} 時，你的答案是 {value:g}。分開想：增益為正時救不了哪些係數？為負時呢？")
