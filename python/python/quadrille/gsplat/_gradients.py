"""Gradients of rasterization: as a function for any arrays, and in the graph of torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _quadrille
from .._arrays import take

#: Arguments of `rasterization` with gradients.
NAMES = ("means", "quats", "scales", "opacities", "colors", "viewmats", "backgrounds")

#: Arguments of `_quadrille.rasterize`.
Call = tuple[Any, ...]


def plane_gradients(call: Call, v_colors: object, v_alphas: object) -> _quadrille.PlaneGradients:
    """Derivatives of a loss in the picture planes of a call, given those by its colours and alphas."""
    geometry, colors, cameras, backgrounds, drawing = call
    cotangents = take(v_colors, "v_colors"), take(v_alphas, "v_alphas")
    return _quadrille.raster_gradients(geometry, colors, cameras, backgrounds, drawing, cotangents)


def input_gradients(
    call: Call, plane: _quadrille.PlaneGradients, v_means2d: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Derivatives of a loss by the arguments of a call, in their shapes; `backgrounds` is [C, D]."""
    (means, quats, scales, opacities), colors, (views, _), backgrounds, _ = call
    arrays = (means, quats, scales, opacities, colors, views, backgrounds)
    shapes = {name: None if array is None else array.shape for name, array in zip(NAMES, arrays)}
    found = plane.project(np.ascontiguousarray(v_means2d, np.float64))
    return {name: array.reshape(shapes[name]) for name, array in found if shapes[name] is not None}


def vjp_of(call: Call) -> Callable[..., dict[str, NDArray[np.float64]]]:
    """The function that `rasterization_vjp` returns."""

    def vjp(v_colors: object, v_alphas: object, v_means2d: object = None) -> dict[str, NDArray[np.float64]]:
        plane = plane_gradients(call, v_colors, v_alphas)
        by_means2d, absolute = plane.means2d()
        total = by_means2d if v_means2d is None else by_means2d + take(v_means2d, "v_means2d", dtype=np.float64)
        return input_gradients(call, plane, total) | {"means2d": by_means2d, "means2d_abs": absolute}

    return vjp


def tracked(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tensors of torch among `NAMES` if gradients are recorded and one of them requires a gradient."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return None
    tensors = {name: values[name] for name in NAMES}
    needs = any(isinstance(value, torch.Tensor) and value.requires_grad for value in tensors.values())
    return tensors if needs else None


def detached(value: Any) -> Any:
    """``value`` without its graph."""
    return value.detach() if hasattr(value, "detach") else value


def attach(
    tensors: dict[str, Any],
    pixels: Any,
    alphas: Any,
    meta: dict[str, Any],
    call: Call,
    absgrad: bool,
    shift: Any = None,
) -> tuple[Any, Any]:
    """Colours and alphas in the graph of `tensors`; ``meta["means2d"]`` becomes a part of it. ``shift`` is a tensor of
    zeros that is added to these centres, for its gradient.

    Two functions of the graph share a call: the first gives the centres in the picture planes, the second takes them
    and gives the pictures. So losses may use the centres too, and ``retain_grad`` keeps their gradients.
    """
    torch: Any = sys.modules["torch"]
    shared: dict[str, _quadrille.PlaneGradients] = {}
    pairs = None
    if meta.get("camera_ids") is not None:
        pairs = (np.asarray(meta["camera_ids"]), np.asarray(meta["gaussian_ids"]))
    of_call = {name: value for name, value in tensors.items() if isinstance(value, torch.Tensor)}

    def tensor_of(array: NDArray[np.float64], like: Any) -> Any:
        # A background [D] of all cameras takes the sum of theirs.
        while array.ndim > like.dim():
            array = array.sum(axis=0)
        return torch.from_numpy(array).to(like.dtype)

    class Project(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, means2d: Any, *inputs: Any) -> tuple[Any, Any]:
            # Saved, so that torch refuses a backward pass after a change in place.
            ctx.save_for_backward(*inputs)
            return means2d.clone(), torch.zeros((), dtype=torch.float32)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, v_means2d: Any, v_link: Any) -> tuple[Any, ...]:
            _ = ctx.saved_tensors
            plane = shared.pop("plane", None)
            if plane is None:
                plane = plane_gradients(call, np.zeros(pixels.shape, np.float32), np.zeros(alphas.shape, np.float32))
            total = v_means2d.detach().double().numpy()
            if pairs is not None:
                every = np.zeros(plane.means2d()[0].shape)
                every[pairs] = total
                total = every
            found = input_gradients(call, plane, total)
            # Colours that a picture of depth alone does not use have none.
            given = ((found.get(name), value) for name, value in of_call.items())
            grads = tuple(
                tensor_of(array, value) if array is not None and value.requires_grad else None for array, value in given
            )
            return (None, *grads)

    class Rasterize(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, means2d: Any, link: Any) -> tuple[Any, Any]:
            ctx.save_for_backward(means2d)
            return pixels.clone(), alphas.clone()

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, v_pixels: Any, v_alphas: Any) -> tuple[Any, Any]:
            plane = plane_gradients(call, v_pixels.detach(), v_alphas.detach())
            shared["plane"] = plane
            arrays = [array if pairs is None else array[pairs] for array in plane.means2d()]
            (means2d,) = ctx.saved_tensors
            by_means2d, absolute = (torch.from_numpy(array).to(means2d.dtype) for array in arrays)
            if absgrad:
                means2d.absgrad = absolute
            return by_means2d, torch.zeros(())

    means2d, link = Project.apply(meta["means2d"], *of_call.values())
    meta["means2d"] = means2d
    results: tuple[Any, Any] = Rasterize.apply(means2d if shift is None else means2d + shift, link)
    return results
