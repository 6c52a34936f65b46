"""The trained Transformer that a page carries, and the film of its training: how both were made.

Trained once and committed, since training takes longer than a reader waits, and the last digits of the result depend
on the processor. ``python -m attnlab.study reversal_weights`` makes them again.
"""

import base64

import numpy as np
import torch

from attnlab.reversal import Marks, ReversalTransformer, evaluate, held_out, train
from attnlab.study import Study, load

FILM = [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 240, 300, 400, 600, 1000, 1500]


def execute(seed: int, steps: int, film: list[int]) -> dict:
    """Train the page's model.

    Args:
        seed: of the weights and of the training data.
        film: the steps at which to keep the attention map, the mean over the test sequences.

    Returns:
        "weights", the parameters one after the other as they stand in the model's state, 16-bit floats in base64;
        "marks" of the model with these rounded weights; and "film".
    """
    x, y = held_out()
    torch.manual_seed(seed)
    model = ReversalTransformer()
    frames = []

    def keep(step: int, marks: Marks) -> None:
        if step in film:
            with torch.no_grad():
                weights = model.attend(x)[1].mean((0, 1))  # (B, 1, n, n) -> (n, n)
            rounded = [[round(w, 3) for w in row] for row in weights.tolist()]
            frames.append({"step": step, "token": marks.token, "sequence": marks.sequence, "map": rounded})

    keep(0, evaluate(model, x, y))
    train(model, steps=steps, seed=seed, evaluate_every=20, report=keep)
    weights = pack(model)
    marks = evaluate(unpack(weights), x, y)
    return {"weights": weights, "marks": [marks.token, marks.sequence], "film": frames}


def pack(model: ReversalTransformer) -> str:
    values = torch.cat([parameter.detach().flatten() for parameter in model.state_dict().values()])
    return base64.b64encode(values.numpy().astype("<f2").tobytes()).decode()


def unpack(weights: str) -> ReversalTransformer:
    """The model with these weights.

    Raises:
        ValueError: another number of weights than the model has.
    """
    values = torch.from_numpy(np.frombuffer(base64.b64decode(weights), "<f2").astype("float32"))
    model = ReversalTransformer()
    state = model.state_dict()
    sizes = [parameter.numel() for parameter in state.values()]
    if len(values) != sum(sizes):
        raise ValueError(f"unpack: wanted {sum(sizes)} weights, got {len(values)}")
    parts = zip(state.items(), values.split(sizes), strict=True)
    model.load_state_dict({name: part.reshape(parameter.shape) for (name, parameter), part in parts})
    return model.eval()


def trained() -> dict:
    """The committed result of ``execute``."""
    return load("reversal_weights")["reverse"]["result"]


STUDY = Study("reversal_weights", {"reverse": {"seed": 0, "steps": 1500, "film": FILM}}, execute)
