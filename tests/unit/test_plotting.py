"""Figures: one picture of the page, in its colours, with words for those who do not see it."""

import re
import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgba

from attnlab import plotting
from attnlab.plotting import BLUE, ORANGE, WIDTH, heat_map, show, to_svg, use_book_style


@pytest.fixture(autouse=True)
def style():
    use_book_style()
    yield
    plt.close("all")


def curve(title="變異數", slope=1.0):
    figure, axes = plt.subplots()
    axes.plot([0, 1, 2], [0, slope, 4 * slope])
    axes.plot([0, 1], [1, 0], color=ORANGE)
    axes.axvspan(0.5, 0.7, color=BLUE, alpha=0.3)
    axes.set(title=title, xlabel="位置差 k")
    return figure


def test_svg_is_well_formed_and_carries_no_date_and_no_metadata():
    svg = to_svg(curve())
    ElementTree.fromstring(svg.replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ', 1))
    assert not re.search(r"20\d\d-\d\d|metadata|<\?xml|DOCTYPE|<!--|matplotlib", svg)


def test_text_is_text():
    svg = to_svg(curve("注意力權重"))
    assert re.search(r"<text[^>]*>注意力權重</text>", svg)
    assert "Noto" not in svg  # the reader's own fonts show it


def test_labels_keep_their_digits():
    svg = to_svg(curve("0.5379"))
    assert re.search(r"<text[^>]*>0\.5379</text>", svg)
    assert not re.search(r"<[^>]*\d\.\d{3}", svg)  # coordinates are shortened


def test_colours_follow_the_page():
    svg = to_svg(curve())
    assert "var(--figure-blue, #0072b2)" in svg and "var(--figure-orange, #c75000)" in svg
    assert "#000000" not in svg and "currentColor" in svg
    assert all("fill: currentColor" in text for text in re.findall(r"<text [^>]*>", svg))


def test_white_becomes_the_background_of_the_page():
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], color="#ffffff")
    assert re.search(r"stroke: var\(--pst-color-background, #ffffff\)", to_svg(figure))


def test_ids_are_unique_over_several_figures_and_references_resolve():
    svgs = [to_svg(curve(slope=slope)) for slope in (1.0, 2.0, 3.0)]
    ids = re.findall(r'\bid="([^"]+)"', "".join(svgs))
    assert ids and len(ids) == len(set(ids))
    for svg in svgs:
        own = set(re.findall(r'\bid="([^"]+)"', svg))
        references = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
        assert references and {a or b for a, b in references} <= own


def test_same_figure_same_bytes():
    assert to_svg(curve()) == to_svg(curve())


def test_show_puts_the_figures_side_by_side_and_closes_them():
    picture = show(curve(), curve(slope=2.0), alt='兩條曲線：<左> 與 "右"')
    page = picture._repr_html_()
    assert page.count("<svg") == 2
    assert 'role="img" aria-label="兩條曲線：&lt;左&gt; 與 &quot;右&quot;"' in page
    assert "aria-hidden" in page  # the label speaks for the parts
    assert not plt.get_fignums()
    assert "0x" not in repr(picture)


@pytest.mark.parametrize("alt", ["", "  \n"])
def test_show_wants_a_description(alt):
    with pytest.raises(ValueError, match="alt"):
        show(curve(), alt=alt)


def test_show_wants_a_figure():
    with pytest.raises(ValueError, match="at least one figure, got none"):
        show(alt="圖")


def test_show_refuses_a_figure_wider_than_a_telephone():
    figure, _ = plt.subplots(figsize=(WIDTH + 0.1, 2))
    with pytest.raises(ValueError, match=f"{WIDTH} inches.*4.7"):
        show(figure, alt="太寬")
    assert "<svg" in show(plt.subplots(figsize=(WIDTH, 2))[0], alt="剛好")._repr_html_()


def test_heat_map_has_queries_from_above_and_keys_from_the_left():
    values = torch.zeros(2, 3)
    values[0, 2] = 1.0
    figure, axes = plt.subplots()
    heat_map(axes, values, x_label="鍵 j", y_label="查詢 i")
    [image] = axes.get_images()
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())

    def colour_at(row, column):
        x, y = axes.transData.transform((column, row))
        return pixels[round(len(pixels) - y), round(x)] / 255

    assert colour_at(0, 2) == pytest.approx(image.cmap(1.0), abs=0.01)
    assert colour_at(1, 0) == pytest.approx(image.cmap(0.0), abs=0.01)
    assert axes.transData.transform((0, 0))[1] > axes.transData.transform((0, 1))[1]  # row 0 is above row 1
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("鍵 j", "查詢 i")


def test_heat_map_writes_numbers_that_can_be_read_on_their_cell():
    values = torch.tensor([[0.04, 0.96]], requires_grad=True)
    axes = plt.figure().add_subplot()
    heat_map(axes, values, x_label="", y_label="", numbers=".2f")
    assert [text.get_text() for text in axes.texts] == ["0.04", "0.96"]

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgba(colour)[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    image = axes.get_images()[0]
    for text, value in zip(axes.texts, (0.04, 0.96), strict=True):
        cell, ink = luminance(image.cmap(value)), luminance(text.get_color())
        assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) > 4.5  # WCAG's bound for text
        assert text.get_color() in (plotting.ON_DARK, plotting.ON_LIGHT)


def test_heat_map_wants_one_name_per_tick():
    _, axes = plt.subplots()
    with pytest.raises(ValueError, match="wanted 3 tick names, got 2"):
        heat_map(axes, torch.zeros(2, 3), x_label="", y_label="", x_ticks=["a", "b"])


def test_no_style_sheet_reaches_the_page_around_the_figure():
    figure, ax = plt.subplots()
    ax.plot([0, 1])
    assert "<style" not in to_svg(figure)
