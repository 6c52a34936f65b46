"""Studies go on where they stopped; the committed one is what is declared, and one run of it made again agrees."""

import json
import re
from statistics import mean, stdev

import pytest
import torch

from attnlab import study
from attnlab.reversal_study import STUDY, run
from attnlab.study import Study, conduct, load, load_group, missing


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "DATA", tmp_path / "data")
    return tmp_path / "data"


def counting(done: list, stop_at: int | None = None):
    """An experiment that notes what it does and is interrupted at the stop_at-th run."""

    def execute(x: int, seed: int) -> dict:
        if len(done) + 1 == stop_at:
            raise KeyboardInterrupt
        done.append((x, seed))
        return {"square": x * x + seed}

    return execute


RUNS = {f"square/{seed}": {"x": 3, "seed": seed} for seed in range(4)} | {"other/0": {"x": 5, "seed": 0}}


def test_an_interrupted_study_goes_on_where_it_stopped(folder):
    done: list = []
    with pytest.raises(KeyboardInterrupt):
        conduct(Study("toy", RUNS, counting(done, stop_at=3)))
    assert done == [(3, 0), (3, 1)]
    assert list(load("toy")) == ["square/0", "square/1"]
    before = load("toy")

    done.clear()
    conduct(Study("toy", RUNS, counting(done)))
    assert done == [(3, 2), (3, 3), (5, 0)]
    assert list(load("toy")) == list(RUNS) and load("toy")["square/1"] == before["square/1"]
    assert [path.name for path in folder.iterdir()] == ["toy.json"]

    done.clear()
    conduct(Study("toy", RUNS, counting(done)))
    assert done == []


def test_a_changed_setting_is_run_again_and_an_undeclared_run_goes(folder):
    conduct(Study("toy", RUNS, counting([])))
    changed = {name: settings for name, settings in RUNS.items() if name != "square/3"}
    changed["square/1"] = {"x": 7, "seed": 1}
    toy = Study("toy", changed, counting(done := []))
    assert missing(toy) == ["square/1"]
    conduct(toy)
    assert done == [(7, 1)]
    assert load("toy").keys() == changed.keys()
    assert load("toy")["square/1"]["result"] == {"square": 50}


