"""What is read aloud: English halves of titles as English, and the list of references without outdated roles."""

from docutils import nodes
from sharing import ENGLISH_END
from sphinx.transforms.post_transforms import SphinxPostTransform


def setup(app):
    app.add_post_transform(EnglishInTitles)
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_citation(translator, node):
    # docutils says role="doc-biblioentry", which ARIA has withdrawn.
    translator.body.append(translator.starttag(node, "div", CLASS="citation"))


def depart_citation(translator, node):
    translator.body.append("</div>\n")


class EnglishInTitles(SphinxPostTransform):
    """縮放點積注意力 Scaled Dot-Product Attention: the second half is to be read aloud as English."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        for heading in list(self.document.findall(lambda node: isinstance(node, nodes.title | nodes.term))):
            last = heading[-1] if len(heading) and isinstance(heading[-1], nodes.Text) else nodes.Text("")
            if found := ENGLISH_END.match(last):
                heading.remove(last)
                # docutils makes lang="en" of this class.
                heading += [nodes.Text(found[1] + " "), nodes.inline("", found[2], classes=["language-en"])]
