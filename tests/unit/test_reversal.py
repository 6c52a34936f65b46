"""The reverse task, its models against PyTorch's own layer, its training loop, and the solution written by hand."""

import copy

import pytest
import torch
from torch import nn

from attnlab.reversal import (
    Curve,
    ReversalLSTM,
    ReversalTransformer,
    anti_diagonal,
    count_parameters,
    evaluate,
    hand_built_reversal,
    held_out,
    reversal_batch,
    train,
)
from attnlab.transformer import TransformerBlock
from attnlab.uva import CLIP, LEARNING_RATE, WARM_UP, UvaTransformer, uva_optimizer


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


# The task


def test_every_sequence_is_turned_round():
    x, y = reversal_batch(13, torch.Generator().manual_seed(1), length=7)
    assert x.shape == y.shape == (13, 7)
    for question, answer in zip(x.tolist(), y.tolist(), strict=True):
        assert answer == [question[7 - 1 - i] for i in range(7)]
    assert set(x.flatten().tolist()) == set(range(10))


def test_the_test_sequences_are_fixed_and_not_the_training_ones():
    x, _ = held_out()
    assert x.shape == (2000, 10)
    assert torch.equal(x, torch.randint(0, 10, (2000, 10), generator=torch.Generator().manual_seed(99)))
    trained, _ = reversal_batch(2000, torch.Generator().manual_seed(0))
    assert not {tuple(row) for row in x.tolist()} & {tuple(row) for row in trained.tolist()}


# The models


def test_parameters():
    assert count_parameters(ReversalTransformer()) == 9194
    assert count_parameters(ReversalLSTM()) == 32778
    assert count_parameters(ReversalLSTM(width=24, hidden=22)) == 9138
    assert count_parameters(ReversalTransformer(encoding="learned")) == 9194 + 10 * 32
    assert count_parameters(ReversalTransformer(norm_first=True)) == 9194 + 2 * 32
    assert {count_parameters(ReversalTransformer(num_heads=h)) for h in (1, 2, 4, 8)} == {9194}
    assert count_parameters(UvaTransformer()) == 10346


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer_is_embedding_position_layer_readout(norm_first):
    model = ReversalTransformer(num_heads=2, norm_first=norm_first, base=50.0, position_scale=3.0)
    layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0, batch_first=True, norm_first=norm_first)
    model.block = TransformerBlock.from_torch(layer)
    x = torch.randint(0, 10, (5, 7))
    h = torch.empty(5, 7, 32)
    for b in range(5):
        for p in range(7):
            for c in range(32):
                angle = torch.tensor(p / 50.0 ** ((c - c % 2) / 32))
                h[b, p, c] = model.embedding.weight[x[b, p], c] + 3 * (angle.cos() if c % 2 else angle.sin())
    h = layer(h)
    if norm_first:
        h = nn.functional.layer_norm(h, (32,))
    assert torch.allclose(model(x), h @ model.readout.weight.T + model.readout.bias, atol=2e-5)


def test_without_positions_the_model_is_equivariant_and_with_them_it_is_not():
    x, order = torch.randint(0, 10, (5, 11)), torch.randperm(11)
    blind = ReversalTransformer(encoding="none")
    assert torch.allclose(blind(x[:, order]), blind(x)[:, order], atol=5e-6)
    for encoding in ("sinusoidal", "learned"):
        model = ReversalTransformer(encoding=encoding, length=11)
        assert (model(x[:, order]) - model(x)[:, order]).abs().max() > 0.1


def test_causal_model_does_not_see_later_digits():
    x = torch.randint(0, 10, (5, 7))
    changed = x.clone()
    changed[:, 4:] = (x[:, 4:] + 1) % 10
    causal, open_ = ReversalTransformer(causal=True), ReversalTransformer()
    assert torch.equal(causal(x)[:, :4], causal(changed)[:, :4])
    assert (open_(x)[:, :4] - open_(changed)[:, :4]).abs().max() > 1e-3
    assert (causal.attend(x)[1].triu(1) == 0).all()


def test_lstm_sees_the_whole_sequence_from_everywhere():
    model, x = ReversalLSTM(), torch.randint(0, 10, (1, 7))
    for position in (0, 6):
        changed = x.clone()
        changed[:, position] = (x[:, position] + 1) % 10
        assert ((model(x) - model(changed)).abs().amax(-1) > 0).all()


