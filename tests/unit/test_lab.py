"""The core of the interactive figures: what it refuses, what a page gets, what a kernel gets."""

import json
import re
from pathlib import Path

import ipywidgets
import pytest
from bs4 import BeautifulSoup

from attnlab.lab import KINDS, MOST_FRAMES, Choice, Frame, Lab, Slider, Text

STATIC = Path(__file__).parents[2] / "_static"
SIZES = Slider("size", "大小", (1.0, 2.5, 7.0), 2.5)
COLOURS = Choice("colour", "顏色", ("red", "blue"), "blue")


def draw(size, colour):
    return Frame(f'<svg viewBox="0 0 9 9">\n<circle r="{size}"/>\n<desc>{colour}</desc>\n</svg>', f"{colour} {size:g}")


def make(**changes):
    given = {"kind": "frames", "name": "dot", "controls": [SIZES, COLOURS], "draw": draw, "alt": "一個圓"} | changes
    return Lab(**given)


def in_page(lab):
    html = BeautifulSoup(lab.to_html(), "html.parser")
    return html, json.loads(html.find("script").string)


def raises(size, colour):
    raise ZeroDivisionError("three over nothing")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "film"}, "kinds frames"),
        ({"name": "Dot 1"}, "a-z"),
        ({"controls": []}, "at least one control"),
        ({"alt": " "}, "alt"),
        ({"controls": [Slider("size", "大小", (), 1), COLOURS]}, "'size' has no values"),
        ({"controls": [Slider("size", "大小", (1, 1), 1), COLOURS]}, "'size' has a value twice"),
        ({"controls": [Slider("size", "大小", (1, 2), 3), COLOURS]}, "'size' starts at 3"),
        ({"controls": [SIZES, COLOURS, Choice("shape", "形", ("o",), "o")]}, "'shape', but draw takes size, colour"),
        ({"controls": [SIZES, SIZES]}, "name of its own"),
        ({"controls": [SIZES]}, "draw raised TypeError"),
        ({"controls": [SIZES, Text("colour", "顏色", "red")]}, "text control"),
        ({"controls": [Slider("size", "大小", tuple(range(61)), 1), COLOURS]}, f"{MOST_FRAMES} frames, got 122"),
        ({"draw": raises}, "draw raised ZeroDivisionError for {'size': 2.5, 'colour': 'blue'}: three over nothing"),
        ({"draw": lambda size, colour: "<svg></svg>"}, "must return a Frame, got str"),
    ],
)
def test_a_faulty_figure_is_refused_by_its_name(changes, words):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        make(**changes)
    assert repr(changes.get("name", "dot")) in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda size: Frame(f'<svg viewBox="0 0 {size} 9"></svg>', ""), "'dot': frames of unequal size"),
        (lambda size: Frame("<svg/>", "") if size < 7 else 1 / 0, "'dot': draw raised ZeroDivisionError"),
    ],
)
def test_a_fault_in_a_later_frame_ends_the_build(fault, words, monkeypatch):
    monkeypatch.setenv("ATTNLAB_STATIC", "1")
    with pytest.raises(ValueError, match=re.escape(words)):
        make(draw=fault, controls=[SIZES])


def test_a_page_holds_every_frame_and_lines_only_once():
    _, data = in_page(make())
    assert [control["values"] for control in data["controls"]] == [[1, 2.5, 7], ["red", "blue"]]
    frames = [("\n".join(data["lines"][i] for i in frame["svg"]), frame["says"]) for frame in data["frames"]]
    wanted = [draw(size, colour) for size in SIZES.values for colour in COLOURS.values]
    assert frames == [(frame.svg, frame.says) for frame in wanted]
    assert len(set(data["lines"])) == len(data["lines"]) == 2 + 3 + 2


def test_the_first_frame_stands_in_the_page():
    html, _ = in_page(make())
    stage = html.select_one("figure.lab#lab-dot .lab-stage")
    assert stage["aria-label"] == "一個圓" and stage["role"] == "img"
    assert stage.circle["r"] == "2.5" and html.select_one("[role=status]").get_text() == "blue 2.5"


def test_every_control_has_a_label_and_its_start():
    html, _ = in_page(make(kind="query", controls=[SIZES, Text("colour", "顏色", '"<', numeric=True)]))
    for field in html.select("input, select"):
        assert html.find("label", attrs={"for": field["id"]}).get_text() in ("大小", "顏色")
    assert html.find("input", type="range")["value"] == "1" and html.output.get_text() == "2.5"
    assert html.find("input", type="text")["value"] == '"<'
    html, _ = in_page(make())
    assert html.select_one("option[selected]").get_text() == "blue"


def test_a_picture_with_parts_that_take_the_focus_is_a_group():
    html, _ = in_page(make(draw=lambda size, colour: Frame('<svg viewBox="0 0 1 1"><g tabindex="0"/></svg>', "")))
    assert html.select_one(".lab-stage")["role"] == "group"


def test_data_cannot_end_its_script_element():
    lab = make(draw=lambda size, colour: Frame('<svg viewBox="0 0 1 1"><a></a></svg>', "</script>"))
    html, data = in_page(lab)
    assert data["frames"][0]["says"] == "</script>" and len(html.find_all("figure")) == 1


@pytest.fixture
def widgets(monkeypatch):
    """The widgets made during a test."""
    made = []
    original = ipywidgets.Widget.__init__

    def watched(self, **more):
        made.append(self)
        original(self, **more)

    monkeypatch.setattr(ipywidgets.Widget, "__init__", watched)
    return made


def test_a_page_is_made_without_any_widget(widgets, monkeypatch):
    monkeypatch.setenv("ATTNLAB_STATIC", "1")
    bundle = make()._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"] and bundle["text/html"] == make().to_html()
    assert bundle["text/plain"] == "[互動圖：一個圓]" and widgets == []


def test_a_kernel_gets_widgets_that_call_draw(widgets, monkeypatch):
    monkeypatch.delenv("ATTNLAB_STATIC", raising=False)
    calls = []

    def watched(size, colour):
        calls.append((size, colour))
        return draw(size, colour)

    lab = make(draw=watched)
    assert calls == [(2.5, "blue")]  # no other frame is made beforehand
    bundle = lab._repr_mimebundle_()
    assert sorted(bundle) == ["application/vnd.jupyter.widget-view+json", "text/plain"] and widgets
    box = lab.to_widget()
    stage, size, colour, says = box.children
    assert '<circle r="2.5"/>' in stage.value and size.description == "大小"
    size.value = 7.0
    assert calls[-1] == (7.0, "blue") and '<circle r="7.0"/>' in stage.value and says.value == "blue 7"
    colour.value = "red"
    assert calls[-1] == (7.0, "red") and "red" in stage.value


def test_every_kind_has_its_script():
    script = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("lab*.js"))
    assert set(re.findall(r"labKinds(?: \?\?= {}\))?\.(\w+) =", script)) == set(KINDS)
