"""Make .venv-colab: Colab's versions of what notebooks use, to run them a second time (tests/notebooks).

    .venv/bin/python tools/setup_colab.py

Only requirements-colab.txt is installed. What those packages need besides, and torch, is linked from .venv instead of
being downloaded twice. A second run with nothing changed does nothing.
"""

import hashlib
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-colab"
LIST = ROOT / "requirements-colab.txt"
STAMP = VENV / "installed"


def main() -> None:
    wanted = digest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return
    print(f"Set-up: making {VENV.name} with Colab's versions …", flush=True)
    run([sys.executable, "-m", "venv", "--clear", VENV])
    python = VENV / Path(sys.executable).relative_to(sys.prefix)
    # With their dependencies, ipywidgets would bring the whole classic notebook.
    quietly = ["-q", "--disable-pip-version-check", "--no-input", "--no-compile", "--no-deps"]
    run([python, "-m", "pip", "install", *quietly, "-r", LIST])
    source = Path(sysconfig.get_path("purelib"))
    link_the_rest(source, VENV / source.relative_to(sys.prefix))
    STAMP.write_text(wanted)


def digest() -> str:
    packages = sorted(f"{one.name}=={one.version}" for one in metadata.distributions())
    parts = [str(ROOT), sys.version, Path(__file__).read_text(), LIST.read_text(), *packages]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def run(command: list) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"Set-up: {VENV.name}: {' '.join(map(str, command[1:4]))} failed.\n{done.stdout[-2000:]}")


def link_the_rest(source: Path, target: Path) -> None:
    """Link from source whatever torch and the packages in target require and target does not have."""
    there = {canonicalize_name(one.name): one for one in metadata.distributions(path=[str(source)])}
    here = {canonicalize_name(one.name): one for one in metadata.distributions(path=[str(target)])}
    waiting, seen = ["torch", *here], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in here | there:
            continue
        seen.add(name)
        package = here.get(name) or there[name]
        for requirement in map(Requirement, package.requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(requirement.name))
        if name not in here:
            for top in sorted({file.parts[0] for file in package.files or []} - {"..", "__pycache__"}):
                if not (target / top).exists():
                    (target / top).symlink_to(source / top)


if __name__ == "__main__":
    main()
