"""Checks of the page on the Transformer block."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.cost import feed_forward_macs, lstm_macs, map_macs, projection_macs
from attnlab.exercises.verdict import Wrong, check, close, tensor_of_shape
from attnlab.transformer import TransformerBlock

Layer = Callable[[Tensor], Tensor]

N, D = 5, 3  # prime and different; so narrow that n and n − 1 in the variance are far apart


@check
def check_layer_norm(answer: Callable[[Tensor, Tensor, Tensor, float], Tensor]) -> str:
    """answer(x, gain, bias, eps) must be layer normalisation over the last axis."""
    g = torch.Generator().manual_seed(50)
    x = (2 * torch.randn(N, D, generator=g) + 3).double()
    gain, bias = torch.tensor([0.5, 2.0, -1.0]).double(), torch.tensor([1.0, 0.0, -2.0]).double()
    eps = 0.3  # as large as this, so that its place in the formula can be seen
    out = tensor_of_shape(answer(x, gain, bias, eps), (N, D), "輸出")
    if close(out, F.layer_norm(x, (D,), gain, bias, eps)):
        return "和 PyTorch 的 F.layer_norm 相同。"

    centred, variance = x - x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    unbiased = x.var(-1, keepdim=True)
    over_positions = (x - x.mean(0)) / (x.var(0, correction=0) + eps).sqrt()
    for normalised, hint in (
        (centred / (unbiased + eps).sqrt(), "變異數除以了 d − 1；層正規化除以 d（correction=0）。"),
        (centred / (variance.sqrt() + eps), "ε 要放在根號裡面：√(變異數 + ε)，不是標準差 + ε。"),
        (centred / (unbiased.sqrt() + eps), "變異數要除以 d（correction=0），而且 ε 要放在根號裡面。"),
        (centred / variance.sqrt(), "少了 ε。"),
        (centred / (variance + eps), "分母少了開根號：除以的是標準差，不是變異數。"),
        (x / (variance + eps).sqrt(), "還沒有減去平均。"),
        (x / (x.square().mean(-1, keepdim=True) + eps).sqrt(), "這是 RMSNorm：還沒有減去平均。"),
        (centred, "只減了平均，還沒有除以標準差。"),
        (over_positions, "平均與變異數的軸錯了：每個位置用自己那一列的 d 個數字算，軸是最後一個。"),
    ):
        if close(out, normalised * gain + bias):
            raise Wrong(hint)
    exact = F.layer_norm(x, (D,), eps=eps)
    if close(out, exact):
        raise Wrong("正規化是對的，但還沒有乘上 gain、加上 bias。")
    if close(out, exact * gain):
        raise Wrong("少加了 bias。")
    if close(out, (exact + bias) * gain):
        raise Wrong("gain 與 bias 的次序反了：先乘 gain，再加 bias。")
    raise Wrong("形狀對了，數字不對。先用一列 (1, 3, 5, 7)、gain 全 1、bias 全 0、ε = 0 和手算的結果比對。")


@check
def check_pre_norm(answer: Callable[[Tensor, Layer, Layer, Layer, Layer], Tensor]) -> str:
    """answer(x, norm1, attention, norm2, feed_forward) must be one pre-norm block."""
    torch.manual_seed(51)
    block = TransformerBlock(6, 2, 7, norm_first=True)
    for norm in (block.norm1, block.norm2):
        nn.init.normal_(norm.weight, 1.0, 0.5)
        nn.init.normal_(norm.bias)
    x = 2 * torch.randn(N, 6)

    def attention(x: Tensor) -> Tensor:
        return block.attention(x)[0]

    norm1, norm2, feed_forward = block.norm1, block.norm2, block.feed_forward
    out = tensor_of_shape(answer(x, norm1, attention, norm2, feed_forward), (N, 6), "輸出")
    with torch.no_grad():
        if close(out, block(x)[0], 1e-5):
            return "兩個殘差都帶著原來的 x，兩次正規化都在支路上：這就是 pre-norm。"
        middle = x + attention(norm1(x))
        post = norm1(x + attention(x))
        carried = norm1(x) + attention(norm1(x))
        for wrong, hint in (
            (norm2(post + feed_forward(post)), "這是 post-norm：正規化放在相加之後。pre-norm 放在支路的入口。"),
            (
                norm2(carried) + feed_forward(norm2(carried)),
                "殘差帶的是正規化之後的 x。捷徑上要放原來的 x，正規化只在支路上。",
            ),
            (carried + feed_forward(norm2(carried)), "第一個殘差帶的是正規化之後的 x，要用原來的 x。"),
            (norm2(middle) + feed_forward(norm2(middle)), "第二個殘差帶的是正規化之後的 x，要用原來的 x。"),
            (feed_forward(norm2(middle)), "第二步少了殘差：前饋網路的輸出要加回 x。"),
            (middle, "只有第一步，還沒有前饋網路。"),
            (x + feed_forward(norm2(middle)), "第二步加回的應該是第一步之後的 x，不是最初的 x。"),
            (feed_forward(norm2(attention(norm1(x)))), "兩步都少了殘差。"),
            (attention(norm1(x)) + feed_forward(norm2(attention(norm1(x)))), "第一步少了殘差：注意力的輸出要加回 x。"),
            (middle + feed_forward(norm1(middle)), "第二步用的是 norm2，不是 norm1：兩個各有自己的參數。"),
            (middle + feed_forward(norm2(x)), "前饋網路要接在注意力之後，吃的是第一步之後的 x。"),
            (x + attention(x) + feed_forward(x + attention(x)), "沒有用到兩個正規化。"),
        ):
            if close(out, wrong, 1e-5):
                raise Wrong(hint)
    raise Wrong("形狀對了，數字不對。照圖由上往下，一個方塊寫一行，再逐行比對。")


@check
def check_block_macs(answer: Callable[[int, int], int]) -> str:
    """answer(n, d) must be the MACs of a whole block with d_ff = 4d: 12 n d² + 2 n² d."""
    for n, d in ((5, 3), (7, 11), (101, 13)):
        count = answer(n, d)
        if isinstance(count, bool) or not isinstance(count, int | float):
            raise Wrong(f"應該傳回一個數，得到的是 {type(count).__name__}。")
        projections, maps, dense = projection_macs(n, d), map_macs(n, d), feed_forward_macs(n, d)
        if count == projections + maps + dense:
            continue
        for wrong, hint in (
            (maps + dense, "少了 W_Q、W_K、W_V、W_O 四個投影：4nd²。"),
            (maps, "這只是分數與加權平均；投影與前饋網路也要算。"),
            (projections + maps, "少了前饋網路：兩層，d_ff = 4d，共 8nd²。"),
            (projections + dense, "少了分數與加權平均：2n²d。"),
            (projections + maps // 2 + dense, "n² 的項少了一半：分數 qkᵀ 是 n²d，對值加權平均又是 n²d。"),
            (projections * 3 // 4 + maps + dense, "投影有四個：別忘了 W_O。"),
            (projections + maps + dense // 4, "前饋網路的中間層寬度是 4d，不是 d。"),
            (projections + maps + dense // 2, "前饋網路有兩層：d → 4d → d。"),
            (2 * (projections + maps + dense), "你把乘法與加法分開算了；一個 MAC 是一次乘法連同它的加法。"),
            (lstm_macs(n, d), "這是 LSTM 的運算量。"),
        ):
            if count == wrong:
                raise Wrong(hint)
        raise Wrong(f"n = {n}、d = {d} 時不對：應該是 {projections + maps + dense}，得到 {count}。")
    return "投影、分數與加權平均、前饋網路都算到了。"
