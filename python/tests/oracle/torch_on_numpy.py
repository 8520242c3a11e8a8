"""The part of torch that gsplat's definition in Python uses, on numpy arrays in double precision."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np


class Tensor(np.ndarray):
    """An array with the methods of a tensor."""

    device = "cpu"

    def clamp(self, min: float | None = None, max: float | None = None) -> Tensor:
        return _clamp(self, min, max)

    def int(self) -> Tensor:
        return self.astype(np.int32)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        return unbind(self, dim)

    def transpose(self, *axes: Any) -> Tensor:
        return np.swapaxes(np.asarray(self), *axes).view(Tensor)

    def sum(self, dim: int) -> Tensor:
        return np.sum(np.asarray(self), dim).view(Tensor)

    def repeat(self, counts: Any) -> Tensor:
        return np.tile(np.asarray(self), counts).view(Tensor)

    def dim(self) -> int:
        return self.ndim


def tensor(values: Any) -> Tensor:
    return np.asarray(values, np.float64).view(Tensor)


def unbind(values: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    return tuple(np.moveaxis(np.asarray(values), dim, 0).view(Tensor))


def _normalize(values: Tensor, p: int, dim: int) -> Tensor:
    # As torch, which bounds lengths by 1e-12 from below.
    return values / np.maximum(np.linalg.norm(values, p, dim, keepdims=True), 1e-12)


def _clamp(values: Tensor, min: Any = None, max: Any = None) -> Tensor:
    return np.clip(np.asarray(values), min, max).view(Tensor)


def _with_tensors(function: Any, **renamed: str) -> Any:
    """The numpy function with torch's names of its arguments, for tensors."""

    def call(*args: Any, **kwargs: Any) -> Tensor:
        kwargs.pop("device", None)
        kwargs = {renamed.get(name, name): value for name, value in kwargs.items()}
        return np.asarray(function(*args, **kwargs)).view(Tensor)

    return call


def _modules() -> dict[str, types.ModuleType]:
    torch = types.ModuleType("torch")
    functional = types.ModuleType("torch.nn.functional")
    functional.normalize = _normalize
    torch.nn = types.ModuleType("torch.nn")
    torch.nn.functional = functional
    torch.Tensor = Tensor
    torch.no_grad = lambda: lambda function: function
    torch.unbind = unbind
    torch.clamp = _clamp
    torch.stack = _with_tensors(np.stack, dim="axis")
    torch.einsum = _with_tensors(lambda rule, *args: np.einsum(rule.replace(" ", ""), *args))
    torch.atan2 = _with_tensors(np.arctan2)
    for name in ("zeros", "empty", "eye", "sqrt", "ceil", "zeros_like"):
        setattr(torch, name, _with_tensors(getattr(np, name)))
    hints = types.ModuleType("typing_extensions")
    hints.Literal = Literal
    hints.assert_never = None
    return {
        "torch": torch,
        "torch.nn": torch.nn,
        "torch.nn.functional": functional,
        "typing_extensions": hints,
    }


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Imports of torch inside the block give this one."""
    modules = _modules()
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
