"""The checks of page 1 accept the right answer and say what is wrong with the usual wrong ones."""

import math

import pytest
import torch

from attnlab.attention import causal_mask
from attnlab.exercises.attention import check_attention, check_window_mask


def stub(*_):
    raise NotImplementedError


def test_attention_accepts_a_right_answer():
    assert check_attention(lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(k.shape[-1]), -1) @ v)
    assert check_attention(lambda q, k, v: torch.softmax((q / math.sqrt(k.shape[-1])) @ k.T, 1) @ v)


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (lambda q, k, v: torch.softmax(q @ k.T, -1) @ v, "沒有除以"),
    (lambda q, k, v: torch.softmax(q @ k.T / q.shape[-1], -1) @ v, "應該除以 √d_k"),
    (lambda q, k, v: torch.softmax(q @ k.T * math.sqrt(q.shape[-1]), -1) @ v, "乘上"),
    (lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), 0) @ v, "軸錯"),
    (lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(k.shape[0]), -1) @ v, "鍵的個數"),
    (lambda q, k, v: q @ k.T / math.sqrt(q.shape[-1]) @ v, "少了 softmax"),
    (lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1), "形狀"),
    (lambda q, k, v: (torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1) @ v).tolist(), "張量"),
    (lambda q, k, v: v.mean(0).expand(q.shape[0], -1), "數字不對"),
    (lambda q, k, v: q @ k, "出錯"),
])  # fmt: skip
def test_attention_rejects(answer, hint):
    verdict = check_attention(answer)
    assert not verdict and hint in verdict.message and "還沒通過" in repr(verdict)


def window(n, width):
    i, j = torch.arange(n).unsqueeze(1), torch.arange(n)
    return (j <= i) & (j > i - width)


def test_window_accepts_a_right_answer():
    assert check_window_mask(window)
    assert "✓" in repr(check_window_mask(lambda n, w: causal_mask(n).triu(1 - w)))


@pytest.mark.parametrize(("answer", "hint"), [
    (stub, "還沒寫"),
    (lambda n, w: ~window(n, w), "極性相反"),
    (lambda n, w: window(n, w).T, "對調"),
    (lambda n, w: causal_mask(n), "視窗"),
    (lambda n, w: window(n, w + 1), "多了一格"),
    (lambda n, w: window(n, w).float(), "布林"),
    (lambda n, w: window(n, w)[0], "形狀"),
    (lambda n, w: window(n, w - 1) if w > 1 else window(n, w), "有些格子不對"),
    (lambda n, w: window(7, 3) if n == 7 else causal_mask(n), "時不對"),
])  # fmt: skip
def test_window_rejects(answer, hint):
    verdict = check_window_mask(answer)
    assert not verdict and hint in verdict.message
