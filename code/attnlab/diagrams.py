"""Boxes and arrows, for the figures that show how data flows."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from attnlab.plotting import WIDTH

LINE = "#000000"  # becomes the colour of the page's text


def canvas(height: float, *, width: float = WIDTH) -> tuple[Figure, Axes]:
    """An empty drawing, measured in inches from its lower left corner."""
    figure = plt.figure(figsize=(width, height), layout="none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return figure, ax


def box(ax: Axes, x: float, y: float, text: str, *, width: float, height: float = 0.42, colour: str = LINE) -> None:
    """A box with its centre at (x, y); the text may have several lines."""
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.07",
            facecolor="none",
            edgecolor=colour,
            linewidth=1.4,
        )
    )
    ax.text(x, y, text, ha="center", va="center", linespacing=1.4)


def arrow(ax: Axes, *points: tuple[float, float], colour: str = LINE, head: bool = True) -> None:
    """A line through the points, with a head at the last one."""
    *path, last = points
    xs, ys = zip(*points)
    ax.plot(xs[:-1] if head else xs, ys[:-1] if head else ys, color=colour, linewidth=1.4, solid_capstyle="butt")
    if head:
        ax.annotate(
            "",
            xy=last,
            xytext=path[-1],
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
        )


def note(ax: Axes, x: float, y: float, text: str, *, ha: str = "center", size: float = 9, colour: str = LINE) -> None:
    """A few words beside the boxes: shapes, names of edges."""
    ax.text(x, y, text, ha=ha, va="center", size=size, color=colour, linespacing=1.4)
