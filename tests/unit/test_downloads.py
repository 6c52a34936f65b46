"""The single files offered on the pages: they run alone, in any folder, and print what the course printed."""

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CODE = Path(__file__).parents[2] / "code"


def run_alone(name: str, folder: Path) -> subprocess.CompletedProcess:
    """Copy one file into a folder of its own and run it there, without the book's package in reach."""
    script = Path(shutil.copy(CODE / name, folder))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        # -W error: what a reader sees must be free of warnings.
        [sys.executable, "-W", "error", script.name],
        cwd=folder,
        env=environment | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=250,
    )


def imported(name: str) -> set[str]:
    """The top-level modules that a file imports."""
    source = (CODE / name).read_text(encoding="utf-8")
    return set(re.findall(r"^(?:from|import) (\w+)", source, flags=re.M))


def test_reverse_seq_needs_nothing_but_torch():
    assert imported("reverse_seq.py") - set(sys.stdlib_module_names) == {"torch"}


def test_reverse_seq(tmp_path):
    done = run_alone("reverse_seq.py", tmp_path)
    assert done.returncode == 0, done.stderr
    transformer, lstm, attention = done.stdout.splitlines()
    pattern = r"(.+?)\s*：參數\s+(\d+)，每個數字的正確率 ([\d.]+)%，整串全對 ([\d.]+)%"
    name, parameters, token, sequence = re.fullmatch(pattern, transformer).groups()
    assert (name, parameters) == ("Transformer", "9194") and float(token) >= 99.9 and float(sequence) >= 99.9
    name, parameters, token, sequence = re.fullmatch(pattern, lstm).groups()
    assert (name, parameters) == ("雙向 LSTM", "32778")
    assert 93 < float(token) < 98 and 50 < float(sequence) < 82
    assert 0.55 < float(re.search(r"平均 ([\d.]+)", attention)[1]) < 0.72

    # Sparse lines where nobody watches, on the error stream only.
    progress = done.stderr.splitlines()
    assert 2 <= len(progress) <= 10 and "\r" not in done.stderr
    assert progress[-1] == "雙向 LSTM：1500/1500 步"

    result = json.loads((tmp_path / "reverse_seq.json").read_text(encoding="utf-8"))
    assert set(result) == {"att", "x"}
    assert len(result["x"]) == len(result["att"]) == 10 and all(0 <= digit <= 9 for digit in result["x"])
    for i, row in enumerate(result["att"]):
        assert len(row) == 10 and sum(row) == pytest.approx(1, abs=1e-5)
        assert max(range(10), key=row.__getitem__) == 9 - i
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reverse_seq.json", "reverse_seq.py"]


def test_reverse_seq_shows_one_moving_line_in_a_terminal(monkeypatch):
    specification = importlib.util.spec_from_file_location("reverse_seq", CODE / "reverse_seq.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    for step in range(1, module.STEPS + 1):
        module.show_progress("模型", step, 1 / step)
    shown = sys.stderr.getvalue()
    assert shown.count("\r") == module.STEPS // 25 and shown.count("\n") == 1 and shown.endswith("\n")
    assert f"{module.STEPS}/{module.STEPS} 步" in shown
