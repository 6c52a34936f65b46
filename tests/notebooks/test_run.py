"""Every notebook runs alone: in an empty folder, without network, Chinese fonts or the book's code in reach.

Once with the book's versions and once with Colab's (requirements-colab.txt).
"""

import os
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import nbformat
import pytest
from exported import PAGES, ROOT, path_of, read

HERE = Path(__file__).parent
PYTHONS = {"book": Path(sys.executable), "colab": ROOT / ".venv-colab" / "bin" / "python"}
HIDDEN = [
    folder for folder in ("/usr/share/fonts", "/usr/local/share/fonts", str(ROOT / "code")) if os.path.isdir(folder)
]


@cache
def isolation() -> list[str]:
    """The command that takes the network and the hidden folders away, or nothing where that is not permitted."""
    for unshare in (["unshare"], ["unshare", "--map-root-user"]):
        command = [*unshare, "--net", "--mount", sys.executable, str(HERE / "isolate.py"), *HIDDEN, "--"]
        try:
            if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
                return command
        except FileNotFoundError:
            break
    return []


def run(notebook: Path, version: str, folder: Path) -> tuple[subprocess.CompletedProcess, nbformat.NotebookNode]:
    """Execute a notebook in the empty folder; as it was run, and as it came out."""
    home, result = folder / "home", folder / "result.ipynb"
    home.mkdir(parents=True)
    empty = folder / "empty"
    empty.mkdir()
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    if not isolation():
        warnings.warn("no namespaces here: sockets are watched in Python, and fonts not hidden", stacklevel=1)
        environment["PYTHONPATH"] = str(HERE / "offline")
    command = [*isolation(), str(PYTHONS[version]), str(HERE / "run_notebook.py"), str(notebook), str(result)]
    done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True)
    return done, nbformat.read(result, 4) if result.exists() else None


def printed(notebook) -> list[str]:
    """What each code cell prints, but for white space at its end, which the build leaves out."""
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(o.text for o in some if o.get("name") == "stdout").rstrip() for some in outputs]


def complaints(notebook) -> list[str]:
    return [o.text for cell in notebook.cells for o in cell.get("outputs", []) if o.get("name") == "stderr"]


@pytest.mark.filterwarnings("default:no namespaces here")
@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("page", PAGES)
def test_runs_alone(page, version, tmp_path):
    assert PYTHONS[version].exists(), "no .venv-colab; run make setup-colab"
    done, result = run(path_of(page), version, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert complaints(result) == []
    assert printed(result) == printed(read(page))
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.filterwarnings("default:no namespaces here")
def test_the_isolation(tmp_path):
    """What the runs above must not find, and a character that the font of a notebook does not have."""
    troubles = {
        "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)": "OSError",
        "import attnlab.attention": "ModuleNotFoundError",
        "import myst_nb": "ModuleNotFoundError",
        "import ipywidgets; ipywidgets.Stack()": "AttributeError",
    }
    cells = [f"try:\n    {code}\nexcept {trouble}:\n    print('so')" for code, trouble in troubles.items()]
    cells.append(next(cell.source for cell in read("index").cells if cell.cell_type == "code"))
    cells.append("import matplotlib.pyplot as plt\nfrom attnlab.plotting import show, use_book_style\nuse_book_style()")
    draw = "fig, ax = plt.subplots()\nax.set_title({!r})\nshow(fig, alt='圖')"
    cells += [draw.format(title) for title in ("注意力", "龘")]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, tmp_path / "trial.ipynb")

    done, result = run(tmp_path / "trial.ipynb", "colab", tmp_path / "run")
    assert done.returncode == 0, done.stderr[-3000:]
    assert printed(result) == ["so"] * len(troubles) + [""] * 4
    assert len(complaints(result)) >= 1 and all("missing from" in words for words in complaints(result))
    assert not any(o.get("name") == "stderr" for o in result.cells[-2].outputs)
