"""Build the book, or one page of it: check _config.yml, remove what the last build left, call jupyter-book.

    python tools/build.py                          -> _build/html
    python tools/build.py --page chapters/x.md     -> _build/page/x/_build/html, with the glossary and the references

Only the execution cache (_build/.jupyter_cache) outlives a build. Sphinx's own state does not: pages unchanged
since a failed build would not be looked at again, and the second run would pass (and themes, menus and
version marks of unchanged pages would differ from those of a clean build).
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from check_config import ignored

# The options that make warnings and unresolved references failures, all of them reported in one run.
STRICT = ["-n", "-W", "--keep-going"]
# What a page of its own is built with, so that its terms and citations resolve.
COMPANIONS = ["chapters/glossary", "chapters/references"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--page", help="build this page only; references to the others stay open")
    options = parser.parse_args()
    book = options.book.resolve()

    faults = ignored(yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8")))
    if faults:
        print("\n".join(f"_config.yml: {fault}" for fault in faults), file=sys.stderr)
        return 1
    if options.page is None:
        return build(book, book / "_build", [])

    page = Path(options.page).with_suffix("")
    if not (book / page).with_suffix(".md").is_file():
        print(f"--page: no file {page}.md in the book", file=sys.stderr)
        return 1
    output = book / "_build" / "page" / page.name
    output.mkdir(parents=True, exist_ok=True)
    others = [name for name in COMPANIONS if (book / f"{name}.md").is_file() and name != page.as_posix()]
    toc = {"format": "jb-book", "root": page.as_posix(), "chapters": [{"file": name} for name in others]}
    (output / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    code = build(book, output / "_build", ["--toc", str(output / "_toc.yml"), "--path-output", str(output)])
    print(f"page: {(output / '_build' / 'html' / page).with_suffix('.html').relative_to(book)}")
    return code


def build(book: Path, output: Path, arguments: list[str]) -> int:
    for leftover in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(output / leftover, ignore_errors=True)
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    strict = [] if "--path-output" in arguments else STRICT
    command = [sys.executable, jupyter_book, "build", "-q", *strict, *arguments, "."]
    return subprocess.run(command, cwd=book, env=os.environ | {"PYTHONHASHSEED": "0"}).returncode


if __name__ == "__main__":
    sys.exit(main())
