"""Where text of the book stands in its sources: pages, code cells, string literals.

Shared by the font maker, the Chinese lint and their tests, so that all look at the same text.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_CELL = re.compile(r"^(`{3,}|~{3,}|:{3,})\{code-cell\}[^\n]*\n(.*?)^\1[ \t]*$", re.M | re.S)
_CELL_OPTION = re.compile(r"(:[\w-]+:[^\n]*|---\n.*?\n---)\n", re.S)


def pages(root: Path = ROOT) -> list[Path]:
    """The pages of the book: index.md and chapters/*.md."""
    return [path for path in [root / "index.md", *sorted((root / "chapters").glob("*.md"))] if path.exists()]


def modules(root: Path = ROOT) -> list[Path]:
    """The Python files that readers meet: everything below code/."""
    return sorted(path for path in (root / "code").rglob("*.py") if ".egg-info" not in str(path))


def code_cells(text: str) -> Iterator[tuple[int, str]]:
    """Each code cell of a MyST notebook: the number of its first line of code, and the code."""
    for match in _CELL.finditer(text):
        code, start = match[2], match.start(2)
        while option := _CELL_OPTION.match(code):
            code, start = code[option.end() :], start + option.end()
        yield text.count("\n", 0, start) + 1, code


def strings(code: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Each string literal of Python code with its line, the fixed parts of f-strings too.

    Lines for IPython alone (``%…``, ``!…``) are passed over.
    """
    python = re.sub(r"^[ \t]*[%!].*$", "", code, flags=re.M)
    for node in ast.walk(ast.parse(python)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield first_line + node.lineno - 1, node.value


def label_characters(root: Path = ROOT) -> set[str]:
    """Every non-ASCII character that a figure can show: those of all strings in code cells and in attnlab."""
    found = set()
    for page in pages(root):
        for _, cell in code_cells(page.read_text(encoding="utf-8")):
            for _, value in strings(cell):
                found.update(value)
    for module in sorted((root / "code" / "attnlab").rglob("*.py")):
        for _, value in strings(module.read_text(encoding="utf-8")):
            found.update(value)
    return {character for character in found if ord(character) > 127 and character.isprintable()}
