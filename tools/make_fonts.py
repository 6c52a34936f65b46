"""Make the two font subsets of the book (``make font``): same sources, same bytes.

- code/attnlab/fonts/NotoSansTC-Regular-subset.otf: the labels of figures, for matplotlib. It holds the characters of
  all pages, prose included, because a word of the text is likely to be a label of the next figure.
- _static/STIXTwoMath-subset.woff2: formulas in the browser. It holds the characters that math-core can produce for
  this book's kind of formula, with the taller brackets, roots and sums of the font's MATH table. The tall root signs
  are made as narrow as the smallest one: Chromium reserves for every root the width of the widest sign. Primes have the
  form for exponents, which browsers would have to ask for by the feature ssty.

The sources come from the packages of tools/fonts-requirements.txt; their digests are checked.
"""

import hashlib
import string
from importlib import metadata
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sources import ROOT, label_characters, pages

NOTO = (
    "pylopdf-fonts-zh-tw",
    "pylopdf_fonts_zh_tw/NotoSansTC-Regular.otf",
    "5bab0cb3c1cf89dde07c4a95a4054b195afbcfe784d69d75c340780712237537",
)
STIX = (
    "ziamath",
    "ziamath/fonts/STIXTwoMath-Regular.ttf",
    "8f42cb183a85043a4dc3f8e41ac3821eb27bf178d68ace929ba439523622323c",
)
FIGURE_FONT = ROOT / "code" / "attnlab" / "fonts" / "NotoSansTC-Regular-subset.otf"
MATH_FONT = ROOT / "_static" / "STIXTwoMath-subset.woff2"

ASCII = set(string.printable) - set("\t\n\r\x0b\x0c")
GREEK = set("ΓΔΘΛΞΠΣΦΨΩαβγδεζηθικλμνξπρστυφχψωϵϑϕ")
SIGNS = set("±×÷·−√∞≈≠≤≥≪≫∂∇∑∏∫∈∉∝→←↑↓↔⇒°′″‖…–—¼½¾²³¹⁰⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿᵀ₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₘₙ●○■□▲△▼★☆✓✗")
CHINESE_SIGNS = set("，。、；：？！（）「」『』《》〈〉【】〔〕－～｜／％＋＝…—・　０１２３４５６７８９")


def figure_characters(root: Path = ROOT) -> set[str]:
    """What the figure font should hold; characters that Noto Sans TC lacks are left to DejaVu Sans."""
    # _ext/sharing.py writes titles and descriptions, and words of its own, on the cards.
    texts = [*pages(root), root / "_ext" / "sharing.py"]
    prose = set().union(*(path.read_text(encoding="utf-8") for path in texts))
    return {c for c in ASCII | GREEK | SIGNS | CHINESE_SIGNS | prose | label_characters(root) if c.isprintable()}


def math_characters() -> set[str]:
    """What the formula font should hold."""
    alphabets = set()
    # Latin: bold, italic, bold italic, script; double-struck; sans-serif; typewriter; Greek: bold, italic, bold italic;
    # digits: bold.
    for first, last in [
        (0x1D400, 0x1D4CF),
        (0x1D538, 0x1D56B),
        (0x1D5A0, 0x1D5D3),
        (0x1D670, 0x1D6A3),
        (0x1D6A4, 0x1D755),
        (0x1D7CE, 0x1D7D7),
    ]:
        alphabets.update(map(chr, range(first, last + 1)))
    letterlike = set("ℂℎℏℓℕℙℚℝℤℬℰℱℋℐℒℳℛℯℊℴℜℑıȷ")
    operators = set("±×÷·∘∗⋅∙−∓√∛∞∂∇∑∏∫∮∈∉∋∅∀∃∧∨¬∩∪⊂⊃⊆⊇⊕⊖⊗⊙⊥⊤∥∦∣∤⟨⟩⌊⌋⌈⌉‖∝∼≃≅≈≡≠≤≥≪≫≔≕≜≺≻≲≳⊢⊨∖⋆†‡°′″‴⊺⟂≍≐∠△□■∬✓")
    arrows = set("←↑→↓↔↕↦⇐⇒⇔⇑⇓⟵⟶⟷⟸⟹⟺⟼↪↩⇀↼⇌")
    dots = set("…⋯⋮⋱")
    accents = set("⏞⏟⎴⎵⏜⏝¯ˉ_^ˆ~˜˙¨´`ˇ˘˚‾\u0302\u0303\u0304\u0305\u0307\u0308\u030c\u0332\u20d7")
    # Spaces, the signs nobody sees (function application, …), and the variation selector of script capitals.
    spaces = set("–—‘’“”\u00a0\u2009\u200a\u2061\u2062\u2063\u2064\ufe00")
    return ASCII | GREEK | alphabets | letterlike | operators | arrows | dots | accents | spaces


