"""What of the theme is shipped: no script of its own, and of its style sheets the rules that some page can use.

The theme's scripts weigh 1.6 MB; _static/site.js does what this book needs of them. Its style sheets are meant for
every site that could be made with it; four fifths of their rules match nothing here.
"""

import re
from itertools import groupby
from pathlib import Path

import tinycss2
from sphinx.errors import ExtensionError

THEME = "_static/styles/pydata-sphinx-theme.css"
MERGED = "_static/all.css"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NOTICE = re.compile(r"/\*!.*?\*/", re.S)  # of a licence
# Icons come as SVG (_templates/icons.html) or not at all.
ICON_FONT = re.compile(r'font-family:\s*"?(?:Font ?Awesome|FontAwesome)|^\.fa[srb]?\b|^\.fa-')


def setup(app):
    app.connect("html-page-context", choose_files, priority=900)
    app.connect("build-finished", shrink, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def choose_files(app, page, template, context, doctree):
    """Scripts: the book's own that the page needs. Style sheets: one, made below of the theme's and all others.

    Raises:
        ExtensionError: the theme has another style sheet now, or not every page has the same ones.
    """
    own = {f"_static/{path.name}" for path in (Path(app.srcdir) / "_static").iterdir()}
    body = context.get("body", "")
    # In the order of their names: Jupyter Book takes that of the folder, which differs from machine to machine.
    scripts = sorted((f for f in context["script_files"] if address(f) in own), key=address)
    context["script_files"] = [file for file in scripts if is_needed(address(file), body)]
    sheets = [address(file) for file in context["css_files"] if address(file).endswith(".css")]
    sheets.sort(key=lambda name: (name in own, name if name in own else ""))
    sheets = [THEME, *(name for name in sheets if name != THEME)]  # its template would name it by itself
    if "_static/styles/sphinx-book-theme.css" not in sheets or sheets != app.__dict__.setdefault("sheets", sheets):
        raise ExtensionError(f"polish: {page} has other style sheets than expected: {sheets}")
    context["css_files"] = [Sheet(MERGED)]


def is_needed(script: str, body: str) -> bool:
    """Interactive figures (attnlab/lab.py) name their kind, and lab-<kind>.js draws it."""
    kind = re.search(r"/lab(?:-(\w+))?\.js$", script)
    return kind is None or (f'data-kind="{kind[1]}"' if kind[1] else "data-kind=") in body


class Sheet:
    """The template asks nothing else of a style sheet."""

    def __init__(self, filename: str):
        self.filename = filename


def address(file) -> str:
    return str(getattr(file, "filename", file) or "").partition("?")[0]


def shrink(app, exception):
    """Make one style sheet of all, the theme's cut down to what the written pages and the book's scripts name.

    Raises:
        ExtensionError: a sheet is missing, or nothing much could be left out: it is not the theme this was written for.
    """
    if exception or app.builder.name != "html":
        return
    site, book = Path(app.outdir), Path(app.srcdir)
    used = names(site, book)
    whole, parts = 0, []
    for name in app.sheets:
        if not (site / name).is_file():
            raise ExtensionError(f"polish: no {name}")
        css = (site / name).read_text(encoding="utf-8")
        if (book / name).is_file():
            parts.append(COMMENT.sub("", css))
        else:
            whole += len(css)
            nodes = tinycss2.parse_stylesheet(COMMENT.sub("", css), skip_comments=True, skip_whitespace=True)
            parts += [*NOTICE.findall(css), kept(nodes, used)]
    merged = "\n".join(parts) + "\n"
    if not 0.02 < len(merged) / whole < 0.3:
        raise ExtensionError(f"polish: {whole} letters of style sheets became {len(merged)}")
    (site / MERGED).write_text(merged, encoding="utf-8")
    remove_unused(site, book)


def remove_unused(site: Path, book: Path) -> None:
    """Delete what themes and extensions copied to _static and no page names: 3 MB of scripts and fonts."""
    linked = set()
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        linked.update(re.findall(r'_static/[^"?#]+', text))
    for path in sorted((site / "_static").rglob("*")):
        name = path.relative_to(site).as_posix()
        ours = (book / name).exists() or name.startswith("_static/cards/")
        if path.is_file() and name not in linked and not ours:
            path.unlink()
    for folder in sorted((site / "_static").rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def names(site: Path, book: Path) -> set[str]:
    """Every class (.x), id (#x) and element in the pages; and every word of the scripts, which may be any of them."""
    used = set()
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        used.update(re.findall(r"<([a-zA-Z][\w-]*)", text))
        for kind, value in re.findall(r'\s(class|id)="([^"]*)"', text):
            used.update(("." if kind == "class" else "#") + word for word in value.split())
    for path in (book / "_static").rglob("*.js"):
        used.update(f".{word}" for word in re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    return used


def kept(nodes, used: set[str]) -> str:
    """The rules of a style sheet that can match; @media and the like with what is left inside them."""
    rules = []
    for node in nodes:
        if node.type == "error":
            raise ExtensionError(f"polish: line {node.source_line} of a style sheet: {node.message}")
        body = tinycss2.serialize(node.content or [])
        if node.type == "qualified-rule":
            selectors = [one for one in split(node.prelude) if can_match(one, used)]
            heads = [head for head in map(tinycss2.serialize, selectors) if not ICON_FONT.search(head + body)]
            if heads:
                rules.append(f"{','.join(heads)}{{{body}}}")
        elif node.lower_at_keyword in ("media", "supports"):
            if inner := kept(tinycss2.parse_stylesheet(node.content, True, True), used):
                rules.append(f"@{node.at_keyword}{tinycss2.serialize(node.prelude)}{{{inner}}}")
        elif not ICON_FONT.search(body):
            rules.append(node.serialize())
    return "".join(rules)


def split(prelude) -> list[list]:
    """A list of selectors at its commas, each without the space around it."""
    selectors = [list(part) for comma, part in groupby(prelude, lambda token: token == ",") if not comma]
    for selector in selectors:
        while selector and selector[0].type == "whitespace":
            del selector[0]
        while selector and selector[-1].type == "whitespace":
            del selector[-1]
    return selectors


def can_match(selector: list, used: set[str]) -> bool:
    """Whether all of its classes, ids and elements occur. What stands in brackets, and pseudo-classes, do not count."""
    before = None
    for token in selector:
        if token.type == "hash":
            name = f"#{token.value}"
        elif token.type == "ident" and before != ":":
            name = f".{token.value}" if before == "." else token.value
        else:
            name = None
        if name and name not in used:
            return False
        before = token
    return True
