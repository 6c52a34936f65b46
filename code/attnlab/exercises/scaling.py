"""Checks of the page on the study of the variance."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape
from attnlab.scaling import score_variance, softmax_jacobian


@check
def check_jacobian(answer: Callable[[Tensor], Tensor]) -> str:
    """answer(weights) must return ∂αᵢ/∂sⱼ, (m, m), of a softmax whose output is weights, (m,)."""
    scores = 2 * torch.randn(7, generator=torch.Generator().manual_seed(21), dtype=torch.float64)
    weights = scores.softmax(-1)
    jacobian = tensor_of_shape(answer(weights), (7, 7), "Jacobian 矩陣")
    if close(jacobian, softmax_jacobian(weights)):
        return "和自動微分的結果相同，而且每一列加起來是 0。"
    outer = torch.outer(weights, weights)
    again = weights.softmax(-1)
    for wrong, hint in (
        (torch.diag(weights), "只有對角線：少了 −αᵢαⱼ。別人的分數上升，你的權重會下降。"),
        (torch.diag(weights * (1 - weights)), "對角線對了，但 i ≠ j 的格子不是 0，是 −αᵢαⱼ。"),
        (outer - torch.diag(weights), "正負號反了：自己的分數上升，自己的權重應該上升。"),
        (torch.diag(weights) + outer, "α αᵀ 的正負號錯了：每一列加起來應該是 0。"),
        (-outer, "少了對角線上的 αᵢ。"),
        (torch.diag(again) - torch.outer(again, again), "多做了一次 softmax：給你的已經是權重，不是分數。"),
    ):
        if close(jacobian, wrong):
            raise Wrong(hint)
    sums = jacobian.sum(-1).abs().max().item()
    if sums > 1e-6:
        raise Wrong(f"每一列加起來應該是 0（權重的總和不會變），你的最大是 {sums:.2g}。")
    raise Wrong("形狀對了，數字不對。從 αᵢ = exp(sᵢ)/Σ exp(sₗ) 分 i = j 與 i ≠ j 兩種情形微分。")


@check
def check_head_scores(answer: Callable[[Tensor, Tensor, int], Tensor]) -> str:
    """answer(q, k, num_heads) must return each head's scaled scores (h, n, m) from q (n, h d_k) and k (m, h d_k)."""
    n, m, heads, d_k = 5, 7, 3, 2
    g = torch.Generator().manual_seed(22)
    q, k = torch.randn(n, heads * d_k, generator=g), torch.randn(m, heads * d_k, generator=g)
    scores = tensor_of_shape(answer(q, k, heads), (heads, n, m), "分數")
    products = torch.stack([a @ b.T for a, b in zip(q.split(d_k, -1), k.split(d_k, -1), strict=True)])
    if close(scores, products / d_k**0.5):
        return "每個頭除以自己的 √d_k；分數的變異數和頭數無關。"
    for wrong, hint in (
        (products, "分數沒有縮放：還要除以 √d_k。"),
        (products / (heads * d_k) ** 0.5, "除以了 √d_model。每個頭的內積只加了 d_k 項，所以除以 √d_k。"),
        (products / d_k, "除以了 d_k，應該除以 √d_k。"),
        (products / heads**0.5, "除以了 √h。要除的是每個頭的維度 d_k 的平方根，不是頭數。"),
        (products * d_k**0.5, "乘上了 √d_k，應該除以它。"),
    ):
        if close(scores, wrong):
            raise Wrong(hint)
    scrambled = q.reshape(heads, n, d_k) @ k.reshape(heads, m, d_k).mT
    if any(close(scores, scrambled / c) for c in (1, d_k**0.5, (heads * d_k) ** 0.5, d_k)):
        raise Wrong("reshape(h, n, d_k) 把位置和維度攪在一起了。先拆成 (n, h, d_k)，再交換前兩軸。")
    raise Wrong("形狀對了，數字不對。先只算第 0 個頭：它用 q 與 k 的前 d_k 行。")


@check
def check_score_variance(answer: Callable[[Tensor, Tensor], Tensor | float]) -> str:
    """answer(cov_q, cov_k) must return Var(q·k) of independent q and k with mean 0 and those covariances."""
    g = torch.Generator().manual_seed(23)
    roots = torch.randn(2, 5, 5, generator=g, dtype=torch.float64)
    cov_q, cov_k = roots @ roots.mT
    value = torch.as_tensor(answer(cov_q, cov_k), dtype=torch.float64)
    if value.numel() != 1:
        raise Wrong(f"變異數是一個數，得到的形狀是 {tuple(value.shape)}。")
    wanted = score_variance(cov_q, cov_k)

    def same(wrong: Tensor) -> bool:
        return bool((value - wrong).abs() <= 1e-6 * wrong.abs())

    if same(wanted):
        return "等於 trace(Σ_q Σ_k)：各分量獨立時就是 σ_q²σ_k²d。"
    for wrong, hint in (
        ((cov_q.diagonal() * cov_k.diagonal()).sum(), "只用了對角線：分量之間的相關（非對角線的項）也要算。"),
        (cov_q.trace() * cov_k.trace(), "兩個 trace 相乘不等於乘積的 trace。"),
        (cov_q.trace() * cov_k.trace() / 5, "這假設了分量獨立而且變異數都相同；題目的共變異數矩陣不是這樣。"),
        (cov_q.sum() * cov_k.sum(), "下標要配對：同一組 (r, l) 的兩個共變異數相乘，再對 r、l 加總。"),
        (wanted.sqrt(), "這是標準差；題目要的是變異數。"),
    ):
        if same(wrong):
            raise Wrong(hint)
    raise Wrong("數字不對。把 (q·k)² 展開成 Σᵣ Σₗ qᵣ qₗ kᵣ kₗ，再取期望值。")
