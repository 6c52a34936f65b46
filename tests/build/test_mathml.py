"""Formulas: MathML that browsers can show, and no broken formula gets through."""

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from mathml import to_mathml
from sources import pages

ROOT = Path(__file__).resolve().parents[2]

FONT = ROOT / "_static" / "STIXTwoMath-subset.woff2"
SHAPES = r"""
\operatorname{softmax}\!\left(\frac{\mathbf Q\mathbf K^{\mathsf T}}{\sqrt{d_k}}\right)\mathbf V
\begin{bmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{bmatrix}
\begin{cases}1 & \text{若 } j \le i\\ -\infty & \text{否則}\end{cases}
\begin{aligned}a &= b\\ &\approx c\end{aligned}
\underbrace{x+y}_{\text{位置}} \propto \hat{\mathbf x} + \bar x + \tfrac12\partial
\lVert\mathbf x\rVert_2^2 \in \mathbb R^{n\times d},\ \mathcal N(0,1),\ \boldsymbol\alpha,\ \mathtt{d\_k}
\operatorname*{arg\,max}_{\theta}\sum_{i=1}^{n}\prod_j\int_0^1
\binom{n}{k} \xrightarrow{n\to\infty} \left\lfloor x\right\rfloor
""".strip().split("\n")


def shown(latex: str, display: bool = True) -> BeautifulSoup:
    """The formula without the annotation that nobody sees."""
    tree = BeautifulSoup(to_mathml(latex, display), "html.parser")
    tree.annotation.extract()
    return tree


@pytest.mark.parametrize("latex", SHAPES)
def test_kinds_of_formula_the_book_needs(latex):
    assert shown(latex).math["display"] == "block"
    assert not shown(latex, display=False).math.has_attr("display")
    assert "\\" not in shown(latex).get_text()


def test_vectors_are_bold_and_matrices_are_tables():
    assert "𝐪" in shown(r"\mathbf q").get_text()
    assert len(shown(r"\begin{bmatrix}1&2&3\\4&5&6\end{bmatrix}").find_all("mtd")) == 6


def test_a_space_at_the_end_is_part_of_the_formula():
    assert shown(r"1,\ ", display=False).get_text() == "1,\u00a0"


def test_space_after_a_row_is_not_printed():
    rows = shown(r"\begin{aligned}a &= b \\[6pt] &= [c]\end{aligned}")
    assert len(rows.find_all("mtr")) == 2
    assert rows.get_text() == "a=b=[c]"


def test_the_source_travels_along():
    tree = BeautifulSoup(to_mathml(r"a < \mathbf b", False), "html.parser")
    assert tree.annotation["encoding"] == "application/x-tex"
    assert tree.annotation.get_text() == r"a < \mathbf b"


@pytest.mark.parametrize(
    ("latex", "complaint"),
    [
        (r"\fooo{x}", "fooo"),
        (r"\frac{a", "Expected closing"),
        ("a & b", "table-like"),
        (r"x \tag{1}", "tag"),
        (r"\begin{align}a &= b\end{align}", "align.*aligned"),
        (r"\begin{equation}a\end{equation}", "equation.*aligned"),
        (r"\begin{aligned}[t]a\end{aligned}", "cannot be shown"),
        (r"\boxed{x}", "cannot be shown"),
    ],
)
def test_broken_formulas_are_refused(latex, complaint):
    with pytest.raises(ValueError, match=complaint):
        to_mathml(latex, True)


