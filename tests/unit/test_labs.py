"""Each interactive figure: the same picture in Python and in the browser's script, and what it shows is true."""

import random
import re

import pytest
import torch
from browser import Script, assert_same_picture

from attnlab.attention import scaled_dot_product_attention
from attnlab.labs import clocks, query, reverse
from attnlab.reversal import anti_diagonal, evaluate, held_out, reversal_batch
from attnlab.reversal_weights import STUDY, execute, pack, trained, unpack


torch.set_num_threads(1)  # with more, small models wait for each other


def settings(lab, count, seed=0):
    """Random values of the controls."""
    draw = random.Random(seed)
    return [{control.name: draw.choice(control.values) for control in lab.controls} for _ in range(count)]


def assert_twins(lab, count=60):
    script = Script(lab)
    for values in [{control.name: control.start for control in lab.controls}, *settings(lab, count)]:
        frame, (svg, says) = lab.frame(**values), script.draw(**values)
        assert_same_picture(frame.svg, svg)
        assert_same_picture(frame.says, says)


def test_query_is_drawn_alike_in_the_browser():
    assert_twins(query.query_lab())


def test_clocks_are_drawn_alike_in_the_browser():
    assert_twins(clocks.clocks_lab())


def test_a_dragged_query_goes_where_the_pointer_is():
    script = Script(query.query_lab())
    for point in ((-3, 3), (0.4, -1.3)):
        x, y = query._place(0, *point)
        dragged = script.eval(f"figure.drag({x}, {y})")
        assert (dragged["x"], dragged["y"]) == pytest.approx(point)


def test_query_shows_weights_and_hull():
    keys, values = torch.tensor(query.KEYS), torch.tensor(query.VALUES)
    frame = query.draw(2.0, 0.5, "÷√d＝÷1.41", query.MASKS[0])
    output, weights = scaled_dot_product_attention(torch.tensor([[2.0, 0.5]]), keys, values)
    for weight in weights[0].tolist():
        assert f">{weight:.2f}<" in frame.svg
    assert f"輸出（{output[0, 0]:.2f}, {output[0, 1]:.2f}）" in frame.says
    masked = query.draw(2.0, 0.5, "÷1", query.MASKS[1])
    assert masked.svg.count(">0.00<") >= 2


def test_query_softens_with_the_divisor():
    def largest(scale):
        return float(re.search(r"權重 ([\d.]+)", query.draw(2.0, 0.5, scale, query.MASKS[0]).says)[1])

    shares = [largest(scale) for scale in query.DIVISORS]
    assert shares == sorted(shares, reverse=True) and shares[0] > shares[-1] + 0.1


def test_clocks_overlap_whatever_p_and_k():
    lab = clocks.clocks_lab()
    assert all(" 重疊，" in lab.frame(**values).says for values in settings(lab, 30))


def test_the_browser_computes_what_torch_computes():
    script = Script(reverse.reverse_lab())
    x, _ = reversal_batch(200, torch.Generator().manual_seed(5))
    with torch.no_grad():
        scores, weights = unpack(trained()["weights"]).attend(x)
    found = script.eval(f"{x.tolist()}.map((digits) => figure.forward(digits))")
    shares = torch.tensor([one["shares"] for one in found])
    assert (torch.tensor([one["weights"] for one in found]) - weights[:, 0]).abs().max() < 1e-5
    assert (shares - scores.softmax(-1)).abs().max() < 1e-4
    assert torch.equal(shares.argmax(-1), scores.argmax(-1))


def test_reverse_is_drawn_alike_in_the_browser():
    lab = reverse.reverse_lab()
    script = Script(lab)
    x, _ = reversal_batch(30, torch.Generator().manual_seed(6))
    typed = ["".join(map(str, digits)) for digits in x.tolist()]
    typed += ["", "12a", "12345", "01234567890", "０１２ 345，6789", "<b>&amp;", "9" * 10, "²345678901"]
    for number, digits in enumerate(typed):
        values = {"digits": digits, "query": number % 10}
        frame, (svg, says) = lab.frame(**values), script.draw(**values)
        assert_same_picture(frame.svg, svg)
        assert_same_picture(frame.says, says)


@pytest.mark.parametrize(
    ("digits", "words"),
    [("", "還差 10 個"), ("123", "還差 7 個"), ("1" * 12, "多了 2 個"), ("12345abcde", "只認得"), ("²345678901", "只認得")],
)
def test_reverse_says_what_is_wrong_with_the_digits(digits, words):
    frame = reverse.draw(digits, 0)
    assert words in frame.says and words in frame.svg


def test_reverse_shows_answers_and_where_they_came_from():
    frame = reverse.draw("0123456789", 3)
    assert frame.says.startswith("輸出：9 8 7 6 5 4 3 2 1 0（全對）。第 3 個輸出是 6")
    assert "看得最多的是第 6 個輸入" in frame.says
    assert frame.svg.count('tabindex="0"') == 10 and frame.svg.count('stroke-width="2.5"') == 1


def test_the_carried_model_is_a_trained_one():
    model = unpack(trained()["weights"])
    x, y = held_out()
    marks = evaluate(model, x, y)
    assert marks.sequence >= 0.999 and [marks.token, marks.sequence] == trained()["marks"]
    with torch.no_grad():
        weight, hit = anti_diagonal(model.attend(x)[1])
    assert 0.55 < weight[0] < 0.72 and hit[0] >= 0.99
    assert pack(model) == trained()["weights"]
    assert [frame["step"] for frame in trained()["film"]] == STUDY.runs["reverse"]["film"]


def test_training_again_reaches_the_same_marks():
    again = execute(seed=0, steps=400, film=[0, 400])
    x, y = held_out()
    assert evaluate(unpack(again["weights"]), x, y).sequence >= 0.999
    for old, new in zip((trained()["film"][0], trained()["film"][13]), again["film"], strict=True):
        assert old["step"] == new["step"] and abs(old["token"] - new["token"]) < 0.02
        assert (torch.tensor(old["map"]) - torch.tensor(new["map"])).abs().max() < 0.1


def test_unpack_refuses_another_number_of_weights():
    with pytest.raises(ValueError, match="wanted 9194 weights, got 3"):
        unpack("AAAAAAAA")
