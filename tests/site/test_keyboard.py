"""Everything with the keyboard alone: each control is reached, seen and left again."""

import pytest
from test_browser import LAID_OUT, address, browser  # noqa: F401  fixtures

pytestmark = pytest.mark.xdist_group("browser")
# What a reader can do something with, in the order of the page.
CONTROLS = """() => (window.controls = [
  ...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']"),
].filter((e) => e.checkVisibility({ visibilityProperty: true }))).length"""
# The place of the focus among them, and what is wrong with how it is seen.
FOCUS = """() => {
  const e = document.activeElement;
  const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(e);
  const width = parseFloat(outlineWidth);
  const wrong = [];
  if (outlineStyle !== "solid" || width < 2) wrong.push("no outline");
  if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) wrong.push("invisible");
  const box = e.getClientRects()[0];
  const [left, top] = [Math.max(box.left, 0), Math.max(box.top, 0)];
  const [right, bottom] = [Math.min(box.right, innerWidth), Math.min(box.bottom, innerHeight)];
  const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (!there || !(e.contains(there) || there.contains(e))) wrong.push("off the screen or behind something");
  const around = width + parseFloat(outlineOffset);
  for (let p = e.parentElement; p !== document.body && getComputedStyle(e).position !== "fixed"; p = p.parentElement) {
    const outer = p.getBoundingClientRect();
    const inside = box.left - around >= outer.left - 0.5 && box.right + around <= outer.right + 0.5 &&
      box.top - around >= outer.top - 0.5 && box.bottom + around <= outer.bottom + 0.5;
    if (getComputedStyle(p).overflowX !== "visible" && !inside) wrong.push(`outline cut off by ${p.className}`);
  }
  return [controls.indexOf(e), wrong.map((what) => `${what}: ${e.outerHTML.slice(0, 120)}`)];
}"""


@pytest.fixture
def lesson(browser, address):  # noqa: F811
    context = browser.new_context(viewport={"width": 375, "height": 760})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(f"{address}/chapters/scaled-dot-product.html")
    yield tab
    context.close()


@pytest.mark.parametrize(("width", "theme"), [(375, "dark"), (1280, "light")])
def test_tab_visits_every_control_in_order_and_shows_it(lesson, width, theme):
    lesson.emulate_media(color_scheme=theme)
    lesson.set_viewport_size({"width": width, "height": 760})
    lesson.wait_for_function(LAID_OUT)
    lesson.keyboard.press("Tab")
    count = lesson.evaluate(CONTROLS)
    assert count > 100
    visited, troubles = [], []
    for _ in range(count):
        place, wrong = lesson.evaluate(FOCUS)
        visited.append(place)
        troubles += wrong
        lesson.keyboard.press("Tab")
    assert visited == [*range(count)]
    assert troubles == []
    assert lesson.evaluate("document.activeElement === document.body")  # out of the page again


def test_skips_to_the_text_and_opens_the_menu(lesson):
    lesson.keyboard.press("Tab")
    assert lesson.evaluate("document.activeElement.textContent") == "跳到內文"
    lesson.keyboard.press("Enter")
    assert lesson.evaluate("document.activeElement.id") == "main-content"
    lesson.keyboard.press("Tab")
    assert lesson.evaluate("document.activeElement.ariaLabel") == "目錄"
    lesson.keyboard.press("Enter")
    assert lesson.locator("#menu-dialog").is_visible()
    assert lesson.locator("#menu-dialog a", has_text="詞彙表").is_visible()
    lesson.keyboard.press("Escape")
    assert not lesson.locator("#menu-dialog").is_visible()
    assert lesson.evaluate("document.activeElement.ariaLabel") == "目錄"


def test_contents_close_where_the_reader_was_or_wanted_to_go(lesson):
    lesson.wait_for_function(LAID_OUT)
    lesson.evaluate("scrollTo(0, 5000)")
    lesson.locator(".contents-button").focus()
    before = lesson.evaluate("scrollY")
    lesson.keyboard.press("Enter")
    assert lesson.locator("#contents-dialog").is_visible()
    lesson.keyboard.press("Escape")
    lesson.wait_for_function("document.querySelector('#contents nav')")
    assert lesson.evaluate("[document.activeElement.ariaLabel, scrollY]") == ["本頁目錄", before]
    lesson.keyboard.press("Enter")
    lesson.locator("#contents-dialog a:visible").last.press("Enter")
    lesson.wait_for_function("document.querySelector('#contents nav')")
    heading = lesson.locator("section:target > :is(h2, h3)")
    assert 40 < heading.bounding_box()["y"] < 100
    lesson.keyboard.press("Tab")
    assert heading.locator("a").evaluate("(link) => link === document.activeElement")


def test_searches_from_any_page(lesson):
    lesson.keyboard.press("Control+k")
    lesson.keyboard.type("因果遮罩")
    lesson.keyboard.press("Enter")
    lesson.wait_for_url("**/search.html?q=*")
    assert lesson.locator("ul.search li").count() >= 1


def test_unfolds_code_and_answers(lesson):
    for fold in ("details.hide", "details.sd-dropdown"):
        summary = lesson.locator(f"{fold} > summary").first
        summary.focus()
        lesson.keyboard.press("Enter")
        assert lesson.evaluate("document.activeElement.parentElement.open")


def test_theme_button_says_and_remembers(lesson):
    button = lesson.locator(".theme-button")
    seen = set()
    for _ in range(3):
        button.focus()
        lesson.keyboard.press("Enter")
        seen.add((button.get_attribute("aria-label"), lesson.evaluate("document.documentElement.dataset.theme")))
    assert seen == {("深淺色：深色", "dark"), ("深淺色：淺色", "light"), ("深淺色：跟隨系統", "light")}
    button.click()
    lesson.reload()
    assert lesson.evaluate("document.documentElement.dataset.theme") == "dark"


def test_code_can_be_copied(lesson):
    box = lesson.locator(".cell_input .highlight:visible").first
    box.scroll_into_view_if_needed()
    box.locator(".copy").focus()
    lesson.keyboard.press("Enter")
    lesson.wait_for_function("document.activeElement.textContent === '已複製'")
    copied = lesson.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == box.locator("pre").text_content().strip()
