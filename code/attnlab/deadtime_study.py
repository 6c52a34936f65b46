"""What the page on control claims about reading a dead time from an attention map: the runs, declared."""

import math
import time

import torch

from attnlab.arx import arx_least_squares
from attnlab.deadtime import (
    NextOutput,
    Process,
    draw_records,
    hit_share,
    input_gradient,
    lag_profile,
    train_next_output,
)
from attnlab.study import Study

LAGS = 16
STEPS, BATCH_SIZE = 600, 32
TEST_SEED, TEST_COUNT = 99, 500
ARX_RECORDS = 64


def run(d: int, seed: int, hold: float | None = 1.0, records: int = STEPS * BATCH_SIZE, keep_map: bool = False) -> dict:
    """Train one model on that many records, and look at it on 500 new ones; ARX gets 64 records, and single ones.

    Args:
        d: dead time in samples.
        hold: samples for which an input is kept, on average; None: the whole record.
        keep_map: return the attention weights, averaged over the new records, too.
    """
    process, hold = Process(d=d), math.inf if hold is None else hold
    u, y = draw_records(process, records, torch.Generator().manual_seed(seed), hold=hold)
    torch.manual_seed(seed)
    model = NextOutput()
    train_next_output(model, u, y, steps=STEPS, batch_size=BATCH_SIZE, seed=seed)

    u, y = draw_records(process, TEST_COUNT, torch.Generator().manual_seed(TEST_SEED), hold=hold)
    with torch.no_grad():
        prediction, weights = model.attend(u, y[:, :-1])
    error = (prediction - y[:, 1:]).square()
    gradient = input_gradient(model, u, y[:, :-1], LAGS)
    fit = arx_least_squares(u[:ARX_RECORDS], y[:ARX_RECORDS], lags=LAGS)
    single = arx_least_squares(u.unsqueeze(1), y.unsqueeze(1), lags=LAGS)
    result = {
        "share": round(hit_share(weights, d), 4),
        "weight": round(weights.diagonal(-d, dim1=-2, dim2=-1).mean().item(), 4),
        "gradient": round(gradient[d].item(), 4),
        "other_gradient": round(torch.cat((gradient[:d], gradient[d + 1 :])).abs().max().item(), 4),
        "error": round(error.mean().item() / process.noise**2, 4),
        "profile": [round(x, 3) for x in lag_profile(weights, LAGS).tolist()],
        "arx": {
            "lag": fit.lag.item(),
            "a": round(fit.a.item(), 4),
            "b": round(fit.b[d].item(), 4),
            "single_share": round((single.lag == d).double().mean().item(), 4),
        },
    }
    if keep_map:
        result["map"] = [[round(x, 2) for x in row] for row in weights.mean(0).tolist()]
    return result


def time_both(d: int, seed: int, repetitions: int) -> dict:
    """Seconds of this process (not of the clock) for least squares on 64 records, and for one training."""
    u, y = draw_records(Process(d=d), STEPS * BATCH_SIZE, torch.Generator().manual_seed(seed))
    arx = []
    for _ in range(repetitions):
        begin = time.process_time()
        arx_least_squares(u[:ARX_RECORDS], y[:ARX_RECORDS], lags=LAGS)
        arx.append(time.process_time() - begin)
    torch.manual_seed(seed)
    begin = time.process_time()
    train_next_output(NextOutput(), u, y, steps=STEPS, batch_size=BATCH_SIZE, seed=seed)
    training = time.process_time() - begin
    middle = sorted(arx)[repetitions // 2]
    return {"arx_seconds": round(middle, 5), "training_seconds": round(training, 2), "ratio": round(training / middle)}


def execute(timed: bool = False, **settings) -> dict:
    return time_both(**settings) if timed else run(**settings)


def _runs() -> dict[str, dict]:
    runs: dict[str, dict] = {}
    for d in (3, 7, 12):
        runs |= {f"lag-{d}/{seed}": {"d": d, "seed": seed, "keep_map": seed == 0} for seed in range(4)}
    pitfalls = {"no-dead-time": {"d": 0}, "hold-10": {"d": 7, "hold": 10.0}, "step": {"d": 7, "hold": None}}
    for name, settings in pitfalls.items():
        runs |= {f"{name}/{seed}": settings | {"seed": seed, "keep_map": seed == 0} for seed in range(2)}
    for records in (2, 8, 32, 128, 512):
        runs |= {f"records-{records}/{seed}": {"d": 7, "seed": seed, "records": records} for seed in range(3)}
    runs["time/0"] = {"d": 7, "seed": 0, "timed": True, "repetitions": 21}
    return runs


STUDY = Study("deadtime", _runs(), execute)
