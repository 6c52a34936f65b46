"""Scaled dot-product attention, and many heads of it (Vaswani et al. 2017, sections 3.2.1 and 3.2.2)."""

import math

import torch
from torch import Tensor, nn


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, *, allowed: Tensor | None = None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values, each weighted by how well its key fits the query.

    softmax(q kᵀ · scale) v, with the softmax over the keys and scale = 1/√d_k unless given.

    Args:
        q: queries, (..., n, d_k).
        k: keys, (..., m, d_k).
        v: values, (..., m, d_v).
        allowed: Boolean, broadcastable to (..., n, m); True where query i may look at key j. This is the
            polarity of ``F.scaled_dot_product_attention`` and the opposite of ``nn.MultiheadAttention``.
        scale: what the scores are multiplied by.

    Returns:
        The outputs (..., n, d_v) and the weights (..., n, m). Each row of the weights sums to 1, except
        that a query which may look nowhere gets weights 0 and output 0, with finite gradients.

    Raises:
        ValueError: shapes that do not fit.
        TypeError: a mask that is not Boolean.

    Source: Vaswani et al. 2017, equation (1).
    """
    _check_shapes(q, k, v)
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale  # (..., n, d_k) @ (..., d_k, m) -> (..., n, m)
    if allowed is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        _check_mask(allowed, scores.shape)
        # −∞ before the softmax, so that a forbidden key takes no part in the sum below the fraction.
        # A row of nothing but −∞ would give NaN, also in the backward pass: such a row keeps its scores
        # through the softmax and loses its weights after it.
        blind = ~allowed.any(dim=-1, keepdim=True)  # (..., n, 1)
        scores = scores.masked_fill(~(allowed | blind), -math.inf)
        weights = torch.softmax(scores, dim=-1).masked_fill(blind, 0.0)
    return weights @ v, weights  # (..., n, m) @ (..., m, d_v) -> (..., n, d_v)


def causal_mask(n: int, m: int | None = None) -> Tensor:
    """Let position i look at positions 0 … i: a Boolean (n, m) tensor, True where j ≤ i.

    For n ≠ m the two sequences are aligned at their beginnings (top left), as PyTorch's ``is_causal`` does.

    Raises:
        ValueError: a length below 1.
    """
    m = n if m is None else m
    if n < 1 or m < 1:
        raise ValueError(f"causal_mask: n and m must be at least 1, got n={n}, m={m}")
    return torch.ones(n, m, dtype=torch.bool).tril()


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the vector of each position into equal parts, one for each head: (..., n, d_model) -> (..., h, n, d_k)."""
    x = x.unflatten(-1, (num_heads, -1))  # (..., n, d_model) -> (..., n, h, d_k)
    return x.transpose(-3, -2)  # -> (..., h, n, d_k)


def join_heads(heads: Tensor) -> Tensor:
    """Put the parts side by side again: (..., h, n, d_k) -> (..., n, d_model)."""
    return heads.transpose(-3, -2).flatten(-2)  # -> (..., n, h, d_k) -> (..., n, d_model)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own d_k = d_model/h dimensions.

    MultiHead(X) = [head₁, …, head_h] W_O,  head_i = Attention(X W_Q⁽ⁱ⁾, X W_K⁽ⁱ⁾, X W_V⁽ⁱ⁾).

    The h small matrices W⁽ⁱ⁾ are the column blocks of one d_model × d_model matrix, so that all heads take
    one matrix product. Parameters: 4 d_model² + 4 d_model, whatever h.

    Raises:
        ValueError: num_heads does not divide d_model.

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(
                f"MultiHeadAttention: num_heads must divide d_model, got d_model={d_model}, num_heads={num_heads}"
            )
        self.num_heads = num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(
        self, x: Tensor, context: Tensor | None = None, *, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Let every position of x look at every position of context (of x itself, unless given).

        Args:
            x: (..., n, d_model), where the queries come from.
            context: (..., m, d_model), where keys and values come from.
            allowed: as in ``scaled_dot_product_attention``; (n, m), or with the leading dimensions of x
                and a head dimension before the last two.

        Returns:
            The outputs (..., n, d_model) and the weights of each head (..., h, n, m).
        """
        context = x if context is None else context
        q = split_heads(self.query(x), self.num_heads)  # (..., h, n, d_k)
        k = split_heads(self.key(context), self.num_heads)  # (..., h, m, d_k)
        v = split_heads(self.value(context), self.num_heads)  # (..., h, m, d_k)
        heads, weights = scaled_dot_product_attention(q, k, v, allowed=allowed)
        return self.output(join_heads(heads)), weights

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHeadAttention":
        """Copy the weights of PyTorch's module, which keeps W_Q, W_K and W_V stacked in one matrix.

        Raises:
            ValueError: a module without bias, with unequal widths, or with add_bias_kv.
        """
        if module.in_proj_weight is None or module.in_proj_bias is None or module.bias_k is not None:
            raise ValueError("from_torch: wanted an nn.MultiheadAttention with bias, equal widths and no add_bias_kv")
        own = cls(module.embed_dim, module.num_heads).to(module.in_proj_weight)
        with torch.no_grad():
            for layer, weight, bias in zip(
                (own.query, own.key, own.value), module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
            ):
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)
            own.output.load_state_dict(module.out_proj.state_dict())
        return own


def _check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() < 2:
            raise ValueError(f"attention: {name} must have shape (..., positions, width), got {tuple(tensor.shape)}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"attention: q and k must have the same width, got q {tuple(q.shape)} and k {tuple(k.shape)}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"attention: every key needs one value, got k {tuple(k.shape)} and v {tuple(v.shape)}")


def _check_mask(allowed: Tensor, scores_shape: torch.Size) -> None:
    if allowed.dtype != torch.bool:
        raise TypeError(
            f"attention: allowed must be Boolean (True = may look), got {allowed.dtype}; "
            "a float mask would be added to the scores and mask nothing"
        )
    try:
        fits = torch.broadcast_shapes(allowed.shape, scores_shape) == scores_shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"attention: allowed must broadcast to the scores {tuple(scores_shape)}, got {tuple(allowed.shape)}"
        )
