"""The buttons of a page: Colab and the download of a notebook, both to the notebook that colab.py exports.

The theme's own lead to the .md source, which Colab cannot open, and to a notebook full of MyST.
"""

from pathlib import Path

from repository import colab, notebook, slug_of
from sphinx.errors import ExtensionError


def setup(app):
    # The theme adds its buttons at 501.
    app.connect("html-page-context", redirect, priority=900)
    app.connect("build-finished", remove_other_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def redirect(app, page, template, context, doctree):
    """Point both buttons of a page with code to its notebook.

    Raises:
        ExtensionError: the theme has no such button any more.
    """
    if doctree is None or "kernelspec" not in app.env.metadata[page]:
        return
    launch, group = button(context, page, text="Colab")
    launch |= {"url": colab(slug_of(app), page), "tooltip": "在 Colab 開啟這一頁的筆記本"}
    group["tooltip"] = "執行這一頁"
    download, _ = button(context, page, label="download-notebook-button")
    download |= {"url": context["pathto"](notebook(page), 1), "tooltip": "下載這一頁的筆記本"}


def button(context: dict, page: str, **wanted: str) -> tuple[dict, dict]:
    """The one button of that kind, and the group that it stands in."""
    every = [(one, group) for group in context.get("header_buttons", []) for one in group.get("buttons", [])]
    found = [pair for pair in every if wanted.items() <= pair[0].items()]
    if len(found) != 1:
        raise ExtensionError(f"{page}: wanted one button with {wanted} from the theme, got {len(found)}")
    return found[0]


def remove_other_notebooks(app, exception):
    """The theme puts its notebooks where they could be taken for ours."""
    if app.builder.name == "html":
        for path in (Path(app.outdir) / "_sources").rglob("*.ipynb"):
            path.unlink()
