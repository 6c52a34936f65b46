"""The interactive figures in a real browser, over http and from a folder, with nothing else within reach."""

import gzip
import json
from functools import partial

import pytest
from built import HTML, PAGES
from test_browser import address, browser  # noqa: F401  fixtures
from twins import assert_same_picture

from attnlab.lab import shown
from attnlab.labs.block import block_lab
from attnlab.labs.clocks import clocks_lab
from attnlab.labs.deadtime import deadtime_lab
from attnlab.labs.film import film_lab
from attnlab.labs.gain import gain_lab
from attnlab.labs.query import _place, query_lab
from attnlab.labs.reverse import draw as draw_reverse
from attnlab.labs.reverse import reverse_lab
from attnlab.labs.scaling import scaling_lab

pytestmark = pytest.mark.xdist_group("browser")

# Each figure, its page, and what makes it: None where its pictures come from a model that the page trains.
LABS = {
    "query": ("scaled-dot-product", query_lab),
    "scaling": ("variance-study", scaling_lab),
    "heads": ("multi-head", None),
    "clocks": ("positional-encoding", clocks_lab),
    "gain": ("positional-encoding", gain_lab),
    "block": ("transformer-block", block_lab),
    "reverse": ("reverse-task", reverse_lab),
    "film": ("reverse-task", film_lab),
    "deadtime": ("in-control", deadtime_lab),
}


