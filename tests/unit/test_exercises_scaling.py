"""The checks of the variance page take right answers and name what is wrong with wrong ones."""

import pytest
import torch

from attnlab.exercises.scaling import check_head_scores, check_jacobian, check_score_variance


def stub(*_):
    raise NotImplementedError


def split(x, heads):
    return x.reshape(len(x), heads, -1).transpose(0, 1)


def head_scores(q, k, heads):
    return split(q, heads) @ split(k, heads).mT / (q.shape[-1] // heads) ** 0.5


SOLUTIONS = [
    (check_jacobian, lambda a: torch.diag(a) - torch.outer(a, a)),
    (check_jacobian, lambda a: torch.autograd.functional.jacobian(lambda s: s.softmax(-1), a.log())),
    (check_head_scores, head_scores),
    (check_head_scores, lambda q, k, h: split(q / (q.shape[-1] / h) ** 0.5, h) @ split(k, h).mT),
    (check_score_variance, lambda a, b: torch.trace(a @ b)),
    (check_score_variance, lambda a, b: (a * b).sum().item()),
]

WRONG = [
    (check_jacobian, lambda a: torch.diag(a), "αᵢαⱼ"),
    (check_jacobian, lambda a: torch.diag(a * (1 - a)), "i ≠ j"),
    (check_jacobian, lambda a: torch.outer(a, a) - torch.diag(a), "正負號"),
    (check_jacobian, lambda a: torch.diag(a) + torch.outer(a, a), "正負號"),
    (check_jacobian, lambda a: -torch.outer(a, a), "對角線"),
    (check_jacobian, lambda a: torch.diag(a.softmax(-1)) - torch.outer(a.softmax(-1), a.softmax(-1)), "多做了一次"),
    (check_jacobian, lambda a: torch.eye(7, dtype=a.dtype) - torch.outer(a, a), "加起來"),
    (check_jacobian, lambda a: torch.zeros(7, 7), "分 i = j"),
    (check_jacobian, lambda a: a * (1 - a), "形狀"),
    (check_jacobian, lambda a: (torch.diag(a) - torch.outer(a, a)).numpy(), "張量"),
    (check_head_scores, lambda q, k, h: head_scores(q, k, h) * (q.shape[-1] // h) ** 0.5, "沒有縮放"),
    (check_head_scores, lambda q, k, h: head_scores(q, k, h) / h**0.5, "d_model"),
    (check_head_scores, lambda q, k, h: head_scores(q, k, h) / 2**0.5, "應該除以 √d_k"),
    (check_head_scores, lambda q, k, h: head_scores(q, k, h) * 2**0.5 / h**0.5, "頭數"),
    (check_head_scores, lambda q, k, h: head_scores(q, k, h) * 2, "乘上"),
    (check_head_scores, lambda q, k, h: q.view(h, 5, 2) @ k.view(h, 7, 2).mT / 2**0.5, "攪在一起"),
    (check_head_scores, lambda q, k, h: head_scores(q, k, h).softmax(-1), "第 0 個頭"),
    (check_head_scores, lambda q, k, h: q @ k.T, "形狀"),
    (check_score_variance, lambda a, b: (a.diagonal() * b.diagonal()).sum(), "對角線"),
    (check_score_variance, lambda a, b: a.trace() * b.trace(), "trace"),
    (check_score_variance, lambda a, b: a.trace() * b.trace() / len(a), "獨立"),
    (check_score_variance, lambda a, b: a.sum() * b.sum(), "配對"),
    (check_score_variance, lambda a, b: torch.trace(a @ b).sqrt(), "標準差"),
    (check_score_variance, lambda a, b: float(len(a)), "展開"),
    (check_score_variance, lambda a, b: a @ b, "一個數"),
]


@pytest.mark.parametrize(("judge", "answer"), SOLUTIONS)
def test_solutions_pass(judge, answer):
    verdict = judge(answer)
    assert verdict, verdict


@pytest.mark.parametrize(("judge", "answer", "reason"), WRONG)
def test_wrong_answers_are_named(judge, answer, reason):
    verdict = judge(answer)
    assert not verdict
    assert reason in verdict.message


@pytest.mark.parametrize("judge", [check_jacobian, check_head_scores, check_score_variance])
def test_stubs_and_answers_that_raise_fail(judge):
    assert not judge(stub)
    assert "ZeroDivisionError" in judge(lambda *_: 1 / 0).message
