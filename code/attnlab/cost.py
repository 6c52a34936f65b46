"""What a layer costs: multiplications by formula, CPU time and memory by measurement.

MAC: one multiplication with its addition. Counted are the matrix products, which carry all the powers of n and d;
the softmax, the normalisations and the activations are left out.
"""

import statistics
import time
from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention, join_heads, split_heads

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
WIDTH = 64


def lstm_macs(n: int, d: int) -> int:
    """One LSTM layer of width d over n steps: 4 gates, each with a d × d matrix for x and one for h: 8 n d²."""
    return 8 * n * d**2


def projection_macs(n: int, d: int) -> int:
    """The four matrices W_Q, W_K, W_V and W_O of an attention layer, at n positions: 4 n d², whatever h."""
    return 4 * n * d**2


def map_macs(n: int, d: int) -> int:
    """The scores q kᵀ and the average over the values, of all heads together: 2 n² d, whatever h.

    A causal mask needs about half of it; it saves that only in a kernel that skips the upper triangle.
    """
    return 2 * n**2 * d


def feed_forward_macs(n: int, d: int, d_ff: int | None = None) -> int:
    """Two dense layers at n positions: 2 n d d_ff, which is 8 n d² for the usual d_ff = 4d."""
    return 2 * n * d * (4 * d if d_ff is None else d_ff)


def fused_attention(layer: MultiHeadAttention, x: Tensor) -> Tensor:
    """The outputs of ``layer(x)`` by PyTorch's fused kernel, which never writes the n × n map to memory.

    Source: Dao et al. 2022 (the idea; this runs PyTorch's own kernel for the machine at hand).
    """
    projections = (layer.query, layer.key, layer.value)
    q, k, v = (split_heads(project(x), layer.num_heads) for project in projections)  # (..., h, n, d_k)
    return layer.output(join_heads(F.scaled_dot_product_attention(q, k, v)))


def kept_bytes(function: Callable[[], Tensor], parameters: Iterable[Tensor] = ()) -> int:
    """How many bytes a forward pass keeps for its backward pass, each storage counted once.

    Args:
        function: computes an output that needs a gradient.
        parameters: tensors that exist anyway and do not count.
    """
    existing = {p.untyped_storage().data_ptr() for p in parameters}
    kept: dict[int, Tensor] = {}  # holds the tensors themselves, so that no address is used twice

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = function()
    total = sum(t.untyped_storage().nbytes() for address, t in kept.items() if address not in existing)
    del output
    return total


def measure(n: int, *, d: int = WIDTH, repetitions: int = 7, least_seconds: float = 0.02) -> dict[str, dict]:
    """Time one layer of each kind on one sequence, and weigh what it keeps.

    An LSTM layer, attention with its n × n map, and the same attention by the fused kernel; one head, no mask,
    float32, batch 1, default initialisation. The three take turns within every repetition, so that a busy
    moment of the machine meets them all.

    Args:
        n: length of the sequence.
        d: width.
        repetitions: how often each is timed; the median counts.
        least_seconds: a timing repeats the call until this much CPU time is used.

    Returns:
        For "lstm", "explicit" and "fused": "forward_ms" and "training_ms" (forward and backward), the CPU time
        of one call in milliseconds; and "kept_bytes", what the forward pass keeps for the backward pass.
    """
    torch.manual_seed(0)
    lstm, attention = nn.LSTM(d, d, batch_first=True), MultiHeadAttention(d, 1)
    x = torch.randn(1, n, d, requires_grad=True)
    upstream = torch.randn(1, n, d)
    layers: dict[str, tuple[nn.Module, Callable[[], Tensor]]] = {
        "lstm": (lstm, lambda: lstm(x)[0]),
        "explicit": (attention, lambda: attention(x)[0]),
        "fused": (attention, lambda: fused_attention(attention, x)),
    }

    def forward(layer: Callable[[], Tensor]) -> Callable[[], object]:
        return torch.no_grad()(layer)

    def training(layer: Callable[[], Tensor], module: nn.Module) -> Callable[[], object]:
        return lambda: torch.autograd.grad(layer(), (x, *module.parameters()), upstream)

    samples: dict[str, dict[str, list[float]]] = {name: {"forward": [], "training": []} for name in layers}
    for _ in range(repetitions):
        for name, (module, layer) in layers.items():
            samples[name]["forward"].append(_seconds_a_call(forward(layer), least_seconds))
            samples[name]["training"].append(_seconds_a_call(training(layer, module), least_seconds))
    return {
        name: {
            "forward_ms": 1e3 * statistics.median(samples[name]["forward"]),
            "training_ms": 1e3 * statistics.median(samples[name]["training"]),
            "kept_bytes": kept_bytes(layer, (x, *module.parameters())),
        }
        for name, (module, layer) in layers.items()
    }


def _seconds_a_call(call: Callable[[], object], least_seconds: float) -> float:
    call()  # the first call fills caches and allocates
    calls = 0
    # CPU time of this process, not the clock on the wall: whoever else uses the machine does not count.
    start = time.process_time()
    while True:
        call()
        calls += 1
        spent = time.process_time() - start
        if spent >= least_seconds:
            return spent / calls
