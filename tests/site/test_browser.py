"""The pages in a real browser: no error, nothing wider than a telephone, nothing fetched from elsewhere."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from browser import launch
from built import HTML, PAGES
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them
LAID_OUT = "performance.getEntriesByName('laid-out').length"  # see _static/layout.js
# The widest elements that stick out of the screen and do not scroll inside a box of their own.
TOO_WIDE = """
() => {
  const width = document.documentElement.clientWidth;
  const clipped = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement)
      if (p !== document.body && getComputedStyle(p).overflowX !== "visible") return true;
    return false;
  };
  return [...document.querySelectorAll("article *")]
    .filter((e) => e.getBoundingClientRect().right > width + 1 && !clipped(e))
    .map((e) => `${e.tagName}.${e.getAttribute("class")}: ${Math.round(e.getBoundingClientRect().right)}`)
    .slice(0, 5);
}
"""


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=HTML))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_telephone(page, browser, address, theme):
    context = browser.new_context(viewport={"width": 375, "height": 760}, color_scheme=theme)
    tab = context.new_page()
    troubles, foreign = [], []
    tab.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: troubles.append(str(error)))

    def local_only(route):
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            foreign.append(route.request.url)
            route.abort()

    tab.route("**/*", local_only)
    tab.goto(f"{address}/{page.name}.html", wait_until="load")
    tab.wait_for_function(LAID_OUT)
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    assert tab.evaluate(TOO_WIDE) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= 375
    if page.article.select_one("div.figure"):
        # A figure has the colours of the page: nothing of the theme's light box behind it, and text as light or dark.
        box, text = tab.evaluate(
            """() => {
              const figure = document.querySelector("article div.figure");
              const colour = (element, property) => getComputedStyle(element)[property];
              return [colour(figure.closest("div.output"), "backgroundColor"), colour(figure, "color")];
            }"""
        )
        assert box == "rgba(0, 0, 0, 0)"
        bright = sum(int(part) for part in re.findall(r"\d+", text)[:3]) / 3 > 128
        assert bright == (theme == "dark")
    context.close()
    assert foreign == []
    assert troubles == []


def test_lost_readers_find_the_site_again(browser):
    """404.html in place of an address that does not exist, as a host shows it, some folders down."""
    home = urlsplit(PAGES[0].html.find("link", rel="canonical")["href"])
    lost = f"{home.scheme}://{home.netloc}{home.path}chapters/old/lost.html"
    missing = []

    def host(route):
        path = urlsplit(route.request.url).path
        file = HTML / path.removeprefix(home.path)
        if path.startswith(home.path) and file.is_file():
            route.fulfill(path=file)
        else:
            missing.append(route.request.url)
            route.fulfill(path=HTML / "404.html", status=404, content_type="text/html; charset=utf-8")

    context = browser.new_context()
    tab = context.new_page()
    tab.route("**/*", host)
    tab.goto(lost, wait_until="networkidle")
    assert missing == [lost]
    tab.locator(".theme-button").click()  # scripts are there
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.locator("article input[name=q]").fill("死時間")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    assert tab.locator("ul.search li").count() >= 1
    tab.go_back()
    tab.locator("article p a").click()
    tab.wait_for_url(f"**{home.path}index.html")
    context.close()
