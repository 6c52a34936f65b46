"""The text that _static/search/search.js looks through: every section of every page, in _static/search/words.js.

Chinese has no spaces between words, so that Sphinx's index of words finds next to nothing of it. This book is small
enough to be read by the browser as a whole: a phrase is found exactly when it stands there. The file is a script,
because a page opened from a folder may not fetch anything.
"""

import html
import json
import re
import unicodedata
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

SIGNS = {"sqrt": "√", "cdot": "·", "times": "×", "pm": "±", "odot": "⊙", "sum": "∑", "int": "∫", "partial": "∂"}
SIGNS |= {"approx": "≈", "le": "≤", "ge": "≥", "ne": "≠", "in": "∈", "to": "→", "iff": "⇔", "infty": "∞"}
SIGNS |= {"varphi": "φ", "varepsilon": "ε", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖"}
SIGNS |= dict.fromkeys(["dots", "ldots", "cdots"], "…")
SIGNS |= dict.fromkeys(["mathbf", "mathsf", "mathrm", "mathbb", "mathcal", "boldsymbol", "operatorname", "text"], "")
SIGNS |= dict.fromkeys(["hat", "tilde", "underbrace", "phantom", "bigl", "bigr", "Bigl", "Bigr", "big", "Big"], "")
SIGNS |= dict.fromkeys(["left", "right", "quad", "qquad", "\\"], " ") | {sign: sign for sign in "{}_%"}
FRACTION = re.compile(r"\\d?frac ?(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[^{\\])")
TABLE = re.compile(r"\\(?:begin|end)\{\w+\*?\}(?:\{[lcr|]+\})?|&")
UNREAD = re.compile(r"<(svg|script|style)\b.*?</\1>", re.S)
LABEL = re.compile(r'aria-label="([^"]*)"')


def setup(app):
    app.connect("builder-inited", replace_index)
    app.connect("html-page-context", collect)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def replace_index(app):
    app.builder.search = False  # Sphinx's own index and page
    app.config.html_additional_pages = app.config.html_additional_pages | {"search": "search.html"}
    app.book_words = {}


def collect(app, page, template, context, doctree):
    if doctree is not None and app.builder.name == "html":
        app.book_words[page] = {
            "title": app.env.titles[page].astext(),
            "url": app.builder.get_target_uri(page),
            "sections": [words(section) for section in doctree.findall(nodes.section)],
            "terms": [term.astext() for term in doctree.findall(nodes.term) if is_in_glossary(term)],
        }


def is_in_glossary(term) -> bool:
    return isinstance(term.parent.parent.parent, addnodes.glossary)


def words(section) -> list[str]:
    """Anchor, title and text of a section without the sections inside it."""
    heading = section.next_node(nodes.title)
    lines = [" ".join(text_of(block).split()) for child in section[1:] for block in blocks(child)]
    return [section["ids"][0], heading.astext(), "\n".join(line for line in lines if line)]


def blocks(node):
    """What is a line of its own, in order."""
    if isinstance(node, nodes.section | nodes.Invisible):
        return
    text = isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline)
    if text or isinstance(node, nodes.raw) or (isinstance(node, nodes.entry) and len(node) <= 1):
        yield node
    elif isinstance(node, nodes.Element):
        for child in node:
            yield from blocks(child)


def text_of(node) -> str:
    """As it is read on the page; of a figure its description and controls, of a formula what needs no LaTeX."""
    if isinstance(node, nodes.raw):
        texts = LABEL.findall(node.astext()) + re.split("<[^>]+>", UNREAD.sub("", node.astext()))
        return " ".join(map(html.unescape, texts))
    if isinstance(node, nodes.math | nodes.math_block):
        text = TABLE.sub(" ", node.astext())
        while FRACTION.search(text):  # one in another
            text = FRACTION.sub(r"\1/", text)
        return re.sub(r"\\([A-Za-z]+|.) ?|[{}]", plain_sign, text).strip()
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(map(text_of, node))


def plain_sign(found) -> str:
    r"""A command of LaTeX as one would type it: √ for \sqrt, α for \alpha, exp for \exp."""
    name = found[1] or ""
    if name in SIGNS or not name.isalpha():
        return SIGNS.get(name, "")
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")
    except KeyError:
        return name


def write(app, exception):
    if exception or app.builder.name != "html":
        return
    pages = [app.book_words[page] for page in sorted(app.book_words, key=order(app))]
    path = Path(app.outdir) / "_static" / "search" / "words.js"
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    path.write_text(f"globalThis.bookPages = {text};\n", encoding="utf-8")


def order(app):
    """Pages as the book has them."""
    places = {page: place for place, page in enumerate(app.env.toctree_includes.get(app.config.root_doc, []))}
    return lambda page: (places.get(page, -1), page)