def source(package: str, file: str, digest: str) -> Path:
    """The font inside an installed package, if it is the one this script was written for."""
    path = Path(str(metadata.distribution(package).locate_file(file)))
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != digest:
        raise ValueError(f"{path.name} of {package}: wanted sha256 {digest}, got {found}")
    return path


def narrow_roots(font: TTFont) -> None:
    """Squeeze the tall root signs to little more than the width of the smallest."""
    variants = font["MATH"].table.MathVariants
    smallest = font.getBestCmap()[ord("√")]
    tall = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(smallest)]
    names = {record.VariantGlyph for record in tall.MathGlyphVariantRecord}
    names |= {part.glyph for part in tall.GlyphAssembly.PartRecords}
    width = round(1.04 * font["hmtx"][smallest][0])
    for name in sorted(names - {smallest}):
        advance, left = font["hmtx"][name]
        glyph = font["glyf"][name]
        glyph.coordinates.scale((width / advance, 1))
        glyph.coordinates.toInt()
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][name] = (width, round(left * width / advance))


def primes_as_exponents(font: TTFont) -> None:
    """Let the signs ′ ″ ‴ show their large form, which is meant to be raised and made small by the formula."""
    best = font.getBestCmap()
    lookups = font["GSUB"].table.LookupList.Lookup
    tables = [getattr(table, "ExtSubTable", table) for lookup in lookups for table in lookup.SubTable]
    large = next(table.alternates for table in tables if best[ord("′")] in getattr(table, "alternates", {}))
    signs = {code: large[best[code]][0] for code in map(ord, "′″‴")}
    for table in font["cmap"].tables:
        if table.format != 14:  # that one is for variation selectors
            table.cmap.update(signs)


def make(path: Path, characters: set[str], target: Path, features: list[str], flavor: str | None = None) -> None:
    """Write the subset with only the characters the font has, and the licence beside it."""
    options = subset.Options(
        layout_features=features,
        name_IDs=["*"],
        hinting=False,
        notdef_outline=True,
        flavor=flavor,
        drop_tables=["DSIG"],
    )
    # Otherwise the time of day would be written into the font.
    with TTFont(path, recalcTimestamp=False, lazy=True) as font:
        if "MATH" in font:
            narrow_roots(font)
            primes_as_exponents(font)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[ord(c) for c in characters])
        subsetter.subset(font)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(target.name + ".part")
        subset.save_font(font, str(unfinished), options)
        unfinished.replace(target)
        notice = str(font["name"].getDebugName(0))
    licence = next(file for file in metadata.files(NOTO[0]) or [] if file.name == "LICENSE")
    text = licence.read_text(encoding="utf-8")
    (target.parent / "OFL.txt").write_text(f"{notice}\n\n{text.strip()}\n", encoding="utf-8")
    print(f"{target.relative_to(ROOT)}: {len(characters)} characters asked, {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    make(source(*NOTO), figure_characters(), FIGURE_FONT, features=["kern"])
    features = ["kern", "ssty", "dtls", "flac", "ccmp", "mark", "mkmk"]
    make(source(*STIX), math_characters(), MATH_FONT, features, flavor="woff2")
