"""The figure font holds what labels need, figures with it are the same bytes each time, and the script is sound."""

import hashlib
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from fontTools.ttLib import TTFont
from sources import ROOT, code_cells, label_characters, strings

from attnlab.plotting import to_svg, use_book_style

FIGURE_FONT = ROOT / "code" / "attnlab" / "fonts" / "NotoSansTC-Regular-subset.otf"
MATH_FONT = ROOT / "_static" / "STIXTwoMath-subset.woff2"


def covered() -> set[int]:
    dejavu = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    return set(TTFont(FIGURE_FONT).getBestCmap()) | set(TTFont(dejavu).getBestCmap())


def test_every_character_of_a_label_has_a_glyph():
    wanted = label_characters()
    assert "注" in wanted and len(wanted) > 100  # the collector looked where the labels are
    missing = set(map(ord, wanted)) - covered()
    assert not missing, f"run make font: the figure font lacks {''.join(map(chr, sorted(missing)))}"


def test_chinese_comes_from_the_books_own_font():
    ideographs = {c for c in label_characters() if "\u4e00" <= c <= "\u9fff"}
    assert {ord(c) for c in ideographs} <= set(TTFont(FIGURE_FONT).getBestCmap())


def test_cards_have_glyphs_in_the_books_own_font():
    source = (ROOT / "_ext" / "sharing.py").read_text(encoding="utf-8")
    written = {character for _, text in strings(source) for character in text if ord(character) > 127}
    assert "›" in written and set(map(ord, written)) <= set(TTFont(FIGURE_FONT).getBestCmap())


def draw() -> str:
    use_book_style()
    wanted = sorted(label_characters())
    figure, axes = plt.subplots()
    for start in range(0, len(wanted), 40):
        axes.text(0, start / len(wanted), "".join(wanted[start : start + 40]))
    svg = to_svg(figure)
    plt.close(figure)
    return svg


def test_drawing_every_label_character_warns_of_no_glyph():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = draw()
    assert all(c in svg for c in label_characters())


def test_a_character_without_a_glyph_would_be_noticed():
    use_book_style()
    figure, axes = plt.subplots()
    axes.set_title("\U00020000")
    with pytest.warns(UserWarning, match="missing"):
        to_svg(figure)
    plt.close(figure)


def test_the_same_bytes_in_another_process(tmp_path):
    script = (
        "import sys, hashlib; sys.path[:0] = sys.argv[1:]; from test_fonts import draw; "
        "print(hashlib.sha256(draw().encode()).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent), str(ROOT / "code"), str(ROOT / "tools")],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "TZ": "Asia/Taipei", "HOME": str(tmp_path), "MPLCONFIGDIR": str(tmp_path)},
    )
    assert run.stdout.strip() == hashlib.sha256(draw().encode()).hexdigest()


@pytest.mark.parametrize(
    ("font", "family", "limit"), [(FIGURE_FONT, "Noto Sans TC", 300_000), (MATH_FONT, "STIX Two Math", 150_000)]
)
def test_font_is_small_named_and_licensed(font, family, limit):
    assert font.stat().st_size < limit
    names = TTFont(font)["name"]
    assert names.getDebugName(1) == family
    assert "Open Font License" in names.getDebugName(13)
    licence = (font.parent / "OFL.txt").read_text(encoding="utf-8")
    assert licence.startswith(names.getDebugName(0)) and "SIL OPEN FONT LICENSE Version 1.1" in licence


def test_collector_reads_cells_and_f_strings_but_not_prose():
    page = '# 標題\n\n散文\n\n```{code-cell} ipython3\n:tags: [hide-input]\n\n%matplotlib inline\nx = f"軸{1}線"\n```\n'
    [(line, cell)] = code_cells(page)
    assert page.splitlines()[line] == cell.splitlines()[1] == "%matplotlib inline"
    assert list(strings(cell, line)) == [(9, "軸"), (9, "線")]


def test_collector_reads_options_between_dashes_and_colon_fences():
    page = ':::{code-cell} ipython3\n---\ntags: [a]\n---\ny = "乙"\n:::\n```{note}\n"丙"\n```\n'
    [(line, cell)] = code_cells(page)
    assert list(strings(cell, line)) == [(5, "乙")]
