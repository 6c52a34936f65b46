"""The real search page, driven as readers do."""

import re
import unicodedata
from copy import copy
from urllib.parse import quote

import pytest
from built import HTML, PAGES
from playwright.sync_api import expect
from test_browser import address, browser  # noqa: F401  fixtures

pytestmark = pytest.mark.xdist_group("browser")
# What is looked for, and a page that must be among those found.
PRESENT = {
    "注意力": "scaled-dot-product",
    "縮放點積注意力": "scaled-dot-product",
    "點積": "scaled-dot-product",
    "因果遮罩": "scaled-dot-product",
    "查詢": "glossary",
    "變異數": "variance-study",
    "多頭注意力": "multi-head",
    "位置編碼": "positional-encoding",
    "殘差連接": "transformer-block",
    "層正規化": "transformer-block",
    "前饋網路": "transformer-block",
    "倒過來": "reverse-task",
    "死時間": "in-control",
    "系統識別": "in-control",
    "權重": "scaled-dot-product",
    "softmax": "variance-study",
    "Transformer 區塊": "transformer-block",
    "Transformer區塊": "transformer-block",
    "LSTM": "reverse-task",
    "dot product": "glossary",
    "causal_mask": "scaled-dot-product",
    "softmax 溫度": "in-control",
    "Ｓｏｆｔｍａｘ": "variance-study",
    "heads": "multi-head",
}
ABSENT = ["香蕉", "卷積神經網路", "不存在的詞語", "zebra", "注力意", "點注積意", "，，"]
# Each in some sections, all of which are wanted and no other: in the text across emphasis, in titles of boxes and
# folds, in controls of figures, in a formula; and English words that others merely begin like.
EXACT = ["反射", "路太長。 相隔", "學習目標", "怎麼數？", "沒用過 PyTorch", "每秒都變（白雜訊）", "內容對位置"]
EXACT += ["loss", "pass"]
# What is looked for, where, and what is marked there: across emphasis, over a space, in other letters, only as a whole.
MARKED = [
    ("路太長。 相隔", "index", {"路太長。", " 相隔"}),
    ("Transformer區塊", "chapters/transformer-block", {"Transformer 區塊"}),
    ("ＬＳＴＭ", "chapters/transformer-block", {"LSTM", "lstm"}),
    ("變異數是 d", "chapters/variance-study", {"變異數是 d"}),
]


@pytest.fixture(scope="module")
def tab(browser, address):  # noqa: F811
    context = browser.new_context(base_url=address)
    yield context.new_page()
    context.close()


def search(tab, query: str):
    tab.goto(f"/search.html?q={quote(query)}")
    tab.wait_for_function("document.querySelector('.search-summary').textContent")
    return tab.locator("ul.search li")


@pytest.mark.parametrize("query", PRESENT)
def test_what_is_there_is_found(tab, query):
    results = search(tab, query)
    addresses = results.locator("a").evaluate_all("links => links.map((a) => a.getAttribute('href'))")
    assert any(f"chapters/{PRESENT[query]}.html" in one for one in addresses), addresses
    assert all("#" in one for one in addresses)  # a section each
    shown = results.first.text_content()
    marks = results.locator("mark").all_text_contents()
    assert marks, shown
    wanted = re.sub(r"\s", "", unicodedata.normalize("NFKC", query).lower())
    assert any(re.sub(r"\s", "", mark.lower()) in wanted or wanted[:3] in mark.lower() for mark in marks), marks


@pytest.mark.parametrize("query", ABSENT)
def test_what_is_not_there_is_not_found(tab, query):
    text = "".join(page.article.get_text() for page in PAGES)
    assert query not in text  # or the test asks for the wrong thing
    assert search(tab, query).count() == 0
    assert "找不到" in tab.locator(".search-summary").text_content()


@pytest.mark.parametrize("query", EXACT)
def test_every_section_with_the_phrase_and_no_other_is_found(tab, query):
    begin = r"(?<![a-z0-9])" if query.isascii() else ""
    phrase = re.compile(begin + re.escape(query.lower()))
    wanted = {place for page in PAGES for place, text in sections(page) if phrase.search(text.lower())}
    links = search(tab, query).locator("a").evaluate_all("links => links.map((a) => a.pathname + a.hash)")
    assert set(links) == wanted and len(links) == len(wanted)


def sections(page):
    """Address and text of each section, without the sections inside it and without what is seen only as a picture."""
    html = copy(page.article)
    for tag in html.select("svg, script, annotation, button, .headerlink"):
        tag.extract()
    for section in reversed(html.select("section")):  # those inside come first
        yield f"/{page.name}.html#{section['id']}", section.extract().get_text()


def test_terms_that_stand_apart_are_not_said_to_stand_together(tab):
    assert search(tab, "Smith 溫度").count() >= 1
    assert "沒有連在一起" in tab.locator(".search-summary").text_content()
    assert search(tab, "Smith 預估器").count() >= 1
    assert "沒有連在一起" not in tab.locator(".search-summary").text_content()


def test_one_character_is_answered_with_words_to_choose_from(tab):
    search(tab, "頭")
    assert "只有一個字" in tab.locator(".search-summary").text_content()
    words = tab.locator(".suggestions a")
    assert words.count() >= 1
    word = words.first.text_content()
    assert "頭" in word and word != "頭"
    words.first.click()
    expect(tab.locator("article input[name=q]")).to_have_value(word)
    assert tab.locator("ul.search li").count() >= 1


def test_the_page_marks_what_was_looked_for(tab):
    search(tab, "因果遮罩")
    tab.locator("ul.search a[href*='scaled-dot-product']").first.click()
    tab.wait_for_url("**/scaled-dot-product.html#*")
    marks = tab.locator("article mark.highlighted")
    assert set(marks.all_text_contents()) == {"因果遮罩"}
    bar = tab.locator("#found-bar")
    assert "因果遮罩" in bar.text_content()
    bar.locator("button").click()
    assert marks.count() == 0 and not bar.is_visible()


@pytest.mark.parametrize(("query", "name", "marks"), MARKED)
def test_what_the_page_marks(tab, query, name, marks):
    tab.goto(f"/{name}.html?highlight={quote(query)}")
    assert set(tab.locator("article mark.highlighted").all_text_contents()) == marks
    assert f"「{query}」" in tab.locator("#found-bar").text_content()


def test_the_form_searches(tab):
    tab.goto("/search.html")
    tab.locator("article input[name=q]").fill("殘差")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    assert tab.locator("ul.search li").count() >= 1


def test_no_query_breaks_the_page(tab):
    troubles = []
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    for query in ("(", "[a-z", "\\", "*", "<b>x</b>", "，", "a" * 300, "😀"):
        tab.goto(f"/search.html?q={quote(query)}")
        assert tab.locator(".search-summary").text_content()
    assert tab.locator("article b").count() == 0
    assert troubles == []


def test_searches_from_a_folder(browser):  # noqa: F811
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(f"{(HTML / 'search.html').as_uri()}?q={quote('死時間')}")
    assert tab.locator("ul.search li").count() >= 1
    context.close()
