"""A resolved document as the Markdown and LaTeX that notebooks show everywhere: no directive, no role, no label.

What this module has no rule for raises Unknown, so that nothing is lost without a word.
"""

import html
import re

from docutils import nodes
from markdown_text import Inline, Unknown, fence_around, is_silent, tex
from sphinx.locale import admonitionlabels
from sphinx.util.math import get_node_equation_number

LIST_OR_HEADING = re.compile(r"\A(#+|[-+]|\d+(?=[.)]))(?=\s|[.)]\s)")
MARKS = {"text-left": ":--", "text-center": ":-:", "text-right": "--:"}


class Markdown(Inline):
    """Turns blocks into Markdown."""

    def blocks(self, children) -> str:
        return "\n\n".join(filter(None, (self.block(child) for child in children)))

    def block(self, node: nodes.Node) -> str:
        if is_silent(node):
            return ""
        if isinstance(node, nodes.Admonition) and not isinstance(node, nodes.system_message):
            return self.admonition(node)
        return self.rule("block", node)(node)

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

    block_image = Inline.inline_image


def prefixed(text: str, mark: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))


def details(title: str, content: str) -> str:
    """Folded until the reader opens it. Without the empty lines the content would be taken for HTML."""
    return f"<details>\n<summary>{html.escape(title, quote=False)}</summary>\n\n{content}\n\n</details>"
