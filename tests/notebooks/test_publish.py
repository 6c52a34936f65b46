"""What would be published: the check notices what is wrong, and the push is one commit that touches nothing else."""

import re
import shutil
import subprocess

import publish
import pytest
import yaml
from exported import HTML, PAGES, ROOT
from repository import notebook, site, slug

NAME = publish.repository()
PAGE = "chapters/scaled-dot-product"


def test_the_site_can_be_published():
    assert publish.faults(HTML, NAME) == []
    assert {path.relative_to(HTML).as_posix() for path in HTML.rglob("*.ipynb")} == set(map(notebook, PAGES))


@pytest.fixture
def tree(tmp_path):
    """A small published site: two pages, one notebook."""
    for path in ("index.html", f"{PAGE}.html", "chapters/glossary.html", notebook(PAGE), ".nojekyll"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HTML / path, tmp_path / path)
    for path, text in [("index.html", '<a href="chapters/glossary.html">x</a>')]:
        (tmp_path / path).write_text(text)
    cells = f'[{{"cell_type": "markdown", "source": ["[詞]({site(NAME)}/chapters/glossary.html#term-0)"]}}]'
    (tmp_path / notebook(PAGE)).write_text(f'{{"cells": {cells}}}', encoding="utf-8")
    assert publish.faults(tmp_path, NAME) == []
    return tmp_path


def replace(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


DAMAGES = {
    "no .nojekyll": lambda tree: (tree / ".nojekyll").unlink(),
    "no notebook": lambda tree: (tree / notebook(PAGE)).unlink(),
    "a notebook that no page offers": lambda tree: shutil.copy(tree / notebook(PAGE), tree / "notebooks" / "x.ipynb"),
    "another fork": lambda tree: replace(tree / f"{PAGE}.html", f"github/{NAME}/", "github/some/fork/"),
    "another branch": lambda tree: replace(tree / f"{PAGE}.html", "blob/gh-pages/", "blob/main/"),
    "the page's source": lambda tree: replace(tree / f"{PAGE}.html", f"{PAGE}.ipynb", f"{PAGE}.md"),
    "another notebook": lambda tree: replace(tree / f"{PAGE}.html", 'product.ipynb"', 'sum.ipynb"'),
    "a link to no page": lambda tree: replace(tree / notebook(PAGE), "glossary.html", "lexicon.html"),
    "a link to no place": lambda tree: replace(tree / notebook(PAGE), "#term-0", "#term-none"),
    "half a notebook": lambda tree: (tree / notebook(PAGE)).write_text('{"cells": ['),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_the_check_notices(tree, name):
    DAMAGES[name](tree)
    assert len(publish.faults(tree, NAME)) >= 1


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_one_commit(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("git")
    git(folder, "init", "-q", "--bare", "remote")
    git(folder, "init", "-q", "-b", "main", "book")
    book = folder / "book"
    (book / ".gitignore").write_text("*.html\n")
    git(book, "add", ".")
    git(book, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "One")
    before = git(book, "for-each-ref"), git(book, "status", "--porcelain"), git(book, "ls-files")
    for _ in range(2):  # the second time it replaces the first
        commit = publish.commit_of(book, tree)
        git(book, "push", "-q", "--force", str(folder / "remote"), f"{commit}:refs/heads/gh-pages")
    assert (git(book, "for-each-ref"), git(book, "status", "--porcelain"), git(book, "ls-files")) == before
    remote = folder / "remote"
    assert git(remote, "rev-list", "--count", "gh-pages") == "1"
    published = set(git(remote, "ls-tree", "-r", "--name-only", "gh-pages").splitlines())
    assert published == {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("origin", "environment", "expected"),
    [
        ("https://github.com/a/b.git", {}, "a/b"),
        ("git@github.com:a-c/b.d.git", {}, "a-c/b.d"),
        ("https://github.com/a/b/", {}, "a/b"),
        ("https://example.org/a/b.git", {}, "con/figured"),
        ("", {}, "con/figured"),
        ("https://github.com/a/b.git", {"GITHUB_REPOSITORY": "fork/b"}, "fork/b"),
    ],
)
def test_owner_and_name(tmp_path, origin, environment, expected):
    git(tmp_path, "init", "-q")
    if origin:
        git(tmp_path, "remote", "add", "origin", origin)
    assert slug(tmp_path, "https://github.com/con/figured", environment) == expected


def test_no_owner_and_name(tmp_path):
    git(tmp_path, "init", "-q")
    with pytest.raises(ValueError, match=r"repository\.url in _config\.yml: wanted an address on GitHub, got 'x'"):
        slug(tmp_path, "x", {})
    with pytest.raises(ValueError, match="GITHUB_REPOSITORY: wanted owner/name, got 'name'"):
        slug(tmp_path, "https://github.com/con/figured", {"GITHUB_REPOSITORY": "name"})


def test_the_address_of_the_site():
    assert site("Owner/book") == "https://owner.github.io/book"
    assert site("owner/owner.github.io") == "https://owner.github.io"


def test_the_workflow_is_pinned_and_may_do_little():
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")
    actions = re.findall(r"uses: *(\S+)", text)
    assert actions and all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in actions)
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "test": {"contents": "read"},
        "publish": {"contents": "write"},
    }
    # What may write is not run for a pull request, and installs nothing.
    assert "github.event_name != 'pull_request'" in jobs["publish"]["if"] and jobs["publish"]["needs"] == "test"
    assert [step["run"] for step in jobs["publish"]["steps"] if "run" in step] == ["python3 tools/publish.py push"]
