"""What the page on the reverse task claims about many seeds and long trainings: the runs, declared."""

import torch
from torch import nn

from attnlab.reversal import (
    LENGTH,
    ReversalLSTM,
    ReversalTransformer,
    anti_diagonal,
    count_parameters,
    evaluate,
    held_out,
    reversal_batch,
    train,
)
from attnlab.study import Study
from attnlab.uva import BATCH_SIZE as UVA_BATCH_SIZE
from attnlab.uva import STEPS as UVA_STEPS
from attnlab.uva import UvaTransformer, uva_optimizer

MODELS = {"transformer": ReversalTransformer, "lstm": ReversalLSTM, "uva": UvaTransformer}
OTHER_LENGTHS = (8, 9, 11, 12, 15, 20)
FRESH_SEED, FRESH_COUNT = 100, 10_000
CURVE_POINTS = 30

# The two recipes that reach 100 % much sooner than the one of the course's first script.
FAST_SINUSOID = {"model_settings": {"base": 10.0, "embedding_scale": 0.5}, "learning_rate": 1e-2}
FAST_LEARNED = {"model_settings": {"encoding": "learned"}, "learning_rate": 1e-2}


def build(
    model: str, seed: int, model_settings: dict | None, learning_rate: float, *, length: int, uva_schedule: bool
) -> tuple[nn.Module, torch.optim.Optimizer]:
    """One model, its parameters drawn from the seed, and what trains it."""
    torch.manual_seed(seed)
    settings = dict(model_settings or {})
    if settings.get("encoding") == "learned":
        settings["length"] = length
    net = MODELS[model](**settings)
    optimizer = uva_optimizer(net) if uva_schedule else torch.optim.Adam(net.parameters(), lr=learning_rate)
    return net, optimizer