def test_each_run_says_what_made_it(folder):
    conduct(Study("toy", RUNS, counting([])))
    made = load("toy")["square/0"]["made"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
    assert made["torch"] == torch.__version__.split("+")[0] and made["python"].startswith("3.")
    assert load_group("toy", "square") == [{"square": 9 + seed, "seed": seed} for seed in range(4)]


def test_what_is_not_there_is_said(folder, capsys):
    with pytest.raises(FileNotFoundError, match=r"python -m attnlab\.study toy"):
        load("toy")
    conduct(Study("toy", RUNS, counting([])))
    with pytest.raises(KeyError, match="no group 'cube'"):
        load_group("toy", "cube")
    with pytest.raises(SystemExit):
        study.main(["toy", "reversal"])
    assert "no study called toy" in capsys.readouterr().err


def test_the_command_conducts_the_studies_it_is_given(folder, monkeypatch):
    conducted = []
    monkeypatch.setattr(study, "conduct", lambda given: conducted.append(given.name))
    study.main(["reversal"])
    assert conducted == ["reversal"]
    conducted.clear()
    study.main([])
    assert conducted == list(study.studies())


# The committed studies


@pytest.mark.parametrize("name", study.studies())
def test_a_committed_study_is_what_is_declared(name):
    declared = study.studies()[name]
    assert missing(declared) == []
    assert list(load(name)) == list(declared.runs)
    assert all(set(entry["made"]) == {"date", "torch", "python"} for entry in load(name).values())
    assert json.loads(json.dumps(declared.runs)) == declared.runs  # settings are JSON values
    assert declared.path().stat().st_size < 150_000  # every notebook of a page that reads it carries it


# The one of the reverse task


def values(group: str, key: str) -> list:
    return [result[key] for result in load_group("reversal", group)]


def test_curves_are_thin_and_end_with_the_training():
    for entry in load("reversal").values():
        curve = entry["result"]["curve"]
        assert 1 <= len(curve["steps"]) <= 30 and curve["steps"] == sorted(curve["steps"])
        assert len(curve["steps"]) == len(curve["token"]) == len(curve["sequence"])
        assert curve["steps"][-1] == entry["result"]["steps"]
        assert curve["sequence"][-1] == pytest.approx(entry["result"]["sequence"], abs=1e-4)


def test_both_models_have_at_least_eight_seeds_at_the_same_budget():
    for group, parameters in (("transformer", 9194), ("lstm", 32778)):
        assert sorted(values(group, "seed")) == list(range(8))
        assert set(values(group, "parameters")) == {parameters} and set(values(group, "steps")) == {1500}


def test_transformer_range():
    assert min(values("transformer", "sequence")) >= 0.999
    assert min(values("transformer", "fresh_sequence")) >= 0.999
    assert all(first["1.0"] <= 500 for first in values("transformer", "first_step"))
    for mirror in values("transformer", "anti_diagonal"):
        assert 0.55 < mirror["weight"][0] < 0.72 and mirror["hit"][0] >= 0.99


def test_lstm_range():
    assert all(0.93 < token < 0.98 for token in values("lstm", "token"))
    assert all(0.50 < sequence < 0.82 for sequence in values("lstm", "sequence"))
    assert set(first["0.99"] for first in values("lstm", "first_step")) == {None}
    # It is a matter of training: longer, or with a larger learning rate, it passes 99 %. (At a fixed learning
    # rate it also falls back for a moment now and then.)
    for group, sooner, later in (("lstm-long", 2500, 5000), ("lstm-1e-2", 800, 2500)):
        assert all(sooner < first["0.99"] < later for first in values(group, "first_step"))
        assert min(values(group, "sequence")) > 0.8
    # With the Transformer's number of parameters it does not within its budget.
    assert set(values("lstm-small", "parameters")) == {9138}
    assert max(values("lstm-small", "sequence")) < 0.95


def test_ablations_reach_what_theory_says():
    # Without positions: the most frequent of the other nine digits. By drawing, where the page counts exactly.
    draws = torch.randint(0, 10, (100_000, 9), generator=torch.Generator().manual_seed(3))
    bound = torch.nn.functional.one_hot(draws, 10).sum(1).amax(-1).double().mean().item() / 9
    assert bound == pytest.approx(0.2859, abs=0.002)
    assert values("no-position", "token") == pytest.approx([bound] * 3, abs=0.01)
    assert max(values("no-position", "sequence")) < 0.01
    assert values("causal", "token") == pytest.approx([0.55] * 3, abs=0.01)
    for shares in values("causal", "by_position"):
        assert max(shares[:5]) < 0.14 and min(shares[5:]) > 0.99
    for group in ("heads-2", "heads-4", "heads-8", "learned", "pre-norm"):
        assert len(values(group, "seed")) == 3 and min(values(group, "sequence")) >= 0.999


def test_lengths():
    for length in (20, 40):
        assert min(values(f"transformer-length-{length}", "sequence")) == 1
        assert max(values(f"lstm-length-{length}", "sequence")) < 0.05
    for group in ("transformer", "lstm"):
        for others in values(group, "other_lengths"):
            assert set(others) == {"8", "9", "11", "12", "15", "20"}
            assert all(token < 0.4 and sequence < 0.01 for token, sequence in others.values())


def test_speed():
    def steps(group):
        assert len(values(group, "seed")) >= 5
        return mean(first["1.0"] for first in values(group, "first_step"))

    assert steps("speed-10-source") > 8 * steps("speed-10-learned")
    assert steps("speed-10-source") > 5 * steps("speed-10-sinusoid")
    assert steps("speed-16-uva") > 15 * steps("speed-16-learned")
    assert steps("speed-16-uva-3e-3") < steps("speed-16-source")
    for group, weight in (("fast-learned", 0.95), ("fast-sinusoid", 0.85)):
        assert min(values(group, "fresh_sequence")) >= 0.999
        assert all(mirror["weight"][0] > weight for mirror in values(group, "anti_diagonal"))
    assert min(values("learned-loud", "sequence")) < 0.9


@pytest.mark.parametrize("name", ["speed-10-source/0", "fast-learned/1", "speed-16-sinusoid/2"])
def test_a_run_made_again_lies_inside_the_study(name):
    result = run(**STUDY.runs[name])
    group = name.partition("/")[0]
    assert result.keys() == load("reversal")[name]["result"].keys()
    for key in ("sequence", "token"):
        assert result[key] == pytest.approx(mean(values(group, key)), abs=2e-3)
    weights = [mirror["weight"][0] for mirror in values(group, "anti_diagonal")]
    slack = 2 * stdev(weights)
    assert min(weights) - slack <= result["anti_diagonal"]["weight"][0] <= max(weights) + slack
