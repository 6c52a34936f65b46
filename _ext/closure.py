"""Which files of ``attnlab`` a piece of source depends on: modules, directly or not, and data files.

``attnlab`` is treated as files and never imported. Used for the cache key of a page; anything that has to ship
a page together with the code it runs can use it as well.
"""

import ast
import re
from collections.abc import Iterable
from functools import cache
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
    waiting = [(source, PACKAGE) for source in sources]
    found: set[Path] = set()
    literals: set[str] = set()
    while waiting:
        source, inside = waiting.pop()
        names, strings = mentions(source, inside)
        literals |= strings
        for name in names:
            for path in _module_files(name, package):
                if path not in found:
                    found.add(path)
                    folders = path.relative_to(package).parts[:-1]
                    waiting.append((path.read_text(encoding="utf-8"), ".".join([PACKAGE, *folders])))
    data = (path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc"))
    return sorted(found.union(path for path in data if _is_named(path, literals)))


def _is_named(path: Path, literals: set[str]) -> bool:
    """A study is named by its stem, load("reversal"); other files by their name, perhaps within a path."""
    return path.stem in literals or any(path.name in literal for literal in literals)


@cache  # the pages of a book import much the same modules
def mentions(source: str, inside: str = PACKAGE) -> tuple[set[str], set[str]]:
    """What the source imports of ``attnlab``, and its string literals.

    Args:
        source: Python.
        inside: the package that the source is a module of, for relative imports.

    Returns:
        Dotted names, where ``from a.b import c`` counts as a.b and a.b.c; and strings.
    """
    names: set[str] = set()
    strings: set[str] = set()
    for node in ast.walk(_parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                parents = inside.split(".")
                base = parents[: len(parents) - node.level + 1]
                module = ".".join([*base, module] if module else base)
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    return {name for name in names if name == PACKAGE or name.startswith(PACKAGE + ".")}, strings


def _parse(source: str) -> ast.Module:
    if source.lstrip().startswith("%%"):
        return ast.Module([], [])
    try:
        return ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M))
    except SyntaxError:  # whoever runs it will say so, with the place
        return ast.Module([], [])


def _module_files(name: str, package: Path) -> list[Path]:
    """The file of a module and the __init__.py of each package above it, so far as they exist."""
    files = [package / "__init__.py"]
    folder = package
    for part in name.split(".")[1:]:
        files += [folder / f"{part}.py", folder / part / "__init__.py"]
        folder = folder / part
    return [path for path in files if path.is_file()]
