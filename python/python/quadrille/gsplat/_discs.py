"""The call of gsplat that draws 2D Gaussians, without gradients."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .._arrays import give, one_of, take
from ._drawing import Meta, drawn_arguments, rasterization
from ._gradients import tracked
from ._namespace import namespace
from .utils import depth_to_normal, normalized_quat_to_rotmat

_MODES = ("RGB", "D", "ED", "RGB+D", "RGB+ED")
#: Entries of gsplat's dictionary that are not computed.
_MISSING = ("radii", "means2d", "depths", "ray_transforms", "opacities", "normals", "gradient_2dgs")


class DiscMeta(Meta):
    """Sizes of a picture. Entries of single discs are missing, and say so."""

    def __missing__(self, key: str) -> Any:
        if key in _MISSING:
            raise KeyError(f"{key}: not computed for discs, whose pictures have no gradients")
        return super().__missing__(key)


def rasterization_2dgs(
    means: Any,
    quats: Any,
    scales: Any,
    opacities: Any,
    colors: Any,
    viewmats: Any,
    Ks: Any,
    width: int,
    height: int,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    eps2d: float = 0.3,
    sh_degree: int | None = None,
    packed: bool = False,
    tile_size: int = 16,
    backgrounds: Any = None,
    render_mode: str = "RGB",
    sparse_grad: bool = False,
    absgrad: bool = False,
    distloss: bool = False,
    depth_mode: str = "expected",
    *,
    threads: int | None = None,
) -> tuple[Any, Any, Any, Any, Any, Any, Meta]:
    """Draws discs (2D Gaussians) from C cameras with the pixels of ``gsplat.rasterization_2dgs``, without gradients.

    Arguments are those of gsplat 1.5, and of `rasterization`; the third scale, ``eps2d``, ``packed``, ``absgrad`` and
    ``sparse_grad`` have no effect.

    Returns
    -------
    colors [C, H, W, X] and alphas [C, H, W, 1] as `rasterization`; normals [C, H, W, 3] of the discs in the world, weighted
    as the colours; with ``render_mode`` RGB+D or RGB+ED, normals of the depths, [C, H, W, 3] or for one camera [H, W, 3] as
    gsplat returns them, else None; distortion and median [C, H, W, 1] of the last channel, which is the depth unless
    ``render_mode`` is RGB; and a dictionary with the sizes and the distortion. The distortion is that of Mip-NeRF 360, the
    sum over all pairs of discs of twice the product of their weights and of how much larger the value of the farther one is;
    the median is the value of the last disc with more than half of the light in front of it, 0 without discs. Normals of
    the depths are those of the median if ``depth_mode`` is median.

    Raises
    ------
    ValueError : as `rasterization`, and for ``distloss`` with a ``render_mode`` of RGB, as gsplat asserts.
    NotImplementedError : for tensors that require gradients.

    >>> import numpy as np
    >>> from quadrille.gsplat import rasterization_2dgs
    >>> means, quats = np.array([[0, 0, 2.0]]), np.array([[1.0, 0, 0, 0]])
    >>> K = np.array([[[50.0, 0, 16], [0, 50, 12], [0, 0, 1]]])
    >>> colors, alphas, normals, *_ = rasterization_2dgs(
    ...     means, quats, np.full((1, 3), 0.1), np.ones(1), np.ones((1, 3)), np.eye(4)[None], K, 32, 24
    ... )
    >>> (normals[0, 12, 16] / alphas[0, 12, 16]).round(3)
    array([ 0.,  0., -1.], dtype=float32)
    """
    given = {name: value for name, value in locals().items() if name not in ("distloss", "depth_mode")}
    if tracked(given):
        raise NotImplementedError("rasterization_2dgs: discs have no gradients; detach the tensors")
    one_of("render_mode", render_mode, _MODES)
    one_of("depth_mode", depth_mode, ("expected", "median"))
    if distloss and render_mode == "RGB":
        raise ValueError("distloss: expected a render_mode with depth, found 'RGB'")
    defaults = {name: value.default for name, value in inspect.signature(rasterization).parameters.items()}
    call = defaults | given | {"profile": "gsplat-2dgs", "meta": False}
    channels, alphas, found = drawn_arguments(call | {"spread": True})
    parts = np.split(take(channels, "colors"), [-2, -1], axis=-1)
    pixels, median, distortion = (give(np.ascontiguousarray(part), channels) for part in parts)
    behind = {"backgrounds": None, "sh_degree": None, "render_mode": "RGB"}
    normals, _, _ = drawn_arguments(call | behind | {"colors": _normals(means, quats, viewmats)})
    of_depth = None
    if render_mode in ("RGB+D", "RGB+ED"):
        xp = namespace(pixels)
        poses = give(np.linalg.inv(take(viewmats, "viewmats", None, np.float64)), pixels)
        depths = median if depth_mode == "median" else pixels[..., -1:]
        of_depth = depth_to_normal(depths, xp.asarray(poses, dtype=pixels.dtype), Ks)
        of_depth = of_depth[0] if len(of_depth) == 1 else of_depth
    return pixels, alphas, normals, of_depth, distortion, median, DiscMeta(found, render_distort=distortion)


def _normals(means: Any, quats: Any, viewmats: Any) -> Any:
    """Normals [..., C, N, 3] of the discs in the world, turned towards each camera."""
    centres, turns = (take(array, name, None, np.float64) for array, name in ((means, "means"), (quats, "quats")))
    views = take(viewmats, "viewmats", None, np.float64)
    normals = normalized_quat_to_rotmat(turns / np.linalg.norm(turns, axis=-1, keepdims=True))[..., None, :, :, 2]
    eyes = -np.swapaxes(views[..., :3, :3], -1, -2) @ views[..., :3, 3:]
    away = centres[..., None, :, :] - eyes[..., None, :, 0]
    return np.where((normals * away).sum(-1, keepdims=True) < 0, normals, -normals)
