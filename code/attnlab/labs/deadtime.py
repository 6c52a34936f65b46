"""The attention map of the control example while the dead time is slid, for inputs that are held longer and longer."""

from attnlab.deadtime_maps import DEAD_TIMES, HOLDS, LAGS, read
from attnlab.lab import Choice, Frame, Lab, Slider
from attnlab.labs.svg import BLUE, GREEN, GREY, ORANGE, heat, line, picture, rect, text

HELD = {f"平均 {hold} s 變一次" if hold > 1 else "每秒都變（白雜訊）": hold for hold in HOLDS}
LEFT, TOP, SIDE = 0, 20, 176  # of the map
PLOT, WIDE, BASES, TALL = 200, 136, (86, 196), 54  # left edge and width of the bars, lower edges, height


def deadtime_lab() -> Lab:
    """The map at the left; mean weight and gradient of each lag at the right."""
    return Lab(
        "frames",
        "deadtime",
        [
            Slider("d", "死時間 d（s）", DEAD_TIMES, 7, play=True),
            Choice("held", "輸入", tuple(HELD), next(iter(HELD))),
        ],
        draw,
        alt="左邊是 40×40 的注意力圖，右邊是各個延遲的平均權重與梯度；真正的死時間用橘色標出。",
    )


def draw(d: int, held: str) -> Frame:
    weights, profile, gradient = read(d, HELD[held])
    parts = [text(LEFT, 8, "看哪一刻 →，查詢的時刻 ↓"), heat(weights, LEFT, TOP, SIDE, SIDE)]
    curves = (("平均權重", profile, 1.0, BLUE), ("梯度（°C/kW）", gradient, 0.4, GREEN))
    for base, (name, values, full, colour) in zip(BASES, curves, strict=True):
        parts.append(text(PLOT, base - TALL - 22, name, fill=colour))
        step = WIDE / LAGS
        for k, value in enumerate(values.tolist()):
            height = TALL * max(-0.1, min(1.1, value / full))
            place = {"x": PLOT + step * k, "y": base - max(height, 0), "width": step - 2, "height": abs(height)}
            parts.append(rect(**place, fill=ORANGE if k == d else colour))
        parts.append(line(PLOT, base, PLOT + WIDE, base, stroke=GREY))
        parts.append(text(PLOT + step * (d + 0.5) - 1, base + 10, f"k＝{d}", size=11, anchor="middle", fill=ORANGE))
    best = profile.argmax().item()
    says = (
        f"d＝{d} s，輸入{held}：輪廓最高在延遲 {best}（{profile[best]:.2f}），真正的死時間上是 {profile[d]:.2f}；"
        f"那裡的梯度 {gradient[d]:.2f}，真正的 b 是 0.40。"
    )
    return Frame(picture(TOP + SIDE + 18, *parts), says)
