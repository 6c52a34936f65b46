"""Everybody can read it: axe-core's rules on every page, contrast of the figures, paper, no script."""

import json
import re
from functools import cache
from importlib import resources

import pytest
from built import HTML, PAGES, ROOT
from test_browser import LAID_OUT, address, browser  # noqa: F401  fixtures

pytestmark = pytest.mark.xdist_group("axe")  # beside the other tests with a browser, as they take long
NAMES = [*(page.name for page in PAGES), "search", "404"]
RUN = """(rules) => axe.run({runOnly: rules, resultTypes: ["violations"]}).then((found) =>
  found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))}`))"""
# Pictures with one description each, formulas and coloured words of code are nine tenths of a page's elements, and
# axe takes a minute for them; it has no rules for the first two, and for the third there is a test below.
# What is folded is opened, as axe does not look into it.
PREPARE = """() => {
  document.querySelectorAll(".figure > svg, math").forEach((element) => element.replaceChildren());
  document.querySelectorAll("pre").forEach((pre) => (pre.textContent = pre.textContent));
  document.querySelectorAll("article details").forEach((fold) => (fold.open = true));
}"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CODE = """() => [...document.querySelectorAll(".highlight pre, .highlight pre span")].map((word) =>
  `${getComputedStyle(word).color}|${getComputedStyle(word.closest(".highlight")).backgroundColor}`)"""
UNREACHABLE = """() => [...document.querySelectorAll("div.math > .formula, article pre, article .output")].every(
  (box) => box.closest("details:not([open])") || box.scrollWidth <= box.clientWidth + 1 || box.tabIndex === 0)"""
VIEWS = [(theme, width) for theme in ("light", "dark") for width in (1280, 375)]


@cache
def axe() -> str:
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_axe_and_console(name, browser, address):  # noqa: F811
    """One visit, four views: light and dark, wide and narrow."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    tab = context.new_page()
    troubles = []
    tab.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.goto(f"{address}/{name}.html", wait_until="load")
    tab.wait_for_function(LAID_OUT)
    tab.evaluate(axe())
    tab.evaluate(PREPARE)
    found = []
    for theme, width in VIEWS:
        tab.emulate_media(color_scheme=theme)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        tab.wait_for_function(UNREACHABLE)
        found += [f"{theme} {width}: {violation}" for violation in tab.evaluate(RUN, RULES)]
    context.close()
    assert found == []
    assert troubles == []


@pytest.mark.parametrize("name", NAMES)
def test_from_a_folder(name, browser):  # noqa: F811
    """file:// works: nothing asks for anything but files of the site, and nothing complains."""
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    troubles, asked = [], []
    tab.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((HTML / f"{name}.html").as_uri(), wait_until="load")
    tab.wait_for_function("document.fonts.status === 'loaded'")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    context.close()
    assert troubles == []
    assert [url for url in asked if not url.startswith((HTML.as_uri(), "data:", "blob:"))] == []


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_colours_of_figures_stand_out():
    """Lines need 3 to 1 against the page; these have 4.5, so that their labels may have their colour."""
    css = (ROOT / "_static" / "book.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"(--figure-\w+): (#\w{6})", block)) for block in css.split('data-theme="dark"]', 1))
    assert set(light) == set(dark) and len(light) >= 5
    faint = {name: contrast(colour, "#ffffff") for name, colour in light.items()}
    faint |= {f"{name} (dark)": contrast(colour, "#121212") for name, colour in dark.items()}
    assert {name: round(ratio, 2) for name, ratio in faint.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_code_stand_out(browser, address, theme):  # noqa: F811
    context = browser.new_context(color_scheme=theme)
    tab = context.new_page()
    pairs = set()
    for page in PAGES:
        tab.goto(f"{address}/{page.name}.html", wait_until="domcontentloaded")
        pairs |= set(tab.evaluate(CODE))
    context.close()
    assert len(pairs) >= 5
    hexes = {
        pair: ["#{:02x}{:02x}{:02x}".format(*map(int, re.findall(r"\d+", c)[:3])) for c in pair.split("|")]
        for pair in pairs
    }
    assert {pair: round(contrast(*two), 2) for pair, two in hexes.items() if contrast(*two) < 4.5} == {}


SELECT = """(selector) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def test_formulas_are_copied_as_latex(browser, address):  # noqa: F811
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(f"{address}/chapters/scaled-dot-product.html")

    def copied(selector, kind):
        tab.evaluate(SELECT, selector)
        tab.keyboard.press("Control+c")
        read = "(kind) => navigator.clipboard.read().then(([item]) => item.getType(kind)).then((blob) => blob.text())"
        return tab.evaluate(read, kind)

    in_line = "article p:has(math)"
    assert copied(in_line, "text/plain").startswith(r"字典裡有三種角色。序列裡第 $i$ 個位置有一個向量 $\mathbf x_i$，")
    assert r'<annotation encoding="application/x-tex">\mathbf x_i</annotation>' in copied(in_line, "text/html")
    displayed = copied("div.math", "text/plain")
    assert displayed.startswith("$$") and r"\mathbf W_Q" in displayed
    assert copied("article p:has(math) math mi", "text/plain") == "$i$"  # never in part
    assert copied("article h2", "text/plain") == "一本軟性的字典"  # anything else as ever
    context.close()


def test_paper_has_the_answers_and_no_controls(browser, address, tmp_path):  # noqa: F811
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto(f"{address}/chapters/scaled-dot-product.html")
    tab.emulate_media(media="print")
    for control in (".bd-header-article", "#menu", "#contents", ".prev-next", ".copy", ".breadcrumbs"):
        assert not tab.locator(control).first.is_visible(), control
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("article details:not([open])").count() == 0
    assert tab.locator("details.sd-dropdown p").last.is_visible()
    assert tab.locator("h1").is_visible()
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("article details:not([open])").count() > 3
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    pdf = tab.pdf(path=tmp_path / "page.pdf", format="A4")
    context.close()
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 8 <= pages <= 60


def test_without_scripts_everything_is_there(browser, address):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/chapters/scaled-dot-product.html")
    assert tab.locator("article math").first.is_visible()
    assert tab.locator("article .figure svg").first.is_visible()
    assert not tab.locator(".theme-button").is_visible()
    assert tab.locator(".prev-next a").first.is_visible()
    context.close()


def test_axe_itself_finds_faults(browser):  # noqa: F811
    """A run that finds nothing anywhere would prove nothing."""
    context = browser.new_context()
    tab = context.new_page()
    tab.set_content("<html><body><img src='x.png'><h3>x</h3></body></html>")
    tab.evaluate(axe())
    found = json.dumps(tab.evaluate(RUN, RULES))
    context.close()
    assert "image-alt" in found and "html-has-lang" in found