def test_the_font_has_every_character_of_every_formula():
    found = set(TTFont(FONT).getBestCmap()) | {0xFE00}  # the selector of script capitals has no glyph of its own
    formulas = [(latex, True) for latex in SHAPES]
    for page in pages():
        text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        text = re.sub(r"`[^`\n]*`", "", text)
        formulas += [(latex, True) for latex in re.findall(r"\$\$(.+?)\$\$", text, re.S)]
        formulas += [(latex, False) for latex in re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", text)]
    assert len(formulas) > 50
    for latex, display in formulas:
        tree = shown(latex, display)
        for element in tree.find_all("mtext"):
            element.extract()  # words are set in the font of the text
        missing = {c for c in tree.get_text() if ord(c) not in found and not c.isspace()}
        assert not missing, f"run make font, with {missing} in math_characters: {latex}"


def test_tall_brackets_and_roots_are_in_the_font():
    font = TTFont(FONT)
    variants = font["MATH"].table.MathVariants
    for sign in "()[]{}|‖√":
        glyph = font.getBestCmap()[ord(sign)]
        assert variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(glyph)].GlyphAssembly.PartRecords
    brace = font.getBestCmap()[ord("⏟")]
    assert brace in variants.HorizGlyphCoverage.glyphs


def build(book: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html", ".", "_build"]
    run = subprocess.run(command, cwd=book, capture_output=True, text=True)
    return run.returncode, run.stderr


@pytest.fixture
def book(tmp_path):
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / '_ext')!r})\n"
        "extensions = ['myst_parser', 'mathml']\nmyst_enable_extensions = ['dollarmath', 'amsmath']\n"
        "html_math_renderer = 'mathml'\nhtml_theme = 'basic'\nlanguage = 'zh_TW'\n"
    )
    (tmp_path / "index.md").write_text("# 首頁\n\n```{toctree}\nplain\n```\n\n見 {eq}`eq-root`，$x_1 < 2$。\n")
    (tmp_path / "plain.md").write_text("# 另一頁\n\n$$\n\\sqrt{d_k}\n$$ (eq-root)\n")
    return tmp_path


def test_numbers_links_and_no_script(book):
    assert build(book) == (0, "")
    page = BeautifulSoup((book / "_build" / "plain.html").read_text(encoding="utf-8"), "html.parser")
    [box] = page.select("div.math")
    assert box.select_one(".formula > math msqrt") and "(1)" in box.select_one(".eqno").get_text()
    index = BeautifulSoup((book / "_build" / "index.html").read_text(encoding="utf-8"), "html.parser")
    [link] = index.select(f'a[href="plain.html#{box["id"]}"]')
    assert link.get_text() == "(1)"
    assert index.select_one("span.math > math annotation").get_text() == "x_1 < 2"
    assert "MathJax" not in index.decode() and "katex" not in index.decode()


def test_punctuation_stays_with_its_formula(book):
    text = "# 頁\n\n甲（$a$），乙 $b$ 丙，**$c$**，$d$、「$e$」。`f`。`g` $h$。\n"
    (book / "plain.md").write_text(text, encoding="utf-8")
    (book / "index.md").write_text("# 首頁\n\n```{toctree}\nplain\n```\n", encoding="utf-8")
    assert build(book) == (0, "")
    page = BeautifulSoup((book / "_build" / "plain.html").read_text(encoding="utf-8"), "html.parser")
    for annotation in page.select("annotation"):
        annotation.extract()
    assert [kept.get_text() for kept in page.select("span.keep")] == ["（a），", "d、", "「e」。", "h。"]
    assert page.select_one("section p").get_text() == "甲（a），乙 b 丙，c，d、「e」。f。g h。"


def test_every_broken_formula_is_named_each_time_until_it_is_mended(book):
    good = (book / "plain.md").read_text(encoding="utf-8")
    (book / "plain.md").write_text(good + "\n壞的 $\\fooo{x}$。\n\n$$\n\\frac{a\n$$\n", encoding="utf-8")
    for _ in range(2):
        code, complaints = build(book)
        assert code == 1
        for line, formula in [(7, r"\fooo{x}"), (9, r"\frac{a")]:
            assert re.search(rf"plain\.md:{line}: WARNING: formula: .*{re.escape(formula)}", complaints)
        assert complaints.count("formula:") == 2
    assert html.escape(r"\fooo{x}") in (book / "_build" / "plain.html").read_text(encoding="utf-8")
    (book / "plain.md").write_text(good, encoding="utf-8")
    assert build(book) == (0, "")
