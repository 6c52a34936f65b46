"""Attention maps of models trained at several dead times and with several kinds of input, for sliding through.

``python -m attnlab.study deadtime_maps`` trains them again.
"""

import base64
import zlib

import torch
from torch import Tensor

from attnlab.deadtime import LENGTH, NextOutput, Process, draw_records, input_gradient, lag_profile, train_next_output
from attnlab.study import Study, load

DEAD_TIMES = (1, 3, 5, 7, 9, 11, 13)
HOLDS = (1, 4, 10)
LAGS = 16


def execute(d: int, hold: int, seed: int) -> dict:
    """Train one model as the page does, and average its map over 500 new records.

    Args:
        d: dead time in samples.
        hold: samples for which an input is kept, on average.

    Returns:
        "map", 40 × 40 weights as bytes (255 is 1), compressed, in base64; "profile", mean weights on the lags;
        "gradient", what one kW at each lag does to the prediction, °C.
    """
    process = Process(d=d)
    u, y = draw_records(process, 19_200, torch.Generator().manual_seed(seed), hold=hold)
    torch.manual_seed(seed)
    model = NextOutput()
    train_next_output(model, u, y, seed=seed)
    u, y = draw_records(process, 500, torch.Generator().manual_seed(99), hold=hold)
    with torch.no_grad():
        weights = model.attend(u, y[:, :-1])[1]
    steps = (255 * weights.mean(0)).round().to(torch.uint8)
    gradient = input_gradient(model, u, y[:, :-1], LAGS)
    return {
        "map": base64.b64encode(zlib.compress(steps.numpy().tobytes(), 9)).decode(),
        "profile": [round(w, 3) for w in lag_profile(weights, LAGS).tolist()],
        "gradient": [round(w, 3) for w in gradient.tolist()],
    }


def read(d: int, hold: int) -> tuple[Tensor, Tensor, Tensor]:
    """The map (40, 40), the profile (16,) and the gradient (16,) of one committed run."""
    result = load("deadtime_maps")[f"{d}-{hold}"]["result"]
    steps = torch.frombuffer(bytearray(zlib.decompress(base64.b64decode(result["map"]))), dtype=torch.uint8)
    return steps.reshape(LENGTH, LENGTH) / 255, torch.tensor(result["profile"]), torch.tensor(result["gradient"])


RUNS = {f"{d}-{hold}": {"d": d, "hold": hold, "seed": 0} for hold in HOLDS for d in DEAD_TIMES}
STUDY = Study("deadtime_maps", RUNS, execute)
