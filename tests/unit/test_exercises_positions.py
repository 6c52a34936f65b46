"""The checks let right answers pass, in any honest form, and name what is wrong with the usual wrong ones."""

import math
import re

import pytest
import torch

from attnlab.exercises import positions as ex
from attnlab.positions import frequencies, rotation, sinusoidal_encoding


def stub(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize("check", [ex.check_encoding, ex.check_norm_test, ex.check_rotation, ex.check_look_ahead])
def test_untouched_stub_fails_without_raising(check):
    verdict = check(stub)
    assert not verdict and "還沒寫" in verdict.message


def table(n, sine, cosine):
    """Sines and cosines of p times these frequencies, one column after the other."""
    p = torch.arange(n).unsqueeze(1)
    pe = torch.zeros(n, 2 * len(sine))
    pe[:, 0::2], pe[:, 1::2] = torch.sin(p * torch.tensor(sine)), torch.cos(p * torch.tensor(cosine))
    return pe


def exponents(d, exponent):
    return [10000 ** (-exponent(i) / d) for i in range(d // 2)]


def right(d):
    return exponents(d, lambda i: 2 * i)


def test_encoding_accepts_float32_and_float64():
    assert ex.check_encoding(lambda n, d: table(n, right(d), right(d)))
    assert ex.check_encoding(lambda n, d: sinusoidal_encoding(n, d, dtype=torch.float64))


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda n, d: table(n, right(d), exponents(d, lambda i: 2 * (i + 1))), "下一對的頻率"),
        (lambda n, d: table(n, right(d), exponents(d, lambda i: 2 * i + 1)), "2i\\+1"),
        (lambda n, d: table(n, exponents(d, lambda i: i), exponents(d, lambda i: i)), "少了 2"),
        (lambda n, d: table(n, exponents(d, lambda i: -2 * i), exponents(d, lambda i: -2 * i)), "倒過來"),
        (lambda n, d: table(n, right(d), right(d))[:, grouped(d)], "排列不對"),
        (lambda n, d: table(n, right(d), right(d))[:, [j ^ 1 for j in range(d)]], "對調"),
        (lambda n, d: table(n + 1, right(d), right(d))[1:], "從 0 開始"),
        (lambda n, d: table(n, right(d), right(d)).T, "形狀"),
        (lambda n, d: torch.sin(torch.arange(n)[:, None] * frequencies(d).repeat_interleave(2)), "都是正弦"),
        (lambda n, d: torch.zeros(n, d), "數字不對"),
        (lambda n, d: table(7, right(10), right(10)), "寫死"),
        (lambda n, d: [[0.0] * d] * n, "張量"),
    ],
)
def test_encoding_rejects(answer, message):
    assert_rejected(ex.check_encoding(answer), message)


@pytest.mark.parametrize(
    "answer",
    [
        lambda pe: torch.allclose(pe.square().sum(-1), torch.full_like(pe[:, 0], pe.shape[-1] / 2)),
        lambda pe: bool(((pe.norm(dim=-1) - math.sqrt(pe.shape[-1] / 2)).abs() < 1e-3).all()),
        lambda pe: torch.allclose(pe[:, 0::2] ** 2 + pe[:, 1::2] ** 2, torch.ones_like(pe[:, 0::2]), atol=1e-5),
    ],
)
def test_norm_test_accepts(answer):
    assert ex.check_norm_test(answer)


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda pe: True, "沒有被抓到"),
        (lambda pe: False, "判成錯的"),
        (lambda pe: abs(pe[0].square().sum() - pe.shape[-1] / 2) < 1e-4, "每一列"),
        (lambda pe: abs(pe.square().sum(-1).mean() - pe.shape[-1] / 2) < 1e-4, "不能只看平均"),
        (lambda pe: torch.allclose(pe.norm(dim=-1), torch.full_like(pe[:, 0], pe.shape[-1] / 2)), "判成錯的"),
        (lambda pe: bool((pe.square().sum(-1) == pe.shape[-1] / 2).all()), "判成錯的"),
        (lambda pe: bool(((pe.square().sum(-1) - pe.shape[-1] / 2).abs() < 2).all()), "沒有被抓到"),
        (lambda pe: bool((pe.abs() <= 1 + 1e-6).all()), "沒有被抓到"),
    ],
)
def test_norm_test_rejects(answer, message):
    assert_rejected(ex.check_norm_test(answer), message)


def by_blocks(k, d):
    matrix = torch.zeros(d, d)
    for i in range(d // 2):
        angle = k * 10000 ** (-2 * i / d)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix


def grouped(d):
    """All sines first, then all cosines."""
    return [*range(0, d, 2), *range(1, d, 2)]


def test_rotation_accepts_float32_and_float64():
    assert ex.check_rotation(by_blocks)
    assert ex.check_rotation(rotation)


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda k, d: by_blocks(k, d).T, "方向反了"),
        (lambda k, d: by_blocks(-k, d), "方向反了"),
        (lambda k, d: by_blocks(1, d), "沒有用到 k"),
        (lambda k, d: torch.eye(d), "單位矩陣"),
        (lambda k, d: by_blocks(k / 2, d), "一半"),
        (lambda k, d: by_blocks(k, d)[grouped(d)][:, grouped(d)], "排列"),
        (lambda k, d: by_blocks(3, d), "寫死"),
        (lambda k, d: by_blocks(k, d).abs(), "不等於"),
        (lambda k, d: by_blocks(k, 2), "形狀"),
    ],
)
def test_rotation_rejects(answer, message):
    assert_rejected(ex.check_rotation(answer), message)


def test_look_ahead_accepts():
    assert ex.check_look_ahead(lambda k, beta, d: beta * by_blocks(k, d))
    assert ex.check_look_ahead(lambda k, beta, d: beta * torch.linalg.matrix_power(rotation(1, d), k))


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda k, beta, d: beta * rotation(-k, d), "方向反了"),
        (lambda k, beta, d: rotation(k, d), "增益不對"),
        (lambda k, beta, d: beta / math.sqrt(d) * rotation(k, d), "增益不對"),
        (lambda k, beta, d: beta * torch.eye(d), "看自己"),
        (lambda k, beta, d: beta * rotation(1, d), "不是 i \\+ 2"),
        (lambda k, beta, d: 40 * rotation(2, d), "寫死"),
        (lambda k, beta, d: beta * rotation(k, d)[:, :2], "形狀"),
    ],
)
def test_look_ahead_rejects(answer, message):
    assert_rejected(ex.check_look_ahead(answer), message)


def assert_rejected(verdict, message):
    assert not verdict
    assert re.search(message, verdict.message), verdict.message
    assert "出錯" not in verdict.message
