"""What of the theme is shipped: no script of its own, and of its style sheets the rules that some page can use.

The theme's scripts weigh 1.6 MB; _static/site.js does what this book needs of them. Its style sheets are meant for
every site that could be made with it; four fifths of their rules match nothing here.
"""

import re
from pathlib import Path

from sphinx.errors import ExtensionError

THEME = "styles/pydata-sphinx-theme.css"
SHRUNK = [THEME, "styles/sphinx-book-theme.css", "sphinx-design.min.css", "mystnb.css"]
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NOTICE = re.compile(r"/\*!.*?\*/", re.S)  # of a licence
# Part of a selector that a rule does not need to match.
ARGUMENT = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]|::?[\w-]+(?:\([^()]*\))?")
NAME = re.compile(r"[.#][\w-]+")
# Icons come as SVG (_templates/icons.html) or not at all.
ICON_FONT = re.compile(r'font-family:\s*"?(?:Font ?Awesome|FontAwesome)|^\.fa[srb]?\b|^\.fa-')


def setup(app):
    app.connect("html-page-context", choose_files, priority=900)
    app.connect("build-finished", shrink, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def choose_files(app, page, template, context, doctree):
    """Scripts: the book's own. Style sheets: the theme's, which its template would name by itself, and all others."""
    own = {f"_static/{path.name}" for path in (Path(app.srcdir) / "_static").iterdir()}
    # In the order of their names: Jupyter Book takes that of the folder, which differs from machine to machine.
    context["script_files"] = sorted((f for f in context["script_files"] if address(f) in own), key=address)
    styles = [file for file in context["css_files"] if address(file).endswith(".css")]
    styles.sort(key=lambda file: (address(file) in own, address(file) if address(file) in own else ""))
    if page == app.config.root_doc and not any("sphinx-book-theme.css" in address(file) for file in styles):
        raise ExtensionError(f"polish: no sphinx-book-theme.css among {[address(file) for file in styles]}")
    context["css_files"] = [Sheet(f"_static/{THEME}"), *styles]


class Sheet:
    """The template asks nothing else of a style sheet."""

    def __init__(self, filename: str):
        self.filename = filename


def address(file) -> str:
    return str(getattr(file, "filename", file) or "").partition("?")[0]


def shrink(app, exception):
    """Cut the theme's style sheets down to what the written pages and the book's scripts name.

    Raises:
        ExtensionError: a sheet is missing, or nothing much could be left out: it is not the theme this was written for.
    """
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    remove_unused(site, Path(app.srcdir))
    used = names(site)
    for name in SHRUNK:
        path = next(iter(site.glob(f"_static/{name[:-4]}*.css")), None)
        if path is None:
            raise ExtensionError(f"polish: the theme has no {name} any more")
        whole = path.read_text(encoding="utf-8")
        notices = "\n".join(NOTICE.findall(whole))
        path.write_text(f"{notices}\n{kept(COMMENT.sub('', whole), used)}\n", encoding="utf-8")
        if name == THEME and not 0.02 < path.stat().st_size / len(whole) < 0.5:
            raise ExtensionError(f"polish: {name} went from {len(whole)} to {path.stat().st_size} bytes")


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


def names(site: Path) -> set[str]:
    """Every class (.x), id (#x) and element in the pages; and every word of the scripts, which may be any of them."""
    used = set()
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        used.update(re.findall(r"<([a-zA-Z][\w-]*)", text))
        for kind, value in re.findall(r'\s(class|id)="([^"]*)"', text):
            used.update(("." if kind == "class" else "#") + word for word in value.split())
    for path in (site / "_static").rglob("*.js"):
        used.update(f".{word}" for word in re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    return used


def kept(css: str, used: set[str]) -> str:
    """The rules of a style sheet that can match; @media and the like with what is left inside them."""
    rules, at = [], 0
    while (opening := css.find("{", at)) >= 0:
        head = css[at:opening].strip()
        statement = head.rpartition(";")
        if statement[1]:  # @charset "UTF-8"; before the first rule
            rules.append(statement[0] + ";")
            head = statement[2].strip()
        at = closing(css, opening)
        body = css[opening + 1 : at - 1]
        if head.startswith(("@media", "@supports")):
            if inner := kept(body, used):
                rules.append(f"{head}{{{inner}}}")
        elif head.startswith("@"):
            if not ICON_FONT.search(body):
                rules.append(f"{head}{{{body}}}")
        elif selectors := [one for one in split(head) if can_match(one, used) and not ICON_FONT.search(one + body)]:
            rules.append(f"{','.join(selectors)}{{{body}}}")
    return "".join(rules)


def closing(css: str, opening: int) -> int:
    """The place after the brace that closes this one."""
    depth = 0
    for found in re.finditer(r'[{}]|"[^"]*"', css[opening:]):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return opening + found.end()
    raise ExtensionError("polish: a brace in a style sheet is never closed")


def split(selectors: str) -> list[str]:
    """At the commas outside brackets."""
    return [one.strip() for one in re.split(r",(?![^(\[]*[)\]])", selectors) if one.strip()]


def can_match(selector: str, used: set[str]) -> bool:
    plain = ARGUMENT.sub("", selector.replace("\\", ""))
    elements = re.findall(r"(?:^|[\s>+~])([a-zA-Z][\w-]*)", plain)
    return all(name in used for name in [*NAME.findall(plain), *elements])
