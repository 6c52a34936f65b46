"""Ten digits of the reader's own through the trained Transformer: answers, confidence, and where each output looked."""

from functools import cache

import torch

from attnlab.lab import Frame, Lab, Slider, Text
from attnlab.labs.svg import INK, ORANGE, SHADES, picture, rect, tag, text
from attnlab.plotting import ON_DARK, ON_LIGHT
from attnlab.reversal import LENGTH, ReversalTransformer
from attnlab.reversal_weights import trained, unpack

CELL, LEFT, TOP = 22, 50, 40  # of the map: side of a cell, left and upper edge
ANSWER = LEFT + CELL * LENGTH + 6  # left edge of the answers
HEIGHT = TOP + CELL * LENGTH + 8
# Digits as they come from Chinese keyboards, and what people put between digits.
WIDE, BETWEEN = str.maketrans("０１２３４５６７８９", "0123456789"), " ,，、　"


def reverse_lab() -> Lab:
    """The map of the ten digits, a row for each output, and the answers at its right."""
    return Lab(
        "reverse",
        "reverse",
        [
            Text("digits", "十個數字", "3141592653", numeric=True),
            Slider("query", "看第幾個輸出", tuple(range(LENGTH)), 0),
        ],
        draw,
        alt="10×10 的注意力圖，上面是輸入的十個數字，右邊是十個輸出與信心；選到的那一列有橘色的框。",
        data={
            "weights": trained()["weights"],
            "layout": [list(parameter.shape) for parameter in model().state_dict().values()],
            "shades": SHADES,
            "onDark": ON_DARK,
            "onLight": ON_LIGHT,
        },
    )


@cache
def model() -> ReversalTransformer:
    return unpack(trained()["weights"])


def draw(digits: str, query: int) -> Frame:
    cleaned = "".join(letter for letter in digits.translate(WIDE) if letter not in BETWEEN)
    if complaint := _complaint(cleaned):
        return Frame(picture(HEIGHT, text(170, HEIGHT / 2, complaint, anchor="middle", fill=ORANGE)), complaint)
    x = [int(digit) for digit in cleaned]
    with torch.no_grad():
        scores, weights = model().attend(torch.tensor([x]))
    shares, weights = scores[0].softmax(-1), weights[0, 0]  # (10, 10) each
    answers = shares.argmax(-1).tolist()

    parts = [text(LEFT - 8, 26, "輸入", anchor="end"), text(ANSWER, 10, "輸出 信心")]
    for j, digit in enumerate(x):
        parts.append(text(LEFT + CELL * (j + 0.5), 26, str(digit), size=15, anchor="middle"))
    for i, answer in enumerate(answers):
        y, middle = TOP + CELL * i, TOP + CELL * (i + 0.5)
        share, looked = _percent(shares[i, answer].item()), weights[i].argmax().item()
        on = ON_LIGHT if weights[i, looked] > 0.6 else ON_DARK
        row = [
            text(LEFT - 8, middle, f"輸出 {i}", anchor="end"),
            *(rect(LEFT + CELL * j, y, CELL, CELL, fill=_shade(w)) for j, w in enumerate(weights[i].tolist())),
            text(LEFT + CELL * (looked + 0.5), middle, str(x[looked]), anchor="middle", fill=on),
            text(ANSWER, middle, str(answer), size=15, fill=INK if answer == x[-1 - i] else ORANGE),
            text(ANSWER + 18, middle, share, size=11),
        ]
        if i == query:
            row.append(rect(LEFT - 1, y, CELL * LENGTH + 2, CELL, stroke=ORANGE, stroke_width=2.5))
        label = f"輸出 {i}：{answer}，信心 {share}，看得最多的是輸入 {looked}"
        options = {"data_set": f"query={i}", "tabindex": "0", "role": "img", "aria_label": label}
        parts.append(tag("g", "".join(row), **options))

    wrong = sum(answer != digit for answer, digit in zip(answers, reversed(x)))
    looked = weights[query].argmax().item()
    says = (
        f"輸出：{' '.join(map(str, answers))}（{'全對' if not wrong else f'錯 {wrong} 個'}）。"
        f"第 {query} 個輸出是 {answers[query]}，信心 {_percent(shares[query, answers[query]].item())}；"
        f"看得最多的是第 {looked} 個輸入，權重 {weights[query, looked].item():.2f}。"
    )
    return Frame(picture(HEIGHT, *parts), says)


def _complaint(digits: str) -> str:
    """What to tell the reader, or nothing where there are ten digits."""
    if not digits.isascii() or not (digits.isdigit() or not digits):
        return "只認得 0 到 9 的數字，其他的字請拿掉。"
    if len(digits) < LENGTH:
        return f"還差 {LENGTH - len(digits)} 個數字：模型只學過長度 {LENGTH}。"
    if len(digits) > LENGTH:
        return f"多了 {len(digits) - LENGTH} 個數字：模型只學過長度 {LENGTH}。"
    return ""


def _shade(weight: float) -> str:
    return SHADES[int(weight * (len(SHADES) - 1) + 0.5)]


def _percent(share: float) -> str:
    """Whole per cent, but never 100 for what is not certain."""
    return "> 99 %" if share > 0.99 else f"{int(100 * share + 0.5)} %"
