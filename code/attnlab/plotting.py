"""Figures that follow the reader's page: Chinese labels, text as text, light or dark with the theme.

Labels are passed in by the page. Draw with matplotlib as usual after ``use_book_style()``; end the cell with
``show(fig, alt=…)``. No figure is wider than ``WIDTH``: at that width a telephone shows it at full text size.
Several figures given to one ``show`` stand side by side where there is room and below each other elsewhere.
"""

import hashlib
import html
import io
import re
from importlib import resources

import matplotlib
import matplotlib.pyplot as plt
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

WIDTH = 4.6  # inches; 331 points, about the text width of a 375 px screen

# Okabe and Ito's colour-blind-safe hues. A page may replace each by its variable, so that the dark theme
# can show a lighter tone; elsewhere the colour written here stands.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072b2", "#c75000", "#007d5b", "#a8487d", "#767676"
_VARIABLES = {
    BLUE: "--figure-blue",
    ORANGE: "--figure-orange",
    GREEN: "--figure-green",
    PURPLE: "--figure-purple",
    GREY: "--figure-grey",
}

# Neither of them is pure black or white, so that they do not change with the theme: text on coloured cells.
ON_DARK, ON_LIGHT = "#fdfdfd", "#020202"


def use_book_style() -> None:
    """Set matplotlib to the book's font and style. Call once, before drawing."""
    with resources.as_file(resources.files("attnlab") / "fonts" / "NotoSansTC-Regular-subset.otf") as path:
        font_manager.fontManager.addfont(path)
    matplotlib.rcParams.update(
        {
            # DejaVu Sans comes with matplotlib and has the mathematical signs that Noto Sans TC lacks.
            "font.family": ["Noto Sans TC", "DejaVu Sans"],
            "font.size": 10,
            "axes.titlesize": 10.5,
            "axes.unicode_minus": False,
            "axes.prop_cycle": matplotlib.cycler(color=[BLUE, ORANGE, GREEN, PURPLE]),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.figsize": (WIDTH, 3.0),
            "figure.constrained_layout.use": True,
            "image.cmap": "viridis",
            "image.interpolation": "none",
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "svg.fonttype": "none",
            "svg.hashsalt": "attnlab",
        }
    )


class Picture:
    """One figure of a page, as HTML: inline SVG with its description for those who cannot see it."""

    def __init__(self, svgs: list[str], alt: str):
        if not alt.strip():
            raise ValueError("a figure needs a description (alt), got an empty one")
        self.svgs, self.alt = svgs, alt

    def _repr_html_(self) -> str:
        label = html.escape(self.alt, quote=True)
        side_by_side = "display:flex;flex-wrap:wrap;gap:8px;justify-content:space-evenly"
        return f'<div class="figure" role="img" aria-label="{label}" style="{side_by_side}">{"".join(self.svgs)}</div>'

    def __repr__(self) -> str:
        return f"[圖：{self.alt}]"


def show(*figures: Figure, alt: str) -> Picture:
    """Make the figures into one picture of the page, and close them.

    Args:
        figures: at most WIDTH inches wide each.
        alt: what there is to see, in the language of the page.

    Raises:
        ValueError: no figure, a figure that is too wide, or an empty alt.
    """
    if not figures:
        raise ValueError("show: wanted at least one figure, got none")
    for figure in figures:
        if figure.get_figwidth() > WIDTH + 1e-9:
            raise ValueError(
                f"show: a figure may be {WIDTH} inches wide (a telephone's screen), got {figure.get_figwidth():g}; "
                "make two figures of it and give both to show"
            )
    svgs = [to_svg(figure) for figure in figures]
    for figure in figures:
        plt.close(figure)
    return Picture(svgs, alt)


def to_svg(figure: Figure) -> str:
    """The figure as an <svg> element that takes its colours from the page around it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.S)

    # matplotlib's style sheet is for everything ("*"), and inline that would be the whole page.
    svg = re.sub(r"<style[^>]*>.*?</style>\s*", "", svg, flags=re.S)
    width = 1.6 * float(re.search(r'width="([\d.]+)pt"', svg)[1])
    style = f"flex:0 1 {width:.0f}px;width:{width:.0f}px;max-width:100%;fill:currentColor;stroke-linejoin:round"
    svg = re.sub(
        r'^<svg [^>]*viewBox="([^"]+)"[^>]*>', rf'<svg viewBox="\1" style="{style}" aria-hidden="true">', svg, count=1
    )

    # Several figures share one page: references stay (made unique by the content), other ids go.
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    used = set(re.findall(r"#([\w.-]+)[\")]", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda m: f' id="{mark}-{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r"(url\(|href=\")#", rf"\1#{mark}-", svg)

    svg = re.sub(r"'Noto Sans TC'|'DejaVu Sans'", "sans-serif", svg).replace("sans-serif, sans-serif", "sans-serif")
    # Hundredths of a point are enough: half the size, the same picture. Only inside tags: labels keep their digits.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d{2})\d+", r"\1", tag[0]), svg)
    svg = re.sub(r"#000000\b", "currentColor", svg)
    svg = re.sub(r"(<text style=\")(?![^\"]*fill:)", r"\1fill: currentColor; ", svg)
    svg = re.sub(r"#ffffff\b", "var(--pst-color-background, #ffffff)", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable}, {colour})")
    return re.sub(r"\n\s*", "\n", svg).strip()


def heat_map(
    ax: Axes,
    values: Tensor,
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    x_ticks: list[str] | None = None,
    y_ticks: list[str] | None = None,
    vmin: float = 0.0,
    vmax: float = 1.0,
    numbers: str | None = None,
) -> None:
    """Draw a matrix as coloured cells: row i from the top is query i, column j from the left is key j.

    Args:
        values: (n, m).
        x_ticks, y_ticks: one name per column and row; positions counted from 0 unless given.
        vmin, vmax: the values of the darkest and the brightest colour.
        numbers: a format such as ".2f" writes the value into each cell.
    """
    values = values.detach().cpu().numpy()
    n, m = values.shape
    ax.imshow(values, vmin=vmin, vmax=vmax, aspect="auto")
    ax.set(xlabel=x_label, ylabel=y_label, title=title)
    for set_ticks, names, count in ((ax.set_xticks, x_ticks, m), (ax.set_yticks, y_ticks, n)):
        if names is not None:
            if len(names) != count:
                raise ValueError(f"heat_map: wanted {count} tick names, got {len(names)}")
            set_ticks(range(count), names)
        elif count <= 12:
            set_ticks(range(count))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if numbers is not None:
        for i in range(n):
            for j in range(m):
                bright = (values[i, j] - vmin) / (vmax - vmin) > 0.6
                colour = ON_LIGHT if bright else ON_DARK
                ax.text(j, i, format(values[i, j].item(), numbers), ha="center", va="center", color=colour, size=9)
