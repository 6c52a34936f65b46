"""What a notebook for Colab must and must not contain, found without running it."""

import re

import nbformat
from embed import TITLE
from markdown_it import MarkdownIt

MEGABYTES = 1.5
FENCE = re.compile(r"^(?P<indent>[> ]*)(?P<fence>`{3,}|~{3,})(?!\{).*?^(?P=indent)(?P=fence)[ ]*$", re.M | re.S)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.S)
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
INLINE = re.compile(r"(?<![\\$])\$(?!\s|\$)((?:[^$\\]|\\.)+?)\$")

# MyST that stayed, by name: in the text without code and formulas, but for roles, which end in a code span.
MYST = {
    "directive": r"^[> ]*(`{3,}|~{3,}|:{3,})[ ]*\{[\w:.+-]+\}",
    "colon fence": r"^[> ]*:{3,}",
    "target": r"^[> ]*\([\w.:-]+\)=[ ]*$",
    "label of an equation": r"\$\$[ ]*\([\w.:-]+\)[ ]*$",
    "substitution": r"(?<!\\)\{\{\s*[\w.]+\s*\}\}",
    "comment": r"^%[ ]",
    "block break": r"^\+\+\+",
    "footnote": r"\[\^[^\]]+\]",
    "option": r"^[> ]*:(name|label|class|width|alt|align|tags|open|color|icon):",
    "front matter": r"\A---\n(?:.*\n)*?(jupytext|kernelspec):",
    "bare environment": r"^[> ]*\\begin\{(align|gather|equation|multline)\*?\}",
    "literal emphasis": r"\\\*\\\*",
}
ROLE = re.compile(r"(?<![\\$\w`])\{[a-zA-Z][\w:.+-]*\}`(?=[^`\n]+`)")
LINKS = {
    "empty link": r"(?<!!)\[\]\([^)]*\)",
    "address that is not complete": r"\]\((?!https?://|data:image/|mailto:)[^)]*\)",
    "the same in HTML": r"<(?:img|a) [^>]*(?:src|href)=\"(?!https?:|data:)",
    "attachment": r"attachment:",
    "active HTML": r"<(script|style|iframe)\b",
}
NETWORK = re.compile(
    r"^\s*[%!]\s*(pip|conda|apt|apt-get|git|wget|curl)\b|^\s*!|urllib|\brequests\b|\bsocket\b|torch\.hub|download=True",
    re.M,
)
LOCAL = re.compile(r"/(?:home|root|tmp|work|Users|usr)/|site-packages|\b[A-Z]:\\\\")


def faults(notebook: dict) -> list[str]:
    """One line each; none: the notebook may be published."""
    try:
        nbformat.validate(nbformat.from_dict(notebook))
    except nbformat.ValidationError as fault:
        return [f"not valid: {fault.message}"]
    found = [*of_the_whole(notebook)]
    for number, cell in enumerate(notebook["cells"]):
        text = joined(cell["source"])
        of_cell = of_code(cell, text) if cell["cell_type"] == "code" else of_markdown(text)
        found += [f"cell {number}: {fault}" for fault in of_cell]
    return found


def of_the_whole(notebook):
    if (notebook["nbformat"], notebook["nbformat_minor"]) < (4, 5):
        yield "older than format 4.5: cells without ids"
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        yield "kernelspec is not python3"
    if "widgets" in notebook["metadata"]:
        yield "state of widgets"
    if len(nbformat.writes(nbformat.from_dict(notebook)).encode()) > MEGABYTES * 1e6:
        yield f"larger than {MEGABYTES} MB"
    cells = notebook["cells"]
    if not (cells and cells[0]["cell_type"] == "markdown" and joined(cells[0]["source"]).startswith("# ")):
        yield "does not begin with its title"
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    if not (code and joined(code[0]["source"]).startswith(f"#@title {TITLE}")):
        yield "the first code cell does not carry attnlab"


def of_markdown(text):
    without_fences = FENCE.sub("", text)
    if without_fences.count("$$") % 2:
        yield "$$ without its partner"
    without_formulas = INLINE.sub("", DISPLAY.sub("", SPAN.sub("`x`", without_fences)))
    plain = without_formulas.replace("`x`", "x")
    for name, pattern in {**MYST, **LINKS}.items():
        # The label stands where the formula ends, and the fence of a directive is none of a listing.
        where = without_fences if name == "label of an equation" else plain
        if match := re.search(pattern, where, re.M):
            yield f"{name}: {match[0].strip()!r}"
    if match := ROLE.search(INLINE.sub("", DISPLAY.sub("", without_fences))):
        yield f"role: {match[0]!r}"
    if "$" in re.sub(r"\\\$", "", plain):
        yield "a $ without its partner"
    for token in MarkdownIt("commonmark").parse(INLINE.sub("$x$", without_fences)):
        for part in token.children or []:
            if part.type == "text" and "**" in part.content:
                yield f"asterisks instead of emphasis: {part.content!r}"


def of_code(cell, text):
    titled, form = text.startswith("#@title "), cell["metadata"].get("cellView") == "form"
    if titled and not form:
        yield "a title, but not folded"
    if form and not cell["metadata"].get("jupyter", {}).get("source_hidden"):
        yield "folded in Colab alone"
    if match := NETWORK.search(text):
        yield f"may need a network: {match[0].strip()!r}"
    for output in cell["outputs"]:
        yield from of_output(output, cell["metadata"].get("tags", []))


def of_output(output, tags):
    if output["output_type"] == "error" and "raises-exception" not in tags:
        yield f"an error: {output['ename']}"
    if output.get("name") == "stderr":
        yield "output on stderr"
    for kind in output.get("data", {}):
        if "widget" in kind or not kind.startswith(("text/", "image/")):
            yield f"output of kind {kind}"
    shown = {**output.get("data", {}), "text": output.get("text", "")}
    for text in (joined(value) for kind, value in shown.items() if not kind.startswith("image/p")):
        if match := LOCAL.search(text):
            yield f"a path of the machine that built it: {match[0]!r}"


def joined(source) -> str:
    return source if isinstance(source, str) else "".join(source)


def formulas(text: str) -> list[tuple[str, bool]]:
    """Each formula of a Markdown text: its LaTeX, and whether it is displayed."""
    text = FENCE.sub("", text)
    found = [(match[1], True) for match in DISPLAY.finditer(text)]
    # A code span may hold a dollar sign.
    text = SPAN.sub("", DISPLAY.sub("", text))
    return found + [(match[1], False) for match in INLINE.finditer(text)]
