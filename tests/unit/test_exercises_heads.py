"""The checks of the page on several heads: they pass what is right, and say what is wrong with the rest."""

import pytest
import torch
import torch.nn.functional as F

from attnlab.exercises.heads import check_multi_head, check_one_head_bound, check_split_heads


def split(x, h):
    *lead, n, d = x.shape
    return x.view(*lead, n, h, d // h).transpose(-3, -2)


def stub(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize("check", [check_split_heads, check_multi_head, check_one_head_bound])
def test_the_untouched_stub_fails(check):
    verdict = check(stub)
    assert not verdict and "還沒寫" in verdict.message


@pytest.mark.parametrize(
    "answer",
    [
        split,
        lambda x, h: torch.stack(x.chunk(h, dim=-1), dim=1),
        lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3),
    ],
)
def test_right_ways_to_split_pass(answer):
    assert check_split_heads(answer)


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda x, h: x.view(len(x), h, x.shape[1], -1), "打散"),
        (lambda x, h: x.view(len(x), x.shape[1], h, -1), "還差一步"),
        (lambda x, h: split(x, h).transpose(-2, -1), "對調"),
        (lambda x, h: x.view(len(x), x.shape[1], -1, h).permute(0, 3, 1, 2), "間隔"),
        (lambda x, h: split(x, h).flip(1), "順序反了"),
        (lambda x, h: split(x, h)[:, :1].expand(-1, h, -1, -1), "同一段"),
        (lambda x, h: split(x, h) + 1, "內容不對"),
        (lambda x, h: split(x, 3), "寫死"),
        (lambda x, h: split(x, x.shape[-1] // 7), "寫死"),
        (lambda x, h: x, "形狀應該是"),
        (lambda x, h: x.view(3, 3), "出錯"),
        (lambda x, h: None, "張量"),
    ],
)
def test_wrong_ways_to_split_are_told_apart(answer, hint):
    verdict = check_split_heads(answer)
    assert not verdict and hint in verdict.message


def multi_head(x, w_q, w_k, w_v, w_o, h, *, cut=split, scale=None, join=lambda z: z.transpose(0, 1).flatten(1)):
    q, k, v = (cut(x @ w, h) for w in (w_q, w_k, w_v))
    return join(F.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale)[0]) @ w_o


def loop(x, w_q, w_k, w_v, w_o, h):
    heads = []
    for a, b, c in zip(w_q.chunk(h, 1), w_k.chunk(h, 1), w_v.chunk(h, 1), strict=True):
        scores = (x @ a) @ (x @ b).T / a.shape[1] ** 0.5
        heads.append(scores.softmax(-1) @ (x @ c))
    return torch.cat(heads, -1) @ w_o


def with_(**changes):
    return lambda *arguments: multi_head(*arguments, **changes)


def scramble(x, h):
    return x.reshape(h, x.shape[0], -1)


@pytest.mark.parametrize("answer", [multi_head, loop])
def test_right_multi_head_attention_passes(answer):
    assert check_multi_head(answer)


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda x, q, k, v, o, h: multi_head(x, q, k, v, torch.eye(x.shape[1]), h), "還要乘上 W_O"),
        (with_(scale=21**-0.5), "√D"),
        (with_(scale=1.0), "沒有除以"),
        (lambda x, q, k, v, o, h: multi_head(x, q, k, v, o, 1), "沒有切成多個頭"),
        (with_(join=lambda z: z.reshape(z.shape[1], -1)), "少了 transpose"),
        (with_(cut=scramble, join=lambda z: z.reshape(z.shape[1], -1)), "混在一起"),
        (with_(cut=scramble), "混在一起"),
        (with_(join=lambda z: z.flip(0).transpose(0, 1).flatten(1)), "順序反了"),
        (lambda x, q, k, v, o, h: multi_head(x, q, k, v, o.T, h), "轉置"),
        (lambda x, q, k, v, o, h: multi_head(x, k, q, v, o, h), "數字不對"),
        (lambda x, q, k, v, o, h: multi_head(x, q, k, v, o, 3), "寫死"),
        (lambda x, q, k, v, o, h: multi_head(x, q, k, v, o, h)[0], "形狀應該是"),
    ],
)
def test_wrong_multi_head_attentions_are_told_apart(answer, hint):
    verdict = check_multi_head(answer)
    assert not verdict and hint in verdict.message


def test_averaged_weights_are_told_apart():
    def averaged(x, w_q, w_k, w_v, w_o, h):
        q, k = split(x @ w_q, h), split(x @ w_k, h)
        weights = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(-1).mean(0)
        return weights @ (x @ w_v) @ w_o

    verdict = check_multi_head(averaged)
    assert not verdict and "平均" in verdict.message


def positive(taps):
    return sum(w * w for w in taps if w > 0)


def negative(taps):
    return sum(w * w for w in taps if w < 0)


def test_the_right_bound_passes():
    assert check_one_head_bound(lambda taps: min(positive(taps), negative(taps)))


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda taps: max(positive(taps), negative(taps)), "取誤差小"),
        (lambda taps: positive(taps) + negative(taps), "什麼都不輸出"),
        (lambda taps: min(positive(taps), negative(taps)) ** 0.5, "根號"),
        (lambda taps: min(sum(w for w in taps if w > 0), sum(-w for w in taps if w < 0)), "平方和"),
        (negative, "增益為正"),
        (positive, "增益為負"),
        (lambda taps: 1.0, "分開想"),
        (lambda taps: "2", "分開想"),
    ],
)
def test_wrong_bounds_are_told_apart(answer, hint):
    verdict = check_one_head_bound(answer)
    assert not verdict and hint in verdict.message