def test_forget_bias_opens_the_forget_gates_of_both_directions_alone():
    torch.manual_seed(4)
    plain = ReversalLSTM(hidden=3)
    torch.manual_seed(4)
    biased = ReversalLSTM(hidden=3, forget_bias=100.0)
    x = nn.functional.one_hot(torch.tensor([0, 4]), 32).float()[None]  # (1, 2, 32)
    start = torch.tensor([0.3, -0.7, 2.0]).expand(2, 1, 3).contiguous()
    silence = torch.zeros(2, 1, 3)
    _, (_, cell) = biased.lstm(x[:, :1], (silence, start))
    for direction, suffix in enumerate(("", "_reverse")):
        weight, biases = (getattr(plain.lstm, f"{name}_l0{suffix}") for name in ("weight_ih", "bias_ih"))
        gates = weight @ x[0, 0] + biases + getattr(plain.lstm, f"bias_hh_l0{suffix}")
        i, _, g, _ = gates.chunk(4)
        # Wide open, the gate keeps what the cell holds; the rest is as it was.
        torch.testing.assert_close(cell[direction, 0], start[direction, 0] + i.sigmoid() * g.tanh(), atol=1e-6, rtol=0)


def test_scales_of_the_input():
    torch.manual_seed(3)
    plain = ReversalTransformer(encoding="learned")
    torch.manual_seed(3)
    scaled = ReversalTransformer(encoding="learned", embedding_scale=0.5, position_scale=2.0)
    assert torch.equal(scaled.embedding.weight, 0.5 * plain.embedding.weight)
    assert torch.equal(scaled.position, 2 * plain.position)


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"encoding must be.*'cosine'"):
        ReversalTransformer(encoding="cosine")
    with pytest.raises(ValueError, match="10 positions, got n=11"):
        ReversalTransformer(encoding="learned")(torch.zeros(1, 11, dtype=torch.long))


# Marks


