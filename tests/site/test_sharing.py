"""What other programs read, and that no word of the frame is in another language."""

import gzip
import re
import struct
from itertools import pairwise
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from built import HTML, PAGES
from sharing import ENGLISH_END

EXTRA = ["search.html", "404.html"]
SIMPLIFIED = set("网络码习题页录导显隐当这种应执输标签链设说读图书点击开关闭动数见复贴")
# Names and units that stand in Latin letters in any Chinese text about the subject.
NAMES = re.compile(r"Ctrl K|CC BY 4\.0|MIT|PDF|Transformer|JavaScript|\.ipynb|\.md|Colab")


def meta(page, key):
    tag = page.html.find("meta", attrs={"property": key}) or page.html.find("meta", attrs={"name": key})
    return tag["content"] if tag else None


def test_address_title_and_description(page):
    canonical = page.html.find("link", rel="canonical")["href"]
    assert urlsplit(canonical).scheme == "https"
    assert canonical.endswith("/" if page.name == "index" else f"/{page.name}.html")
    assert meta(page, "og:url") == canonical
    assert meta(page, "og:title") in page.html.title.get_text()
    assert 25 <= len(meta(page, "description")) <= 120
    assert meta(page, "og:description") == meta(page, "description")
    assert page.html.find("link", rel="icon")["href"].endswith("_static/favicon.svg")


def test_descriptions_and_titles_differ(pages):
    assert len({meta(page, "description") for page in pages}) == len(pages)
    assert len({page.html.title.get_text() for page in pages}) == len(pages)


def test_card(page):
    image = meta(page, "og:image")
    base = page.html.find("link", rel="canonical")["href"].removesuffix(f"{page.name}.html")
    content = (HTML / image.removeprefix(base)).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1200, 630)
    assert len(content) < 300_000
    assert b"matplotlib" not in content.lower()  # its version would differ from build to build


def test_titles_come_apart_where_the_chinese_ends():
    assert ENGLISH_END.match("多頭注意力 Multi-Head Attention").groups() == ("多頭注意力", "Multi-Head Attention")
    assert ENGLISH_END.match("注意力機制與 Transformer") is None


def test_sitemap_lists_the_pages(pages):
    tree = ElementTree.parse(HTML / "sitemap.xml")
    found = {element.text for element in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")}
    assert found == {page.html.find("link", rel="canonical")["href"] for page in pages}


def test_one_outline(page):
    levels = [int(tag.name[1]) for tag in page.article.find_all(re.compile("^h[1-6]$"))]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_where_one_is(page):
    trail = [item.get_text(strip=True) for item in page.html.select("nav.breadcrumbs li")]
    assert trail[:3] == ["智慧型控制", "深度學習", "注意力機制與 Transformer"]
    assert len(trail) == (3 if page.name == "index" else 4)
    assert page.html.select_one("nav.breadcrumbs [aria-current=page]").get_text() == trail[-1]


def test_previous_and_next_follow_the_contents(pages):
    for before, after in pairwise(pages):
        link = before.html.select_one(".prev-next a.right-next")
        assert (before.file.parent / link["href"]).resolve() == after.file
        link = after.html.select_one(".prev-next a.left-prev")
        assert (after.file.parent / link["href"]).resolve() == before.file


@pytest.mark.parametrize("name", [*(f"{page.name}.html" for page in PAGES), *EXTRA])
def test_the_frame_speaks_chinese(name):
    """All that is not the text itself: words, hints and labels of menus, buttons, forms, folds and admonitions."""
    html = BeautifulSoup((HTML / name).read_text(encoding="utf-8"), "html.parser")
    assert html.html["lang"] == "zh-Hant-TW"
    kept = {"title", "aria-label", "placeholder", "alt"}
    hints = [(tag, tag[key]) for tag in html.find_all(True) for key in kept & set(tag.attrs)]
    article = html.find("article", class_="bd-article")
    words = [(tag, text) for tag, text in hints if not tag.find_parent("svg") and not tag.find_parent("math")]
    words += [(tag, tag.get_text()) for tag in html.select("button, summary, .admonition-title, label")]
    if name not in EXTRA:
        article.extract()
    for script in html.find_all(["script", "style", "svg"]):
        script.extract()
    for tag in html.select("nav.bd-links li, nav.page-toc li, nav.breadcrumbs li, .prev-next"):
        tag.extract()  # titles of pages and sections
    words += [(None, text) for text in html.body.stripped_strings]
    assert len(words) >= 8
    english = [text for tag, text in words if re.search(r"[A-Za-z]{3}", NAMES.sub("", text)) and not is_text(tag)]
    assert [text for text in english if not re.search(r"[\u4e00-\u9fff]", text)] == []
    assert [text for _, text in words if SIMPLIFIED & set(text)] == []


def is_text(tag) -> bool:
    """A reference to a paper carries its English title as a hint."""
    return tag is not None and tag.name == "a" and "reference" in tag.get("class", [])


def test_scripts_speak_chinese():
    """What they write into the page: copy buttons, modes, messages."""
    says = re.compile(r"""(?:textContent|title|placeholder|"aria-label")\s*(?:\+?=|,)\s*(["'`])(.*?)\1""")
    texts = [found[1] for path in (HTML / "_static").rglob("*.js") for found in says.findall(path.read_text("utf-8"))]
    assert len(texts) >= 6
    texts = [re.sub(r"\$\{.*?\}", "", text) for text in texts]
    assert [text for text in texts if re.search("[A-Za-z]{3}", text) and not re.search(r"[\u4e00-\u9fff]", text)] == []


def test_no_style_sheet_asks_for_another_site():
    for sheet in HTML.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.S)
        text = text.replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"data:[^)]*", "", text), sheet
        for address in re.findall(r"url\(\s*[\"']?([^\"')]+)", text):
            assert address.startswith("data:") or (sheet.parent / address.partition("#")[0]).is_file(), (sheet, address)


def test_weights():
    """Of the files of one first visit, compressed; make bench measures them in a browser."""
    for page in PAGES:
        links = [tag.get("href") or tag.get("src") for tag in page.html.head.find_all(["link", "script"])]
        files = {(page.file.parent / link).resolve() for link in links if link and not urlsplit(link).scheme}
        files = {file for file in files if file.suffix in (".css", ".js")} | {page.file}
        packed = sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)
        fonts = (HTML / "_static" / "STIXTwoMath-subset.woff2").stat().st_size if page.html.find("math") else 0
        assert packed + fonts <= 200 * 1024, f"{page.name}: {(packed + fonts) / 1024:.0f} KiB"
