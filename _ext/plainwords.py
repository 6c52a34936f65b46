"""Code with fewer elements: words in the colour of the text get no <span>. They are a third of all elements of a page,
and a telephone works on each.
"""

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Punctuation, Text, Whitespace
from sphinx.highlighting import PygmentsBridge

PLAIN = {Name, Name.Namespace, Punctuation, Text, Whitespace}


def setup(app):
    PygmentsBridge.html_formatter = FewerSpans
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class FewerSpans(HtmlFormatter):
    def _get_css_classes(self, ttype):
        return "" if ttype in PLAIN else super()._get_css_classes(ttype)
