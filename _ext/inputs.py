"""What makes a page a notebook of this book, and the key under which its run is cached.

jupyter-cache looks a run up by the code cells and the kernelspec of the front matter. Neither changes when
``attnlab`` does, so a digest of everything else that the run depends on is put into the kernelspec, in memory:
the modules and data files that the page imports, and the versions of all packages.
"""

import hashlib
import json
import re
from functools import cache
from pathlib import Path

import yaml
from closure import closure
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from sphinx.errors import ExtensionError

KERNEL = "python3"
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---[ \t]*\n", re.S)
_CODE_CELL = re.compile(r"^(`{3,}|~{3,}|:{3,})\{code-cell\}", re.M)


@cache  # one answer for the whole build, even when a module is edited meanwhile
def with_inputs(text: str, page: str, book: Path) -> str:
    """The source of a page, with the digest of its inputs in the front matter and no line moved.

    Raises:
        ExtensionError: code cells that would not run, or would run elsewhere than the book says.
    """
    if not is_myst_markdown_notebook(text):
        if _CODE_CELL.search(text):
            raise ExtensionError(f"{page}: {fault_of_header(text)}, so none of its code cells would run")
        return text
    head = _FRONT_MATTER.match(text)
    metadata = yaml.safe_load(head[1])
    kernel = (metadata.get("kernelspec") or {}).get("name")
    if kernel != KERNEL:
        raise ExtensionError(f"{page}: kernelspec.name must be {KERNEL!r}, got {kernel!r}")
    metadata["kernelspec"]["inputs"] = digest(text, book)
    # JSON on one line is YAML too; the empty lines keep the line numbers of messages right.
    front = json.dumps(metadata, ensure_ascii=False, default=str) + "\n" * head[1].count("\n")
    return f"---\n{front}\n---\n{text[head.end() :]}"


def fault_of_header(text: str) -> str:
    head = _FRONT_MATTER.match(text)
    if head is None:
        return "no notebook header (jupytext, kernelspec), which chapters/scaled-dot-product.md shows"
    try:
        yaml.safe_load(head[1])
    except yaml.MarkedYAMLError as fault:
        return f"line {fault.problem_mark.line + 2}: the header is not YAML: {fault.problem}"
    return "the header is not that of a notebook; wanted jupytext and kernelspec as in chapters/scaled-dot-product.md"


def digest(text: str, book: Path) -> str:
    """Of the files that the page's code depends on, and of the pins of all packages."""
    cells = [cell.source for cell in read_myst_markdown_notebook(text).cells if cell.cell_type == "code"]
    hashed = hashlib.sha256()
    for path in [*closure(cells, book / "code" / "attnlab"), book / "constraints.txt"]:
        hashed.update(path.relative_to(book).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hashed.hexdigest()[:16]
