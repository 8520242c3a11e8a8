"""torch, or numpy where no argument is a tensor. The package itself never imports torch: tensors exist only if it is
imported already, and the modules that need it otherwise load it when they are used."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .._arrays import Shape, check_shape, take

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


#: Columns of the upper triangle of a symmetric 3x3 matrix by rows.
TRIANGLE = [0, 1, 2, 4, 5, 8]


class _Torch:
    """The module torch, imported at the first use of an attribute."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("torch"), name)


torch: Any = _Torch()


def without_gradients(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``function`` under ``torch.no_grad()``, without torch until it is called."""

    @functools.wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with torch.no_grad():
            return function(*args, **kwargs)

    return called


def outside_graphs(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``function``, but ``torch.compile`` calls it between its graphs and does not look into it."""
    # Nothing is compiled before this module of torch is loaded, which takes seconds.
    compiler = getattr(sys.modules.get("torch"), "compiler", None) if "torch._dynamo" in sys.modules else None
    disable = getattr(compiler, "disable", None)
    return function if disable is None else disable(function)


def detached(value: Any) -> Any:
    """``value`` without its graph."""
    return value.detach() if hasattr(value, "detach") else value


@functools.cache
def _first_derivative() -> Any:
    class FirstDerivative(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, gradient: Any, source: Any) -> Any:
            return gradient.clone()

        @staticmethod
        def backward(ctx: Any, v_gradient: Any) -> tuple[Any, ...]:
            raise NotImplementedError("second derivatives are not computed")

    return FirstDerivative


def first_derivative(gradient: Any, source: Any) -> Any:
    """``gradient`` by ``source``, in its graph if derivatives of gradients are recorded: as a constant, it would have second
    derivatives of 0 without a word. In the graph, they raise."""
    return _first_derivative().apply(gradient, source) if torch.is_grad_enabled() else gradient


def namespace(*values: Any) -> Any:
    """torch if one of the values is a tensor, else numpy."""
    loaded = sys.modules.get("torch")
    return loaded if loaded is not None and any(isinstance(value, loaded.Tensor) for value in values) else np


def floats(xp: Any, value: Any, name: str, shape: Shape, like: Any = None) -> Any:
    """``value`` as floating-point numbers of a namespace; of the type of ``like`` if it has another kind of array."""
    if xp is np:
        dtype = getattr(value, "dtype", None) if like is None else like.dtype
        return take(value, name, shape, np.float32 if dtype == np.float32 else np.float64)
    if not isinstance(value, xp.Tensor):
        value = xp.as_tensor(value, dtype=None if like is None else like.dtype)
    check_shape(tuple(value.shape), name, shape)
    return value


def unit(xp: Any, vectors: Any) -> Any:
    """Vectors of length 1; zeros stay zeros, without a gradient."""
    squares = (vectors * vectors).sum(-1)[..., None]
    is_zero = squares == 0
    lengths = xp.sqrt(xp.where(is_zero, xp.ones_like(squares), squares))
    return vectors / lengths
