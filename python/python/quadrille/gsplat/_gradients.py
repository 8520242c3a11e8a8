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
from ._namespace import detached, first_derivative

#: Arguments of `rasterization` with gradients.
NAMES = ("means", "quats", "scales", "opacities", "colors", "viewmats", "backgrounds", "covars")

#: The first argument of `_quadrille.rasterize`: all that a picture depends on.
Call = tuple[Any, ...]
#: Colours, alphas, arrays of `meta`, and number of rows that are left out.
Drawn = tuple[NDArray[np.float32], NDArray[np.float32], list[tuple[str, NDArray[Any]]], int]


class SavedCall:
    """Arguments of a native call, and its pictures until they are released."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self._pictures: _quadrille.SavedPictures | None = None

    def draw(self) -> Drawn:
        """Draws and saves the pictures."""
        pixels, alphas, meta, invalid, self._pictures = _quadrille.rasterize(self.call, True)
        return pixels, alphas, meta, invalid

    @property
    def pictures(self) -> _quadrille.SavedPictures:
        """The saved pictures, drawn again if they have been released."""
        if self._pictures is None:
            self.draw()
        assert self._pictures is not None
        return self._pictures

    def release(self) -> None:
        """Gives the memory of the pictures to the next call."""
        self._pictures = None

    @property
    def splats(self) -> int:
        """Number of splats."""
        return len(self.call[0][0])

    def plane_gradients(self, v_colors: object, v_alphas: object, absolute: bool) -> _quadrille.PlaneGradients:
        """Derivatives of a loss in the picture planes, given those by colours and alphas."""
        cotangents = take(v_colors, "v_colors"), take(v_alphas, "v_alphas")
        return self.pictures.raster_gradients(self.call, cotangents, absolute)

    def input_gradients(
        self, plane: _quadrille.PlaneGradients, v_means2d: NDArray[Any], names: list[str]
    ) -> dict[str, NDArray[Any]]:
        """Derivatives of a loss by the arguments ``names``, in their shapes; `backgrounds` is [C, D], `covars` [N, 6]."""
        (means, quats, scales, opacities), colors, (views, _), backgrounds, _ = self.call
        arrays = (means, quats, scales, opacities, colors, views, backgrounds)
        shapes = {name: array.shape for name, array in zip(NAMES, arrays) if array is not None}
        shapes["covars"] = (self.splats, 6)
        wanted = [name for name in names if name in shapes]
        centres = take(v_means2d, "v_means2d")
        found = self.pictures.project_gradients(self.call, plane, centres, wanted)
        return {name: array.reshape(shapes[name]) for name, array in found}


def vjp_of(saved: SavedCall, names: list[str]) -> Callable[..., dict[str, NDArray[Any]]]:
    """The function that `rasterization_vjp` returns, for one batch."""

    def vjp(v_colors: object, v_alphas: object, v_means2d: object = None) -> dict[str, NDArray[Any]]:
        plane = saved.plane_gradients(v_colors, v_alphas, True)
        by_means2d, absolute = plane.means2d(saved.splats)
        total = by_means2d if v_means2d is None else by_means2d + take(v_means2d, "v_means2d", by_means2d.shape)
        return saved.input_gradients(plane, total, names) | {"means2d": by_means2d, "means2d_abs": absolute}

    return vjp


def tracked(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tensors of torch among `NAMES` if gradients are recorded and one of them requires a gradient."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return None
    tensors = {name: values.get(name) for name in NAMES}
    needs = any(isinstance(value, torch.Tensor) and value.requires_grad for value in tensors.values())
    return tensors if needs else None


class _Pass:
    """State that the two functions of a call share. It holds no tensor of the graph, so that nothing waits for the
    collector of cycles."""

    def __init__(self, saved: SavedCall, names: list[str], pictures: tuple[Any, Any], absgrad: bool, packed: bool) -> None:
        self.saved, self.names, self.absgrad, self.packed = saved, names, absgrad, packed
        self.pictures: tuple[Any, Any] | None = pictures
        self.shapes = [picture.shape for picture in pictures]
        self.plane: _quadrille.PlaneGradients | None = None

    def by_centre(self, v_pixels: Any, v_alphas: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Derivatives by the centres in the layout of the call, and the sums of their absolute values."""
        self.plane = self.saved.plane_gradients(v_pixels, v_alphas, self.absgrad)
        return self.plane.means2d(None if self.packed else self.saved.splats)

    def by_input(self, v_means2d: NDArray[Any], names: list[str]) -> dict[str, NDArray[Any]]:
        """Derivatives by the arguments, after `by_centre`, or without it if the loss uses the centres alone."""
        plane, self.plane = self.plane, None
        if plane is None:
            v_pixels, v_alphas = (np.zeros(shape, np.float32) for shape in self.shapes)
            plane = self.saved.plane_gradients(v_pixels, v_alphas, False)
        found = self.saved.input_gradients(plane, v_means2d, names)
        # A second pass through a retained graph draws again; usually there is none, and the next picture needs the memory.
        self.saved.release()
        return found


