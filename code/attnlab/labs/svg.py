"""SVG for interactive figures, small enough to have a twin in the browser (``labSvg`` in _static/lab.js).

Lengths are in units of the view box, about one pixel on a telephone. Every element is a line of its own, so that
frames can share the lines they have in common.
"""

import base64
import html
import io

import matplotlib
import numpy as np
from PIL import Image
from torch import Tensor

from attnlab import plotting

WIDTH = 340
INK = "currentColor"  # of the text around it

BLUE = f"var(--figure-blue, {plotting.BLUE})"
ORANGE = f"var(--figure-orange, {plotting.ORANGE})"
GREEN = f"var(--figure-green, {plotting.GREEN})"
GREY = f"var(--figure-grey, {plotting.GREY})"

# viridis in 33 steps: what a weight of i/32 looks like.
SHADES = [matplotlib.colors.to_hex(matplotlib.colormaps["viridis"](i / 32)) for i in range(33)]


def picture(height: float, *parts: str) -> str:
    """An <svg> element of WIDTH × height around the parts."""
    size = "flex:0 1 540px;width:540px;max-width:100%;height:auto;font-family:sans-serif"
    start = f'<svg viewBox="0 0 {WIDTH} {number(height)}" style="{size}" fill="currentColor">'
    return "\n".join([start, *parts, "</svg>"])


def tag(name: str, content: str = "", **attributes) -> str:
    """One element; stroke_width=2 becomes stroke-width="2", numbers have at most two decimals."""
    written = "".join(
        f' {key.replace("_", "-")}="{number(value) if isinstance(value, int | float) else html.escape(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>"


def text(x: float, y: float, words: str, *, size: float = 12, anchor: str = "start", fill: str = INK) -> str:
    """Words whose middle is at the height y."""
    where = {"x": x, "y": y, "font_size": size, "text_anchor": anchor, "dominant_baseline": "central"}
    return tag("text", html.escape(words, quote=False), **where, fill=fill)


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str = INK, width: float = 1) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)


def rect(x: float, y: float, width: float, height: float, *, fill: str = "none", stroke: str = "none", **more) -> str:
    return tag("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **more)


def circle(x: float, y: float, r: float, *, fill: str = "none", stroke: str = "none", **more) -> str:
    return tag("circle", cx=x, cy=y, r=r, fill=fill, stroke=stroke, **more)


def heat(values: Tensor, x: float, y: float, width: float, height: float) -> str:
    """A matrix of weights in 0 … 1 as a coloured image, row 0 at the top: one element, whatever its size."""
    shades = np.round(values.detach().clamp(0, 1).numpy() * (len(SHADES) - 1)).astype("uint8")
    image = Image.fromarray(shades)
    image.putpalette(bytes.fromhex("".join(shade[1:] for shade in SHADES)))
    buffer = io.BytesIO()
    image.save(buffer, format="png", optimize=True)
    address = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
    return tag(
        "image",
        href=address,
        x=x,
        y=y,
        width=width,
        height=height,
        preserveAspectRatio="none",
        style="image-rendering:pixelated",
    )


def number(value: float) -> str:
    """At most two decimals, as JavaScript writes numbers."""
    rounded = round(value, 2)
    return f"{rounded:.2f}".rstrip("0").rstrip(".") if rounded else "0"
