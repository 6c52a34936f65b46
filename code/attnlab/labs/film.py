"""The training of the reverse task as a film: the attention map at chosen steps."""

import torch

from attnlab.lab import Frame, Lab, Slider
from attnlab.labs.svg import GREY, ORANGE, heat, line, picture, rect, text
from attnlab.reversal_weights import trained

LEFT, TOP, SIDE = 60, 24, 220  # of the map
BAR = 300  # left edge of the bar that shows the marks


def film_lab() -> Lab:
    """The map, and a bar that fills with the share of right digits."""
    frames = {frame["step"]: frame for frame in trained()["film"]}

    def draw(step: int) -> Frame:
        return draw_frame(**frames[step])

    return Lab(
        "frames",
        "film",
        [Slider("step", "訓練到第幾步", tuple(frames), 0, play=True)],
        draw,
        alt="訓練途中的 10×10 注意力圖，2000 筆測試資料的平均；右邊的直條是每個數字的正確率。反對角線隨訓練浮現。",
    )


def draw_frame(step: int, token: float, sequence: float, map: list[list[float]]) -> Frame:
    weights = torch.tensor(map)
    cell = SIDE / len(weights)
    parts = [text(LEFT, 10, "看哪一個輸入 j →"), text(LEFT - 8, TOP + 10, "輸出 i ↓", anchor="end")]
    parts.append(heat(weights, LEFT, TOP, SIDE, SIDE))
    for i in range(len(weights)):
        parts.append(text(LEFT - 8, TOP + cell * (i + 0.5), str(i) if i else "", size=11, anchor="end"))
    height = SIDE * token
    parts.append(rect(BAR, TOP + SIDE - height, 18, height, fill=ORANGE))
    parts.append(rect(BAR, TOP, 18, SIDE, stroke=GREY))
    parts.append(line(BAR - 4, TOP + 0.9 * SIDE, BAR + 22, TOP + 0.9 * SIDE, stroke=GREY, width=1.5))
    parts.append(text(BAR + 9, 10, "正確率", size=11, anchor="middle"))
    mirrored = weights.flip(-1).diagonal().mean().item()
    says = (
        f"第 {step} 步：每個數字的正確率 {100 * token:.1f} %，整串全對 {100 * sequence:.1f} %，"
        f"反對角線的平均權重 {mirrored:.2f}。"
    )
    return Frame(picture(TOP + SIDE + 6, *parts), says)
