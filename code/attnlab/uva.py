"""The reverse task as tutorial 6 of the UvA Deep Learning course sets it up, for comparison.

One post-norm block of the same width as ``ReversalTransformer``, with a linear layer on one-hot digits in place
of the embedding and a deeper read-out; Adam at 5e-4 with warm-up and cosine decay, batches of 128, gradients
clipped at norm 5. Written anew after the tutorial's text and settings; the training data here are drawn freshly
for each step, where the tutorial goes ten times through 50 000 fixed sequences.

Source: P. Lippe, UvA Deep Learning Tutorials, tutorial 6 "Transformers and Multi-Head Attention".
"""

import math

import torch
from torch import Tensor, nn

from attnlab.positions import sinusoidal_encoding
from attnlab.reversal import DIGITS
from attnlab.transformer import TransformerBlock

LENGTH = 16
BATCH_SIZE = 128
STEPS = 3900  # ten epochs of 390 batches
LEARNING_RATE = 5e-4
WARM_UP = 50
CLIP = 5.0


class UvaTransformer(nn.Module):
    """Linear on one-hot digits + position, one post-norm block, a small network as read-out: 10 346 parameters."""

    def __init__(self, *, width: int = 32):
        super().__init__()
        self.width = width
        self.input = nn.Linear(DIGITS, width)
        self.block = TransformerBlock(width, 1, 2 * width, norm_first=False)
        self.readout = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, DIGITS))
        attention = self.block.attention
        for layer in (attention.query, attention.key, attention.value):
            # Xavier's bound of the three matrices stacked: fan in d, fan out 3 d.
            nn.init.uniform_(layer.weight, -math.sqrt(6 / (4 * width)), math.sqrt(6 / (4 * width)))
            nn.init.zeros_(layer.bias)
        nn.init.xavier_uniform_(attention.output.weight)
        nn.init.zeros_(attention.output.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Digits (B, n) -> scores of each digit (B, n, 10)."""
        one_hot = nn.functional.one_hot(x, DIGITS).float()
        h = self.input(one_hot) + sinusoidal_encoding(x.shape[-1], self.width)  # (B, n, d_model)
        return self.readout(self.block(h)[0])


def uva_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """Adam whose every step clips the gradients first and moves the learning rate afterwards."""

    def factor(step: int) -> float:
        return 0.5 * (1 + math.cos(math.pi * step / STEPS)) * min(1.0, step / WARM_UP)

    def clip(*_) -> None:
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)

    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    optimizer.register_step_pre_hook(clip)
    optimizer.register_step_post_hook(lambda *_: schedule.step())
    return optimizer
