"""Time and memory of one LSTM layer and of one attention layer over the length: the runs, declared.

The one study whose results are those of a machine. So each result names it.
"""

import os
import platform
from pathlib import Path

import torch

from attnlab.cost import LENGTHS, WIDTH, measure
from attnlab.study import Study


def run(n: int, d: int, repetitions: int) -> dict:
    """Measure one length, as ``attnlab.cost.measure`` does, on one thread; and name the machine."""
    torch.set_num_threads(1)
    machine = {"processor": processor(), "cores": os.cpu_count(), "threads": torch.get_num_threads()}
    layers = measure(n, d=d, repetitions=repetitions)
    rounded = {layer: {key: float(f"{value:.4g}") for key, value in row.items()} for layer, row in layers.items()}
    for layer, row in layers.items():
        rounded[layer]["kept_bytes"] = row["kept_bytes"]
    return {"machine": machine, "layers": rounded}


def processor() -> str:
    """The processor's name as the system gives it; Python's own answer is empty on most Linux systems."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


STUDY = Study("cost", {f"n={n}": {"n": n, "d": WIDTH, "repetitions": 9} for n in LENGTHS}, run)
