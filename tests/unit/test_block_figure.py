"""The drawing says what the code does: same names, same order, both ways of normalising."""

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.block_figure import draw_block, halves_of
from attnlab.transformer import TransformerBlock

NAMES = ("norm1", "attention", "norm2", "feed_forward")


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_boxes_stand_in_the_order_in_which_the_code_calls_them(norm_first):
    block = TransformerBlock(6, 2, 7, norm_first=norm_first)
    called = []
    for name, part in block.named_children():
        part.register_forward_hook(lambda *_, name=name: called.append(name))
    block(torch.randn(5, 6))
    assert [part for half in halves_of(norm_first) for part in half if part != "+"] == called


@pytest.mark.parametrize("norm_first", [True, False])
def test_every_box_has_its_name_and_label_from_above_to_below(norm_first):
    labels = {name: f"label of {name}" for name in NAMES}
    figure = draw_block(norm_first=norm_first, title="title", labels=labels, residual="around")
    texts = [(text.get_position()[1], text.get_text()) for text in figure.axes[0].texts]
    boxes = [text for _, text in sorted(texts, reverse=True) if "label of" in text]
    parts = [part for half in halves_of(norm_first) for part in half if part != "+"]
    assert boxes == [f"{part}\n{labels[part]}" for part in parts]
    assert [text for _, text in texts].count("around") == 2
    height = figure.get_figheight()
    assert all(0 < y < height for y, _ in texts)
    plt.close(figure)
