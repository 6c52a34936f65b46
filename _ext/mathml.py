r"""Formulas as native MathML, made at build time by math-core: the reader's browser needs a font and no script.

In _config.yml:

    sphinx:
      local_extensions:
        mathml: _ext
      config:
        html_math_renderer: mathml

_static/math.css shows the formulas in a subset of STIX Two Math; _static/layout.js makes wide ones reachable by
keyboard.
Equation numbers and {eq} are Sphinx's own. A formula that math-core does not understand is a warning with page, line
and source each time the book is built, so that -W ends the build.
"""

import html
import re
from functools import cache

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

# These would bring numbers of their own, which {eq} cannot know.
NUMBERED = re.compile(r"\\begin\{(equation|align|gather|multline|eqnarray)\}")

# math-core would print these, or write elements that browsers do not draw.
UNDRAWN = re.compile(r"\\begin\{\w+\*?\}\[[tbc]\]|\\boxed|\\b?cancel|\\xcancel|\\fbox")
# Extra space after a row, as in \\[4pt]: math-core would print the bracket.
ROW_SPACE = re.compile(r"(\\\\)\*?\[-?[\d.]+(?:pt|em|ex|mm)\]")
CLOSING, OPENING = "，。、；：？！）」』》…", "（「『《"

logger = logging.getLogger(__name__)
converter = LatexToMathML(annotation=True, fancy_error=False)


@cache
def to_mathml(latex: str, display: bool) -> str:
    """The <math> element of a formula, with its LaTeX source as annotation.

    Raises:
        ValueError: math-core does not understand the formula, or it would be shown wrongly.
    """
    if numbered := NUMBERED.search(latex):
        raise ValueError(f"\\begin{{{numbered[1]}}} numbers itself; wanted aligned inside $$ … $$ (label)")
    if undrawn := UNDRAWN.search(latex):
        raise ValueError(f"{undrawn[0]} cannot be shown by browsers")
    try:
        return converter.convert_with_local_state(ROW_SPACE.sub(r"\1", latex.strip("\n")), displaystyle=display)
    except LatexError as error:
        raise ValueError(f"at character {str(error).rstrip('.')}") from error


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None))
    app.connect("doctree-read", check)
    app.connect("env-get-outdated", read_broken_pages_again)
    app.add_post_transform(KeepPunctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def report(error, node):
    logger.warning("formula: %s; in: %s", error, node.astext().strip(), location=node, type="mathml")


def check(app, doctree):
    """Report every broken formula of a page while it is read, and remember the page."""
    for node in doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block)):
        try:
            to_mathml(node.astext(), isinstance(node, nodes.math_block))
        except ValueError as error:
            report(error, node)
            app.env.metadata[app.env.docname]["broken_formula"] = "yes"


def read_broken_pages_again(app, env, added, changed, removed):
    # Sphinx takes a page that it has read for good; without this, the second build would say nothing.
    return [page for page, fields in env.metadata.items() if fields.get("broken_formula")]


class KeepPunctuation(SphinxPostTransform):
    """Keep an inline formula on one line with its punctuation; browsers would begin a line with it."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        for formula in list(self.document.findall(nodes.math)):
            before, after = ends(formula, -1, OPENING), ends(formula, 1, CLOSING)
            if not (before or after):
                continue
            keep = nodes.inline("", "", classes=["keep"])
            formula.replace_self(keep)
            keep += [nodes.Text(before), formula, nodes.Text(after)]
            shorten(keep, -1, len(before))
            shorten(keep, 1, len(after))


def neighbour(node, step):
    """The text right before (step -1) or after (1) a node, if that is what stands there."""
    place = node.parent.index(node) + step
    found = node.parent[place] if 0 <= place < len(node.parent) else None
    return found if isinstance(found, nodes.Text) else None


def ends(node, step, signs):
    """The signs with which the neighbouring text touches the node."""
    text = neighbour(node, step) or ""
    return re.search(f"[{signs}]*$", text)[0] if step < 0 else re.match(f"[{signs}]*", text)[0]


def shorten(node, step, count):
    if count:
        text = neighbour(node, step)
        # By its place: texts are equal by their letters, and replace() would take the first 「。」 of the paragraph.
        node.parent[node.parent.index(node) + step] = nodes.Text(text[:-count] if step < 0 else text[count:])


def render(translator, node, display):
    try:
        return to_mathml(node.astext(), display)
    except ValueError as error:
        builder = translator.builder
        if not builder.env.metadata[builder.current_docname].get("broken_formula"):
            report(error, node)  # it came into the page after check, from the output of a cell
        return f"<code>{html.escape(node.astext())}</code>"


def visit_inline(translator, node):
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    translator.body.append(render(translator, node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_display(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    translator.body.append(f'<div class="formula">{render(translator, node, display=True)}</div>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode
