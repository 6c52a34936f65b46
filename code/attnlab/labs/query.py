"""A query that is dragged among keys in the plane: its weights, and where the output goes."""

import math

import torch

from attnlab.attention import scaled_dot_product_attention
from attnlab.lab import Choice, Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREY, ORANGE, circle, line, picture, rect, tag, text

KEYS = ((1.5, 0.5), (0.2, 1.6), (-1.4, 0.8), (-0.9, -1.2), (1.0, -1.4))
VALUES = ((1.8, 1.2), (-0.4, 1.9), (-1.8, 0.2), (-0.8, -1.7), (1.5, -1.3))
POSITION = 2  # of the query: with the mask it sees keys 0 … 2
DIVISORS = {"÷1": 1.0, "÷1.2": 1.2, "÷√d＝÷1.41": math.sqrt(2), "÷1.6": 1.6, "÷1.8": 1.8, "÷d＝÷2": 2.0}
MASKS = ("沒有", "因果：查詢在位置 2")
REACH = 3.0  # the planes show −3 … 3
COMPONENTS = tuple(round(-3 + 0.1 * i, 1) for i in range(61))

PLANE, TOP, RIGHT, UNIT = 165, 18, 175, 27.5  # side and upper edge of a plane, left edge of the second, units per 1
BARS, BAR = 252, 45  # lower edge and height of the bars


def query_lab() -> Lab:
    """Two planes side by side, the query among the keys and the output among the values, and the weights below."""
    return Lab(
        "query",
        "query",
        [
            Slider("x", "查詢的第 1 個分量", COMPONENTS, 2.0),
            Slider("y", "查詢的第 2 個分量", COMPONENTS, 0.5),
            Slider("scale", "分數除以", tuple(DIVISORS), "÷√d＝÷1.41"),
            Choice("mask", "遮罩", MASKS, MASKS[0]),
        ],
        draw,
        alt="左邊的平面是五個鍵與一個可以拖動的查詢，右邊的平面是五個值與輸出，下面是五個權重的長條。",
        data={"keys": KEYS, "vectors": VALUES, "position": POSITION, "divisors": DIVISORS, "masks": MASKS},
    )


def draw(x: float, y: float, scale: str, mask: str) -> Frame:
    keys, values = torch.tensor(KEYS).double(), torch.tensor(VALUES).double()
    allowed = torch.ones(1, len(KEYS), dtype=torch.bool)
    if mask == MASKS[1]:
        allowed[:, POSITION + 1 :] = False
    query = torch.tensor([[x, y]]).double()
    output, weights = scaled_dot_product_attention(query, keys, values, allowed=allowed, scale=1 / DIVISORS[scale])
    weights, output = weights[0].tolist(), output[0].tolist()

    left_plane, right_plane = (
        [
            line(left, TOP + PLANE / 2, left + PLANE, TOP + PLANE / 2, stroke=GREY, width=0.5),
            line(left + PLANE / 2, TOP, left + PLANE / 2, TOP + PLANE, stroke=GREY, width=0.5),
            rect(left, TOP, PLANE, PLANE, fill="transparent", stroke=GREY),
        ]
        for left in (0, RIGHT)
    )
    hull = " ".join(",".join(f"{c:g}" for c in _place(RIGHT, *v)) for v in VALUES)
    right_plane.append(tag("polygon", points=hull, fill=BLUE, fill_opacity=0.12, stroke=BLUE))
    parts = [text(0, 8, "鍵 k 與查詢 q（拖動 q）"), text(RIGHT, 8, "值 v 與輸出")]
    for j, weight in enumerate(weights):
        for plane, left, name, point in ((left_plane, 0, "k", KEYS[j]), (right_plane, RIGHT, "v", VALUES[j])):
            cx, cy = _place(left, *point)
            plane.append(circle(cx, cy, 2 + 9 * math.sqrt(weight), fill=BLUE if allowed[0, j] else GREY))
            plane.append(text(cx + (10 if cx < left + PLANE - 35 else -26), cy - 10, f"{name}{j}"))
        centre = (j + 0.5) * 340 / len(KEYS)
        parts.append(rect(centre - 20, BARS - BAR * weight, 40, BAR * weight, fill=BLUE))
        parts.append(text(centre, BARS - BAR * weight - 8, f"{weight:.2f}", anchor="middle"))
        parts.append(text(centre, BARS + 9, f"α{j}", anchor="middle"))
    parts.append(line(0, BARS, 340, BARS, stroke=GREY))
    qx, qy = _place(0, x, y)
    left_plane.append(line(PLANE / 2, TOP + PLANE / 2, qx, qy, stroke=ORANGE, width=2))
    left_plane.append(circle(qx, qy, 12, fill=ORANGE))
    left_plane.append(text(qx, qy, "q", anchor="middle", fill="var(--pst-color-background, #ffffff)"))
    ox, oy = _place(RIGHT, *output)
    right_plane.append(rect(ox - 5, oy - 5, 10, 10, fill=ORANGE, transform=f"rotate(45 {ox:.2f} {oy:.2f})"))

    best = weights.index(max(weights))
    says = (
        f"q＝（{x:.1f}, {y:.1f}）：看得最多的是 k{best}，權重 {weights[best]:.2f}；"
        f"輸出（{output[0]:.2f}, {output[1]:.2f}）"
    )
    planes = tag("g", "".join(left_plane), data_drag="q"), tag("g", "".join(right_plane))
    return Frame(picture(BARS + 18, *planes, *parts), says)


def _place(left: float, x: float, y: float) -> tuple[float, float]:
    """A point of a plane, in the units of the picture."""
    return left + PLANE / 2 + UNIT * x, TOP + PLANE / 2 - UNIT * y
