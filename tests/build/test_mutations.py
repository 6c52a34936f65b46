"""The unit tests notice a fault in attnlab: each of these, put into a copy, must turn them red."""

import os
import shutil
import subprocess
import sys

import pytest
from books import ROOT

UNIT = ROOT / "tests" / "unit"

# name -> (module, what stands there, the fault in its place, the test file that must notice)
FAULTS = {
    "mask inverted": (
        "attention",
        "masked_fill(~(allowed | blind), -math.inf)",
        "masked_fill(allowed & ~blind, -math.inf)",
        "test_attention",
    ),
    "root of d forgotten": ("attention", "1 / math.sqrt(q.shape[-1])", "1.0", "test_attention"),
    "root of the wrong width": (
        "attention",
        "1 / math.sqrt(q.shape[-1])",
        "1 / math.sqrt(v.shape[-1])",
        "test_attention",
    ),
    "softmax over the queries": (
        "attention",
        "        weights = torch.softmax(scores, dim=-1)\n    else",
        "        weights = torch.softmax(scores, dim=-2)\n    else",
        "test_attention",
    ),
    "softmax over the queries, with a mask": (
        "attention",
        "torch.softmax(scores, dim=-1).masked_fill",
        "torch.softmax(scores, dim=-2).masked_fill",
        "test_attention",
    ),
    "blind row averages": ("attention", ".masked_fill(blind, 0.0)", "", "test_attention"),
    "causal mask without the diagonal": ("attention", ".tril()", ".tril(-1)", "test_attention"),
    "causal mask of the future": ("attention", ".tril()", ".triu()", "test_attention"),
    "heads cut across positions": (
        "attention",
        "x.unflatten(-1, (num_heads, -1))",
        "x.unflatten(-1, (-1, num_heads)).transpose(-2, -1)",
        "test_attention",
    ),
    "heads joined in the wrong order": (
        "attention",
        "heads.transpose(-3, -2).flatten(-2)",
        "heads.transpose(-3, -2).transpose(-2, -1).flatten(-2)",
        "test_attention",
    ),
    "keys of x instead of the context": ("attention", "self.key(context)", "self.key(x)", "test_attention"),
    "no projection at the end": ("attention", "self.output(join_heads(heads))", "join_heads(heads)", "test_attention"),
    "cosine at another frequency": (
        "positions",
        "torch.stack((angles.sin(), angles.cos()), dim=-1)",
        "torch.stack((angles.sin(), (angles / base ** (1 / d)).cos()), dim=-1)",
        "test_positions",
    ),
    "cosine before sine": (
        "positions",
        "torch.stack((angles.sin(), angles.cos()), dim=-1)",
        "torch.stack((angles.cos(), angles.sin()), dim=-1)",
        "test_positions",
    ),
    "rotation backwards": (
        "positions",
        "_block_diagonal(c, s, -s, c)",
        "_block_diagonal(c, -s, s, c)",
        "test_positions",
    ),
    "reflection about the wrong centre": ("positions", "angle = (length - 1) *", "angle = length *", "test_positions"),
    "post-norm where pre-norm was asked": (
        "transformer",
        "        if self.norm_first:",
        "        if False:",
        "test_transformer",
    ),
    "pre-norm where post-norm was asked": (
        "transformer",
        "        if self.norm_first:",
        "        if True:",
        "test_transformer",
    ),
    "residual of the normalised copy": (
        "transformer",
        "x = x + self.feed_forward(self.norm2(x))",
        "x = self.norm2(x) + self.feed_forward(self.norm2(x))",
        "test_transformer",
    ),
    "one normalisation used twice": (
        "transformer",
        "x = self.norm2(x + self.feed_forward(x))",
        "x = self.norm1(x + self.feed_forward(x))",
        "test_transformer",
    ),
    "the mask does not reach the heads": (
        "transformer",
        "self.attention(self.norm1(x), allowed=allowed)",
        "self.attention(self.norm1(x))",
        "test_transformer",
    ),
}


def unit_tests(code, *files):
    """Run files of tests/unit with the attnlab in code. Returns the exit code of pytest and what it printed."""
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        + [str(UNIT / f"{file}.py") for file in files],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(code), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "code" / "attnlab", tmp_path / "attnlab", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_copy_is_what_is_tested_and_passes(copy):
    probe = [sys.executable, "-c", "import attnlab; print(attnlab.__file__)"]
    where = subprocess.run(probe, env=os.environ | {"PYTHONPATH": str(copy)}, capture_output=True, text=True).stdout
    assert where.strip() == str(copy / "attnlab" / "__init__.py")
    code, output = unit_tests(copy, "test_attention", "test_positions", "test_transformer")
    assert code == 0, output


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(copy, name):
    module, right, wrong, file = FAULTS[name]
    path = copy / "attnlab" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(right) == 1, f"{right!r} stands {source.count(right)} times in {module}.py"
    path.write_text(source.replace(right, wrong), encoding="utf-8")
    code, output = unit_tests(copy, file)
    # 1: tests ran and failed. Another code would mean that they could not even be collected.
    assert code == 1, f"the fault {name!r} was not noticed:\n{output}"
