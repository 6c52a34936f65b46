"""Make .venv and install what the book needs. Standard library only; a second run with nothing changed does nothing.

    python3 tools/setup.py              what building the book needs
    python3 tools/setup.py test         and the test tools
    python3 tools/setup.py lab          and JupyterLab

A stamp in .venv per set holds a digest of the requirement files, so that changing a pin installs again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = ROOT / "_build" / "setup.log"
OLDEST = (3, 11)
TORCH_INDEX = os.environ.get("TORCH_INDEX", "https://download.pytorch.org/whl/cpu")
FILES = {"book": "requirements.txt", "test": "requirements-test.txt", "lab": "requirements-lab.txt"}


def main():
    wanted = ["book", *sys.argv[1:]]
    for name in wanted:
        if name not in FILES:
            stop(f"unknown set {name!r}; known: {', '.join(FILES)}")
    if sys.version_info < OLDEST:
        restart_with_a_newer_python()
    missing = [name for name in wanted if not is_installed(name)]
    if not missing:
        return
    make_environment()
    for name in missing:
        if name == "book":
            install_torch()
        print(f"Set-up: installing {FILES[name]} …", flush=True)
        install("-r", FILES[name])
        stamp_file(name).write_text(digest(name) + "\n")
    print("Set-up: done.", flush=True)


def stop(reason):
    sys.exit(f"Set-up: {reason}")


def restart_with_a_newer_python():
    for minor in range(OLDEST[1] + 5, OLDEST[1] - 1, -1):
        path = shutil.which(f"python3.{minor}")
        if path and subprocess.run([path, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0:
            sys.exit(subprocess.run([path, __file__, *sys.argv[1:]]).returncode)
    this, needed = ("{}.{}".format(*version[:2]) for version in (sys.version_info, OLDEST))
    stop(f"this is Python {this}; the book needs {needed} or newer. To name another one: make html PYTHON=/path/to/it")


def digest(name):
    parts = [str(ROOT).encode(), (ROOT / "code" / "pyproject.toml").read_bytes()]
    parts += [(ROOT / file).read_bytes() for file in ("constraints.txt", "requirements.txt", FILES[name])]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamp_file(name):
    return VENV / f"installed-{name}"


def is_installed(name):
    return stamp_file(name).is_file() and stamp_file(name).read_text().strip() == digest(name)


def python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment():
    if python().exists() and subprocess.run([python(), "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return
    print(f"Set-up: making {VENV.name} with Python {sys.version.split()[0]} …", flush=True)
    try:
        import ensurepip  # noqa: F401  Debian's python3 has venv without it, and then makes half an environment
        import venv
    except ImportError:
        stop("this Python has no venv module. On Debian or Ubuntu: apt install python3-venv")
    venv.create(VENV, clear=True, with_pip=True)


def install_torch():
    """On Linux the package index has the CUDA build, several GB; PyTorch's own has one for the processor alone."""
    pin = next(line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch=="))
    print(f"Set-up: installing {pin}, the largest part …", flush=True)
    # One short try: where PyTorch's index cannot be reached, pip goes on with what it has, …
    extra = ["--extra-index-url", TORCH_INDEX, "--retries", "0", "--timeout", "15"]
    if TORCH_INDEX and pip_install(*extra, pin) is None:
        return
    install(pin)  # … but without retries it may also have missed the usual index.


def install(*arguments):
    problem = pip_install(*arguments)
    if problem:
        stop(f"{problem} Details: {LOG.relative_to(ROOT)}")


def pip_install(*arguments):
    """Run pip and show its progress. Returns None, or in one line what went wrong."""
    command = [
        str(python()),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "-c",
        "constraints.txt",
    ]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    LOG.parent.mkdir(exist_ok=True)
    begin = time.monotonic()
    output = []
    with LOG.open("a", encoding="utf-8") as log, subprocess.Popen([*command, *arguments], cwd=str(ROOT), **pipe) as pip:
        for line in pip.stdout:
            log.write(line)
            output.append(line)
            word, _, rest = line.strip().partition(" ")
            if word in ("Collecting", "Downloading", "Installing", "Building"):
                print(f"  {time.monotonic() - begin:4.0f} s  {word} {rest}"[:100], flush=True)
    return explain("".join(output)) if pip.returncode else None


def explain(output):
    unreachable = ("NewConnectionError", "ConnectTimeoutError", "name resolution", "ReadTimeoutError", "ProxyError")
    if any(sign in output for sign in unreachable):
        return "no network: pip could not reach the package index, and what is missing is not on this machine."
    if "No space left on device" in output:
        return "the disk is full; the environment takes about 2 GB."
    errors = [line.strip() for line in output.splitlines() if line.startswith("ERROR:")]
    return f"pip failed. {errors[-1] if errors else output.strip().splitlines()[-1]}"


if __name__ == "__main__":
    main()
