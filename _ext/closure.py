"""Which files of ``attnlab`` a piece of source depends on: modules, directly or not, and data files.

``attnlab`` is treated as files and never imported. Used for the cache key of a page; anything that has to ship
a page together with the code it runs can use it as well.
"""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

PACKAGE = "attnlab"


def closure(sources: Iterable[str], package: Path) -> list[Path]:
    """The modules that the sources import, what those import, and the data files named in any of them.

    Args:
        sources: Python sources, such as the code cells of a page. IPython's magics are allowed.
        package: the folder of ``attnlab``.

    Returns:
        Existing files, sorted.
    """
    waiting = list(sources)
    found: set[Path] = set()
    texts = []
    while waiting:
        texts.append(waiting.pop())
        for name in imported_names(texts[-1]):
            for path in _module_files(name, package):
                if path not in found:
                    found.add(path)
                    waiting.append(path.read_text(encoding="utf-8"))
    everything = "\n".join(texts)
    for path in package.rglob("*"):
        is_data = path.is_file() and path.suffix not in (".py", ".pyc")
        # A source may name a family of files by its stem: f"{name}.json".
        if is_data and (path.name in everything or re.search(rf"\b{re.escape(path.stem)}\b", everything)):
            found.add(path)
    return sorted(found)


def imported_names(source: str) -> set[str]:
    """Dotted names under ``attnlab`` that the source imports; ``from a.b import c`` counts as a.b and a.b.c."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(_without_magics(source))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # Within the package, "from . import x" and "from .x import y" lead to the same modules.
            module = node.module or "" if node.level == 0 else ".".join(filter(None, [PACKAGE, node.module]))
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return {name for name in names if name == PACKAGE or name.startswith(PACKAGE + ".")}


def _without_magics(source: str) -> str:
    if source.lstrip().startswith("%%"):
        return ""
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M)


def _module_files(name: str, package: Path) -> list[Path]:
    """The file of a module and the __init__.py of each package above it, so far as they exist."""
    files = [package / "__init__.py"]
    folder = package
    for part in name.split(".")[1:]:
        files += [folder / f"{part}.py", folder / part / "__init__.py"]
        folder = folder / part
    return [path for path in files if path.is_file()]
