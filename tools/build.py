"""Build the book, or one page of it: check _config.yml, remove what the last build left, call jupyter-book.

    python tools/build.py                          -> _build/html
    python tools/build.py --page chapters/x.md     -> _build/page/x/_build/html, with the glossary and the references

Only the execution cache (_build/.jupyter_cache) outlives a build. Sphinx's own state does not: pages unchanged
since a failed build would not be looked at again, and the second run would pass (and themes, menus and
version marks of unchanged pages would differ from those of a clean build).

What jupyter-book writes to stderr is passed on, each warning once: pages are resolved twice, for the site and for their
notebooks. For a page alone, references to pages that are not built with it are no faults.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from check_config import faults_of, nearest

# The options that make warnings and unresolved references failures, all of them reported in one run.
STRICT = ["-n", "-W", "--keep-going"]
# What a page of its own is built with, so that its terms and citations resolve.
COMPANIONS = ["chapters/glossary", "chapters/references"]

WARNING = re.compile(r"(?:WARNING|ERROR): ")
UNRESOLVED = re.compile(
    r"(?:Unknown source document|unknown document:|undefined label:|equation not found:|target not found:)"
    r" '?([^'\s\x1b]+)"
)
LABEL = re.compile(r"^\(([^()\s]+)\)=|\$\$ *\(([^()\s]+)\)", re.M)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--page", help="build this page only; references to the others stay open")
    options = parser.parse_args()
    book = options.book.resolve()

    if faults := faults_of(book, toc=options.page is None):
        print("\n".join(faults), file=sys.stderr)
        return 1
    if options.page is None:
        return build(book, book / "_build", STRICT, set())[0]
    return build_page(book, options.page)


def build_page(book: Path, name: str) -> int:
    if not name:
        print("make page: which one? Wanted such as PAGE=chapters/multi-head.md", file=sys.stderr)
        return 1
    page = Path(os.path.relpath(book / name, book)).with_suffix("")
    pages = [path.relative_to(book).with_suffix("").as_posix() for path in sources(book)]
    if page.as_posix() not in pages:
        same = next((f"; the nearest is {known}.md" for known in pages if Path(known).name == page.name), None)
        print(f"make page: no file {name}{same or nearest(page.as_posix(), pages)}", file=sys.stderr)
        return 1
    output = book / "_build" / "page" / page.name
    output.mkdir(parents=True, exist_ok=True)
    others = [name for name in COMPANIONS if (book / f"{name}.md").is_file() and name != page.as_posix()]
    toc = {"format": "jb-book", "root": page.as_posix()}
    if others:
        toc["chapters"] = [{"file": name} for name in others]
    (output / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    arguments = ["-n", "--toc", str(output / "_toc.yml"), "--path-output", str(output)]
    code, faults = build(book, output / "_build", arguments, places(book))
    if code or faults:
        print(f"make page: {page}.md has faults, see above", file=sys.stderr)
        return 1
    html = (output / "_build" / "html" / page).with_suffix(".html").relative_to(book)
    print(f"page: {html}  (alone: references to other pages lead nowhere)")
    return 0


def build(book: Path, output: Path, arguments: list[str], elsewhere: set[str]) -> tuple[int, int]:
    """Returns the exit code of jupyter-book and how many warnings were shown."""
    for leftover in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(output / leftover, ignore_errors=True)
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [sys.executable, jupyter_book, "build", "-q", *arguments, "."]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    pipe = {"stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"}
    seen = set()
    with subprocess.Popen(command, cwd=book, env=environment, **pipe) as process:
        for line in process.stderr:
            if WARNING.search(line):
                reference = UNRESOLVED.search(line)
                if line in seen or (reference and reference[1] in elsewhere):
                    continue
                seen.add(line)
                line = line.replace("unknown config value", "_config.yml: sphinx.config: unknown key")
            print(line, end="", file=sys.stderr, flush=True)
    return process.returncode, len(seen)


def sources(book: Path) -> list[Path]:
    return sorted([*book.glob("*.md"), *book.glob("chapters/*.md")])


def places(book: Path) -> set[str]:
    """What references in the book may lead to: its pages, and their labels and equations."""
    found = set()
    for path in sources(book):
        found.add(path.relative_to(book).with_suffix("").as_posix())
        found.update(filter(None, (name for pair in LABEL.findall(path.read_text(encoding="utf-8")) for name in pair)))
    return found


if __name__ == "__main__":
    sys.exit(main())