def run(
    model: str,
    seed: int,
    *,
    model_settings: dict | None = None,
    steps: int = 1500,
    learning_rate: float = 3e-3,
    batch_size: int = 64,
    length: int = LENGTH,
    evaluate_every: int = 50,
    stop_when_perfect: bool = False,
    uva_schedule: bool = False,
) -> dict:
    """Train one model from one seed, and report what there is to know about it in JSON values."""
    net, optimizer = build(model, seed, model_settings, learning_rate, length=length, uva_schedule=uva_schedule)
    curve = train(
        net,
        steps=steps,
        batch_size=batch_size,
        length=length,
        seed=seed,
        evaluate_every=evaluate_every,
        stop_when_perfect=stop_when_perfect,
        optimizer=optimizer,
    )
    x, y = held_out(length)
    marks = evaluate(net, x, y)
    fresh = reversal_batch(FRESH_COUNT, torch.Generator().manual_seed(FRESH_SEED), length=length)
    thin = slice(None, None, -(-len(curve.steps) // CURVE_POINTS))
    result = {
        "parameters": count_parameters(net),
        "steps": curve.steps[-1],
        "token": round(marks.token, 5),
        "sequence": marks.sequence,
        "by_position": [round(share, 4) for share in marks.by_position],
        "fresh_sequence": evaluate(net, *fresh).sequence,
        "first_step": {str(share): curve.first_step(share) for share in (0.9, 0.99, 1.0)},
        "curve": {
            # From the end backwards, so that the last point always stays.
            "steps": curve.steps[::-1][thin][::-1],
            "token": [round(mark, 4) for mark in curve.token[::-1][thin][::-1]],
            "sequence": [round(mark, 4) for mark in curve.sequence[::-1][thin][::-1]],
        },
    }
    if model == "transformer":
        with torch.no_grad():
            weight, hit = anti_diagonal(net.attend(x)[1])
        result["anti_diagonal"] = {"weight": [round(w, 4) for w in weight], "hit": [round(share, 4) for share in hit]}
    if (model_settings or {}).get("encoding") != "learned" and length == LENGTH:
        others = {other: evaluate(net, *held_out(other)) for other in OTHER_LENGTHS}
        result["other_lengths"] = {
            str(other): [round(mark.token, 4), round(mark.sequence, 4)] for other, mark in others.items()
        }
    return result


def _declare() -> dict[str, dict]:
    runs: dict[str, dict] = {}

    def declare(group: str, model: str, seeds: int, **settings) -> None:
        for seed in range(seeds):
            runs[f"{group}/{seed}"] = {"model": model, "seed": seed} | settings

    # The budget of the course's first script, many seeds.
    declare("transformer", "transformer", 8)
    declare("lstm", "lstm", 8)
    # Where positions, mask, heads and normalisation matter.
    for name, settings in {
        "no-position": {"encoding": "none"},
        "causal": {"causal": True},
        "heads-2": {"num_heads": 2},
        "heads-4": {"num_heads": 4},
        "heads-8": {"num_heads": 8},
        "learned": {"encoding": "learned"},
        "pre-norm": {"norm_first": True},
    }.items():
        declare(name, "transformer", 3, model_settings=settings)
    # How soon 100 % can be reached: against the first script at length 10, against UvA's recipe at its length 16.
    for length in (10, 16):
        to_perfect = {"length": length, "stop_when_perfect": True}
        declare(f"speed-{length}-source", "transformer", 5, evaluate_every=5, **to_perfect)
        declare(f"speed-{length}-sinusoid", "transformer", 5, evaluate_every=2, **to_perfect, **FAST_SINUSOID)
        declare(f"speed-{length}-learned", "transformer", 5, evaluate_every=2, **to_perfect, **FAST_LEARNED)
    uva = {"uva_schedule": True, "steps": UVA_STEPS, "batch_size": UVA_BATCH_SIZE}
    declare("speed-16-uva", "uva", 5, evaluate_every=10, **uva, **to_perfect)
    # The same architecture with the first script's optimiser: is it the architecture, or its learning rate?
    declare("speed-16-uva-3e-3", "uva", 5, evaluate_every=5, **to_perfect)
    # Twice that long, to see what a fixed small budget gives.
    declare("fast-sinusoid", "transformer", 5, steps=150, **FAST_SINUSOID)
    declare("fast-learned", "transformer", 5, steps=100, **FAST_LEARNED)
    # Twice as large at the start, the learned positions saturate the softmax.
    loud = {"model_settings": {"encoding": "learned", "position_scale": 2.0}, "learning_rate": 1e-2}
    declare("learned-loud", "transformer", 5, steps=2000, stop_when_perfect=True, **loud)
    # Longer sequences.
    for length in (20, 40):
        declare(f"transformer-length-{length}", "transformer", 3, length=length, stop_when_perfect=True)
        declare(f"lstm-length-{length}", "lstm", 2, length=length, evaluate_every=300)
    # Is the recurrent network given a fair chance? Longer, faster, and with as few parameters as the Transformer.
    for rate in ("1e-2", "1e-3"):
        early = {"evaluate_every": 10, "stop_when_perfect": True}
        declare(f"transformer-{rate}", "transformer", 3, learning_rate=float(rate), **early)
    declare("lstm-1e-3", "lstm", 2, learning_rate=1e-3)
    declare("lstm-forget", "lstm", 3, model_settings={"forget_bias": 3.0})
    declare("lstm-long", "lstm", 3, steps=6000, evaluate_every=100)
    declare("lstm-1e-2", "lstm", 2, steps=4000, learning_rate=1e-2, evaluate_every=100)
    small = {"width": 24, "hidden": 22}
    declare("lstm-small", "lstm", 2, model_settings=small, steps=6000, evaluate_every=200)
    declare("lstm-small-1e-2", "lstm", 2, model_settings=small, steps=4000, learning_rate=1e-2, evaluate_every=200)
    return runs


STUDY = Study("reversal", _declare(), run)
