"""Code that notebooks carry or contain runs on what Colab has: Python 3.13 as well as 3.11, torch 2.11.

numpy, matplotlib and ipywidgets are tried out in Colab's versions (test_run.py). These two are not here to be tried.
"""

import ast
import re
import sys
import warnings
from pathlib import Path

import pytest
from exported import PAGES, ROOT, source_cells

MODULES = sorted((ROOT / "code" / "attnlab").rglob("*.py"))
# Of Colab's many packages; IPython and ipywidgets come with its kernel.
PACKAGES = {"torch", "numpy", "matplotlib", "tqdm", "ipywidgets", "IPython", "PIL", "attnlab", "myst_nb"}
# What the standard library of 3.11 still has and that of 3.13 does not (PEP 594, 632, 3.12's and 3.13's notes).
REMOVED = set(
    re.findall(
        r"\w+",
        "aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp lib2to3 mailcap msilib nis nntplib "
        "ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib",
    )
)
# In use, and in torch since 2.0 or earlier. To be lengthened by hand, after a look into the documentation of 2.11.
TORCH = set((Path(__file__).parent / "torch_names.txt").read_text().split())


def cells_of(page: str) -> str:
    return "\n".join(re.sub(r"^[ \t]*[%!].*$", "", cell.source, flags=re.M) for cell in source_cells(page))


SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in MODULES}
SOURCES |= {f"{page}.md": cells_of(page) for page in PAGES}


def imported(tree: ast.Module) -> set[str]:
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names}


def torch_names(tree: ast.Module) -> set[str]:
    """Dotted names below torch that the source uses."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names if alias.asname}
            known |= {
                alias.name.partition(".")[0]: alias.name.partition(".")[0] for alias in node.names if not alias.asname
            }
        elif isinstance(node, ast.ImportFrom) and not node.level:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    def dotted(node):
        if isinstance(node, ast.Attribute):
            before = dotted(node.value)
            return before and f"{before}.{node.attr}"
        return known.get(node.id) if isinstance(node, ast.Name) else None

    names = {dotted(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name)} - {None, "torch"}
    return {name.removeprefix("torch.") for name in names if name.startswith("torch.")}


@pytest.mark.parametrize("source", SOURCES)
def test_python_3_13(source):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as a backslash that stands for itself: an error one day
        compile(SOURCES[source], source, "exec")
    names = imported(ast.parse(SOURCES[source]))
    assert names & REMOVED == set()
    assert names <= PACKAGES | set(sys.stdlib_module_names)


@pytest.mark.parametrize("source", SOURCES)
def test_torch_2_11(source):
    used = torch_names(ast.parse(SOURCES[source]))
    # Methods of what a name stands for, such as __version__.partition, are none of torch's own names.
    unknown = {name for name in used - TORCH if not {name[:i] for i, c in enumerate(name) if c == "."} & LEAVES}
    assert unknown == set(), "is it in torch 2.11? If so, add it to TORCH"


LEAVES = {name for name in TORCH if not any(other.startswith(f"{name}.") for other in TORCH)}


def test_what_is_newer_is_noticed():
    tree = ast.parse(
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nfrom torch.optim import Muon\n"
        "nn.Novelty\nF.novel(Muon)\ntorch.new()"
    )
    assert torch_names(tree) - TORCH == {"nn.Novelty", "nn.functional.novel", "optim.Muon", "new"}
    assert imported(ast.parse("import cgi.x\nfrom imp import y")) <= REMOVED
