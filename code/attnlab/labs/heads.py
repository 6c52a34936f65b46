"""Choose a head and a query: the row of its map, and the tokens that it looks at."""

from collections.abc import Sequence

from torch import Tensor

from attnlab.lab import Choice, Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREY, ORANGE, heat, line, picture, rect, text

LEFT, TOP, SIDE = 60, 92, 250  # of the map


def heads_lab(maps: dict[str, Tensor], tokens: Sequence[str]) -> Lab:
    """The tokens above with a line from the query to each key, as thick as its weight; the map below.

    Args:
        maps: (n, n) weights by the name of their head.
        tokens: n of them.
    """
    n = len(tokens)

    def draw(head: str, query: int) -> Frame:
        return draw_head(maps[head], tokens, head, query)

    return Lab(
        "frames",
        "heads",
        [
            Choice("head", "哪一個頭", tuple(maps), next(iter(maps))),
            Slider("query", "查詢的位置", tuple(range(n)), n // 2),
        ],
        draw,
        alt=f"上面是 {n} 個詞元，從查詢連到各個鍵，線越粗權重越大；下面是選到的頭的權重圖，查詢那一列有橘色的框。",
    )


def draw_head(weights: Tensor, tokens: Sequence[str], head: str, query: int) -> Frame:
    n = len(tokens)
    cell, row = SIDE / n, weights[query].tolist()

    def centre(j: int) -> float:
        return LEFT + cell * (j + 0.5)

    parts = [text(LEFT - 8, 12, "查詢", anchor="end"), text(LEFT - 8, 80, "鍵", anchor="end")]
    for j, token in enumerate(tokens):
        parts.append(text(centre(j), 12, token, size=15, anchor="middle", fill=ORANGE if j == query else GREY))
        parts.append(text(centre(j), 80, token, size=15, anchor="middle"))
    for j, weight in enumerate(row):
        if weight > 0.02:
            parts.append(line(centre(query), 21, centre(j), 70, stroke=BLUE, width=8 * weight))
    parts.append(heat(weights, LEFT, TOP, SIDE, SIDE))
    for i in range(n):
        y = TOP + cell * i
        parts.append(text(LEFT - 8, y + cell / 2, str(i), size=11, anchor="end"))
        parts.append(rect(LEFT, y, SIDE, cell, fill="transparent", data_set=f"query={i}"))
    parts.append(rect(LEFT - 1, TOP + cell * query, SIDE + 2, cell, stroke=ORANGE, stroke_width=2.5))
    order = sorted(range(n), key=lambda j: -row[j])[:2]
    looked = "、".join(f"位置 {j} 的 {tokens[j]}（{row[j]:.2f}）" for j in order if row[j] > 0.02)
    return Frame(picture(TOP + SIDE + 4, *parts), f"{head}，查詢在位置 {query}：看的是{looked}。")
