"""Touch screens lay long pages out in portions (_static/layout.js); nobody notices except by waiting less."""

import pytest
from built import PAGES
from test_browser import LAID_OUT, address, browser  # noqa: F401  fixtures

pytestmark = pytest.mark.xdist_group("browser")
LONG = "chapters/in-control"
BLOCKS = "article section section > *"
# Blocks that the browser has not laid out, as nobody has seen them yet.
SKIPPED = f"""() => [...document.querySelectorAll("{BLOCKS}")].filter((block) => block.firstElementChild &&
  !block.firstElementChild.checkVisibility({{contentVisibilityAuto: true}})).length"""
SHIFT = """() => new Promise((done) => {
  const sum = (list) => done(list.getEntries().reduce((all, entry) => all + entry.value, 0));
  new PerformanceObserver(sum).observe({ type: "layout-shift", buffered: true });
  setTimeout(done, 300, 0);
})"""
LAST = "[...document.querySelectorAll('#contents a[href^=\"#\"]')].pop()"
TOP = f"() => document.querySelector({LAST}.hash).getBoundingClientRect().top"
AT_END = "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 2"


@pytest.fixture
def tab(browser):  # noqa: F811
    context = browser.new_context(viewport={"width": 375, "height": 760}, has_touch=True)
    yield context.new_page()
    context.close()


def test_the_first_picture_needs_no_layout_of_the_rest(tab, address):  # noqa: F811
    tab.route("**/layout.js", lambda route: route.abort())
    tab.goto(f"{address}/{LONG}.html")
    blocks = tab.locator(BLOCKS).count()
    assert blocks > 50
    assert tab.evaluate(SKIPPED) > blocks / 4


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_in_the_end_everything_is_laid_out(tab, address, name):  # noqa: F811
    tab.goto(f"{address}/{name}.html")
    tab.wait_for_function(LAID_OUT)
    assert tab.evaluate(SHIFT) <= 0.02  # and nothing moved on the screen
    height = tab.evaluate("document.documentElement.scrollHeight")
    tab.add_style_tag(content=f"{BLOCKS} {{ content-visibility: visible !important }}")
    assert tab.evaluate("document.documentElement.scrollHeight") == height


def is_at_its_place(tab) -> bool:
    """The last heading of the contents: at the top of the screen, or as far up as the end of the page allows."""
    return -5 <= tab.evaluate(TOP) <= 150 or tab.evaluate(AT_END)


def test_a_link_to_a_heading_far_down_ends_there(tab, address):  # noqa: F811
    tab.goto(f"{address}/{LONG}.html", wait_until="commit")
    tab.wait_for_function(f"document.readyState !== 'loading' && {LAST}")
    target = tab.evaluate(f"() => {{ {LAST}.click(); return {LAST}.hash; }}")
    tab.wait_for_function(LAID_OUT)
    assert is_at_its_place(tab)
    tab.goto("about:blank")
    tab.goto(f"{address}/{LONG}.html{target}")
    tab.wait_for_function(LAID_OUT)
    assert is_at_its_place(tab)


def test_reloading_keeps_the_place(tab, address):  # noqa: F811
    tab.goto(f"{address}/{LONG}.html")
    tab.wait_for_function(LAID_OUT)
    tab.evaluate("scrollTo(0, 9000)")
    tab.wait_for_function("scrollY === 9000")
    tab.reload()
    tab.wait_for_function(LAID_OUT)
    tab.wait_for_function("Math.abs(scrollY - 9000) < 20")


def test_the_end_key_leads_to_the_end(tab, address):  # noqa: F811
    """Though the length of the page was only guessed when it was pressed."""
    tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    tab.goto(f"{address}/{LONG}.html", wait_until="domcontentloaded")
    assert tab.evaluate("document.documentElement.classList.contains('in-portions')")
    tab.keyboard.press("End")
    assert tab.evaluate(LAID_OUT)
    tab.wait_for_function(AT_END)
