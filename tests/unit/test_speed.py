"""The timed comparison trains what the study declares, and times the training alone."""

import time

import pytest

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
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        return evaluate(*arguments)

    monkeypatch.setattr("attnlab.reversal.evaluate", slow)
    before = time.process_time()
    steps, seconds = speed.time_to_perfect("speed-10-learned/0")
    assert 10 <= steps <= 60
    assert 0 < seconds < time.process_time() - before - 0.02 * (steps // 2)


def test_ratios(monkeypatch):
    monkeypatch.setattr(speed, "SEEDS", range(1))
    groups = ["speed-10-sinusoid", "speed-10-learned"]
    result = speed.compare(groups)
    (steps, seconds, ratio), (fast_steps, fast_seconds, fast_ratio) = result.values()
    assert ratio == 1 and fast_ratio == pytest.approx(seconds / fast_seconds)
    for group, mean_steps in zip(groups, (steps, fast_steps), strict=True):
        studied = [run["steps"] for run in load_group("reversal", group)]
        assert min(studied) / 1.5 <= mean_steps <= 1.5 * max(studied)
