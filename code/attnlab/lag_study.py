"""Attention over lags against cross-correlations and banks, under four kinds of noise and input: the runs, declared."""

import torch

from attnlab.lag_attention import LagAttention, Windows, draw_windows, train_lags
from attnlab.lag_banks import arx_bank, bayes_bank, cross_correlation, oracle, output_error_bank
from attnlab.study import Study

STEPS, BATCH_SIZE = 400, 64
TEST_SEED, TEST_COUNT = 99, 4000
QUIET = {"noise": 0.05, "hold": 2.0, "measurement_noise": 0.0}
CONDITIONS = {
    "quiet": QUIET,
    "noisy": QUIET | {"noise": 0.2},
    "dull": QUIET | {"noise": 0.2, "hold": 6.0},
    "sensor": QUIET | {"noise": 0.0, "measurement_noise": 0.2},
}


def run(seed: int, noise: float, hold: float, measurement_noise: float) -> dict:
    """Train the attention under these conditions, and under the quiet ones; judge every method on 4 000 windows.

    Returns:
        For each method the share of right lags, and the mean square error of the next output as a multiple of the
        noise's variance (None for methods that do not predict); and the trained filters.
    """
    condition = {"noise": noise, "hold": hold, "measurement_noise": measurement_noise}
    test = draw_windows(TEST_COUNT, torch.Generator().manual_seed(TEST_SEED + seed), **condition)
    unit = noise or measurement_noise

    def marks(lag, prediction=None) -> dict:
        share = (lag == test.d).double().mean().item()
        error = None if prediction is None else (prediction - test.target).square().mean().item() / unit**2
        return {"share": round(share, 4), "error": error and round(error, 4)}

    start, own, foreign = LagAttention(), trained(seed, **condition), trained(seed, **QUIET)
    banks = {
        "arx": arx_bank(test.u, test.y),
        "bayes": bayes_bank(test.u, test.y, noise=unit),
        "output-error": output_error_bank(test.u, test.y),
    }
    result = {
        "correlation": marks(cross_correlation(test.u, test.y).argmax(-1)),
        "difference": marks(cross_correlation(test.u, test.y, output_pole=1.0).argmax(-1)),
        "inverse": marks(cross_correlation(test.u, test.y, output_pole=0.8).argmax(-1)),
        "prewhitened": marks(cross_correlation(test.u, test.y, input_pole=1 - 1 / hold).argmax(-1)),
    }
    for name, model in (("start", start), ("attention", own), ("foreign", foreign)):
        prediction, weights = attend(model, test)
        result[name] = marks(weights.argmax(-1), prediction)
    result |= {name: marks(bank.lag, bank.prediction) for name, bank in banks.items()}
    result["oracle"] = marks(test.d, oracle(test))
    return {"methods": result, "query_taps": _unit(own.query_taps), "key_taps": _unit(own.key_taps)}


def trained(seed: int, **condition: float) -> LagAttention:
    model = LagAttention()
    train_lags(model, draw_windows(STEPS * BATCH_SIZE, torch.Generator().manual_seed(seed), **condition))
    return model


@torch.no_grad()
def attend(model: LagAttention, windows: Windows):
    return model.attend(windows.u, windows.y)


def _unit(taps) -> list[float]:
    """The filter, scaled so that its largest coefficient is 1: the attention does not depend on its size."""
    taps = taps.detach()
    return [round(x, 3) for x in (taps / taps[taps.abs().argmax()]).tolist()]


STUDY = Study(
    "lags",
    {f"{name}/{seed}": {"seed": seed} | condition for name, condition in CONDITIONS.items() for seed in range(3)},
    run,
)
