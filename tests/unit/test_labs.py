"""Each interactive figure: the same picture in Python and in the browser's script, and what it shows is true."""

import base64
import io
import random
import re

import pytest
import torch
from PIL import Image
from twins import Script, assert_same_picture

from attnlab import deadtime_maps
from attnlab.attention import scaled_dot_product_attention
from attnlab.deadtime import lag_profile
from attnlab.labs import block, clocks, deadtime, film, gain, heads, query, retrain, reverse, scaling, svg
from attnlab.reversal import anti_diagonal, evaluate, held_out, reversal_batch
from attnlab.reversal_weights import STUDY, execute, pack, trained, unpack


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
    [("", "還差 10 個"), ("123", "還差 7 個"), ("1" * 12, "多了 2 個"), ("12345abcde", "只認得"), ("²" * 10, "只認得")],
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


def test_scaling_shows_the_weights_of_its_samples():
    for d in scaling.WIDTHS:
        frame = scaling.draw(d)
        many, few = scaling.samples(d)
        raw, divided = few.softmax(-1).max().item(), (few / d**0.5).softmax(-1).max().item()
        assert f"不縮放時最大的權重是 {raw:.2f}，除以 √d 是 {divided:.2f}" in frame.says
        assert abs(many.var().item() / d - 1) < 0.1
    assert "0.99" in frame.says or "1.00" in frame.says  # at d = 1024 softmax is all but one-hot


def test_heads_names_the_tokens_that_are_looked_at():
    maps = {"甲": torch.eye(5).roll(1, 0), "乙": torch.full((5, 5), 0.2)}
    lab = heads.heads_lab(maps, list("abcde"))
    assert len(lab._all_frames["frames"]) == 10
    assert lab.frame(head="甲", query=3).says == "甲，查詢在位置 3：看的是位置 2 的 c（1.00）。"
    assert lab.frame(head="乙", query=3).svg.count(f'stroke="{svg.BLUE}"') == 5  # a line to each key


def test_gain_shows_the_weight_on_the_position_before():
    for beta, mean in ((1, 0.052), (8, 0.538), (32, 0.961), (64, 0.999)):  # the numbers of the page
        assert f"全部平均是 {mean}" in gain.draw(beta).says
    assert [gain.weights_at(b)[5].argmax().item() for b in gain.GAINS] == [4] * len(gain.GAINS)


@pytest.mark.parametrize("order", block.ORDERS)
def test_the_walk_ends_where_the_block_does(order, monkeypatch):
    made = []
    original = block.TransformerBlock

    def watched(*sizes, **options):
        made.append(original(*sizes, **options))
        return made[-1]

    monkeypatch.setattr(block, "TransformerBlock", watched)
    steps = block.walk(block.ORDERS[order])
    with torch.no_grad():
        wanted, _ = made[0](steps[0][1])
    assert torch.allclose(steps[-1][1], wanted, atol=1e-6)
    assert len(steps) == block.STEPS
    for (name, vector), step in zip(steps, range(block.STEPS)):
        assert f"長度 {vector[block.TOKEN].norm():.1f}" in block.draw(order, step).says
        assert not name.startswith("norm") or abs(vector[block.TOKEN].norm() - 32**0.5) < 0.01


def test_film_shows_the_marks_of_its_steps():
    lab = film.film_lab()
    for frame in trained()["film"]:
        says = lab.frame(step=frame["step"]).says
        assert f"第 {frame['step']} 步：每個數字的正確率 {100 * frame['token']:.1f} %" in says
    assert trained()["film"][0]["token"] < 0.15 and trained()["film"][-1]["sequence"] >= 0.999


def test_deadtime_maps_follow_the_dead_time():
    for hold in deadtime_maps.HOLDS:
        for d in deadtime_maps.DEAD_TIMES:
            weights, profile, gradient = deadtime_maps.read(d, hold)
            assert torch.allclose(weights.sum(-1), torch.ones(40), atol=0.05) and (weights.triu(1) == 0).all()
            assert gradient.argmax() == d
            if d > 1:
                assert profile.argmax() == d and abs(lag_profile(weights, 16)[d] - profile[d]) < 0.005
            if hold == 1:
                assert abs(gradient[d] - 0.4) < 0.02
    says = deadtime.draw(7, "每秒都變（白雜訊）").says
    assert says.startswith("d＝7 s") and "延遲 7" in says


def test_a_heat_map_is_an_image_of_its_weights():
    weights = torch.tensor([[0.0, 0.25, 1.0], [0.5, 0.75, 0.125]])
    data = re.search(r'base64,([^"]+)"', svg.heat(weights, 0, 0, 30, 20))[1]
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert image.size == (3, 2)
    wanted = [svg.SHADES[round(32 * w)] for w in weights.flatten().tolist()]
    assert ["#" + bytes(image.convert("RGB").getpixel((x, y))).hex() for y in (0, 1) for x in (0, 1, 2)] == wanted


def test_numbers_are_written_as_in_the_browser():
    script = Script(clocks.clocks_lab())
    values = [0, -0.0, 0.004, -0.001, 1.0, -2.5, 3.14159, 120, 0.1 + 0.2, 99.999, -7.239]
    assert [svg.number(value) for value in values] == script.eval(f"{values}.map(labSvg.number)")


def test_colours_are_those_of_all_figures():
    script = Script(clocks.clocks_lab())
    for name in ("BLUE", "ORANGE", "GREEN", "GREY"):
        assert script.eval(f"labSvg.{name}") == getattr(svg, name)


def test_retraining_reports_and_ends_with_a_map_for_each_head():
    seen = []
    result = retrain.retrain(2, 0.01, 50, lambda step, marks: seen.append(step))
    assert seen == [25, 50] and result.maps.shape == (2, 10, 10)
    assert torch.allclose(result.maps.sum(-1), torch.ones(2, 10), atol=1e-5)
    assert retrain.draw(result).count("<image") == 2
    assert f"每個數字的正確率 {100 * result.marks.token:.1f} %" in retrain.describe(result)


def test_a_page_says_that_retraining_needs_a_kernel(monkeypatch):
    monkeypatch.setenv("ATTNLAB_STATIC", "1")
    bundle = retrain.Retrain()._repr_mimebundle_()
    assert "Python" in bundle["text/html"] and not any("widget" in kind for kind in bundle)


def test_the_button_trains_and_shows(monkeypatch):
    monkeypatch.delenv("ATTNLAB_STATIC", raising=False)
    heads_, rate, steps, row, stage, says = retrain.Retrain().to_widget().children
    heads_.value, rate.value, steps.value = 2, 0.01, 50
    row.children[0].click()
    assert row.children[1].value == row.children[1].max == 50
    assert stage.value.count("<image") == 2 and "整串全對" in says.value and not row.children[0].disabled