class Figure:
    """One figure in an open page."""

    def __init__(self, context, base: str, name: str):
        self.troubles, self.foreign = [], []
        self.tab = context.new_page()
        self.tab.on("console", lambda m: self.troubles.append(m.text) if m.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.tab.route("**/*", self._local_only(base))
        self.tab.goto(f"{base}/chapters/{LABS[name][0]}.html")
        self.root = self.tab.locator(f"#lab-{name}")
        # Twice: parts of the page are laid out only as they come near, and what is below them moves.
        for _ in range(2):
            self.root.evaluate("(figure) => figure.scrollIntoView({ block: 'center' })")
            self.tab.wait_for_timeout(150)

    def _local_only(self, base):
        def decide(route):
            if route.request.url.startswith((base, "data:")):
                route.continue_()
            else:
                self.foreign.append(route.request.url)
                route.abort()

        return decide

    def control(self, name):
        return self.root.locator(f"[name={name}]")

    def output(self, name) -> str:
        """What stands beside a slider."""
        return self.control(name).evaluate("(e) => e.nextElementSibling.value")

    @property
    def svg(self) -> str:
        return self.root.locator(".lab-stage").inner_html()

    @property
    def says(self) -> str:
        return self.root.locator(".lab-says").text_content()  # whether it is on the screen or not

    @property
    def data(self) -> dict:
        return json.loads(self.root.locator("script").text_content())

    def value(self, control: dict):
        """Of one control, as draw gets it."""
        field = self.control(control["name"])
        typed = field.input_value()
        return typed if field.get_attribute("type") == "text" else control["values"][int(typed)]

    def values(self) -> dict:
        return {control["name"]: self.value(control) for control in self.data["controls"]}


@pytest.fixture(params=["http", "file"])
def base(request):
    return request.getfixturevalue("address") if request.param == "http" else HTML.as_uri()


@pytest.fixture
def open_figure(browser, base):  # noqa: F811  the fixture, not the import
    """Opens a figure; afterwards nothing was fetched from elsewhere and no script complained."""
    opened, contexts = [], []

    def open_(name, **options):
        contexts.append(browser.new_context(viewport={"width": 375, "height": 760}, has_touch=True, **options))
        opened.append(Figure(contexts[-1], base, name))
        return opened[-1]

    yield open_
    for context in contexts:
        context.close()
    for figure in opened:
        assert figure.foreign == [] and figure.troubles == []


def drawn_by_python(figure, name):
    """What the figure must show for the values that its controls have."""
    values = figure.values()
    if LABS[name][1] is not None:
        frame = LABS[name][1]().frame(**values)
        return frame.svg, frame.says
    data, index = figure.data, 0
    for control in data["controls"]:
        index = index * len(control["values"]) + control["values"].index(values[control["name"]])
    frame = data["frames"][index]
    return "\n".join(data["lines"][line] for line in frame["svg"]), frame["says"]


def test_the_book_has_these_figures_and_no_others():
    found = {
        figure["id"].removeprefix("lab-"): page.name.removeprefix("chapters/")
        for page in PAGES
        for figure in page.article.select("figure.lab")
    }
    assert found == {name: page for name, (page, _) in LABS.items()}


@pytest.mark.parametrize("name", LABS)
def test_every_control_changes_the_picture_to_what_python_draws(open_figure, name):
    figure = open_figure(name)
    for control in figure.data["controls"]:
        field = figure.control(control["name"])
        before = figure.svg, figure.says
        if field.get_attribute("type") == "range":
            acts = [partial(field.press, key) for key in ("End", "ArrowLeft", "Home")]
        elif field.get_attribute("type") == "text":
            acts = [partial(field.fill, "9081726354")]
        else:
            acts = [partial(field.select_option, index=i) for i in reversed(range(len(control["values"])))]
        seen = set()
        for act in acts:
            act()
            svg, says = drawn_by_python(figure, name)
            assert_same_picture(figure.svg, svg)
            assert_same_picture(figure.says, says)
            if field.get_attribute("type") == "range":
                spoken = field.get_attribute("aria-valuetext")
                assert spoken == shown(figure.value(control)) == figure.output(control["name"])
            seen.add((figure.svg, figure.says))
        assert seen - {before}, control["name"]


@pytest.mark.parametrize("name", LABS)
def test_controls_are_labelled_seen_and_large_enough_to_touch(open_figure, name):
    figure = open_figure(name)
    fields = figure.root.locator("input, select, button").all()
    assert fields
    for field in fields:
        assert field.evaluate("(e) => (e.tagName === 'BUTTON' ? e : e.labels[0]).textContent").strip()
        box = field.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24
        assert box["x"] >= 0 and box["x"] + box["width"] <= 375
        field.focus()
        figure.tab.keyboard.press("Shift+Tab")
        figure.tab.keyboard.press("Tab")  # so that the browser takes it for the keyboard's focus
        assert field.evaluate("(e) => e === document.activeElement && getComputedStyle(e).outlineStyle") == "solid"


@pytest.mark.parametrize("name", ["scaling", "clocks", "film"])
def test_nothing_moves_until_play_is_pressed(open_figure, name):
    figure = open_figure(name, reduced_motion="reduce")
    before = figure.svg
    figure.tab.wait_for_timeout(1000)
    assert figure.svg == before
    button = figure.root.locator("button")
    button.click()
    assert button.text_content() == "暫停"
    moved = f"(was) => document.querySelector('#lab-{name} .lab-stage').innerHTML !== was"
    figure.tab.wait_for_function(moved, arg=before)
    button.click()
    assert button.text_content() == "播放"
    stopped = figure.svg
    figure.tab.wait_for_timeout(900)
    assert figure.svg == stopped != before


@pytest.mark.parametrize("name", LABS)
def test_without_scripts_the_first_frame_stands(open_figure, name):
    figure = open_figure(name, java_script_enabled=False)
    assert figure.root.locator(".lab-stage svg").is_visible() and len(figure.says) > 10
    assert not figure.root.locator("form").is_visible()


def test_the_query_is_dragged_with_mouse_and_finger(open_figure):
    figure = open_figure("query")

    def on_screen(x, y):
        box = figure.root.locator("svg").bounding_box()
        left, top = _place(0, x, y)
        scale = box["width"] / 340
        return box["x"] + scale * left, box["y"] + scale * top

    figure.tab.mouse.move(*on_screen(2.0, 0.5))
    figure.tab.mouse.down()
    figure.tab.mouse.move(*on_screen(0, 0), steps=3)
    figure.tab.mouse.move(*on_screen(-2, 1.5), steps=3)
    figure.tab.mouse.up()
    assert figure.values()["x"] == -2 and figure.values()["y"] == 1.5
    figure.tab.mouse.move(*on_screen(1, 1))  # no button is pressed any more
    assert figure.values()["x"] == -2
    figure.tab.touchscreen.tap(*on_screen(1, -1))
    assert figure.values()["x"] == 1 and figure.values()["y"] == -1
    assert_same_picture(figure.svg, query_lab().frame(**figure.values()).svg)
    touch = "(e) => getComputedStyle(e).touchAction"
    assert figure.root.locator("[data-drag]").first.evaluate(touch) == "none"
    assert figure.root.locator(".lab-stage").evaluate(touch) == "auto"  # the page scrolls beside the plane


def test_outputs_say_where_they_looked_when_pointed_at_and_tabbed_to(open_figure):
    figure = open_figure("reverse")
    outputs = figure.root.locator("g[data-set]")
    outputs.nth(6).hover()
    assert "第 6 個輸出" in figure.says and figure.values()["query"] == 6
    outputs.nth(2).focus()
    assert "第 2 個輸出" in figure.says
    figure.tab.keyboard.press("Tab")
    assert "第 3 個輸出" in figure.says
    assert figure.tab.evaluate("document.activeElement.dataset.set") == "query=3"
    assert "看得最多的是輸入 6" in outputs.nth(3).get_attribute("aria-label")


@pytest.mark.parametrize("typed", ["", "12345", "123456789012", "12345abcde", "<b>1</b>"])
def test_wrong_digits_get_a_friendly_message(open_figure, typed):
    figure = open_figure("reverse")
    figure.control("digits").fill(typed)
    assert figure.says == draw_reverse(typed, 0).says
    figure.control("digits").fill("0123456789")
    assert "9 8 7 6 5 4 3 2 1 0（全對）" in figure.says


def test_a_row_of_a_map_is_pointed_at(open_figure):
    figure = open_figure("heads")
    figure.root.locator("rect[data-set='query=9']").hover()
    assert figure.values()["query"] == 9 and "查詢在位置 9" in figure.says


def test_forward_pass_takes_less_than_5_ms(open_figure):
    figure = open_figure("reverse")
    middle = figure.tab.evaluate(
        """() => {
          const data = JSON.parse(document.querySelector("#lab-reverse script").textContent);
          const kind = labKinds.reverse(data);
          const digits = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3];
          const times = Array.from({ length: 101 }, () => {
            const begin = performance.now();
            kind.forward(digits);
            return performance.now() - begin;
          });
          return times.sort((a, b) => a - b)[50];
        }"""
    )
    assert middle < 5


def test_no_page_gains_more_than_60_kib_from_its_figures():
    for page in PAGES:
        figures = page.article.select("figure.lab")
        weight = sum(len(gzip.compress(str(figure).encode())) for figure in figures)
        scripts = sum(len(gzip.compress(path.read_bytes())) for path in (HTML / "_static").glob("lab*"))
        assert weight + scripts <= 60 * 1024, page.name
