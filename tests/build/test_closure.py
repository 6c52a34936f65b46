"""Which files of attnlab a page depends on."""

import pytest
from books import ROOT
from closure import closure

FILES = {
    "__init__.py": "",
    "plain.py": "import math\n",
    "chain.py": "from .plain import x\n",
    "late.py": "def f():\n    from attnlab import plain\n",
    "loop.py": "import attnlab.loop2\n",
    "loop2.py": "from attnlab.loop import y\n",
    "reads.py": "NAME = 'numbers.json'\n",
    "family.py": "def load(name):\n    return open(f'{name}.json')\n",
    "inner/__init__.py": "",
    "inner/plain.py": "",
    "inner/one.py": "from .plain import x\n",
    "inner/two.py": "from ..chain import x\n",
    "data/numbers.json": "[]",
    "data/other-study.json": "[]",
}


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "attnlab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "attnlab"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import math, torch", ""),
        ("import attnlab", "__init__.py"),
        ("import attnlab_other, other.attnlab.plain", ""),
        ("import attnlab.plain as p", "__init__.py plain.py"),
        ("from attnlab import plain", "__init__.py plain.py"),
        ("from attnlab.chain import x", "__init__.py chain.py plain.py"),
        ("if True:\n    import attnlab.late", "__init__.py late.py plain.py"),
        ("from attnlab.loop import y", "__init__.py loop.py loop2.py"),
        ("from attnlab.inner import one", "__init__.py inner/__init__.py inner/one.py inner/plain.py"),
        ("import attnlab.inner.two", "__init__.py chain.py inner/__init__.py inner/two.py plain.py"),
        ("from attnlab.reads import NAME", "__init__.py data/numbers.json reads.py"),
        ("from attnlab.family import load\nload('other-study')", "__init__.py data/other-study.json family.py"),
        ("%matplotlib inline\n!ls\nimport attnlab.plain", "__init__.py plain.py"),
        ("%%bash\nimport attnlab.plain", ""),
        ("# import attnlab.plain", ""),
        ("from attnlab.plain import (", ""),
        ("numbers = 'no numbers here'", ""),
    ],
)
def test_closure(package, source, expected):
    found = closure(["x = 1", source], package)
    assert [path.relative_to(package).as_posix() for path in found] == expected.split()


def test_on_the_real_package():
    package = ROOT / "code" / "attnlab"
    found = {path.relative_to(package).as_posix() for path in closure(["import attnlab.transformer"], package)}
    assert found == {"__init__.py", "transformer.py", "attention.py"}
