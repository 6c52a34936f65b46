"""把 10 個數字倒過來：一層的小型 Transformer 與雙向 LSTM，比誰學得會，並記下 Transformer 的注意力。

只需要 Python 3 與 PyTorch。執行：python reverse_seq.py
印出兩個模型的參數個數與正確率，並在這個檔案旁邊寫下 reverse_seq.json（一筆輸入 x 與它的注意力權重 att）。
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

LENGTH, DIGITS, WIDTH = 10, 10, 32  # 序列長 10、數字 0～9、向量 32 維
STEPS, BATCH, LEARNING_RATE = 1500, 64, 3e-3


def draw(count, g):
    """隨機數字 (count, 10) 與倒過來的答案。"""
    x = torch.randint(0, DIGITS, (count, LENGTH), generator=g)
    return x, x.flip(1)


def positional_encoding(n, d):
    """PE(p, 2i) = sin(p / 10000^(2i/d))，PE(p, 2i+1) = cos(p / 10000^(2i/d))。"""
    angle = torch.arange(n).unsqueeze(1) * 10000.0 ** (-torch.arange(0, d, 2) / d)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


class Transformer(nn.Module):
    """嵌入＋位置 → 自注意力 → 前饋網路，殘差之後做層正規化（post-norm）。"""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, WIDTH)
        self.register_buffer("pe", positional_encoding(LENGTH, WIDTH), persistent=False)
        self.attention = nn.MultiheadAttention(WIDTH, num_heads=1, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, WIDTH))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.readout = nn.Linear(WIDTH, DIGITS)

    def attend(self, x):
        h = self.embedding(x) + self.pe
        attended, weights = self.attention(h, h, h)
        h = self.norm1(h + attended)
        h = self.norm2(h + self.feed_forward(h))
        return self.readout(h), weights

    def forward(self, x):
        return self.attend(x)[0]


class LSTM(nn.Module):
    """兩個方向各一個 LSTM，所以每個位置都看得到整個序列。"""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, 48, batch_first=True, bidirectional=True)
        self.readout = nn.Linear(96, DIGITS)

    def forward(self, x):
        return self.readout(self.lstm(self.embedding(x))[0])


def show_progress(name, step, loss):
    """終端機裡更新同一行；輸出到檔案時每 500 步一行。寫到 stderr，不混進結果。"""
    if sys.stderr.isatty():
        if step % 25 == 0:
            end = "\n" if step == STEPS else ""
            print(f"\r{name}：{step:4d}/{STEPS} 步，損失 {loss:.4f}", end=end, file=sys.stderr, flush=True)
    elif step % 500 == 0:
        print(f"{name}：{step}/{STEPS} 步", file=sys.stderr, flush=True)


def train(name, model):
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    g = torch.Generator().manual_seed(0)  # 每個模型各有一個，看到的資料才會相同
    for step in range(1, STEPS + 1):
        x, y = draw(BATCH, g)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show_progress(name, step, loss.item())


def main():
    x_test, y_test = draw(2000, torch.Generator().manual_seed(99))
    for name, model_class in (("Transformer", Transformer), ("雙向 LSTM", LSTM)):
        torch.manual_seed(0)
        model = model_class()
        train(name, model)
        with torch.no_grad():
            right = model(x_test).argmax(-1) == y_test
            if name == "Transformer":
                weights = model.attend(x_test[:1])[1][0]
        parameters = sum(p.numel() for p in model.parameters())
        token, sequence = right.float().mean(), right.all(1).float().mean()
        print(f"{name:11s}：參數 {parameters:5d}，每個數字的正確率 {token:.1%}，整串全對 {sequence:.1%}", flush=True)

    mirror = weights.flip(1).diagonal()  # 第 i 個輸出對第 9 − i 個輸入的權重
    print(f"注意力權重在反對角線上平均 {mirror.mean():.2f}，每一列加總為 1")
    result = {"att": weights.tolist(), "x": x_test[0].tolist()}
    Path(__file__).with_name("reverse_seq.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
