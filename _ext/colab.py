"""One notebook for every page with code, beside the site: _build/html/notebooks/<page>.ipynb.

When the site is built, its pages are resolved once more for the builder "colab" (so that Sphinx and its extensions
make no HTML of them) and written as plain Markdown (plain_markdown.py), code cells with their outputs from the cache
of runs, and one cell that carries attnlab (embed.py). Nothing is executed. A construct that has no form in a notebook
is a warning with page, line and name, so that -W ends the build.
"""

from pathlib import Path

import nbformat
from embed import embedded
from inputs import with_inputs
from jupyter_cache import get_cache
from markdown_text import Unknown, link
from myst_nb.core.read import read_myst_markdown_notebook
from myst_nb.core.utils import coalesce_streams
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from plain_markdown import Markdown
from repository import notebook, site, slug_of
from sphinx.builders import Builder
from sphinx.util import logging

logger = logging.getLogger(__name__)

FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
QUIET = {"remove-cell", "remove-output"}
OUTPUT_FOLDED = {"hide-cell", "hide-output"}
# What a notebook shows; records of glue, for one, are for the site alone.
SHOWN = ("text/", "image/")
METADATA = {
    "colab": {"provenance": [], "toc_visible": True},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def setup(app):
    app.add_builder(ColabBuilder)
    app.connect("config-inited", choose_outputs)
    app.connect("build-finished", export)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def choose_outputs(app, config):
    """MyST-NB warns of each output that it could not choose a form of; the forms themselves come from the cache."""
    for rank, kind in enumerate(("text/plain", "text/html", "image/png", "image/svg+xml")):
        config.nb_mime_priority_overrides.append([ColabBuilder.name, kind, rank])


def export(app, exception):
    if exception or app.builder.name != "html":
        return
    html = app.builder
    app.builder = ColabBuilder(app, app.env)
    try:
        for page in sorted(app.builder.get_outdated_docs()):
            app.builder.write_doc(page, app.env.get_and_resolve_doctree(page, app.builder))
    finally:
        app.builder = html


class ColabBuilder(Builder):
    name = format = "colab"
    supported_image_types = ("image/png", "image/svg+xml", "image/jpeg", "image/gif")

    def __init__(self, app, env):
        super().__init__(app, env)
        self.site = site(slug_of(app))
        self.cache = get_cache(env.mystnb_config.execution_cache_path)

    def get_outdated_docs(self):
        return [page for page, fields in self.env.metadata.items() if "kernelspec" in fields]

    def get_target_uri(self, docname, typ=None):
        return f"{self.site}/{docname}.html"

    def get_relative_uri(self, from_, to, typ=None):
        return self.get_target_uri(to, typ)

    def prepare_writing(self, docnames):
        pass

    def write_doc(self, docname, doctree):
        self.fignumbers = self.env.toc_fignumbers.get(docname, {})  # where Sphinx looks for an equation's number
        written = Page(self, docname).cells(doctree)
        for number, cell in enumerate(written):
            cell["id"] = f"cell-{number}"
        path = Path(self.outdir) / notebook(docname)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=written, metadata=METADATA), path)

    def executed(self, docname):
        """The page's own notebook with the outputs of its run."""
        path = Path(self.env.doc2path(docname))
        text = with_inputs(path.read_text(encoding="utf-8"), docname, Path(self.srcdir))
        read = read_myst_markdown_notebook(text, config=self.env.myst_config, add_source_map=True, path=str(path))
        return self.cache.merge_match_into_notebook(read)[1]


class Page:
    """The cells of one notebook, in the order of the page."""

    def __init__(self, builder: ColabBuilder, docname: str):
        self.builder, self.docname = builder, docname
        self.source = builder.executed(docname).cells
        self.markdown = Markdown(builder)
        self.done: list[nbformat.NotebookNode] = []
        self.prose: list[str] = []
        self.next = 0  # of the source's cells

    def cells(self, document) -> list[nbformat.NotebookNode]:
        self.walk(document, level=0)
        self.code_up_to(len(self.source))
        self.end_prose()
        code = [cell.source for cell in self.source if cell.cell_type == "code"]
        if carrier := embedded(code, Path(self.builder.srcdir) / "code" / "attnlab"):
            first = next(i for i, cell in enumerate(self.done) if cell.cell_type == "code")
            self.done.insert(first, folded(new_code_cell(carrier)))
        return self.done

    def walk(self, parent, level):
        for node in parent:
            if type(node).__name__ == "section":
                self.end_prose()
                self.walk(node, level + 1)
            elif type(node).__name__ == "title":
                self.prose.append(f"{'#' * level} {self.markdown.text_of(node)}")
                if level == 1:
                    address = self.builder.get_target_uri(self.docname)
                    self.prose.append(f"這是{link('本書網頁', address)}的筆記本版。請由上而下執行每一格，再改改看。")
            elif "cell_index" in node and node.get("nb_element") == "cell_code":
                self.code_up_to(node["cell_index"] + 1)
            else:
                self.write(node)

    def write(self, node):
        try:
            self.prose.append(self.markdown.block(node))
        except Unknown as fault:
            place = fault.node if fault.node.line else node
            logger.warning("%s: no form in a notebook for %s", self.docname, fault, location=place, type="colab")

    def code_up_to(self, end):
        """Also the cells that are not on the page (remove-cell): later ones may need them."""
        for cell in self.source[self.next : end]:
            if cell.cell_type == "code":
                self.end_prose()
                self.done.append(code_cell(cell))
        self.next = end

    def end_prose(self):
        text = "\n\n".join(filter(None, self.prose))
        if text:
            self.done.append(new_markdown_cell(text))
        self.prose = []


def code_cell(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    tags = set(cell.metadata.get("tags", []))
    made = new_code_cell(cell.source, metadata={"tags": sorted(tags)} if tags else {})
    if not tags & QUIET:
        # How a kernel cuts what is printed into pieces differs from run to run.
        made.outputs = list(filter(None, map(shown, coalesce_streams(cell.outputs))))
    if tags & OUTPUT_FOLDED:
        made.metadata |= {"collapsed": True, "jupyter": {"outputs_hidden": True}}
    if tags & FOLDED:
        first = cell.source.partition("\n")[0]
        title = first.removeprefix("# ") if first.startswith("# ") else "程式碼"
        if not first.startswith("%%"):  # which has to stay the first line
            made.source = f'#@title {title} {{ display-mode: "form" }}\n{cell.source}'
        folded(made)
    return made


def folded(cell):
    """Without its code until the reader asks for it: in Colab, and in JupyterLab."""
    cell.metadata.cellView = "form"
    cell.metadata.jupyter = {**cell.metadata.get("jupyter", {}), "source_hidden": True}
    return cell


def shown(output):
    """The output with the forms that a notebook can show, or None."""
    if output.output_type not in ("display_data", "execute_result"):
        return output
    data = {kind: value for kind, value in output.data.items() if kind.startswith(SHOWN)}
    kept = {**output, "data": data, "metadata": {}}
    if "execution_count" in kept:
        kept["execution_count"] = None  # as the cell's own: the reader has not run it yet
    return nbformat.from_dict(kept) if data else None
