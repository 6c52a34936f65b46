"""How long training takes until the first test without a mistake: our recipes against two well-known ones, timed.

``python -m attnlab.speed`` prints ratios. Times belong to a machine, so that nothing of this is committed; the
numbers of steps are part of the study ``reversal``.
"""

import time
from statistics import mean

import torch

from attnlab.reversal import train
from attnlab.reversal_study import STUDY, build, run

# Groups of the study. In each list the first one is what the others are compared with.
COMPARISONS = {
    "length 10, against the course's first script": ["speed-10-source", "speed-10-sinusoid", "speed-10-learned"],
    "length 16, against UvA's recipe": ["speed-16-uva", "speed-16-source", "speed-16-sinusoid", "speed-16-learned"],
}
SEEDS = range(5)


def time_to_perfect(name: str) -> tuple[int, float]:
    """Train one of the study's runs until its first faultless test: steps, and CPU seconds without the testing."""
    settings = run.__kwdefaults__ | STUDY.runs[name]
    net, optimizer = build(
        settings["model"],
        settings["seed"],
        settings["model_settings"],
        settings["learning_rate"],
        length=settings["length"],
        uva_schedule=settings["uva_schedule"],
    )
    seconds, last = 0.0, time.process_time()

    def stepped(*_) -> None:
        nonlocal seconds, last
        now = time.process_time()
        seconds, last = seconds + now - last, now

    def tested(*_) -> None:
        nonlocal last
        last = time.process_time()

    optimizer.register_step_post_hook(stepped)
    curve = train(
        net,
        optimizer=optimizer,
        report=tested,
        stop_when_perfect=True,
        **{key: settings[key] for key in ("steps", "batch_size", "length", "seed", "evaluate_every")},
    )
    return curve.steps[-1], seconds


def compare(groups: list[str]) -> dict[str, tuple[float, float, float]]:
    """Mean steps, mean seconds, and how many times faster than the first group; the groups take turns."""
    taken: dict[str, list[tuple[int, float]]] = {group: [] for group in groups}
    for seed in SEEDS:
        for group in groups:
            taken[group].append(time_to_perfect(f"{group}/{seed}"))
    seconds = {group: mean(spent for _, spent in runs) for group, runs in taken.items()}
    return {
        group: (mean(steps for steps, _ in runs), seconds[group], seconds[groups[0]] / seconds[group])
        for group, runs in taken.items()
    }


def main() -> None:
    torch.set_num_threads(1)
    for title, groups in COMPARISONS.items():
        print(f"Time to 100 %, {title} ({len(SEEDS)} seeds, CPU time of training, one thread):")
        for group, (steps, seconds, ratio) in compare(groups).items():
            print(f"  {group:20s} {steps:6.0f} steps {seconds:7.2f} s  {ratio:5.1f} x")


if __name__ == "__main__":
    main()
