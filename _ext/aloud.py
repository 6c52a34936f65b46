"""What is read aloud: English halves of titles as English, folded code by what it is, no outdated roles."""

import html

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from sharing import ENGLISH_END
from sphinx.transforms.post_transforms import SphinxPostTransform


def setup(app):
    app.add_post_transform(EnglishInTitles)
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.add_node(HideCodeCellNode, override=True, html=(visit_folded, depart_HideCellInput))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_citation(translator, node):
    # docutils says role="doc-biblioentry", which ARIA has withdrawn.
    translator.body.append(translator.starttag(node, "div", CLASS="citation"))


def depart_citation(translator, node):
    translator.body.append("</div>\n")


def visit_folded(translator, node):
    # MyST-NB's own says aria-label="Toggle hidden content", whatever the language and the words that are seen.
    show, hide = html.escape(node["prompt_show"]), html.escape(node["prompt_hide"])
    if node.astext().startswith("# 解答"):
        # Who is still at work on an exercise must not open its solution by accident.
        show, hide = "顯示解答", "收起解答"
    classes = " ".join(["admonition", "hide", *node["classes"]])
    translator.body.append(
        f'<details class="{classes}"><summary>'
        f'<p class="collapsed admonition-title">{show}</p><p class="expanded admonition-title">{hide}</p></summary>\n'
    )


class EnglishInTitles(SphinxPostTransform):
    """縮放點積注意力 Scaled Dot-Product Attention: the second half is to be read aloud as English."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        for heading in list(self.document.findall(lambda node: isinstance(node, nodes.title | nodes.term))):
            last = heading[-1] if len(heading) and isinstance(heading[-1], nodes.Text) else nodes.Text("")
            if isinstance(heading, nodes.term) and last.isascii() and last == heading.astext():
                heading["classes"].append("language-en")
            elif found := ENGLISH_END.match(last):
                heading.remove(last)
                # docutils makes lang="en" of this class.
                heading += [nodes.Text(found[1] + " "), nodes.inline("", found[2], classes=["language-en"])]