class Parrot(nn.Module):
    """Answers what it was told to, whatever the question."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer
        self.asked = []

    def forward(self, x):
        self.asked.append(x)
        return nn.functional.one_hot(self.answer, 10).float()


def test_marks():
    y = torch.randint(0, 10, (3, 5))
    answer = y.clone()
    answer[0, 1] = (y[0, 1] + 1) % 10
    answer[0, 4] = (y[0, 4] + 1) % 10
    answer[2, 1] = (y[2, 1] + 1) % 10
    marks = evaluate(Parrot(answer), y.flip(-1), y)
    assert marks.token == pytest.approx(12 / 15) and marks.sequence == pytest.approx(1 / 3)
    assert marks.by_position == pytest.approx([1, 1 / 3, 1, 1, 2 / 3])


def test_anti_diagonal():
    weights = torch.zeros(2, 3, 5, 5)
    weights[:, 0] = torch.eye(5).flip(-1)  # perfect
    weights[:, 1] = torch.eye(5)  # only the middle row is right
    weights[:, 2] = 0.4 * torch.eye(5).flip(-1) + 0.12 * torch.ones(5, 5)  # right but smeared
    weight, hit = anti_diagonal(weights)
    assert weight == pytest.approx([1, 0.2, 0.52]) and hit == pytest.approx([1, 0.2, 1])


# Training


def test_training_can_be_repeated_and_its_data_depend_on_the_seed_alone():
    def trained(model, seed):
        model = copy.deepcopy(model)
        seen = []
        model.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]) if model.training else None)
        train(model, steps=3, seed=seed, evaluate_every=10, batch_size=7)
        return model.readout.weight, [x for x in seen if len(x) == 7]

    transformer, lstm = ReversalTransformer(), ReversalLSTM()
    weight, data = trained(transformer, 5)
    again, _ = trained(transformer, 5)
    _, lstm_data = trained(lstm, 5)
    other, other_data = trained(transformer, 6)
    assert torch.equal(weight, again) and not torch.equal(weight, other)
    assert len(data) == 3 and torch.equal(torch.stack(data), torch.stack(lstm_data))
    assert not torch.equal(torch.stack(data), torch.stack(other_data))


def test_training_is_adam_on_the_mean_cross_entropy():
    # float64: a bias on the keys has no gradient but rounding, which Adam would blow up to whole steps.
    model = ReversalTransformer().double()
    reference = copy.deepcopy(model)
    train(model, steps=2, learning_rate=0.02, batch_size=11, length=7, seed=4)
    optimizer = torch.optim.Adam(reference.parameters(), lr=0.02)
    g = torch.Generator().manual_seed(4)
    for _ in range(2):
        x = torch.randint(0, 10, (11, 7), generator=g)
        probability = reference(x).softmax(-1).gather(-1, x.flip(-1).unsqueeze(-1))
        optimizer.zero_grad()
        (-probability.log().mean()).backward()
        optimizer.step()
    for own, expected in zip(model.parameters(), reference.parameters(), strict=True):
        assert torch.allclose(own, expected, atol=1e-8)


def test_evaluations_reports_and_the_end_of_training():
    told = []
    curve = train(ReversalTransformer(), steps=7, evaluate_every=3, report=lambda step, marks: told.append(step))
    assert curve.steps == told == [3, 6, 7]
    assert len(curve.token) == len(curve.sequence) == 3

    class Knows(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(()))

        def forward(self, x):
            return self.weight * nn.functional.one_hot(x.flip(-1), 10).float()

    assert train(Knows(), steps=9, evaluate_every=2, stop_when_perfect=True).steps == [2]
    assert train(Knows(), steps=9, evaluate_every=2).steps == [2, 4, 6, 8, 9]


def test_first_step():
    curve = Curve([5, 10, 15], [0.2, 0.9, 1.0], [0.0, 0.95, 1.0])
    assert [curve.first_step(share) for share in (0.9, 0.99, 1.0)] == [10, 15, 15]
    assert Curve([5], [0.5], [0.1]).first_step(0.9) is None


def test_a_bar_only_for_whoever_asks(monkeypatch):
    labels = []
    monkeypatch.setattr("attnlab.reversal.progress", lambda steps, label: labels.append(label) or steps)
    train(ReversalTransformer(), steps=1)
    train(ReversalTransformer(), steps=1, label="訓練")
    assert labels == [None, "訓練"]


def test_fast_recipe_needs_a_tenth_of_the_steps():
    model = ReversalTransformer(base=10.0, embedding_scale=0.5)
    train(model, steps=150, learning_rate=1e-2, evaluate_every=150)
    assert evaluate(model, *reversal_batch(5000, torch.Generator().manual_seed(5))).sequence >= 0.999
    weight, hit = anti_diagonal(model.attend(held_out()[0])[1])
    assert weight[0] > 0.85 and hit[0] > 0.99


# UvA's recipe


def test_uva_optimizer_clips_warms_up_and_decays():
    model = nn.Linear(3, 2)
    optimizer = uva_optimizer(model)
    rates = []
    for _ in range(3900):
        for p in model.parameters():
            p.grad = torch.full_like(p, 100.0)
        optimizer.step()
        norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
        assert norm == pytest.approx(CLIP, rel=1e-3)
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates[WARM_UP // 2 - 1] == pytest.approx(LEARNING_RATE / 2, rel=1e-3)
    assert max(rates) == pytest.approx(LEARNING_RATE, rel=1e-3) and rates.index(max(rates)) == WARM_UP - 1
    assert rates[1949] == pytest.approx(LEARNING_RATE / 2, rel=1e-6) and rates[-1] == pytest.approx(0, abs=1e-12)


def test_uva_model_starts_from_xavier():
    attention = UvaTransformer().block.attention
    stacked = torch.cat([layer.weight for layer in (attention.query, attention.key, attention.value)])
    reference = nn.init.xavier_uniform_(torch.empty_like(stacked))
    assert stacked.abs().max().item() == pytest.approx(reference.abs().max().item(), rel=0.01)
    assert attention.query.bias.abs().max() == attention.output.bias.abs().max() == 0


# By hand


@pytest.mark.parametrize("length", [7, 10, 23])
def test_hand_built_head_reverses_without_training(length):
    x, y = reversal_batch(500, torch.Generator().manual_seed(2), length=length)
    votes, weights = hand_built_reversal(x, 8.0)
    mirror = weights.flip(-1).diagonal()
    assert mirror.min() > 0.5  # so that it is right for every sequence there is
    assert torch.equal(votes.argmax(-1), y)
    assert torch.allclose(votes.sum(-1), torch.ones(500, length), atol=1e-5)


def test_hand_built_weights_against_a_scalar_loop():
    x = torch.randint(0, 10, (3, 7))
    votes, weights = hand_built_reversal(x, 2.0, d=6, base=50.0)
    pe = [[(p / 50 ** (2 * i / 6), i) for i in range(3)] for p in range(7)]
    for i in range(7):
        # PE(a)·PE(b) = Σ cos((a − b) ω): with a = 6 − i after the reflection.
        scores = torch.tensor(
            [2 * sum(torch.tensor(pe[6 - i][c][0] - pe[j][c][0]).cos() for c in range(3)) / 6**0.5 for j in range(7)]
        )
        assert torch.allclose(weights[i], scores.softmax(0), atol=1e-6)
        for b in range(3):
            for digit in range(10):
                expected = sum(weights[i, j] for j in range(7) if x[b, j] == digit)
                assert votes[b, i, digit] == pytest.approx(float(expected), abs=1e-6)


def test_hand_built_head_needs_gain():
    x, y = held_out()
    shares = [(hand_built_reversal(x, gain)[0].argmax(-1) == y).all(-1).double().mean() for gain in (1, 4, 8)]
    assert shares[0] < 0.05 and 0.2 < shares[1] < 0.8 and shares[2] == 1
