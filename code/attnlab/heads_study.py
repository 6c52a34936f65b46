"""What the page on several heads claims about many random seeds: the runs, declared."""

import torch

from attnlab.heads import (
    SignalHeads,
    SymbolHeads,
    both_right,
    draw_symbols,
    expected_error,
    sampled_error,
    train_filter,
    train_symbols,
)
from attnlab.study import Study

SEEDS = range(20)

# The groups of runs: the task, and the settings of its model.
GROUPS = {
    "difference/1": ("difference", {"num_heads": 1}),
    "difference/2": ("difference", {"num_heads": 2}),
    "difference/2-small": ("difference", {"num_heads": 2, "position_scale": 0.3}),
    "difference/1-content": ("difference", {"num_heads": 1, "scores_see_signal": True}),
    "symbols/1": ("symbols", {"num_heads": 1}),
    "symbols/2": ("symbols", {"num_heads": 2}),
    "symbols/4": ("symbols", {"num_heads": 4}),
    "symbols/1-ffn": ("symbols", {"num_heads": 1, "feed_forward": True}),
}


def run(task: str, seed: int, model_settings: dict) -> dict:
    """Train one model from one seed; its marks, and where its heads look."""
    torch.manual_seed(seed)
    if task == "difference":
        return _difference(SignalHeads(**model_settings), seed)
    return _symbols(SymbolHeads(**model_settings), seed)


def _difference(model: SignalHeads, seed: int) -> dict:
    initial_gains = model.gains()
    train_filter(model, seed=seed)
    result = {"error": _short(sampled_error(model)), "gains": _rounded(model.gains())}
    if not model.scores_see_signal:
        _, weights = model(torch.zeros(1, len(model.position)))  # (h, n, n)
        result |= {
            "expected_error": _short(expected_error(model)),
            "initial_gains": _rounded(initial_gains),
            "weight_on_t": _rounded(weights.diagonal(dim1=-2, dim2=-1)[:, 1:].mean(-1)),
            "weight_on_t_minus_1": _rounded(weights.diagonal(-1, dim1=-2, dim2=-1).mean(-1)),
        }
    return result


def _symbols(model: SymbolHeads, seed: int) -> dict:
    train_symbols(model, seed=seed)
    with torch.no_grad():
        _, weights = model(draw_symbols(500))
    mean = weights.mean(0)[:, 2:]  # (h, n − 2, n): t = 2 … n−1, where previous and first differ
    return {
        "both_right": round(both_right(model), 5),
        "weight_on_previous": _rounded(mean.diagonal(1, dim1=-2, dim2=-1).mean(-1)),
        "weight_on_first": _rounded(mean[..., 0].mean(-1)),
        # How much the weights change from sequence to sequence: standard deviation, averaged over t.
        "spread_on_previous": _rounded(weights[:, :, 2:].std(0).diagonal(1, dim1=-2, dim2=-1).mean(-1)),
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _rounded(values: torch.Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


STUDY = Study(
    "heads",
    {
        f"{group}/{seed}": {"task": task, "seed": seed, "model_settings": settings}
        for group, (task, settings) in GROUPS.items()
        for seed in SEEDS
    },
    run,
)
