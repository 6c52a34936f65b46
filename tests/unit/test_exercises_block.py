"""Each check passes the solution, fails the stub, and names what is wrong with the usual wrong answers."""

import pytest
import torch
import torch.nn.functional as F

from attnlab.exercises.block import check_block_macs, check_layer_norm, check_pre_norm


def stub(*_):
    raise NotImplementedError


def layer_norm(x, gain, bias, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return gain * (x - mean) / (variance + eps).sqrt() + bias


def unbiased(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() + bias


def epsilon_outside(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps) + bias


def over_positions(x, gain, bias, eps):
    return gain * (x - x.mean(0)) / (x.var(0, correction=0) + eps).sqrt() + bias


def no_mean(x, gain, bias, eps):
    return gain * F.rms_norm(x, x.shape[-1:], eps=eps) + bias


def no_gain(x, gain, bias, eps):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


def no_root(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) + bias


def bias_first(x, gain, bias, eps):
    return gain * (F.layer_norm(x, x.shape[-1:], eps=eps) + bias)


def no_epsilon(x, gain, bias, eps):
    return F.layer_norm(x, x.shape[-1:], gain, bias, 0.0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (stub, "還沒寫"),
        (unbiased, "d − 1"),
        (epsilon_outside, "根號裡面"),
        (over_positions, "軸錯"),
        (no_mean, "RMSNorm"),
        (no_gain, "gain"),
        (no_root, "開根號"),
        (bias_first, "先乘 gain"),
        (no_epsilon, "少了 ε"),
        (lambda x, gain, bias, eps: x.mean(-1), "形狀"),
        (lambda x, gain, bias, eps: 2 * layer_norm(x, gain, bias, eps), "數字不對"),
    ],
)
def test_wrong_layer_norms(answer, words):
    verdict = check_layer_norm(answer)
    assert not verdict and words in verdict.message


def test_right_layer_norms():
    assert check_layer_norm(layer_norm)
    assert check_layer_norm(lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], gain, bias, eps))


def pre_norm(x, norm1, attention, norm2, feed_forward):
    x = x + attention(norm1(x))
    return x + feed_forward(norm2(x))


def post_norm(x, norm1, attention, norm2, feed_forward):
    x = norm1(x + attention(x))
    return norm2(x + feed_forward(x))


def carries_normalised(x, norm1, attention, norm2, feed_forward):
    x = norm1(x)
    x = x + attention(x)
    x = norm2(x)
    return x + feed_forward(x)


def first_carries_normalised(x, norm1, attention, norm2, feed_forward):
    x = norm1(x)
    x = x + attention(x)
    return x + feed_forward(norm2(x))


def no_second_residual(x, norm1, attention, norm2, feed_forward):
    return feed_forward(norm2(x + attention(norm1(x))))


def no_residuals(x, norm1, attention, norm2, feed_forward):
    return feed_forward(norm2(attention(norm1(x))))


def parallel(x, norm1, attention, norm2, feed_forward):
    return x + attention(norm1(x)) + feed_forward(norm2(x))


def one_norm(x, norm1, attention, norm2, feed_forward):
    x = x + attention(norm1(x))
    return x + feed_forward(norm1(x))


def back_to_the_start(x, norm1, attention, norm2, feed_forward):
    return x + feed_forward(norm2(x + attention(norm1(x))))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (stub, "還沒寫"),
        (post_norm, "post-norm"),
        (carries_normalised, "正規化之後的 x"),
        (first_carries_normalised, "第一個殘差"),
        (no_second_residual, "第二步少了殘差"),
        (no_residuals, "兩步都少了"),
        (parallel, "接在注意力之後"),
        (one_norm, "norm2"),
        (back_to_the_start, "最初的 x"),
        (lambda x, *layers: x, "數字不對"),
        (lambda x, *layers: x.T, "形狀"),
    ],
)
def test_wrong_blocks(answer, words):
    verdict = check_pre_norm(answer)
    assert not verdict and words in verdict.message


def test_right_block():
    assert check_pre_norm(pre_norm)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (stub, "還沒寫"),
        (lambda n, d: n**2 * d, "不對"),
        (lambda n, d: 2 * n**2 * d, "投影與前饋網路"),
        (lambda n, d: 8 * n * d**2 + 2 * n**2 * d, "四個投影"),
        (lambda n, d: 4 * n * d**2 + 2 * n**2 * d, "少了前饋網路"),
        (lambda n, d: 12 * n * d**2 + n**2 * d, "少了一半"),
        (lambda n, d: 11 * n * d**2 + 2 * n**2 * d, "W_O"),
        (lambda n, d: 6 * n * d**2 + 2 * n**2 * d, "4d"),
        (lambda n, d: 24 * n * d**2 + 4 * n**2 * d, "一次乘法"),
        (lambda n, d: 12 * n * d**2, "加權平均"),
        (lambda n, d: "O(n²d)", "一個數"),
        (lambda n, d: None, "一個數"),
    ],
)
def test_wrong_counts(answer, words):
    verdict = check_block_macs(answer)
    assert not verdict and words in verdict.message


def test_right_count():
    assert check_block_macs(lambda n, d: 12 * n * d**2 + 2 * n**2 * d)
    assert check_block_macs(lambda n, d: 2 * n * d * (6.0 * d + n))


def test_a_check_never_raises():
    assert not check_layer_norm(lambda *_: torch.zeros(2) @ torch.zeros(3))
    assert not check_pre_norm(None)
