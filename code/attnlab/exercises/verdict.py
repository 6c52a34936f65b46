"""What a check answers, and how a check is written."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Verdict:
    """The answer of a check; prints itself at the end of a cell."""

    passed: bool
    message: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"✓ 通過：{self.message}" if self.passed else f"✗ 還沒通過：{self.message}"


class Wrong(Exception):
    """Raised inside a check, with what is wrong with the answer."""


def check(judge: Callable[..., str]) -> Callable[..., Verdict]:
    """Make a check of a function that returns words of praise, or raises ``Wrong``.

    An answer that raises is wrong too, and the reader is told what it raised.
    """

    @functools.wraps(judge)
    def checked(*answers) -> Verdict:
        try:
            return Verdict(True, judge(*answers))
        except Wrong as reason:
            return Verdict(False, str(reason))
        except NotImplementedError:
            return Verdict(
                False, "這一題還沒寫，\n把 raise NotImplementedError 那一行換掉。"
            )  # two lines fit a telephone
        except Exception as error:
            return Verdict(False, f"執行你的程式時出錯，{type(error).__name__}: {error}")

    return checked


def tensor_of_shape(value: object, shape: tuple[int, ...], name: str) -> Tensor:
    """The value, if it is a tensor of that shape; ``Wrong`` otherwise."""
    if not isinstance(value, Tensor):
        raise Wrong(f"{name}應該是張量（torch.Tensor），得到的是 {type(value).__name__}。")
    if value.shape != torch.Size(shape):
        raise Wrong(f"{name}的形狀應該是 {tuple(shape)}，得到的是 {tuple(value.shape)}。")
    return value


def close(a: Tensor, b: Tensor, tolerance: float = 1e-6) -> bool:
    """Whether two tensors agree in shape and, up to the tolerance, in every number."""
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), atol=tolerance, rtol=0)
