"""The Transformer block: attention, then a small network at every position, each with a residual around it.

A stack of them is the Transformer. Pre-norm, with a causal mask, it is the body of a decoder-only model (GPT).
"""

from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


class FeedForward(nn.Sequential):
    """Two dense layers at each position by itself: FFN(x) = W₂ φ(W₁ x + b₁) + b₂, φ = ReLU or GELU.

    Nothing passes between positions here. Parameters: 2 d_model d_ff + d_ff + d_model.

    Raises:
        ValueError: an activation that is neither "relu" nor "gelu".

    Source: Vaswani et al. 2017, section 3.3 (ReLU).
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str = "relu"):
        if activation not in ACTIVATIONS:
            raise ValueError(f"FeedForward: activation must be one of {sorted(ACTIVATIONS)}, got {activation!r}")
        super().__init__(nn.Linear(d_model, d_ff), ACTIVATIONS[activation](), nn.Linear(d_ff, d_model))


class TransformerBlock(nn.Module):
    """Exchange between the positions, then think at each; the input itself passes by on the residual path.

    Pre-norm (norm_first=True, GPT-2):     x ← x + Attention(LN(x));   x ← x + FFN(LN(x))
    Post-norm (norm_first=False, 2017):    x ← LN(x + Attention(x));   x ← LN(x + FFN(x))

    The residual path always carries x as it came, not its normalised copy. A stack of pre-norm blocks needs
    one more normalisation after the last. Parameters: 4 d_model² + 2 d_model d_ff + d_ff + 9 d_model.

    Raises:
        ValueError: num_heads does not divide d_model; an activation that is neither "relu" nor "gelu".

    Sources: Vaswani et al. 2017, section 3.1 (post-norm); Xiong et al. 2020 (both compared).
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, *, norm_first: bool, activation: str = "relu"):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, *, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (..., n, d_model) -> (..., n, d_model), and the attention weights (..., h, n, n)."""
        if self.norm_first:
            attended, weights = self.attention(self.norm1(x), allowed=allowed)
            x = x + attended
            x = x + self.feed_forward(self.norm2(x))
        else:
            attended, weights = self.attention(x, allowed=allowed)
            x = self.norm1(x + attended)
            x = self.norm2(x + self.feed_forward(x))
        return x, weights

    @classmethod
    def from_torch(cls, layer: nn.TransformerEncoderLayer) -> "TransformerBlock":
        """Copy the weights of PyTorch's layer; its dropout is left out.

        Raises:
            ValueError: a layer without bias, or with another activation than ReLU or exact GELU.
        """
        activation = _activation_name(layer.activation)
        if layer.linear1.bias is None:
            raise ValueError("from_torch: wanted an nn.TransformerEncoderLayer with bias, got bias=False")
        own = cls(
            layer.self_attn.embed_dim,
            layer.self_attn.num_heads,
            layer.linear1.out_features,
            norm_first=layer.norm_first,
            activation=activation,
        ).to(layer.linear1.weight)
        own.attention = MultiHeadAttention.from_torch(layer.self_attn)
        first, _, second = own.feed_forward
        for target, source in (
            (first, layer.linear1),
            (second, layer.linear2),
            (own.norm1, layer.norm1),
            (own.norm2, layer.norm2),
        ):
            target.load_state_dict(source.state_dict())
        own.norm1.eps, own.norm2.eps = layer.norm1.eps, layer.norm2.eps
        return own


class TransformerEncoder(nn.Module):
    """Blocks on top of each other; with pre-norm blocks one more layer normalisation at the end.

    With ``allowed=causal_mask(n)`` and pre-norm blocks this is the body of GPT-2.

    Raises:
        ValueError: num_layers below 1; what ``TransformerBlock`` refuses.
    """

    def __init__(
        self, num_layers: int, d_model: int, num_heads: int, d_ff: int, *, norm_first: bool, activation: str = "relu"
    ):
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"TransformerEncoder: num_layers must be at least 1, got {num_layers}")
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, num_heads, d_ff, norm_first=norm_first, activation=activation)
            for _ in range(num_layers)
        )
        # The residual path of pre-norm is never normalised on the way: its size grows with every block.
        self.final_norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x: Tensor, *, allowed: Tensor | None = None) -> tuple[Tensor, list[Tensor]]:
        """x (..., n, d_model) -> (..., n, d_model), and each block's attention weights (..., h, n, n)."""
        maps = []
        for block in self.blocks:
            x, weights = block(x, allowed=allowed)
            maps.append(weights)
        return self.final_norm(x), maps


def _activation_name(activation: object) -> str:
    if activation is nn.functional.relu or isinstance(activation, nn.ReLU):
        return "relu"
    if activation is nn.functional.gelu or (isinstance(activation, nn.GELU) and activation.approximate == "none"):
        return "gelu"
    raise ValueError(f"from_torch: wanted a layer with activation 'relu' or 'gelu', got {activation!r}")
