"""Arrays of callers, and arrays in return.

Any object with the array interface of numpy or with DLPack in the memory of a CPU is an array, as are lists of
numbers.
"""

from __future__ import annotations

import operator
import os
import sys
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

#: Codes of DLPack for memory that the CPU reads: its own, pinned by CUDA, and pinned by ROCm.
_CPU_DEVICES = (1, 3, 11)
_DEVICES = {2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 13: "cuda (managed)", 14: "oneapi"}

Shape = tuple[Any, ...]
Native = TypeVar("Native")


def is_path(value: object) -> bool:
    """Whether ``value`` is the path of a file and not its content."""
    return isinstance(value, (str, os.PathLike))


def raw(value: object, name: str, native: type[Native], reader: str) -> Native:
    """The native object of a scene or a camera. ``reader`` is the function that reads one from a file."""
    found = getattr(value, "_raw", None)
    if isinstance(found, native):
        return found
    hint = f"; quadrille.{reader} reads files" if is_path(value) else ""
    raise TypeError(f"{name}: expected a quadrille.{native.__name__}, found {type(value).__name__}{hint}")


def take(value: object, name: str, shape: Shape | None = None, dtype: Any = np.float32) -> NDArray[Any]:
    """The numbers of ``value`` in C order, without a copy where it has the type already.

    ``shape`` holds the length of each axis, or a letter for any length.
    """
    array = as_numpy(value, name)
    if array.dtype.name == "bfloat16":
        # The type of ml_dtypes, which jax has and numpy has not.
        array = array.astype(np.float32)
    if array.dtype == np.bool_ or array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: expected numbers, found {array.dtype}")
    if shape is not None:
        check_shape(array.shape, name, shape)
    # Numbers beyond the range of float32 become infinite, which every call refuses or counts.
    with np.errstate(over="ignore"):
        return np.require(array, dtype=dtype, requirements=("C", "A"))


def check_shape(found: Shape, name: str, shape: Shape) -> None:
    """Raises ValueError unless the axes of ``found`` are those of ``shape``, in which a letter is any length."""
    matches = (isinstance(wanted, str) or wanted == axis for wanted, axis in zip(shape, found))
    if len(found) != len(shape) or not all(matches):
        raise ValueError(f"{name}: expected {_shown(shape)}, found {_shown(found)}")


def check_finite(array: NDArray[Any], name: str) -> None:
    """Raises ValueError if a number is infinite or is not a number."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers, found {array[~np.isfinite(array)].flat[0]}")


def integer(value: Any, name: str) -> int:
    """``value`` as an int. Numbers of other kinds, such as 3.0, raise TypeError."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name}: expected an integer, found {value!r}") from error


def one_of(name: str, value: Any, names: tuple[str, ...]) -> None:
    """Raises ValueError unless ``value`` is among ``names``."""
    if value not in names:
        raise ValueError(f"{name}: expected one of {', '.join(names)}, found {value!r}")


def _shown(shape: Shape) -> str:
    return "[" + ", ".join(str(axis) for axis in shape) + "]"


def as_numpy(value: Any, name: str) -> NDArray[Any]:
    """``value`` as an array of its own type, or of float32 for bfloat16 of torch."""
    if isinstance(value, np.ndarray):
        if np.ma.is_masked(value):
            raise ValueError(f"{name}: expected no masked elements, found some; use .filled()")
        return np.asarray(value)
    if is_path(value):
        raise TypeError(
            f"{name}: expected an array, found the path {os.fspath(value)!r}; quadrille.read_picture reads pictures"
        )
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.requires_grad:
            if torch.is_grad_enabled():
                raise RuntimeError(f"{name}: no gradients are computed; use torch.no_grad() or .detach()")
            value = value.detach()
        if value.dtype == torch.bfloat16:
            value = value.float()
    device = getattr(value, "__dlpack_device__", None)
    if device is not None and hasattr(value, "__dlpack__"):
        kind, number = device()
        if int(kind) not in _CPU_DEVICES:
            where = f"{_DEVICES.get(int(kind), f'device {int(kind)}')}:{number}"
            raise TypeError(f"{name}: expected an array in CPU memory, found one in memory of {where}; use .cpu()")
        try:
            array: NDArray[Any] = np.from_dlpack(value)
            return array
        except (BufferError, RuntimeError) as error:
            if not hasattr(value, "__array__"):
                raise TypeError(f"{name}: {error}") from error
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected an array, found {type(value).__name__}") from error


def give(array: NDArray[Any], like: object) -> Any:
    """``array`` as an object of the kind of ``like``, in the same memory."""
    if isinstance(like, (np.ndarray, list, tuple, int, float)) or isinstance(like, np.generic):
        return array
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(like, torch.Tensor):
        return torch.from_dlpack(array)
    namespace = getattr(like, "__array_namespace__", None)
    if namespace is not None:
        return namespace().from_dlpack(array)
    return array


def colour(value: object, name: str) -> tuple[float, float, float]:
    """A grey or the three numbers of a colour, 0 to 1 where the display shows black to white."""
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.shape == ():
        numbers = np.repeat(numbers, 3)
    if numbers.shape != (3,):
        raise ValueError(f"{name}: expected a number or three, found {_shown(numbers.shape)}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name}: expected finite numbers, found {numbers.tolist()}")
    red, green, blue = numbers.tolist()
    return red, green, blue


def matrix(value: object, name: str, side: int) -> list[list[float]]:
    """A square matrix by rows."""
    array = take(value, name, (side, side), np.float64)
    check_finite(array, name)
    rows: list[list[float]] = array.tolist()
    return rows
