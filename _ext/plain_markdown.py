"""A resolved document as the Markdown and LaTeX that notebooks show everywhere: no directive, no role, no label.

What this module has no rule for raises Unknown, so that nothing is lost without a word.
"""

import base64
import html
import mimetypes
import re
from pathlib import Path

from docutils import nodes
from sphinx.locale import admonitionlabels
from sphinx.util.math import get_node_equation_number

# With a meaning for Markdown, inside a text that shall have none. An underscore inside a word has none.
SPECIAL = re.compile(r"[\\`*$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)")
LIST_OR_HEADING = re.compile(r"\A(#+|[-+]|\d+(?=[.)]))(?=\s|[.)]\s)")
SILENT = (nodes.comment, nodes.target, nodes.meta, nodes.substitution_definition, nodes.label)


class Unknown(Exception):
    """A node that has no form in a notebook."""

    def __init__(self, node: nodes.Node, reason: str = ""):
        kind = " ".join([type(node).__name__, *(node.get("classes", []) if isinstance(node, nodes.Element) else [])])
        super().__init__(f"{kind}{': ' if reason else ''}{reason}")
        self.node = node


class Markdown:
    """Turns nodes into Markdown. Addresses of other pages come from the builder, and are absolute."""

    def __init__(self, builder):
        self.builder = builder  # get_node_equation_number asks for it by this name
        self.depth = 0  # of quotes, lists and boxes around
        self.in_table = False

    # Blocks

    def blocks(self, children) -> str:
        return "\n\n".join(filter(None, (self.block(child) for child in children)))

    def block(self, node: nodes.Node) -> str:
        if is_silent(node):
            return ""
        if isinstance(node, nodes.Admonition) and not isinstance(node, nodes.system_message):
            return self.admonition(node)
        return self.rule("block", node)(node)

    def rule(self, kind: str, node: nodes.Node):
        rule = getattr(self, f"{kind}_{type(node).__name__}", None)
        if rule is None:
            raise Unknown(node)
        return rule

    def inner(self, children) -> str:
        """Blocks inside another one."""
        self.depth += 1
        text = self.blocks(children)
        self.depth -= 1
        return text

    def block_paragraph(self, node) -> str:
        text = self.text_of(node)
        start = LIST_OR_HEADING.match(text)
        if start is None:
            return text
        at = start.end() if text[0].isdigit() else 0
        return f"{text[:at]}\\{text[at:]}"

    block_compact_paragraph = block_paragraph

    def block_rubric(self, node) -> str:
        return f"**{self.text_of(node)}**"

    def block_transition(self, node) -> str:
        return "---"

    def block_literal_block(self, node) -> str:
        code = node.astext().rstrip("\n")
        fence = fence_around(code, shortest=3)
        return f"{fence}{node.get('language', '')}\n{code}\n{fence}"

    def block_math_block(self, node) -> str:
        latex = tex(node)
        if node["number"]:
            latex += rf" \tag{{{get_node_equation_number(self, node)}}}"
        # Inside quotes and lists some viewers take only formulas on one line.
        return f"$${' '.join(latex.split())}$$" if self.depth else f"$$\n{latex}\n$$"

    def block_block_quote(self, node) -> str:
        return prefixed(self.inner(node), "> ")

    def block_attribution(self, node) -> str:
        return f"— {self.text_of(node)}"

    def block_bullet_list(self, node) -> str:
        return self.list_of(node, ["-"] * len(node))

    def block_enumerated_list(self, node) -> str:
        first = node.get("start", 1)
        return self.list_of(node, [f"{first + i}." for i in range(len(node))])

    def list_of(self, node, markers) -> str:
        items = []
        for item, marker in zip(node, markers, strict=True):
            lines = self.inner(item).replace("\n", "\n" + " " * (len(marker) + 1))
            items.append(re.sub(r"[ ]+$", "", f"{marker} {lines}", flags=re.M))
        loose = any(len(item) > 1 and not isinstance(item[1], nodes.Sequential) for item in node)
        return ("\n\n" if loose else "\n").join(items)

    def block_definition_list(self, node) -> str:
        return self.blocks(node)

    def block_definition_list_item(self, node) -> str:
        *terms, definition = node
        head = "、".join(self.text_of(term) for term in terms)
        return f"**{head}**\n\n{prefixed(self.inner(definition), '> ')}"

    def block_footnote(self, node) -> str:
        label, *rest = node
        return prefixed(f"[{label.astext()}] {self.inner(rest)}", "> ")

    def admonition(self, node) -> str:
        titled = isinstance(node[0], nodes.title)
        content = self.inner(node[1:] if titled else node)
        title = node[0].astext() if titled else str(admonitionlabels[type(node).__name__])
        if "dropdown" in node.get("classes", []):
            return details(title, content)
        return prefixed(f"**{self.text_of(node[0]) if titled else title}**\n\n{content}", "> ")

    def block_container(self, node) -> str:
        if node.get("design_component") == "dropdown":
            title, *rest = node if isinstance(node[0], nodes.rubric) else [nodes.rubric("", "…"), *node]
            return details(title.astext(), self.inner(rest))
        if node.get("classes") or node.get("design_component"):
            raise Unknown(node, str(node.get("design_component", "")))
        return self.blocks(node)

    def block_table(self, node) -> str:
        if any(entry.get("morecols") or entry.get("morerows") for entry in node.findall(nodes.entry)):
            raise Unknown(node, "a cell that spans several")
        group = next(iter(node.findall(nodes.tgroup)))
        head, body = next(iter(group.findall(nodes.thead)), []), next(iter(group.findall(nodes.tbody)))
        columns = len(list(group.findall(nodes.colspec)))
        rows = [[self.table_cell(entry) for entry in row] for row in [*head, *body]]
        if not head:
            rows.insert(0, [""] * columns)
        first = next(iter(body))
        marks = [next((MARKS[c] for c in entry.get("classes", []) if c in MARKS), "---") for entry in first]
        rows.insert(1, marks)
        caption = "".join(f"**{self.text_of(child)}**\n\n" for child in node if isinstance(child, nodes.title))
        return caption + "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def table_cell(self, entry) -> str:
        if not all(isinstance(child, nodes.paragraph) for child in entry):
            raise Unknown(entry, "more than one paragraph of text in a table's cell")
        self.in_table = True
        text = "<br>".join(self.text_of(child) for child in entry)
        self.in_table = False
        return text

    def block_figure(self, node) -> str:
        return self.blocks(node)

    def block_caption(self, node) -> str:
        return self.text_of(node)

    def block_legend(self, node) -> str:
        return self.blocks(node)

    def block_image(self, node) -> str:
        if "://" in node["uri"]:
            raise Unknown(node, "an image from elsewhere")
        data = base64.b64encode((Path(self.builder.srcdir) / node["uri"]).read_bytes()).decode()
        kind = mimetypes.guess_type(node["uri"])[0]
        return f"![{escaped(node.get('alt', ''))}](data:{kind};base64,{data})"

    # Text within a line

    def text_of(self, node: nodes.Element) -> str:
        return "".join(self.inline(child) for child in node).strip()

    def inline(self, node: nodes.Node) -> str:
        if is_silent(node):
            return ""
        return self.rule("inline", node)(node)

    def inline_Text(self, node) -> str:
        text = escaped(node.astext().replace("\n", " "))
        return text.replace("|", r"\|") if self.in_table else text

    def inline_inline(self, node) -> str:
        return "".join(self.inline(child) for child in node)

    def inline_emphasis(self, node) -> str:
        return f"*{self.text_of(node)}*"

    def inline_strong(self, node) -> str:
        return f"**{self.text_of(node)}**"

    def inline_literal(self, node) -> str:
        text = node.astext().replace("|", r"\|") if self.in_table else node.astext()
        fence = fence_around(text, shortest=1)
        space = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{fence}{space}{text}{space}{fence}"

    def inline_math(self, node) -> str:
        latex = " ".join(tex(node).split())
        if self.in_table:
            latex = latex.replace("|", r"\vert ")
        return f"${latex}$"

    def inline_reference(self, node) -> str:
        text = "".join(self.inline(child) for child in node)
        address = node.get("refuri", "")
        # A place on the same page has no address in a notebook: the words stay.
        return link(text, address) if "://" in address or address.startswith("mailto:") else text

    inline_number_reference = inline_reference

    def inline_download_reference(self, node) -> str:
        return link(self.text_of(node), f"{self.builder.site}/_downloads/{node['filename']}")

    def inline_footnote_reference(self, node) -> str:
        return f"<sup>[{node.astext()}]</sup>"

    def inline_superscript(self, node) -> str:
        return f"<sup>{self.text_of(node)}</sup>"

    def inline_subscript(self, node) -> str:
        return f"<sub>{self.text_of(node)}</sub>"

    inline_image = block_image


MARKS = {"text-left": ":--", "text-center": ":-:", "text-right": "--:"}


def is_silent(node) -> bool:
    """It shows nothing on the page either, or it is the site's menu."""
    is_menu = isinstance(node, nodes.compound) and "toctree-wrapper" in node["classes"]
    return isinstance(node, SILENT) or type(node).__name__ == "index" or is_menu


def escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", text).replace("](", "]&#40;").replace("<", "&lt;").replace(">", "&gt;")


def tex(node) -> str:
    """The formula, without the signs that a notebook might take for HTML."""
    return node.astext().strip().replace("<", r"\lt ").replace(">", r"\gt ")


def fence_around(code: str, shortest: int) -> str:
    return "`" * max(shortest, *(len(run) + 1 for run in re.findall("`+", code)), 0)


def link(text: str, address: str) -> str:
    return f"[{text}]({address.replace('(', '%28').replace(')', '%29').replace(' ', '%20')})"


def prefixed(text: str, mark: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))


def details(title: str, content: str) -> str:
    """Folded until the reader opens it. Without the empty lines the content would be taken for HTML."""
    return f"<details>\n<summary>{html.escape(title, quote=False)}</summary>\n\n{content}\n\n</details>"
