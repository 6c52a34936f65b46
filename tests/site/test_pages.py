"""What a reader gets: every page complete, nothing in it that belongs to the machine that built it."""

import re
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup
from built import HTML, ROOT

CHINESE = re.compile(r"[\u4e00-\u9fff]")
LEFTOVERS = {
    "a traceback": r"Traceback \(most recent",
    "a missing glyph": r"Glyph \d|missing from font|findfont",
    "a memory address": r"\b0x[0-9a-f]{6,}",
    "a path of the building machine": r"(?<![\w/.])/(?:root|home|tmp|usr|opt|work|Users)/|site-packages",
    "a progress bar": r"it/s\b|\bs/it\b|█|\d%\|",
    "a time": r"Wall time|CPU times",
    "numpy's wrapping of a number": r"np\.(?:float|int)\d|tensor\([-\d.]+, dtype",
    "a warning": r"\b(?:User|Future|Deprecation|Runtime)Warning\b",
    "a role or directive that was not processed": r"\{(?:ref|eq|term|cite|glue:\w+|download|doc|numref)\}",
    "a formula that was not processed": r"\$[^$]{1,80}\\[a-z]+[^$]*\$",
}


NOT_PROSE = ["pre", "code", "script", "style", "annotation", "svg", "figure"]


def prose(page):
    """Text nodes of the article outside code, program output and the LaTeX that formulas carry along."""
    for text in page.article.find_all(string=True):
        if not text.find_parent(["pre", "code", "script", "style", "annotation", "svg"]):
            yield str(text)


def test_language_title_and_description(page):
    assert page.html.html["lang"] == "zh-Hant-TW"
    title = re.search(r"^# (.+)$", page.source, re.M)[1]
    heading = page.article.h1
    heading.find("a", class_="headerlink").extract()
    assert heading.get_text() == title
    assert page.html.title.get_text().startswith(title)
    assert CHINESE.search(title) and re.search(r"[A-Za-z]{4}", title)  # in both languages


def test_every_cell_was_executed_and_shows_its_outputs(page):
    assert len(page.cells) == len(re.findall(r"^`{3,}\{code-cell\}", page.source, re.M))
    assert [cell["execution_count"] for cell in page.cells] == list(range(1, len(page.cells) + 1))

    def shown(cell, *hiding):
        return not {*cell["metadata"].get("tags", [])} & {"remove-cell", *hiding}

    def visible(output):
        return not output.get("metadata", {}).get("scrapbook", {}).get("mime_prefix")  # glue(…, display=False)

    with_output = [c for c in page.cells if any(map(visible, c["outputs"])) and shown(c, "remove-output")]
    assert len(page.article.select("div.cell_output")) == len(with_output)
    with_input = [cell for cell in page.cells if shown(cell, "remove-input")]
    assert len(page.article.select("div.cell_input")) == len(with_input)


def test_solutions_are_folded_and_say_so(page):
    solutions = [cell for cell in page.cells if "hide-cell" in cell["metadata"].get("tags", [])]
    assert all("".join(cell["source"]).startswith("# 解答") for cell in solutions)
    labels = [label.get_text() for label in page.article.select("details.hide > summary > p.collapsed")]
    assert labels.count("顯示解答") == len(solutions)


def test_the_lessons_have_cells_and_figures(pages):
    lessons = [page for page in pages if page.name.startswith("chapters/") and "{code-cell}" in page.source]
    assert len(lessons) >= 6
    for page in lessons:
        assert len(page.cells) >= 5, page.name
        assert page.article.select("div.figure svg"), page.name


def test_nothing_left_over(page):
    text = page.article.get_text()
    outputs = " ".join(str(output) for cell in page.cells for output in cell["outputs"])
    for what, pattern in LEFTOVERS.items():
        code_aside = pattern if what.startswith(("a role", "a formula")) else None
        haystack = " ".join(prose(page)) if code_aside else text + outputs
        found = re.search(pattern, haystack)
        assert not found, f"{what}: {haystack[max(0, found.start() - 60) : found.end() + 60]!r}"


