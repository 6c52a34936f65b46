"""Text within a line as Markdown and LaTeX; plain_markdown.py puts it into blocks."""

import base64
import mimetypes
import re
from pathlib import Path

from docutils import nodes

# With a meaning for Markdown, inside a text that shall have none. An underscore inside a word has none.
SPECIAL = re.compile(r"[\\`*$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)")
SILENT = (nodes.comment, nodes.target, nodes.meta, nodes.substitution_definition, nodes.label)


class Unknown(Exception):
    """A node that has no form in a notebook."""

    def __init__(self, node: nodes.Node, reason: str = ""):
        kind = " ".join([type(node).__name__, *(node.get("classes", []) if isinstance(node, nodes.Element) else [])])
        super().__init__(f"{kind}{': ' if reason else ''}{reason}")
        self.node = node


class Inline:
    """Turns what stands within a line into Markdown. Addresses of other pages are those of the builder: absolute."""

    def __init__(self, builder):
        self.builder = builder  # get_node_equation_number asks for it by this name
        self.depth = 0  # of quotes, lists and boxes around
        self.in_table = False

    def rule(self, kind: str, node: nodes.Node):
        rule = getattr(self, f"{kind}_{type(node).__name__}", None)
        if rule is None:
            raise Unknown(node)
        return rule

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
            latex = latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        return f"${latex}$"

    def inline_reference(self, node) -> str:
        text = "".join(self.inline(child) for child in node)
        address = node.get("refuri", "")
        if "://" in address or address.startswith("mailto:"):
            return link(text, address)
        if address and not address.startswith("#"):
            raise Unknown(node, f"a link to {address}")
        return text  # a place on the same page, which has no address in a notebook

    inline_number_reference = inline_reference

    def inline_download_reference(self, node) -> str:
        return link(self.text_of(node), f"{self.builder.site}/_downloads/{node['filename']}")

    def inline_footnote_reference(self, node) -> str:
        return f"<sup>[{node.astext()}]</sup>"

    def inline_superscript(self, node) -> str:
        return f"<sup>{self.text_of(node)}</sup>"

    def inline_subscript(self, node) -> str:
        return f"<sub>{self.text_of(node)}</sub>"

    def inline_image(self, node) -> str:
        if "://" in node["uri"]:
            raise Unknown(node, "an image from elsewhere")
        path = Path(self.builder.srcdir) / node["uri"]
        if not path.is_file():  # Sphinx has said so
            return escaped(node.get("alt", ""))
        data = base64.b64encode(path.read_bytes()).decode()
        kind = mimetypes.guess_type(node["uri"])[0]
        return f"![{escaped(node.get('alt', ''))}](data:{kind};base64,{data})"


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
