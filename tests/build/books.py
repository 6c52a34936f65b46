"""Small books for the tests of the build: the project's own configuration and extensions, pages of a few lines."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

"""


def cell(code: str) -> str:
    return f"```{{code-cell}} python3\n{code}\n```\n"


def notebook(name: str, code: str, prose: str = "") -> str:
    """A page that notes each of its runs in the file RUNS (see Book.build) and then runs the code."""
    note = f'import os\nwith open(os.environ["RUNS"], "a") as runs:\n    runs.write("{name}\\n")'
    return f"{HEADER}({name}-title)=\n# 頁 Page {name}\n\n{prose}\n\n{cell(note)}\n{cell(code)}"


class Book:
    def __init__(self, folder: Path, pages: dict[str, str], files: dict[str, str] | None = None):
        """Write a book.

        Args:
            folder: where; made here.
            pages: name -> source; "index" comes first.
            files: path -> text of whatever else it has, such as modules of attnlab.
        """
        self.folder = folder
        folder.mkdir(parents=True)
        for name in ("_ext", "_static", "_templates"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "_config.yml", folder)
        first, *others = pages
        toc = {"format": "jb-book", "root": first} | (
            {"chapters": [{"file": name} for name in others]} if others else {}
        )
        self.write("_toc.yml", yaml.safe_dump(toc))
        self.write("references.bib", "@misc{known2017, author={A. Known}, title={A Title}, year={2017}}\n")
        self.write("constraints.txt", "torch==2.13.0\n")
        self.write("code/attnlab/__init__.py", "")
        for path, text in {**{f"{name}.md": page for name, page in pages.items()}, **(files or {})}.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        self.write(path, text.replace(old, new))

    def copy(self, folder: Path) -> "Book":
        """The same book elsewhere, with nothing built."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("_build", "__pycache__"))
        book = Book.__new__(Book)
        book.folder = folder
        return book

    def build(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """As "make html" does; with --page, as "make page". Returns the exit code and what was printed, uncoloured."""
        self.runs_file.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, ROOT / "tools" / "build.py", self.folder, *arguments],
            env=os.environ | {"RUNS": str(self.runs_file)} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)

    @property
    def runs_file(self) -> Path:
        return self.folder / "_build" / "runs"

    def runs(self) -> list[str]:
        """The pages that were executed by the last build, sorted."""
        return sorted(self.runs_file.read_text().split()) if self.runs_file.exists() else []

    def site(self) -> dict[str, bytes]:
        """Every file of the built site."""
        html = self.folder / "_build" / "html"
        return {str(path.relative_to(html)): path.read_bytes() for path in html.rglob("*") if path.is_file()}
