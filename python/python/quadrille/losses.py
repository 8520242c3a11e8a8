"""Losses of pictures with their gradients, on a CPU: in the graph of torch for tensors, as functions for other arrays.

>>> import numpy as np
>>> from quadrille.losses import l1_ssim
>>> a, b = np.random.default_rng(0).random((2, 32, 32, 3))
>>> 0 < l1_ssim(a, b) < 1
True
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _quadrille
from ._arrays import check_shape, is_path, one_of
from ._picture import Picture, pixels
from ._threads import checked_threads
from .gsplat._namespace import detached, first_derivative, namespace, outside_graphs

__all__ = ["l1_ssim", "l1_ssim_vjp", "ssim"]

#: Channels above which the last axis is taken for a side of the picture if the first axis of three is not.
_MOST_COLOURS = 4


class _Loss:
    """Arguments of a loss ``constant + l1 L1 + ssim SSIM`` of two pictures."""

    def __init__(
        self, constant: float, l1: float, ssim: float, padding: str, channels: str, threads: int | None
    ) -> None:
        one_of("padding", padding, ("same", "valid"))
        one_of("channels", channels, ("last", "first"))
        self.constant, self.factors = constant, (l1, ssim)
        self.padding, self.channels = padding, channels
        self.threads = None if threads is None else checked_threads(threads)

    def _stack(self, value: object, name: str) -> NDArray[np.float32]:
        """The pictures of an argument, [..., H, W, C]."""
        array = pixels(value, name)
        if isinstance(value, Picture) or is_path(value):
            array = array[..., :3] if self.channels == "last" else np.moveaxis(array[..., :3], -1, 0)
        axes = "[..., H, W, C]" if self.channels == "last" else "[..., C, H, W]"
        if array.ndim < 3:
            raise ValueError(f"{name}: expected {axes}, found {list(array.shape)}")
        if self.channels == "first":
            # Every channel is a picture: the mean over all is the same.
            return np.ascontiguousarray(array)[..., None]
        if array.shape[-1] > _MOST_COLOURS >= array.shape[-3]:
            raise ValueError(f'{name}: expected {axes}, found {list(array.shape)}; pass channels="first" for [..., C, H, W]')
        return np.ascontiguousarray(array)

    def measured(self, a: object, b: object, wanted: tuple[bool, bool]) -> tuple[float, list[NDArray[np.float32]]]:
        """The loss, and its derivatives by the pictures for which they are wanted."""
        stacks = self._stack(detached(a), "a"), self._stack(detached(b), "b")
        check_shape(stacks[1].shape, "b", stacks[0].shape)
        (l1, similarity), gradients = _quadrille.loss(stacks, self.padding, self.factors, wanted, self.threads)
        value = self.constant + self.factors[0] * l1 + self.factors[1] * similarity
        return value, [array[..., 0] if self.channels == "first" else array for array in gradients]

    def of(self, a: object, b: object) -> Any:
        """The loss as a float or, if one of the pictures is a tensor, as a tensor."""
        torch: Any = namespace(a, b)
        if torch is np:
            return self.measured(a, b, (False, False))[0]
        if torch.is_grad_enabled() and any(getattr(value, "requires_grad", False) for value in (a, b)):
            return outside_graphs(_function().apply)(self, a, b)
        return torch.tensor(self.measured(a, b, (False, False))[0], dtype=_dtype(a, b))


def _dtype(a: Any, b: Any) -> Any:
    """The type of the first of two pictures that is a tensor."""
    torch: Any = sys.modules["torch"]
    return (a if isinstance(a, torch.Tensor) else b).dtype


@functools.cache
def _function() -> Any:
    """The function of the graph. The gradients are computed with the value, from the same windows."""
    torch: Any = sys.modules["torch"]

    class Loss(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, loss: _Loss, a: Any, b: Any) -> Any:
            needed = ctx.needs_input_grad[1:]
            value, gradients = loss.measured(a, b, needed)
            pictures = [picture for picture, is_needed in zip((a, b), needed) if is_needed]
            ctx.save_for_backward(*pictures, *(torch.from_numpy(gradient) for gradient in gradients))
            return torch.tensor(value, dtype=_dtype(a, b))

        @staticmethod
        def backward(ctx: Any, v_loss: Any) -> tuple[Any, ...]:
            saved = ctx.saved_tensors
            pairs = list(zip(saved[: len(saved) // 2], saved[len(saved) // 2 :]))
            each = iter(first_derivative((v_loss * gradient).to(picture.dtype), picture) for picture, gradient in pairs)
            return None, *(next(each) if is_needed else None for is_needed in ctx.needs_input_grad[1:])

    return Loss


def ssim(
    a: object, b: object, *, padding: str = "same", channels: str = "last", threads: int | None = None
) -> Any:
    """Mean structural similarity of two pictures, -1 to 1, and 1 for equal ones: windows of 11 x 11 pixels, Gaussian with
    a standard deviation of 1.5, and a peak of 1.

    Parameters
    ----------
    a, b : pictures of one shape, [..., H, W, C] with any number of channels and of leading axes: arrays, tensors, a
        `Picture` (over black), or the name of a file. Integers of 8 and 16 bits count as 0 to 1.
    padding : ``"same"`` averages over all pixels, with zeros beyond the edge, as the original trainer of 3DGS does;
        ``"valid"`` over the pixels whose windows lie within the picture, as gsplat's trainer does.
    channels : ``"first"`` for [..., C, H, W].
    threads : number of threads; by default the number of `set_threads`. The result is the same on any number.

    Returns
    -------
    A float; a tensor if one of the pictures is a tensor, in the graph if one of them requires a gradient.

    Raises
    ------
    ValueError : for pictures of different shapes, numbers that are not finite, and ``"valid"`` for pictures below 11 x 11.

    >>> import numpy as np, quadrille
    >>> picture = np.random.default_rng(0).random((32, 48, 3))
    >>> quadrille.ssim(picture, picture)
    1.0
    """
    return _Loss(0.0, 0.0, 1.0, padding, channels, threads).of(a, b)


def l1_ssim(
    a: object,
    b: object,
    weight: float = 0.2,
    *,
    padding: str = "same",
    channels: str = "last",
    threads: int | None = None,
) -> Any:
    """The loss of the trainers of 3DGS: ``(1 - weight) * mean(|a - b|) + weight * (1 - ssim(a, b))``.

    Arguments and result are as of `ssim`. The derivative of ``|a - b|`` is 0 where both are equal, as in torch.

    >>> import numpy as np
    >>> from quadrille.losses import l1_ssim
    >>> l1_ssim(np.full((16, 16, 3), 0.25), np.full((16, 16, 3), 0.5), weight=0)
    0.25
    """
    return _l1_ssim(weight, padding, channels, threads).of(a, b)


def l1_ssim_vjp(
    a: object,
    b: object,
    weight: float = 0.2,
    *,
    padding: str = "same",
    channels: str = "last",
    threads: int | None = None,
) -> tuple[float, Callable[..., dict[str, NDArray[np.float32]]]]:
    """The loss of `l1_ssim` as a float, and the function of its gradients, for arrays of any library: ``vjp(v_loss=1)``
    returns the derivatives by ``a`` and ``b``, given the derivative by the loss, as a dictionary of arrays.

    >>> import numpy as np
    >>> from quadrille.losses import l1_ssim_vjp
    >>> a, b = np.random.default_rng(0).random((2, 32, 32, 3))
    >>> loss, vjp = l1_ssim_vjp(a, b)
    >>> vjp()["a"].shape
    (32, 32, 3)
    """
    value, gradients = _l1_ssim(weight, padding, channels, threads).measured(a, b, (True, True))

    def vjp(v_loss: float = 1.0) -> dict[str, NDArray[np.float32]]:
        return {name: gradient * np.float32(v_loss) for name, gradient in zip("ab", gradients)}

    return value, vjp


def _l1_ssim(weight: float, padding: str, channels: str, threads: int | None) -> _Loss:
    share = float(weight)
    return _Loss(share, 1 - share, -share, padding, channels, threads)
