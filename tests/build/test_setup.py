"""The set-up: one clear line where it cannot go on, and nothing to do the second time."""

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from books import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SCRIPT = ROOT / "tools" / "setup.py"


@pytest.fixture
def clone(tmp_path):
    """What the set-up reads of the project, in a folder of its own."""
    for path in ("tools/setup.py", "code/pyproject.toml", "constraints.txt", *ROOT.glob("requirements*.txt")):
        target = tmp_path / (Path(path).relative_to(ROOT) if Path(path).is_absolute() else path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)
    return tmp_path


def run_setup(folder, before="", **environment):
    """Run the script in folder after some Python statements that stand for another machine."""
    code = (
        f"import runpy, sys\nsys.argv = ['setup.py']\n{before}\nrunpy.run_path('tools/setup.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_old_pythons_can_read_it():
    ast.parse(SCRIPT.read_text(), feature_version=(3, 6))


def test_a_python_that_is_too_old(clone):
    code, out, err = run_setup(clone, "sys.version_info = (3, 9, 2, 'final', 0)", PATH="")
    assert code == 1
    assert out == ""
    assert err == (
        "Set-up: this is Python 3.9; the book needs 3.11 or newer. To name another one: make html PYTHON=/path/to/it\n"
    )


def test_a_newer_python_beside_the_old_one_is_taken(clone, tmp_path):
    newer = tmp_path / "bin" / "python3.12"
    newer.parent.mkdir()
    newer.write_text('#!/bin/sh\n[ "$1" = -c ] || echo "the newer one was given: $2"\n')
    newer.chmod(0o755)
    before = "sys.version_info = (3, 9, 2, 'final', 0); sys.argv.append('test')"
    code, out, err = run_setup(clone, before, PATH=str(newer.parent))
    assert (code, out, err) == (0, "the newer one was given: test\n", "")


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_no_venv_module(clone, module):
    code, _, err = run_setup(clone, f"sys.modules[{module!r}] = None")
    assert code == 1
    assert err == "Set-up: this Python has no venv module. On Debian or Ubuntu: apt install python3-venv\n"
    assert not (clone / ".venv").exists()


def test_no_network(clone):
    nowhere = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "TORCH_INDEX": "http://127.0.0.1:9/torch",
    }
    code, _, err = run_setup(clone, **nowhere)
    assert code == 1
    assert err == (
        "Set-up: no network: pip could not reach the package index, and what is missing is not on this machine."
        " Details: _build/setup.log\n"
    )
    assert not list((clone / ".venv").glob("installed-*"))  # the next run tries again


def test_the_second_run_does_nothing_until_a_pin_changes(clone):
    before = "import runpy as r; s = r.run_path('tools/setup.py'); s['VENV'].mkdir(exist_ok=True)"
    stamp = f"{before}; s['stamp_file']('book').write_text(s['digest']('book'))"
    assert run_setup(clone, stamp, PATH="") == (0, "", "")
    assert run_setup(clone, PATH="") == (0, "", "")
    with (clone / "constraints.txt").open("a") as file:
        file.write("another==1.0\n")
    code, out, _ = run_setup(clone, "sys.modules['venv'] = None")
    assert code == 1 and out.startswith("Set-up: making .venv")


def pins(path):
    """name -> version of the exact pins in a requirements file."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line and line != "-e ./code"]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def test_the_installed_tree_is_the_one_in_constraints():
    constraints = pins(ROOT / "constraints.txt")
    direct = pins(ROOT / "requirements.txt") | pins(ROOT / "requirements-test.txt")
    assert direct.items() <= constraints.items()
    assert pins(ROOT / "requirements-lab.txt").items() <= constraints.items()

    installed, waiting = {}, [(name, "") for name in direct]
    seen = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen or name == "pip":
            continue
        seen.add((name, extra))
        package = metadata.distribution(name)
        installed[name] = package.version.partition("+")[0]
        for line in package.requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(needed.name), e) for e in ("", *needed.extras)]
    assert installed == {name: constraints.get(name) for name in installed}
    assert len(installed) > 90


def test_the_installed_packages_fit_together():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert done.stdout == "No broken requirements found.\n"


def test_the_folder_named_code_hides_nothing():
    """The standard library has a module code too, and pdb, IPython and debuggers import it."""
    assert not (ROOT / "code" / "__init__.py").exists()
    probe = "import code, pdb, IPython, torch; print(code.__file__); code.InteractiveConsole"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).parent == Path(os.__file__).parent
