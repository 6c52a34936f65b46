"""A number and its unit stay on one line: 95.9 % or 7 ms with a space that does not break, also after a glued number.
So do the groups of three digits of a large number: 9 194.

Only on the site; the sources keep their plain spaces, which are easier to edit.
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

UNIT = r"(?:%|°C|[nµm]?s|k?Hz|dB|kB|KiB|MB|GB)(?![A-Za-z])"
BETWEEN = re.compile(rf"(?<=\d) (?={UNIT}|\d{{3}}(?!\d))")
AT_BEGIN = re.compile(rf"^ (?={UNIT})")


def setup(app):
    app.add_post_transform(KeepUnits)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class KeepUnits(SphinxPostTransform):
    default_priority = 800  # after the glued numbers have come in
    formats = ("html",)

    def run(self, **kwargs):
        for text in list(self.document.findall(is_prose)):
            kept = BETWEEN.sub("\u00a0", text)
            if follows_a_digit(text):
                kept = AT_BEGIN.sub("\u00a0", kept)
            if kept != text:
                text.parent.replace(text, nodes.Text(kept))


def is_prose(node) -> bool:
    parent = node.parent
    code = nodes.literal_block | nodes.literal | nodes.raw
    return isinstance(node, nodes.Text) and isinstance(parent, nodes.TextElement) and not isinstance(parent, code)


def follows_a_digit(text: nodes.Text) -> bool:
    siblings = text.parent.children
    place = next(i for i, sibling in enumerate(siblings) if sibling is text)
    return place > 0 and siblings[place - 1].astext()[-1:].isdigit()
