"""縮放點積注意力：照公式自己寫，和 PyTorch 內建的版本比對，再看分數為什麼要除以 √d。

    python attention_check.py

只需要 Python 3 與 PyTorch，放在任何資料夾都能執行。
"""

import math

import torch
import torch.nn.functional as F


def attention(q, k, v, causal=False):
    """傳回輸出與權重；causal=True 時位置 i 只看得到位置 0 … i。"""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -math.inf)  # e^(−∞) = 0：不拿權重，也不進分母
    weights = torch.softmax(scores, dim=-1)  # 沿著鍵的方向：每一列加總為 1
    return weights @ v, weights


def check_against_torch(n=5, d=16):
    """自己寫的和 PyTorch 內建的比對，印出因果遮罩的權重。"""
    q, k, v = torch.randn(n, d), torch.randn(n, d), torch.randn(n, d)

    output, _ = attention(q, k, v)
    same = torch.allclose(output, F.scaled_dot_product_attention(q, k, v), atol=1e-6)
    print("自己寫的 = PyTorch 內建：", same)

    output, weights = attention(q, k, v, causal=True)
    same = torch.allclose(output, F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-6)
    print("因果遮罩也相同：", same)
    print("因果遮罩的權重（上三角為 0）：\n", weights.round(decimals=2))


def mean_largest_weight(scores):
    """每個查詢最大的權重，對所有查詢取平均。"""
    return torch.softmax(scores, dim=-1).amax(dim=-1).mean().item()


def show_why_sqrt_d():
    """分量為標準常態時 q·k 的變異數等於 d；不縮放的話，d 越大 softmax 越接近 one-hot。"""
    for d in (4, 64, 512):
        dots = (torch.randn(10_000, d) * torch.randn(10_000, d)).sum(dim=1)
        scores = torch.randn(1000, 8, d) @ torch.randn(1000, d, 8)  # 1000 組，每組 8 個查詢看 8 個鍵
        raw, scaled = mean_largest_weight(scores), mean_largest_weight(scores / math.sqrt(d))
        print(f"d = {d:3d}：q·k 變異數 {dots.var().item():6.1f}，最大權重平均 不縮放 {raw:.2f}／除以 √d {scaled:.2f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    check_against_torch()
    show_why_sqrt_d()
