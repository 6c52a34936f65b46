"""The hand-built head that looks at the previous position, over its gain β."""

import torch
from torch import Tensor

from attnlab.attention import scaled_dot_product_attention
from attnlab.lab import Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREY, ORANGE, heat, line, picture, rect, text
from attnlab.positions import rotation, sinusoidal_encoding

POSITIONS, WIDTH_OF_ENCODING, QUERY = 48, 32, 24
GAINS = (0.1, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 100)
LEFT, TOP, SIDE = 60, 22, 240  # of the map
BASE, TALL = 365, 65  # lower edge and height of the row


def gain_lab() -> Lab:
    """The map above, and one of its rows as bars below."""
    return Lab(
        "frames",
        "gain",
        [Slider("gain", "增益 β", GAINS, 8, play=True)],
        draw,
        alt="上面是 48×48 的權重圖，下面把其中第 24 列畫成長條；增益越大，權重越集中在前一個位置，也就是第 23 個。",
    )


def weights_at(gain: float) -> Tensor:
    """W_Q = β M₋₁, W_K = I on the encoding alone: (48, 48)."""
    pe = sinusoidal_encoding(POSITIONS, WIDTH_OF_ENCODING, dtype=torch.float64)
    queries = pe @ (gain * rotation(-1, WIDTH_OF_ENCODING)).T
    return scaled_dot_product_attention(queries, pe, pe)[1]


def draw(gain: float) -> Frame:
    weights = weights_at(gain)
    row, mean = weights[QUERY].tolist(), weights.diagonal(-1).mean().item()
    cell = SIDE / POSITIONS
    parts = [text(LEFT, 10, "被看的位置 j →"), text(LEFT - 8, TOP + 8, "查詢 i ↓", anchor="end")]
    parts.append(heat(weights, LEFT, TOP, SIDE, SIDE))
    parts.append(rect(LEFT - 1, TOP + cell * QUERY, SIDE + 2, cell, stroke=ORANGE, stroke_width=1.5))
    parts.append(text(LEFT - 8, TOP + cell * (QUERY + 0.5), f"i＝{QUERY}", anchor="end", fill=ORANGE))
    for j, weight in enumerate(row):
        colour = ORANGE if j == QUERY - 1 else BLUE
        parts.append(rect(LEFT + cell * j, BASE - TALL * weight, cell - 1, TALL * weight, fill=colour))
    parts.append(line(LEFT, BASE, LEFT + SIDE, BASE, stroke=GREY))
    parts.append(text(LEFT + cell * (QUERY - 0.5), BASE + 10, f"j＝{QUERY - 1}", anchor="middle", fill=ORANGE))
    parts.append(text(LEFT - 8, BASE - TALL / 2, f"第 {QUERY} 列", anchor="end"))
    says = f"β＝{gain:g}：前一個位置的權重，第 {QUERY} 列是 {row[QUERY - 1]:.3f}，全部平均是 {mean:.3f}。"
    return Frame(picture(BASE + 20, *parts), says)
