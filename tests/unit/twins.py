"""The scripts of the interactive figures, run without a browser, to compare them with their twins in Python."""

import json
import re
from pathlib import Path

import quickjs

STATIC = Path(__file__).parents[2] / "_static"
# Of a browser's functions, the only one that the kinds need.
ATOB = """
globalThis.atob = (text) => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const bits = [...text.replace(/=+$/, "")].map((c) => letters.indexOf(c).toString(2).padStart(6, "0")).join("");
  return bits.match(/.{8}/g).map((byte) => String.fromCharCode(parseInt(byte, 2))).join("");
};
"""


class Script:
    """One figure of a page, drawn by the page's own scripts."""

    def __init__(self, lab):
        self._context = quickjs.Context()
        self._context.eval(ATOB)
        for path in sorted(STATIC.glob("lab*.js")):
            self._context.eval(path.read_text(encoding="utf-8"))
        data = re.search(r"<script[^>]*>(.*)</script>", lab.to_html(), re.S)[1]
        self._context.set("data", data)
        self._context.eval(f"globalThis.figure = labKinds[{json.dumps(lab.kind)}](JSON.parse(data))")

    def eval(self, expression: str):
        """The value of an expression in which ``figure`` is the figure's kind."""
        return json.loads(self._context.eval(f"JSON.stringify({expression})"))

    def draw(self, **values) -> tuple[str, str]:
        frame = self.eval(f"figure.draw({json.dumps(values)})")
        return frame["svg"], frame["says"]


NUMBER = re.compile(r"-?\d+\.?\d*")


def assert_same_picture(own: str, other: str, tolerance: float = 0.011) -> None:
    """The same elements in the same order, with numbers that differ at most by how they were rounded."""
    assert NUMBER.sub("#", own) == NUMBER.sub("#", other)
    pairs = zip(NUMBER.findall(own), NUMBER.findall(other), strict=True)
    worst = max(abs(float(a) - float(b)) for a, b in pairs)
    assert worst <= tolerance, worst
