"""Check what would be published, and publish it: the site and its notebooks as one commit on the branch gh-pages.

    python tools/publish.py check             (make publish-check) faults of _build/html, one a line
    python tools/publish.py push [REMOTE]     check, then force-push (REMOTE: origin)

The commit has no history, so that old figures do not pile up in the repository. No other branch, no file and no index
of the working tree is touched. Standard library only.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
sys.path.insert(0, str(ROOT / "_ext"))

from repository import PUBLISHED, colab, notebook, site, slug  # noqa: E402

COLAB = "https://colab.research.google.com/"
LINK = re.compile(r"\]\((\S+?)\)")


class Links(HTMLParser):
    """The addresses that a page leads to, and the ids in it."""

    def __init__(self, text: str):
        super().__init__()
        self.addresses: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        fields = dict(attrs)
        if fields.get("id"):
            self.ids.add(fields["id"])
        if tag == "a" and fields.get("href"):
            self.addresses.append(fields["href"])


def main() -> int:
    command, *arguments = sys.argv[1:] or ["check"]
    if command not in ("check", "push"):
        print(__doc__, file=sys.stderr)
        return 2
    name = repository()
    if found := faults(SITE, name):
        print("\n".join(found), file=sys.stderr)
        return 1
    print(f"{SITE.relative_to(ROOT)}: ready for {site(name)}/ (branch {PUBLISHED} of {name})")
    if command == "push":
        commit = commit_of(ROOT, SITE)
        git(ROOT, "push", "--force", *(arguments or ["origin"]), f"{commit}:refs/heads/{PUBLISHED}")
    return 0


def repository() -> str:
    configured = re.search(r"^repository:.*?url:\s*([^\s}]+)", (ROOT / "_config.yml").read_text("utf-8"), re.M | re.S)
    return slug(ROOT, configured[1] if configured else "", os.environ)


def faults(html: Path, name: str) -> list[str]:
    """What would be wrong with the published tree, one line each."""
    found = [f"missing: {path}" for path in ("index.html", ".nojekyll") if not (html / path).is_file()]
    pages = {path.relative_to(html).as_posix(): Links(path.read_text("utf-8")) for path in html.rglob("*.html")}
    notebooks = {path.relative_to(html).as_posix() for path in html.rglob("*.ipynb")}
    reached = set()
    for path, page in pages.items():
        own = notebook(path.removesuffix(".html"))
        launches = [address for address in page.addresses if address.startswith(COLAB)]
        downloads = [address for address in page.addresses if address.endswith(".ipynb") and "://" not in address]
        for address in launches:
            if address != colab(name, path.removesuffix(".html")):
                found.append(f"{path}: opens {address} in Colab")
        for address in downloads:
            target = os.path.normpath(Path(path).parent / unquote(address))
            if Path(target).as_posix() != own:
                found.append(f"{path}: offers {address}")
        if launches or downloads:
            reached.add(own)
            found += [f"{path}: {own} is not in the tree"] * (own not in notebooks)
            found += [
                f"{path}: no button for {kind}"
                for kind, some in (("Colab", launches), ("download", downloads))
                if not some
            ]
    found += [f"{path}: no page has a button for it" for path in sorted(notebooks - reached)]
    if not notebooks:
        found.append("missing: notebooks")
    for path in sorted(notebooks):
        found += [
            f"{path}: {fault}" for fault in notebook_faults((html / path).read_text("utf-8"), pages, html, site(name))
        ]
    return found


def notebook_faults(text: str, pages: dict[str, Links], html: Path, address: str) -> list[str]:
    """A notebook that cannot be read, or links into the site that lead nowhere."""
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError) as fault:
        return [f"not a notebook: {fault!r}"]
    found = []
    for link in LINK.findall("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")):
        target, anchor = urldefrag(link)
        if not target.startswith(f"{address}/"):
            continue
        path = unquote(target.removeprefix(f"{address}/"))
        if not (html / path).is_file():
            found.append(f"leads to {link}, and there is no {path}")
        elif anchor and path in pages and unquote(anchor) not in pages[path].ids:
            found.append(f"leads to {link}, and {path} has no such place")
    return found


def commit_of(repository: Path, html: Path) -> str:
    """A commit of the folder without parents, in the repository and on no branch yet. Returns its name."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        # --force: whatever .gitignore says of the folder's own place
        git(repository, f"--work-tree={html}", "-C", str(html), "add", "--all", "--force", ".", **index)
        tree = git(repository, "write-tree", **index)
    source = git(repository, "rev-parse", "--short", "HEAD")
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in WHO.items()}
    return git(repository, "commit-tree", tree, "-m", f"Site and notebooks of {source}", **person)


WHO = {"NAME": "publish", "EMAIL": "publish@users.noreply.github.com"}


def git(repository: Path, *arguments: str, **environment: str) -> str:
    command = ["git", f"--git-dir={git_folder(repository)}", *arguments]
    done = subprocess.run(command, cwd=repository, env=os.environ | environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"publish: git {arguments[0]} failed")
    return done.stdout.strip()


def git_folder(repository: Path) -> str:
    command = ["git", "rev-parse", "--absolute-git-dir"]
    return subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
