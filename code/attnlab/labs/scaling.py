"""What width does to softmax: scores and weights from d = 2 to 1024, unscaled and divided by √d."""

import torch
from torch import Tensor

from attnlab.lab import Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREY, INK, ORANGE, line, picture, rect, text

WIDTHS = tuple(2**i for i in range(1, 11))
KEYS, SAMPLES, SEED = 8, 4000, 0
REACH, BINS = 40, 40  # the histograms show −40 … 40; what lies beyond is counted in the outermost bars

PANEL, RIGHT = 160, 180  # width of a panel, left edge of the second
LOW, HIGH, BASE, TALL = 125, 85, 250, 70  # lower edges and heights of histograms and weights


def scaling_lab() -> Lab:
    """The histogram of the scores above the weights of one query, ÷1 at the left and ÷√d at the right."""
    return Lab(
        "frames",
        "scaling",
        [Slider("d", "維度 d", WIDTHS, 2, play=True)],
        draw,
        alt="左半不縮放、右半除以 √d。上面是分數的直方圖，下面是同一個查詢放在八個鍵上的權重。",
    )


def samples(d: int) -> tuple[Tensor, Tensor]:
    """Products q·k of standard normal vectors: SAMPLES of them, and those of one query with KEYS keys."""
    g = torch.Generator().manual_seed(SEED)
    q, k = torch.randn(2, SAMPLES, d, generator=g)
    return (q * k).sum(-1), torch.randn(KEYS, d, generator=g) @ torch.randn(d, generator=g)


def draw(d: int) -> Frame:
    many, few = samples(d)
    parts, largest = [], []
    for left, colour, title, divisor in ((0, ORANGE, "÷1", 1), (RIGHT, BLUE, "÷√d", d**0.5)):
        scores, weights = many / divisor, (few / divisor).softmax(-1).tolist()
        shares = torch.histc(scores.clamp(-REACH, REACH), BINS, -REACH, REACH) / SAMPLES
        largest.append(max(weights))
        parts.append(text(left, 10, f"{title}：分數的標準差 {scores.std():.1f}", fill=colour))
        step = PANEL / BINS
        for i, share in enumerate(shares.tolist()):
            height = HIGH * min(1, share / 0.5)
            parts.append(rect(left + step * i, LOW - height, step, height, fill=colour))
        parts.append(line(left, LOW, left + PANEL, LOW, stroke=GREY))
        for value in (-REACH, 0, REACH):
            anchor = {-REACH: "start", 0: "middle", REACH: "end"}[value]
            place = left + PANEL * (value + REACH) / (2 * REACH)
            parts.append(text(place, LOW + 10, str(value).replace("-", "−"), size=10, anchor=anchor))
        for j, weight in enumerate(weights):
            centre = left + (j + 0.5) * PANEL / KEYS
            parts.append(rect(centre - 7, BASE - TALL * weight, 14, TALL * weight, fill=colour))
            parts.append(text(centre, BASE + 9, str(j), size=10, anchor="middle"))
            if weight == max(weights):
                parts.append(text(centre, BASE - TALL * weight - 8, f"{weight:.2f}", anchor="middle", fill=INK))
        parts.append(line(left, BASE, left + PANEL, BASE, stroke=GREY))
    parts.append(text(0, LOW + 28, "下面：放在 8 個鍵上的權重", size=11))
    says = (
        f"d＝{d}：不縮放時最大的權重是 {largest[0]:.2f}，除以 √d 是 {largest[1]:.2f}；"
        f"分數的標準差是 {many.std():.1f} 與 {(many / d**0.5).std():.1f}。"
    )
    return Frame(picture(BASE + 18, *parts), says)
