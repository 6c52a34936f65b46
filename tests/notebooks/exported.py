"""The notebooks that the build exported, and the pages they come from."""

import json
from functools import cache
from pathlib import Path

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
FOLDER = HTML / "notebooks"
# With code cells: these have a notebook.
PAGES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in [ROOT / "index.md", *(ROOT / "chapters").glob("*.md")]
    if "{code-cell}" in path.read_text(encoding="utf-8")
)


def path_of(page: str) -> Path:
    path = FOLDER / f"{page}.ipynb"
    assert path.is_file(), f"no notebook of {page}; run make html first"
    return path


@cache
def raw(page: str) -> dict:
    """As JSON: what nbformat would mend while reading stays broken."""
    return json.loads(path_of(page).read_text(encoding="utf-8"))


def read(page: str) -> nbformat.NotebookNode:
    return nbformat.read(path_of(page), nbformat.NO_CONVERT)


def source_cells(page: str) -> list[nbformat.NotebookNode]:
    """The code cells of the page's source."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    return [cell for cell in read_myst_markdown_notebook(text).cells if cell.cell_type == "code"]
