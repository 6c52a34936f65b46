"""The committed studies of the page on control lie inside the ranges that the page relies on."""

from statistics import mean

import pytest

from attnlab import deadtime_study, lag_study
from attnlab.study import load, load_group


@pytest.mark.parametrize("d", [3, 7, 12])
def test_dead_time_is_in_the_map_and_b_in_the_gradient(d):
    runs = load_group("deadtime", f"lag-{d}")
    assert [run["seed"] for run in runs] == [0, 1, 2, 3]
    for run in runs:
        assert run["share"] >= 0.97 and run["weight"] >= 0.9 and run["error"] < 1.2
        assert abs(run["gradient"] - 0.4) < 0.02 and run["other_gradient"] < 0.03
        assert run["profile"].index(max(run["profile"])) == d
        assert run["arx"]["lag"] == d and abs(run["arx"]["b"] - 0.4) < 0.02
    rows = runs[0]["map"]
    assert len(rows) == len(rows[0]) == 40 and all(rows[t].index(max(rows[t])) == t - d for t in range(d, 40))


def test_pitfalls():
    for run in load_group("deadtime", "no-dead-time"):
        assert run["weight"] < 0.5 and abs(run["gradient"] - 0.4) < 0.03 and run["error"] < 1.2
    for run in load_group("deadtime", "hold-10"):
        assert run["weight"] < 0.9 and run["gradient"] < 0.36 and run["error"] > 1.15 and run["arx"]["lag"] == 7
    for run in load_group("deadtime", "step"):
        assert run["share"] < 0.5 and run["arx"]["lag"] == 7


def test_attention_needs_many_records_and_least_squares_does_not():
    for n in (2, 8):
        assert all(run["share"] < 0.5 and run["error"] > 10 for run in load_group("deadtime", f"records-{n}"))
    for n in (32, 128, 512):
        assert all(run["share"] > 0.97 for run in load_group("deadtime", f"records-{n}"))
    assert all(run["arx"]["single_share"] > 0.98 for run in load_group("deadtime", "lag-7"))
    timing = load("deadtime")["time/0"]["result"]
    assert timing["ratio"] > 100
    assert timing["training_seconds"] / timing["arx_seconds"] == pytest.approx(timing["ratio"], rel=0.05)


def lags(condition):
    runs = [run["methods"] for run in load_group("lags", condition)]
    assert len(runs) == 3

    def average(method, key):
        values = [run[method][key] for run in runs]
        return None if None in values else mean(values)

    return {method: (average(method, "share"), average(method, "error")) for method in runs[0]}


@pytest.mark.parametrize("condition", list(lag_study.CONDITIONS))
def test_who_wins_where(condition):
    marks = lags(condition)
    assert marks["correlation"][0] + 0.3 < marks["attention"][0] < marks["inverse"][0] + 0.01
    assert marks["attention"][1] < 0.9 * marks["start"][1]
    if condition == "sensor":  # noise where neither the ARX bank nor the Bayes bank expects it
        assert marks["output-error"][0] > marks["attention"][0] + 0.03
        assert marks["output-error"][1] < marks["attention"][1] < marks["arx"][1]
    else:
        assert max(share for method, (share, _) in marks.items() if method != "oracle") < marks["bayes"][0] + 0.01
        assert min(error for method, (_, error) in marks.items() if error and method != "oracle") == marks["bayes"][1]
        assert marks["attention"][1] < marks["arx"][1] + 0.06 < marks["output-error"][1]


def test_quiet_ranges():
    marks = lags("quiet")
    assert marks["correlation"][0] == pytest.approx(0.31, abs=0.03)
    assert marks["attention"][0] >= 0.97 and marks["attention"][1] < 1.3
    for run in load_group("lags", "quiet"):
        assert run["query_taps"][0] == run["key_taps"][0] == 1
        assert max(run["query_taps"][1:4]) < 0 and max(map(abs, run["key_taps"][1:])) < 0.35


def test_runs_made_again_lie_inside_the_studies():
    again = deadtime_study.execute(**deadtime_study.STUDY.runs["lag-7/1"])
    lag_again = lag_study.run(**lag_study.STUDY.runs["noisy/1"])
    committed = load("deadtime")["lag-7/1"]["result"]
    assert again.keys() == committed.keys()
    for key, slack in (("share", 0.03), ("weight", 0.03), ("gradient", 0.01), ("error", 0.06)):
        assert again[key] == pytest.approx(committed[key], abs=slack)
    assert again["arx"] == pytest.approx(committed["arx"], abs=1e-3)
    committed = load("lags")["noisy/1"]["result"]["methods"]
    for method, marks in lag_again["methods"].items():
        learned = method in ("attention", "foreign")
        assert marks["share"] == pytest.approx(committed[method]["share"], abs=0.02 if learned else 0.002)
        if marks["error"]:
            assert marks["error"] == pytest.approx(committed[method]["error"], abs=0.03 if learned else 0.005)
