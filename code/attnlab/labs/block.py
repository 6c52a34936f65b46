"""Walk one token through the Transformer block, box by box: shapes, and what becomes of its vector."""

import torch
from torch import Tensor, nn

from attnlab.block_figure import halves_of
from attnlab.lab import Choice, Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREEN, GREY, INK, ORANGE, line, picture, rect, tag, text
from attnlab.transformer import TransformerBlock

POSITIONS, WIDTH_OF_MODEL, HEADS, TOKEN = 10, 32, 4, 3
ORDERS = {"pre-norm": True, "post-norm": False}
NAMES = {
    "x": "輸入",
    "norm1": "norm1 層正規化",
    "norm2": "norm2 層正規化",
    "attention": "attention 自注意力",
    "feed_forward": "feed_forward 前饋",
    "+": "＋ 加回殘差",
}
COLOURS = {"x": GREY, "norm1": BLUE, "norm2": BLUE, "attention": ORANGE, "feed_forward": GREEN, "+": GREY}
SAYS = {
    "x": "原來的向量，殘差也帶著它。",
    "norm1": "每個分量減平均、除以標準差：長度變成約 √32＝5.7，只看自己。",
    "norm2": "每個分量減平均、除以標準差：長度變成約 √32＝5.7，只看自己。",
    "attention": "別的位置的資料從這裡進來，權重的形狀是 (4, 10, 10)：每個頭一張圖。",
    "feed_forward": "放大到 (10, 64)、ReLU、再縮回 (10, 32)：只看自己。",
    "+": "把繞過去的那一份加回來。",
}
STEPS = 7
ROW, HIGH, WIDE = 44, 30, 150  # distance, height and width of the boxes
PLOT, BAR, REACH = 190, 148, 4.0  # left edge and width of the vector, largest component that is shown


def block_lab() -> Lab:
    """The boxes at the left with the one that was just passed filled; the token's vector at the right."""
    return Lab(
        "frames",
        "block",
        [
            Choice("order", "次序", tuple(ORDERS), "pre-norm"),
            Slider("step", "走到第幾格", tuple(range(STEPS)), 0, play=True),
        ],
        draw,
        alt="左邊由上到下是區塊的七格，走到的那一格塗上顏色；右邊是第 3 個詞元的向量：32 個分量、形狀、長度。",
    )


def walk(norm_first: bool) -> list[tuple[str, Tensor]]:
    """What stands at the trunk after each step: (10, 32) each."""
    torch.manual_seed(0)
    block = TransformerBlock(WIDTH_OF_MODEL, HEADS, 2 * WIDTH_OF_MODEL, norm_first=norm_first)
    for layer in (block.attention, block.feed_forward):
        for parameter in layer.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=WIDTH_OF_MODEL**-0.5)  # so that the branches are to be seen
    x = 1.5 * torch.randn(POSITIONS, WIDTH_OF_MODEL) + 0.5
    steps = [("x", x)]
    with torch.no_grad():
        for half in halves_of(norm_first):
            residual = x
            for part in half:
                if part == "+":
                    x = residual + x
                else:
                    x = getattr(block, part)(x)
                    x = x[0] if part == "attention" else x
                steps.append((part, x))
    return steps


def draw(order: str, step: int) -> Frame:
    steps = walk(ORDERS[order])
    parts = []
    for i, (name, _) in enumerate(steps):
        y = 6 + ROW * i
        here = i == step
        parts.append(
            rect(2, y, WIDE, HIGH, fill=COLOURS[name] if here else "none", fill_opacity=0.3, stroke=COLOURS[name], rx=5)
        )
        parts.append(text(2 + WIDE / 2, y + HIGH / 2, NAMES[name], anchor="middle", fill=INK))
        if i:
            parts.append(line(2 + WIDE / 2, y - ROW + HIGH, 2 + WIDE / 2, y, stroke=GREY, width=1.5))
    for i in (0, 3):  # where the residual leaves the trunk; it comes back at the next plus
        plus = next(j for j in range(i + 1, STEPS) if steps[j][0] == "+")
        top, bottom = (6 + ROW * j + HIGH / 2 for j in (i, plus))
        path = f"M{WIDE + 2} {top:g}h14V{bottom:g}h-14"
        parts.append(tag("path", d=path, fill="none", stroke=INK, stroke_width=1.5))
    name, x = steps[step]
    vector, height = x[TOKEN], (ROW * (STEPS - 1) + HIGH - 44) / WIDTH_OF_MODEL
    middle = PLOT + BAR / 2
    parts.append(text(PLOT, 12, f"形狀 ({POSITIONS}, {WIDTH_OF_MODEL})"))
    parts.append(text(PLOT, 32, f"詞元 {TOKEN}：長度 {vector.norm():.1f}", fill=ORANGE))
    for c, value in enumerate(vector.tolist()):
        length = BAR / 2 * max(-1, min(1, value / REACH))
        y = 50 + height * c
        parts.append(rect(middle + min(0, length), y, abs(length), height - 2, fill=COLOURS[name] if step else INK))
    parts.append(line(middle, 48, middle, 50 + height * WIDTH_OF_MODEL, stroke=GREY))
    says = f"{order}，第 {step} 格，{NAMES[name]}：長度 {vector.norm():.1f}。{SAYS[name]}"
    return Frame(picture(12 + ROW * (STEPS - 1) + HIGH, *parts), says)
