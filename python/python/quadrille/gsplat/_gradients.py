"""Gradients of rasterization: as a function for any arrays, and in the graph of torch."""

from __future__ import annotations

import functools
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


class _Pass:
    """State that the two functions of a call share. It holds no tensor of the graph, so that nothing waits for the
    collector of cycles."""

    def __init__(self, call: Call, names: list[str], meta: dict[str, Any], pictures: tuple[Any, Any], absgrad: bool) -> None:
        self.call, self.names, self.absgrad = call, names, absgrad
        self.pictures: tuple[Any, Any] | None = pictures
        self.shapes = [picture.shape for picture in pictures]
        self.plane: _quadrille.PlaneGradients | None = None
        ids = meta.get("camera_ids"), meta.get("gaussian_ids")
        #: Cameras and splats of the rows of packed centres.
        self.pairs = None if ids[0] is None else tuple(np.asarray(part) for part in ids)

    def rows(self, by_centre: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers [C, N, 2] in the layout of the call's centres."""
        return by_centre if self.pairs is None else by_centre[self.pairs]

    def by_input(self, v_means2d: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Derivatives by the arguments, after `Rasterize`, or without it if the loss uses the centres alone."""
        plane, self.plane = self.plane, None
        if plane is None:
            plane = plane_gradients(self.call, *(np.zeros(shape, np.float32) for shape in self.shapes))
        total = v_means2d
        if self.pairs is not None:
            (means, *_), _, (views, _), *_ = self.call
            total = np.zeros((len(views), len(means), 2))
            total[self.pairs] = v_means2d
        return input_gradients(self.call, plane, total)


@functools.cache
def _functions() -> tuple[Any, Any]:
    """The two functions of the graph: the first gives the centres in the picture planes, the second takes them and gives
    the pictures. So losses may use the centres too, and ``retain_grad`` keeps their gradients."""
    torch: Any = sys.modules["torch"]

    def tensor_of(array: NDArray[np.float64], like: Any) -> Any:
        # A background [D] of all cameras takes the sum of theirs.
        while array.ndim > like.dim():
            array = array.sum(axis=0)
        return torch.from_numpy(array).to(like.dtype)

    class Project(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, shared: _Pass, means2d: Any, *inputs: Any) -> tuple[Any, Any]:
            ctx.shared = shared
            # Saved, so that torch refuses a backward pass after a change in place.
            ctx.save_for_backward(*inputs)
            return means2d.clone(), torch.zeros(())

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, v_means2d: Any, v_link: Any) -> tuple[Any, ...]:
            inputs = dict(zip(ctx.shared.names, ctx.saved_tensors))
            found = ctx.shared.by_input(v_means2d.double().numpy())
            # Colours that a picture of depth alone does not use have none.
            is_given = {name: value.requires_grad and name in found for name, value in inputs.items()}
            grads = (tensor_of(found[name], value) if is_given[name] else None for name, value in inputs.items())
            return (None, None, *grads)

    class Rasterize(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, shared: _Pass, means2d: Any, link: Any) -> Any:
            ctx.shared = shared
            ctx.save_for_backward(means2d)
            pictures, shared.pictures = shared.pictures, None
            return pictures

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, v_pixels: Any, v_alphas: Any) -> tuple[Any, ...]:
            shared = ctx.shared
            shared.plane = plane_gradients(shared.call, v_pixels, v_alphas)
            (means2d,) = ctx.saved_tensors
            arrays = (shared.rows(array) for array in shared.plane.means2d())
            by_means2d, absolute = (torch.from_numpy(array).to(means2d.dtype) for array in arrays)
            if shared.absgrad:
                means2d.absgrad = absolute
            return None, by_means2d, torch.zeros(())

    return Project, Rasterize


def attach(
    tensors: dict[str, Any],
    pictures: tuple[Any, Any],
    meta: dict[str, Any],
    call: Call,
    absgrad: bool = False,
    shift: Any = None,
) -> tuple[Any, Any]:
    """Colours and alphas in the graph of `tensors`; ``meta["means2d"]`` becomes a part of it. ``shift`` is a tensor of
    zeros that is added to these centres, for its gradient.
    """
    torch: Any = sys.modules["torch"]
    project, rasterize = _functions()
    given = {name: value for name, value in tensors.items() if isinstance(value, torch.Tensor)}
    shared = _Pass(call, list(given), meta, pictures, absgrad)
    means2d, link = project.apply(shared, meta["means2d"], *given.values())
    meta["means2d"] = means2d
    results: tuple[Any, Any] = rasterize.apply(shared, means2d if shift is None else means2d + shift, link)
    return results
