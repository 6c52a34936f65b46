"""The clock hands of the positional encoding: turned by k steps, they are those of position p + k."""

import math

from attnlab.lab import Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREY, ORANGE, circle, line, number, picture, text
from attnlab.positions import frequencies, rotation, sinusoidal_encoding

WIDTH_OF_ENCODING, PAIRS, COLUMNS = 32, 6, 3
RADIUS, ROW, FIRST_ROW, COLUMN = 40, 128, 72, 340 / 3


def clocks_lab() -> Lab:
    """Six dials, one for each of the fastest pairs: the hand at p, the same turned by k, and the hand at p + k."""
    return Lab(
        "clocks",
        "clocks",
        [
            Slider("p", "位置 p", tuple(range(48)), 3, play=True),
            Slider("k", "再走 k 步", tuple(range(-8, 9)), 2),
        ],
        draw,
        alt="六個時鐘，是位置編碼最快的六對。各有三支指針：位置 p 的、把它轉過 kω 的、位置 p＋k 的；後兩支重疊。",
        data={"frequencies": frequencies(WIDTH_OF_ENCODING)[:PAIRS].tolist()},
    )


def draw(p: int, k: int) -> Frame:
    omega = frequencies(WIDTH_OF_ENCODING)
    here = sinusoidal_encoding(1 + p, WIDTH_OF_ENCODING, dtype=omega.dtype)[p]
    there = sinusoidal_encoding(omega.new_tensor([p + k]), WIDTH_OF_ENCODING, dtype=omega.dtype)[0]
    turned = rotation(k, WIDTH_OF_ENCODING) @ here
    difference = (turned - there)[: 2 * PAIRS].abs().max().item()

    parts = []
    for i in range(PAIRS):
        x, y = (i % COLUMNS + 0.5) * COLUMN, FIRST_ROW + ROW * (i // COLUMNS)
        degrees = k * omega[i].item() * 180 / math.pi
        parts.append(text(x, y - RADIUS - 20, f"第 {i} 對，轉 {number(round(degrees))}°", anchor="middle"))
        parts.append(circle(x, y, RADIUS, stroke=GREY))
        for vector, stroke, width, length in ((here, GREY, 3, 1), (there, BLUE, 7, 1), (turned, ORANGE, 2.5, 0.94)):
            sine, cosine = (length * RADIUS * vector[2 * i : 2 * i + 2]).tolist()
            parts.append(line(x, y, x + sine, y - cosine, stroke=stroke, width=width))
        parts.append(circle(x, y, 4, fill=GREY))
    legend = FIRST_ROW + ROW + RADIUS + 22
    for x, colour, name in ((8, GREY, "PE(p)"), (85, BLUE, "PE(p+k)"), (180, ORANGE, "把 PE(p) 轉過 kω")):
        parts.append(line(x, legend, x + 16, legend, stroke=colour, width=4))
        parts.append(text(x + 21, legend, name))
    same = "重疊" if difference < 1e-9 else "不重疊"
    says = f"p＝{p}，k＝{k}：轉過 k 步的指針和 PE({p + k}) {same}，每一對轉自己的角度，和 p 無關。"
    return Frame(picture(legend + 14, *parts), says)
