"""The timed comparison trains what the study declares, and times the training alone."""

import time

import pytest
import torch

from attnlab import speed
from attnlab.reversal import evaluate
from attnlab.reversal_study import STUDY
from attnlab.study import load_group


def test_every_compared_run_is_declared():
    for groups in speed.COMPARISONS.values():
        for group in groups:
            for seed in speed.SEEDS:
                assert STUDY.runs[f"{group}/{seed}"]["stop_when_perfect"]


def test_testing_is_not_timed(monkeypatch):
    def slow(*arguments):
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        return evaluate(*arguments)

    monkeypatch.setattr("attnlab.reversal.evaluate", slow)
    before = time.process_time()
    steps, seconds = speed.time_to_perfect("speed-10-learned/0")
    assert 10 <= steps <= 60
    assert 0 < seconds < time.process_time() - before - 0.1 * (steps // 2)


def test_ratios(monkeypatch):
    monkeypatch.setattr(speed, "SEEDS", range(1))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    result = speed.compare(["speed-10-source", "speed-10-learned"])
    torch.set_num_threads(threads)
    (steps, seconds, ratio), (fast_steps, fast_seconds, fast_ratio) = result.values()
    assert ratio == 1 and fast_ratio == pytest.approx(seconds / fast_seconds) and fast_ratio > 3
    for group, mean_steps in (("speed-10-source", steps), ("speed-10-learned", fast_steps)):
        studied = [run["steps"] for run in load_group("reversal", group)]
        assert min(studied) / 1.5 <= mean_steps <= 1.5 * max(studied)