def test_emphasis_was_understood(page):
    assert [text for text in prose(page) if "**" in text or "`" in text] == []


def test_pictures_are_described(page):
    for image in page.article.find_all("img"):
        assert CHINESE.search(image.get("alt", "")), image
    for figure in page.article.select(".figure"):
        assert figure["role"] in ("img", "group")  # a group: parts of it take the focus
        assert len(CHINESE.findall(figure["aria-label"])) >= 8, figure["aria-label"]
    assert [
        svg
        for svg in page.article.find_all("svg")
        if not svg.find_parent(class_="figure") and "sd-octicon" not in svg.get("class", [])
    ] == []


def test_ids_are_unique_and_stable(page):
    ids = [tag["id"] for tag in page.html.find_all(id=True)]
    assert sorted(i for i in set(ids) if ids.count(i) > 1) == []
    # Sphinx counts up ids for headings without a label; they shift when a heading is inserted.
    assert [tag["id"] for tag in page.article.find_all("section") if re.fullmatch(r"id\d+", tag["id"])] == []


def test_links_and_anchors_resolve(page):
    for tag in page.html.find_all(["a", "link", "script", "img"]):
        address = tag.get("href") or tag.get("src")
        if not address or urlsplit(address).scheme or address.startswith("//"):
            continue
        parts = urlsplit(address)
        target = (page.file.parent / unquote(parts.path)).resolve() if parts.path else page.file
        assert target.is_relative_to(HTML), address
        assert target.is_file(), address
        if parts.fragment and target.suffix == ".html":
            assert anchors(target, unquote(parts.fragment)), address


def anchors(file, name, parsed={}):  # noqa: B006  a cache: each page is parsed once
    if file not in parsed:
        html = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        parsed[file] = {tag["id"] for tag in html.find_all(id=True)} | {""}
    return name in parsed[file]


def test_no_widget_is_left_in_a_page(page):
    source = page.file.read_text(encoding="utf-8")
    assert "vnd.jupyter.widget" not in source
    assert "require.js" not in source and "embed-amd" not in source


def test_nothing_is_loaded_from_elsewhere(page):
    loaded = [tag.get("src") for tag in page.html.find_all(["script", "img", "iframe"])]
    loaded += [tag.get("href") for tag in page.html.find_all("link") if tag.get("rel") != ["canonical"]]
    assert [address for address in loaded if address and urlsplit(address).netloc] == []
    inline = " ".join(tag.get_text() for tag in page.html.find_all(["script", "style"]))
    assert re.findall(r"https?://[^\s\"')]+", inline) == []


def test_glued_numbers_are_there(page):
    used = set(re.findall(r"\{glue(?::\w+)?\}`([^`:]+)", page.source))
    outputs = [output for cell in page.cells for output in cell["outputs"]]
    assert used <= {output.get("metadata", {}).get("scrapbook", {}).get("name") for output in outputs}
    assert [tag for tag in page.article.select(".pasted-text, .pasted-inline") if not tag.get_text(strip=True)] == []


def test_the_single_file_programs_are_offered(pages):
    for name, program in (("scaled-dot-product", "attention_check.py"), ("reverse-task", "reverse_seq.py")):
        page = next(page for page in pages if page.name == f"chapters/{name}")
        links = [a["href"] for a in page.article.select("a.download") if a["href"].endswith(f"/{program}")]
        assert links, f"{program} is not offered on {name}"
        assert (page.file.parent / links[0]).read_bytes() == (ROOT / "code" / program).read_bytes()


def test_numbers_and_units_stay_together(pages):
    text = {}
    for page in pages:
        strings = page.article.find_all(string=True)
        text[page.name] = "".join(one for one in strings if not one.find_parent(NOT_PROSE))
    assert [found for page in text for found in re.findall(r".{8}\d (?:%|ms\b|Hz|°C|\d{3}(?!\d))", text[page])] == []
    assert len(re.findall("\\d\u00a0%", text["chapters/in-control"])) >= 10


def test_dates_are_those_of_taiwan(page):
    assert re.findall(r"\b\d{4}[-/]\d{1,2}[-/]\d{1,2}\b", " ".join(prose(page))) == []
