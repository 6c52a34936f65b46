"""The formula font as readers get it: only the characters that stand in some formula of this build.

_static/STIXTwoMath-subset.woff2 can show any formula (tools/make_fonts.py); a page would wait for 130 kB of it.
"""

import html
import re
import unicodedata
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.errors import ExtensionError

FONT = "_static/STIXTwoMath-subset.woff2"
FORMULA = re.compile(r"<math\b.*?</math>", re.S)
# The LaTeX source and words are not set in this font.
ELSEWHERE = re.compile(r"<(annotation|mtext)\b.*?</\1>", re.S)
TAG = re.compile(r"<[^>]*>")
# Forms for exponents, accents and their places, dotless letters.
FEATURES = ["ssty", "dtls", "flac", "ccmp", "mark", "mkmk", "kern"]
# What a browser puts in without being asked: the sign of \sqrt, and primes and minus signs in their own form.
ALWAYS = "√−′ "


def setup(app):
    app.connect("build-finished", shrink)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def shrink(app, exception):
    """Raises ExtensionError when there is no such font."""
    if exception or app.builder.name != "html":
        return
    path = Path(app.outdir) / FONT
    if not path.is_file():
        raise ExtensionError(f"mathfont: no {FONT}")
    pages = (page.read_text(encoding="utf-8") for page in Path(app.outdir).rglob("*.html"))
    used = set(ALWAYS).union(*map(characters, pages))
    options = subset.Options(
        layout_features=FEATURES, name_IDs=["*"], hinting=False, notdef_outline=True, flavor="woff2"
    )
    with TTFont(path, recalcTimestamp=False) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=map(ord, used | italics(used)))
        subsetter.subset(font)
        subset.save_font(font, str(path), options)


def characters(page: str) -> set[str]:
    return set().union(*(html.unescape(TAG.sub("", ELSEWHERE.sub("", found))) for found in FORMULA.findall(page)))


def italics(letters: set[str]) -> set[str]:
    """The mathematical italics that browsers show for a name of one letter."""
    letters = {c for c in letters if c.isalpha()}
    blocks = map(chr, [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C), 0x210E])
    return {c for c in blocks if unicodedata.normalize("NFKC", c) in letters}
