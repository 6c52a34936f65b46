"""The built site (make html), page by page."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from bs4 import BeautifulSoup
from inputs import with_inputs
from jupyter_cache import get_cache
from myst_nb.core.read import read_myst_markdown_notebook

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"


@dataclass(frozen=True)
class Page:
    """One page of the book: its source, what was executed, and what a reader gets."""

    name: str

    @cached_property
    def source(self) -> str:
        return (ROOT / f"{self.name}.md").read_text(encoding="utf-8")

    @property
    def file(self) -> Path:
        return HTML / f"{self.name}.html"

    @cached_property
    def html(self) -> BeautifulSoup:
        return BeautifulSoup(self.file.read_text(encoding="utf-8"), "html.parser")

    @cached_property
    def article(self) -> BeautifulSoup:
        return self.html.find("article", class_="bd-article")

    @cached_property
    def cells(self) -> list[dict]:
        """The code cells with their outputs, from the cache of runs that the site was built from."""
        if "{code-cell}" not in self.source:
            return []
        notebook = read_myst_markdown_notebook(with_inputs(self.source, self.name, ROOT))
        _, executed = get_cache(ROOT / "_build" / ".jupyter_cache").merge_match_into_notebook(notebook)
        return [cell for cell in executed.cells if cell.cell_type == "code"]


def page_names() -> list[str]:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(chapter["file"] for chapter in toc["chapters"])]


PAGES = [Page(name) for name in page_names()]
