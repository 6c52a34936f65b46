"""The checks of the page on the reverse task accept right answers and say what is wrong with the usual wrong ones."""

import pytest
import torch

from attnlab.exercises.reversal import check_marks, check_reflection_pair
from attnlab.positions import reflection, rotation


def stub(*_):
    raise NotImplementedError


def token(p, a):
    return (p == a).double().mean()


def sequence(p, a):
    return (p == a).all(-1).double().mean()


def test_marks_accepts_a_right_answer():
    assert check_marks(lambda p, a: (token(p, a), sequence(p, a)))
    assert check_marks(lambda p, a: torch.stack((token(p, a), sequence(p, a))))
    assert check_marks(lambda p, a: [1 - (p != a).float().mean().item(), 1 - (p != a).any(1).float().mean().item()])


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (lambda p, a: token(p, a), "兩個數"),
    (lambda p, a: (sequence(p, a), token(p, a)), "順序反了"),
    (lambda p, a: ((p == a).sum(), (p == a).all(-1).sum()), "個數"),
    (lambda p, a: ((p != a).double().mean(), sequence(p, a)), "31 個"),
    (lambda p, a: (token(p, a), (p == a).all(0).double().mean()), "軸錯"),
    (lambda p, a: (token(p, a), float((p == a).all())), "整批"),
    (lambda p, a: (token(p, a), (p == a).any(-1).double().mean()), "any"),
    (lambda p, a: (token(p, a), token(p, a) ** p.shape[-1]), "連乘"),
    (lambda p, a: (token(p, a), (p == a).double().mean(-1).mean()), "兩個數相同"),
    (lambda p, a: (token(p, a), 0.5), "7 串裡有 4 串"),
    (lambda p, a: p @ a, "出錯"),
])  # fmt: skip
def test_marks_rejects(answer, hint):
    verdict = check_marks(answer)
    assert not verdict and hint in verdict.message


def pair(omega, length):
    angle = torch.tensor((length - 1) * omega, dtype=torch.float64)
    c, s = angle.cos(), angle.sin()
    return torch.stack((torch.stack((-c, s)), torch.stack((s, c))))


def turn(omega, steps):
    angle = torch.tensor(steps * omega, dtype=torch.float64)
    c, s = angle.cos(), angle.sin()
    return torch.stack((torch.stack((c, s)), torch.stack((-s, c))))


def test_reflection_accepts_a_right_answer():
    assert check_reflection_pair(pair)
    assert check_reflection_pair(lambda omega, length: pair(omega, length).float())
    # The book's own matrices have these pairs: width 2 has ω = 1 only.
    assert torch.allclose(pair(1.0, 10), reflection(10, 2)) and torch.allclose(turn(1.0, 9), rotation(9, 2))


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (lambda omega, length: pair(omega, length + 1), "L − 1"),
    (lambda omega, length: turn(omega, length - 1), "這是旋轉"),
    (lambda omega, length: turn(omega, 1 - length), "反方向的旋轉"),
    (lambda omega, length: torch.diag(torch.tensor([-1.0, 1.0])), "只把 p 變成 −p"),
    (lambda omega, length: pair(omega, length).flip(0), "順序反了"),
    (lambda omega, length: -pair(omega, length), "負號"),
    (lambda omega, length: pair(2 * omega, length), "不對"),
    (lambda omega, length: pair(1.0, 10), "ω = 0.3"),
    (lambda omega, length: pair(omega, length).tolist(), "張量"),
    (lambda omega, length: torch.eye(3), "形狀"),
])  # fmt: skip
def test_reflection_rejects(answer, hint):
    verdict = check_reflection_pair(answer)
    assert not verdict and hint in verdict.message
