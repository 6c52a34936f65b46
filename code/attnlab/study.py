"""Long experiments whose results are committed: run once by ``make study``, read by the pages.

``python -m attnlab.study [name …]`` runs the studies of ``MODULES`` (all, unless named). Every finished run goes
into ``data/<name>.json`` at once, so that an interrupted study goes on where it stopped. A run is kept as long
as its settings are those that the study declares; delete the file to make everything again.
"""

import argparse
import importlib
import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import torch
from tqdm import tqdm

DATA = Path(__file__).parent / "data"

# The modules that declare a study each, as their STUDY. Its name stands there alone: a page depends on the data of
# every study that its code names, and whatever loads results imports this module.
MODULES = [
    "attnlab.reversal_study",
    "attnlab.cost_study",
    "attnlab.deadtime_study",
    "attnlab.lag_study",
    "attnlab.heads_study",
    "attnlab.reversal_weights",
    "attnlab.deadtime_maps",
]


@dataclass(frozen=True)
class Study:
    """What is to be run.

    Args:
        name: of the study and of its file.
        runs: the settings of each run, by the run's name. Settings are JSON values, the random seed among them.
        execute: called as execute(**settings); returns JSON values; no times and nothing else of the
            machine, except where they are what is studied.
    """

    name: str
    runs: dict[str, dict]
    execute: Callable[..., dict]

    def path(self) -> Path:
        return DATA / f"{self.name}.json"


def load(name: str) -> dict[str, dict]:
    """Every run of a committed study: {run: {"settings", "result", "made"}}.

    Raises:
        FileNotFoundError: the study was never run.
    """
    path = DATA / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(f"no results of the study {name!r}: run python -m attnlab.study {name}")
    return json.loads(path.read_text(encoding="utf-8"))["runs"]


def load_group(name: str, group: str) -> list[dict]:
    """The results of all runs called "<group>/…", in the order of the file, each with its settings' seed.

    Raises:
        KeyError: the study has no such runs.
    """
    runs = {run: entry for run, entry in load(name).items() if run.rpartition("/")[0] == group}
    if not runs:
        raise KeyError(f"the study {name!r} has no group {group!r}")
    return [entry["result"] | {"seed": entry["settings"]["seed"]} for entry in runs.values()]


def missing(study: Study) -> list[str]:
    """The runs that are declared but not in the file, or there with other settings."""
    done = load(study.name) if study.path().exists() else {}
    return [run for run, settings in study.runs.items() if run not in done or done[run]["settings"] != settings]


def conduct(study: Study) -> None:
    """Run whatever is missing, one run after the other, and keep each result as soon as it is there."""
    todo = missing(study)
    done = load(study.name) if study.path().exists() else {}
    bar = tqdm(total=len(study.runs), initial=len(study.runs) - len(todo), desc=study.name, unit="run")
    with bar:
        for run in todo:
            bar.set_postfix_str(run)
            done[run] = {
                "settings": study.runs[run],
                "result": study.execute(**study.runs[run]),
                "made": {
                    "date": date.today().isoformat(),
                    "torch": torch.__version__.partition("+")[0],
                    "python": platform.python_version(),
                },
            }
            # The order of the declaration, whatever the order of the running; nothing that is not declared.
            _write(study, {name: done[name] for name in study.runs if name in done})
            bar.update()


def _write(study: Study, runs: dict[str, dict]) -> None:
    """Replace the file in one step: whoever stops us finds the old file or the new one, never half of one."""
    lines = ",\n".join(f"  {json.dumps(run)}: {json.dumps(entry)}" for run, entry in runs.items())
    path = study.path()
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_text(f'{{"study": {json.dumps(study.name)}, "runs": {{\n{lines}\n}}}}\n', encoding="utf-8")
    os.replace(draft, path)


def studies() -> dict[str, Study]:
    """Every study of the book by its name."""
    return {one.name: one for one in (importlib.import_module(module).STUDY for module in MODULES)}


def main(arguments: list[str] | None = None) -> None:
    known = studies()
    parser = argparse.ArgumentParser(prog="python -m attnlab.study", description="run the long studies of the book")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which of {', '.join(known)}; all unless given")
    names = parser.parse_args(arguments).names or list(known)
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"no study called {', '.join(unknown)}; there are {', '.join(known)}")
    torch.set_num_threads(1)
    for name in names:
        conduct(known[name])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("\nstopped; run it again and it goes on from here") from None
