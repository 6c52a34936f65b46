"""The formulas against PyTorch's own counter, and the measurements against what is known about them."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnlab.attention import MultiHeadAttention
from attnlab.cost import (
    LENGTHS,
    feed_forward_macs,
    fused_attention,
    kept_bytes,
    lstm_macs,
    map_macs,
    measure,
    projection_macs,
)
from attnlab.cost_study import processor
from attnlab.study import load
from attnlab.transformer import FeedForward, TransformerBlock


def counted_macs(function) -> int:
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops() // 2  # the counter takes a multiplication and an addition for two


@pytest.mark.parametrize(("n", "d", "heads"), [(5, 6, 1), (5, 6, 3), (13, 7, 7)])
def test_attention_macs(n, d, heads):
    layer, x = MultiHeadAttention(d, heads), torch.randn(n, d)
    assert counted_macs(lambda: layer(x)) == projection_macs(n, d) + map_macs(n, d)


@pytest.mark.parametrize(("n", "d"), [(5, 3), (2, 11)])
def test_lstm_macs(n, d):
    cell, x = nn.LSTMCell(d, d), torch.randn(n, 1, d)

    def run() -> None:
        state = None
        for step in x:
            state = cell(step, state)

    assert counted_macs(run) == lstm_macs(n, d)


def test_feed_forward_macs():
    assert counted_macs(lambda: FeedForward(3, 12)(torch.randn(5, 3))) == feed_forward_macs(5, 3)
    assert counted_macs(lambda: FeedForward(3, 7)(torch.randn(5, 3))) == feed_forward_macs(5, 3, 7)


def test_where_the_quadratic_part_begins_to_lead():
    d = 7
    assert map_macs(2 * d, d) == projection_macs(2 * d, d)
    assert projection_macs(2 * d, d) + map_macs(2 * d, d) == lstm_macs(2 * d, d)
    assert map_macs(6 * d, d) == projection_macs(6 * d, d) + feed_forward_macs(6 * d, d)
    block = TransformerBlock(6, 2, 24, norm_first=True)
    assert counted_macs(lambda: block(torch.randn(36, 6))) == 2 * map_macs(36, 6)


@pytest.mark.parametrize("heads", [1, 3])
def test_fused_attention_is_the_same_layer(heads):
    torch.manual_seed(70)
    layer, x = MultiHeadAttention(6, heads).double(), torch.randn(2, 5, 6, dtype=torch.float64)
    torch.testing.assert_close(fused_attention(layer, x), layer(x)[0], atol=1e-12, rtol=0)


def test_kept_bytes_counts_each_storage_once():
    x = torch.randn(7, 5, requires_grad=True)
    # a product keeps both factors; here they are one tensor, and the view of it is no second one
    assert kept_bytes(lambda: x * x) == 7 * 5 * 4
    assert kept_bytes(lambda: x * x.view(35).view(7, 5)) == 7 * 5 * 4
    assert kept_bytes(lambda: x * x, [x]) == 0
    assert kept_bytes(lambda: x + x) == 0
    y = torch.randn(7, 5)
    assert kept_bytes(lambda: x * y) == 7 * 5 * 4  # y for the gradient of x; y needs none itself


def test_only_the_explicit_map_keeps_a_quadratic_amount():
    kept = {n: {name: row["kept_bytes"] for name, row in quick(n).items()} for n in (64, 128, 256)}
    second_difference = {name: kept[256][name] - 3 * kept[128][name] + 2 * kept[64][name] for name in kept[64]}
    # bytes = a + b n + c n²: with c = 4 (one float32 map) the second difference is 4 (256² − 3·128² + 2·64²)
    assert second_difference["explicit"] == 4 * (256**2 - 3 * 128**2 + 2 * 64**2)
    assert abs(second_difference["fused"]) < 0.01 * kept[256]["fused"]
    assert abs(second_difference["lstm"]) < 0.01 * kept[256]["lstm"]


def quick(n: int) -> dict[str, dict]:
    return measure(n, d=16, repetitions=1, least_seconds=0.0)


def test_measure_reports_every_layer():
    result = measure(5, d=3, repetitions=1, least_seconds=1e-4)
    assert set(result) == {"lstm", "explicit", "fused"}
    for row in result.values():
        assert row["forward_ms"] > 0 and row["training_ms"] > 0 and row["kept_bytes"] > 0


def test_the_committed_study_names_its_machine():
    runs = load("cost")
    assert len(runs) == len(LENGTHS)
    for entry in runs.values():
        assert entry["result"]["machine"]["processor"] and entry["result"]["machine"]["threads"] == 1
        kept = {name: row["kept_bytes"] for name, row in entry["result"]["layers"].items()}
        n = entry["settings"]["n"]
        assert kept["explicit"] > 4 * n**2 and (kept["fused"] < 2 * n**2 or n < 1024)


def test_processor_has_a_name():
    assert processor().strip()
