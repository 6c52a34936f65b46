"""Run the notebooks that are not in the cache, several at a time, before Sphinx reads the pages.

Every run ends up in the cache, from where MyST-NB takes it; a notebook that fails is reported here and ends the
build, each time anew, because a failure is not cached.
"""

import logging
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
from inputs import with_inputs
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx.errors import ExtensionError
from traitlets.config import Config

# What a run may depend on besides its cells: no bars and no widgets in static pages, the same bytes each time.
KERNEL_ENVIRONMENT = {
    "ATTNLAB_STATIC": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "0",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "TZ": "UTC",
}
COLOURS = r"\x1b\[[0-9;]*m"
GLYPH = re.compile(r"Glyph (\d+) .*missing from font")


@dataclass
class Run:
    """One notebook to run, and how that went."""

    page: str
    path: Path
    notebook: nbformat.NotebookNode
    seconds: float = 0.0
    error: str = ""


def setup(app):
    # Also for kernels that MyST-NB starts itself, as it does when a module is edited while the book is built.
    os.environ["ATTNLAB_STATIC"] = KERNEL_ENVIRONMENT["ATTNLAB_STATIC"]
    app.connect("source-read", mark_inputs)
    app.connect("env-before-read-docs", execute_missing)
    return {"parallel_read_safe": True}


def mark_inputs(app, docname, source):
    source[0] = with_inputs(source[0], docname, Path(app.srcdir))


def execute_missing(app, env, docnames):
    cache = get_cache(env.mystnb_config.execution_cache_path)
    runs = missing_runs(app, env, docnames, cache)
    if not runs:
        return
    workers = max(2, os.cpu_count() or 1)
    say(f"executing {len(runs)} notebook(s), {workers} at a time: {', '.join(run.page for run in runs)}")
    environment, timeout = kernel_environment(Path(app.srcdir)), env.mystnb_config.execution_timeout
    with tempfile.TemporaryDirectory() as sockets, ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(execute, run, timeout, environment, sockets) for run in runs]
        for number, future in enumerate(as_completed(waiting), 1):
            run = future.result()
            say(f"  [{number}/{len(runs)}] {run.page}: {run.seconds:.1f} s{' FAILED' if run.error else ''}")
            if not run.error:
                data = {"execution_seconds": run.seconds}
                bundle = CacheBundleIn(run.notebook, str(run.path), data=data)
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    failures = [f"{run.page}, {run.error}" for run in runs if run.error]
    if failures:
        stop(f"{len(failures)} notebook(s) failed", *failures)


def missing_runs(app, env, docnames, cache) -> list[Run]:
    runs, faults = [], []
    for docname in sorted(docnames):
        path = Path(env.doc2path(docname))
        if path.suffix != ".md":
            continue
        try:
            text = with_inputs(path.read_text(encoding="utf-8"), docname, Path(app.srcdir))
        except ExtensionError as fault:
            faults.append(str(fault))
            continue
        if not is_myst_markdown_notebook(text):
            continue
        notebook = read_myst_markdown_notebook(text, config=env.myst_config, add_source_map=True, path=str(path))
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            runs.append(Run(docname, path, notebook))
    if faults:
        stop(*faults)
    # The longest first, guessed by the amount of code, so that no single one is left to the end.
    return sorted(runs, key=amount_of_code, reverse=True)


def amount_of_code(run: Run) -> int:
    return sum(len(cell.source) for cell in run.notebook.cells if cell.cell_type == "code")


def kernel_environment(book: Path) -> dict[str, str]:
    # The attnlab that is imported is the one whose files are in the key, whatever may be installed.
    path = os.pathsep.join(filter(None, [str(book / "code"), os.environ.get("PYTHONPATH")]))
    return os.environ | KERNEL_ENVIRONMENT | {"PYTHONPATH": path}


def connection(run: Run, sockets: str) -> Config:
    # Sockets that are files: a TCP port that was free may be taken before the kernel opens it.
    file = Path(sockets) / f"{run.page.replace('/', '-')}.json"
    return Config({"KernelManager": {"transport": "ipc", "connection_file": str(file)}})


def execute(run: Run, timeout: int, environment: dict[str, str], sockets: str) -> Run:
    begin = time.monotonic()
    client = NotebookClient(
        run.notebook,
        timeout=timeout,
        record_timing=False,
        resources={"metadata": {"path": str(run.path.parent)}},
        config=connection(run, sockets),
        log=quiet_log(),
    )
    try:
        client.execute(env=environment)
        run.error = stderr(run) or undescribed(run)
    except CellExecutionError:
        run.error = raised(run)
    except (CellTimeoutError, DeadKernelError, RuntimeError) as fault:  # the last: the kernel did not start
        run.error = f"{type(fault).__name__}: {fault}"
    run.seconds = time.monotonic() - begin
    return run


def raised(run: Run) -> str:
    for place, output in outputs(run):
        if output.output_type == "error":
            return f"{place}: {re.sub(COLOURS, '', chr(10).join(output.traceback))}"
    raise AssertionError("nbclient reported an exception, and no cell has one")


def stderr(run: Run) -> str:
    """Warnings belong to whoever writes the page, never into it."""
    texts = [(place, o.text) for place, o in outputs(run) if o.output_type == "stream" and o.name == "stderr"]
    report = "\n".join(f"{place} wrote to stderr: {re.sub(COLOURS, '', text)}" for place, text in texts)
    if glyphs := dict.fromkeys(GLYPH.findall(report)):
        report += f"The font of the figures lacks {''.join(chr(int(glyph)) for glyph in glyphs)}: make font adds it."
    return report


def undescribed(run: Run) -> str:
    """Figures that do not come from attnlab.plotting.show."""
    places = [place for place, output in outputs(run) if "image/png" in output.get("data", {})]
    return "\n".join(f"{place}: a figure without a description; wanted show(fig, alt=…) at the end" for place in places)


def outputs(run: Run):
    """Each output with the place of its cell: what an author can find in the page's source."""
    number = 0
    for cell, line in zip(run.notebook.cells, run.notebook.metadata["source_map"], strict=True):
        if cell.cell_type == "code":
            number += 1
            for output in cell.outputs:
                yield f"code cell {number} (line {line + 1})", output


def quiet_log() -> logging.Logger:
    """nbclient logs each failing cell in full; the report says it once."""
    log = logging.getLogger("attnlab.nbclient")
    log.setLevel(logging.CRITICAL)
    return log


def say(line: str) -> None:
    print(line, flush=True)


def stop(*report: str) -> None:
    """End the build. An exception would be shown three times, each with the traceback of Jupyter Book's internals."""
    print("\n\n".join(["", *report]), file=sys.stderr)
    sys.exit(1)
