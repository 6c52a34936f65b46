"""A notebook is its page: the same cells, the same outputs, the same code of the book, formulas that can be typeset."""

import ast
import base64
import io
import re
import zlib
from importlib import resources
from modulefinder import ModuleFinder

import pytest
from browser import launch
from embed import GLUE
from exported import PAGES, ROOT, raw, read, source_cells
from fontTools.ttLib import TTFont
from lint import formulas, joined
from playwright.sync_api import sync_playwright

CODE = ROOT / "code"
FORM = re.compile(r'\A#@title .+ \{ display-mode: "form" \}\n')


def own_cells(page):
    """The code cells without the one that carries attnlab."""
    return [cell for cell in read(page).cells if cell.cell_type == "code"][1:]


def carried(page) -> dict[str, bytes]:
    """The files in the first code cell, read as data and not executed."""
    carrier = next(cell.source for cell in read(page).cells if cell.cell_type == "code")
    call = ast.parse(carrier).body[-1].value
    modules, packed = map(ast.literal_eval, call.args)
    files = {path: text.encode() for path, text in modules.items()}
    return files | {path: zlib.decompress(base64.b85decode(text)) for path, text in packed.items()}


@pytest.mark.parametrize("page", PAGES)
def test_the_cells_of_the_page_in_their_order(page):
    assert [FORM.sub("", cell.source) for cell in own_cells(page)] == [cell.source for cell in source_cells(page)]


@pytest.mark.parametrize("page", PAGES)
def test_tags(page):
    for cell in own_cells(page):
        tags = set(cell.metadata.get("tags", []))
        assert (cell.metadata.get("cellView") == "form") == bool(
            tags & {"hide-input", "hide-cell", "remove-input", "remove-cell"}
        )
        assert bool(cell.metadata.get("jupyter", {}).get("outputs_hidden")) == bool(tags & {"hide-cell", "hide-output"})
        assert not (cell.outputs and tags & {"remove-cell", "remove-output"})


@pytest.mark.parametrize("page", PAGES)
def test_outputs_are_baked_in(page):
    """Wherever a cell ends by showing something, there is something to see before anything was run."""
    for cell in own_cells(page):
        shows = re.search(r"^(show\(|print\(|check_)", cell.source, re.M)
        if shows and not {"remove-cell", "remove-output"} & set(cell.metadata.get("tags", [])):
            assert cell.outputs, cell.source


@pytest.mark.parametrize("page", PAGES)
def test_the_first_cell_carries_the_files_as_they_are(page):
    for path, content in carried(page).items():
        if path == "myst_nb.py":
            assert content.decode() == GLUE
        elif path.endswith(".otf"):
            assert set(fonts_characters(content)) <= set(fonts_characters((CODE / path).read_bytes()))
        else:
            assert content == (CODE / path).read_bytes(), path


def fonts_characters(content: bytes) -> dict:
    return TTFont(io.BytesIO(content)).getBestCmap()


@pytest.mark.parametrize("page", PAGES)
def test_the_font_has_every_character_of_the_code(page):
    files = carried(page)
    font = next(content for path, content in files.items() if path.endswith(".otf"))
    whole = fonts_characters((CODE / "attnlab" / "fonts" / "NotoSansTC-Regular-subset.otf").read_bytes())
    cells = [FORM.sub("", cell.source) for cell in own_cells(page)]
    code = "".join(
        [*cells, *(files[path].decode() for path in files if path.startswith("attnlab") and path.endswith(".py"))]
    )
    assert {ord(sign) for sign in code} & set(whole) <= set(fonts_characters(font))


@pytest.mark.parametrize("page", PAGES)
def test_exactly_the_modules_that_are_imported(page, tmp_path):
    """As Python's own ModuleFinder sees it, which looks at byte code."""
    script = tmp_path / "cells.py"
    sources = [re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.M) for cell in source_cells(page)]
    script.write_text("\n".join(sources), encoding="utf-8")
    finder = ModuleFinder(path=[str(CODE)])
    finder.run_script(str(script))
    expected = {
        module.__file__.removeprefix(f"{CODE}/")
        for name, module in finder.modules.items()
        if name.partition(".")[0] == "attnlab"
    }
    assert {path for path in carried(page) if path.startswith("attnlab/") and path.endswith(".py")} == expected


# Chinese punctuation in a formula is the one thing beyond LaTeX that it may pass over.
TYPESET = """([latex, displayMode]) => {
  const strict = (code) => code === "unicodeTextInMathMode" ? "ignore" : "error";
  try { katex.renderToString(latex, {displayMode, strict, throwOnError: true}); return null; }
  catch (error) { return error.message; }
}"""


@pytest.mark.xdist_group("browser")
def test_every_formula_can_be_typeset():
    """By KaTeX, in strict mode: Colab shows formulas with it, and it knows less than MathJax."""
    every = [
        (page, latex, display)
        for page in PAGES
        for cell in raw(page)["cells"]
        if cell["cell_type"] == "markdown"
        for latex, display in formulas(joined(cell["source"]))
    ]
    assert len(every) > 100
    with sync_playwright() as playwright:
        browser = launch(playwright)
        tab = browser.new_page()
        tab.add_script_tag(path=str(resources.files("sphinxcontrib") / "katex.min.js"))
        assert "nosuchcommand" in tab.evaluate(TYPESET, [r"\nosuchcommand", False])
        faults = [(page, latex, tab.evaluate(TYPESET, [latex, display])) for page, latex, display in every]
        browser.close()
    assert [fault for fault in faults if fault[2]] == []
