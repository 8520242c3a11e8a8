"""Rotations, and points and normals of depth pictures, differentiable with torch; and files of splats."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ._namespace import floats, namespace, unit
from .exporter import export_splats

__all__ = ["depth_to_normal", "depth_to_points", "normalized_quat_to_rotmat", "save_ply"]

#: The spherical harmonic of degree 0.
_CONSTANT_HARMONIC = math.sqrt(1 / (4 * math.pi))


def normalized_quat_to_rotmat(quat: Any) -> Any:
    """Rotations [..., 3, 3] of quaternions [..., 4] w, x, y, z of length 1.

    >>> import numpy as np
    >>> from quadrille.gsplat.utils import normalized_quat_to_rotmat
    >>> normalized_quat_to_rotmat(np.array([0.0, 0, 0, 1])).tolist()
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    xp = namespace(quat)
    quat = floats(xp, quat, "quat", (*np.shape(quat)[:-1], 4))
    w, x, y, z = (quat[..., part] for part in range(4))
    xx, yy, zz = 2 * x * x, 2 * y * y, 2 * z * z
    rows = [
        xp.stack([1 - yy - zz, 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
        xp.stack([2 * (x * y + w * z), 1 - xx - zz, 2 * (y * z - w * x)], -1),
        xp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - xx - yy], -1),
    ]
    return xp.stack(rows, -2)


def depth_to_points(depths: Any, camtoworlds: Any, Ks: Any, z_depth: bool = True) -> Any:
    """Points [..., H, W, 3] in the world of depths [..., H, W, 1] at the centres of pixels.

    Parameters
    ----------
    depths : z in camera space or, without ``z_depth``, distances along the rays.
    camtoworlds, Ks : [..., 4, 4] and [..., 3, 3] in pixels.
    """
    xp = namespace(depths, camtoworlds, Ks)
    batch = np.shape(depths)[:-3]
    depths = floats(xp, depths, "depths", (*batch, "H", "W", 1))
    poses = floats(xp, camtoworlds, "camtoworlds", (*batch, 4, 4), depths)
    lenses = floats(xp, Ks, "Ks", (*batch, 3, 3), depths)[..., None, None, :, :]
    ones = xp.ones_like(depths[..., 0])
    columns, rows = ones.cumsum(-1) - 0.5, ones.cumsum(-2) - 0.5
    x = (columns - lenses[..., 0, 2]) / lenses[..., 0, 0]
    y = (rows - lenses[..., 1, 2]) / lenses[..., 1, 1]
    rotations = poses[..., None, None, :3, :3]
    rays = (rotations @ xp.stack([x, y, ones], -1)[..., None])[..., 0]
    if not z_depth:
        rays = unit(xp, rays)
    return poses[..., None, None, :3, 3] + depths * rays


def depth_to_normal(depths: Any, camtoworlds: Any, Ks: Any, z_depth: bool = True) -> Any:
    """Normals [..., H, W, 3] in the world of depths [..., H, W, 1], by central differences; 0 in the outermost pixels.

    Arguments are those of `depth_to_points`.
    """
    points = depth_to_points(depths, camtoworlds, Ks, z_depth)
    xp = namespace(points)
    right = points[..., 1:-1, 2:, :] - points[..., 1:-1, :-2, :]
    down = points[..., 2:, 1:-1, :] - points[..., :-2, 1:-1, :]
    turned = [down[..., (axis + 1) % 3] * right[..., (axis + 2) % 3] for axis in range(3)]
    against = [down[..., (axis + 2) % 3] * right[..., (axis + 1) % 3] for axis in range(3)]
    inner = unit(xp, xp.stack(turned, -1) - xp.stack(against, -1))
    found = xp.zeros_like(points)
    found[..., 1:-1, 1:-1, :] = inner
    return found


def save_ply(splats: Any, dir: str | os.PathLike[str], colors: Any = None) -> None:
    """Writes the raw splats of a trainer to a PLY file, as `export_splats`.

    Parameters
    ----------
    splats : arrays by name: means, scales, quats, opacities, sh0 and shN.
    dir : file to write.
    colors : [N, 3], 0 to 1, which take the place of sh0 and shN.
    """
    sh0, shN = splats["sh0"], splats["shN"]
    if colors is not None:
        sh0, shN = (colors[:, None] - 0.5) / _CONSTANT_HARMONIC, shN[:, :0]
    geometry = {name: splats[name] for name in ("means", "scales", "quats", "opacities")}
    export_splats(**geometry, sh0=sh0, shN=shN, save_to=dir)
