"""Where the book lives on GitHub, from one place: links to the repository, to its published site and to Colab.

In this order: GITHUB_REPOSITORY (set in GitHub's workflows), the git remote "origin", repository.url of _config.yml.
A fork therefore changes nothing to have links of its own.
"""

import os
import re
import subprocess
from pathlib import Path

PUBLISHED = "gh-pages"
SLUG = re.compile(r"[\w-]+/[\w.-]+")
ADDRESS = re.compile(r"github\.com[:/]([\w-]+/[\w.-]+?)(?:\.git)?/?$")


def setup(app):
    app.connect("config-inited", set_repository)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def set_repository(app, config):
    """Make it the address that the theme's links have too."""
    configured = config.html_theme_options.get("repository_url", "")
    found = slug(Path(app.srcdir), configured, os.environ)
    config.html_theme_options["repository_url"] = f"https://github.com/{found}"


def slug(book: Path, configured: str, environment: dict[str, str]) -> str:
    """``owner/name`` of the repository.

    Raises:
        ValueError: GITHUB_REPOSITORY is no such name, or nothing names a repository on GitHub.
    """
    if given := environment.get("GITHUB_REPOSITORY"):
        if not SLUG.fullmatch(given):
            raise ValueError(f"GITHUB_REPOSITORY: wanted owner/name, got {given!r}")
        return given
    for address in (origin(book), configured):
        if match := ADDRESS.search(address):
            return match[1]
    raise ValueError(f"repository.url in _config.yml: wanted an address on GitHub, got {configured!r}")


def origin(book: Path) -> str:
    try:
        done = subprocess.run(["git", "remote", "get-url", "origin"], cwd=book, capture_output=True, text=True)
    except FileNotFoundError:  # a downloaded copy of the book, on a machine without git
        return ""
    return done.stdout.strip()


def slug_of(app) -> str:
    """The name that set_repository found."""
    return ADDRESS.search(app.config.html_theme_options["repository_url"])[1]


def site(slug: str) -> str:
    """The address of the published site, without a slash at its end."""
    owner, name = slug.split("/")
    host = f"{owner.lower()}.github.io"
    return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"


def colab(slug: str, page: str) -> str:
    """The address that opens the published notebook of a page in Colab."""
    return f"https://colab.research.google.com/github/{slug}/blob/{PUBLISHED}/{notebook(page)}"


def notebook(page: str) -> str:
    """The path of a page's notebook in the site."""
    return f"notebooks/{page}.ipynb"
