"""The Transformer block as a drawing whose boxes are the code's own names."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from attnlab.diagrams import LINE, arrow, box, canvas, note
from attnlab.plotting import BLUE, GREEN, ORANGE

HEIGHT, WIDTH_OF_FIGURE = 4.75, 2.85  # two of them side by side in a column of text
TRUNK, BYPASS = 1.0, 2.2  # x of the boxes, and of the line that passes by them
PLUS, BOX = 0.13, 0.48  # radius of the sign, height of a box

COLOURS = {"attention": ORANGE, "feed_forward": GREEN, "norm1": BLUE, "norm2": BLUE}


def halves_of(norm_first: bool) -> list[list[str]]:
    """What x meets on its way, in the two halves of the block; "+" is where the residual comes back."""
    if norm_first:
        return [["norm1", "attention", "+"], ["norm2", "feed_forward", "+"]]
    return [["attention", "+", "norm1"], ["feed_forward", "+", "norm2"]]


def draw_block(*, norm_first: bool, title: str, labels: dict[str, str], residual: str) -> Figure:
    """Draw the block from the input above to the output below.

    Args:
        norm_first: pre-norm or post-norm.
        title: above the drawing.
        labels: a few words for each of norm1, attention, norm2 and feed_forward, below the name in its box.
        residual: what to write beside the line that passes by.
    """
    figure, ax = canvas(HEIGHT, width=WIDTH_OF_FIGURE)
    note(ax, WIDTH_OF_FIGURE / 2, HEIGHT - 0.16, title, size=10.5)
    tail = HEIGHT - 0.42  # where the next arrow along the trunk starts
    note(ax, TRUNK - 0.14, tail - 0.08, "x", ha="right", size=11)
    for half in halves_of(norm_first):
        leave = tail - 0.1  # where the residual leaves the trunk
        gap = 0.48
        for part in half:
            y = tail - gap
            if part == "+":
                _plus(ax, y)
                arrow(ax, (TRUNK, tail), (TRUNK, y + PLUS))
                arrow(ax, (TRUNK, leave), (BYPASS, leave), (BYPASS, y), (TRUNK + PLUS, y))
                note(ax, BYPASS + 0.08, (leave + y) / 2, residual, ha="left")
                tail = y - PLUS
            else:
                arrow(ax, (TRUNK, tail), (TRUNK, y + BOX / 2))
                box(ax, TRUNK, y, f"{part}\n{labels[part]}", width=1.75, height=BOX, colour=COLOURS[part])
                tail = y - BOX / 2
            gap = 0.42
    arrow(ax, (TRUNK, tail), (TRUNK, tail - 0.25))
    return figure


def _plus(ax: Axes, y: float) -> None:
    ax.add_patch(Circle((TRUNK, y), PLUS, facecolor="none", edgecolor=LINE, linewidth=1.4))
    arm = 0.55 * PLUS
    arrow(ax, (TRUNK - arm, y), (TRUNK + arm, y), head=False)
    arrow(ax, (TRUNK, y - arm), (TRUNK, y + arm), head=False)