@functools.cache
def _functions() -> tuple[Any, Any]:
    """The two functions of the graph: the first gives the centres in the picture planes, the second takes them and gives
    the pictures. So losses may use the centres too, and ``retain_grad`` keeps their gradients."""
    torch: Any = sys.modules["torch"]

    def tensor_of(array: NDArray[Any], like: Any) -> Any:
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
        def backward(ctx: Any, v_means2d: Any, v_link: Any) -> tuple[Any, ...]:
            inputs = dict(zip(ctx.shared.names, ctx.saved_tensors))
            needed = [name for name, is_needed in zip(inputs, ctx.needs_input_grad[2:]) if is_needed]
            found = ctx.shared.by_input(detached(v_means2d).numpy(), needed)
            # Colours that a picture of depth alone does not use have none.
            grads = (
                first_derivative(tensor_of(found[name], value), value) if name in found else None
                for name, value in inputs.items()
            )
            return (None, None, *grads)

    class Rasterize(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, shared: _Pass, means2d: Any, link: Any) -> Any:
            ctx.shared = shared
            ctx.save_for_backward(means2d)
            pictures, shared.pictures = shared.pictures, None
            return pictures

        @staticmethod
        def backward(ctx: Any, v_pixels: Any, v_alphas: Any) -> tuple[Any, ...]:
            shared = ctx.shared
            (means2d,) = ctx.saved_tensors
            found = shared.by_centre(detached(v_pixels), detached(v_alphas))
            by_means2d, absolute = (torch.from_numpy(array) for array in found)
            if shared.absgrad:
                means2d.absgrad = absolute.reshape(means2d.shape).to(means2d.dtype)
            by_means2d = by_means2d.reshape(means2d.shape).to(means2d.dtype)
            return None, first_derivative(by_means2d, means2d), torch.zeros(())

    return Project, Rasterize


def attach(
    tensors: dict[str, Any],
    pictures: tuple[Any, Any],
    meta: dict[str, Any],
    saved: SavedCall,
    absgrad: bool = False,
    shift: Any = None,
) -> tuple[Any, Any]:
    """Colours and alphas in the graph of `tensors`; ``meta["means2d"]`` becomes a part of it. ``shift`` is a tensor of
    zeros that is added to these centres, for its gradient.
    """
    torch: Any = sys.modules["torch"]
    project, rasterize = _functions()
    given = {name: value for name, value in tensors.items() if isinstance(value, torch.Tensor)}
    shared = _Pass(saved, list(given), pictures, absgrad, bool(saved.call[-1]["packed"]))
    means2d, link = project.apply(shared, meta["means2d"], *given.values())
    meta["means2d"] = means2d
    results: tuple[Any, Any] = rasterize.apply(shared, means2d if shift is None else means2d + shift, link)
    return results
