"""Projection of splats to picture planes (elliptical weighted averages), differentiable with torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import one_of
from ._namespace import TRIANGLE, detached, floats, namespace, unit
from .utils import normalized_quat_to_rotmat

_MODELS = ("pinhole", "ortho", "fisheye")
#: Models of cameras that gsplat has and Quadrille does not draw as gsplat does.
_OTHER_MODELS = ("ftheta", "lidar")
#: Slopes are limited to the picture and this part of half of its extent beyond each border (gsplat 1.5, Utils.cuh).
_SLOPE_MARGIN = 0.3
#: Added to distances from the axis of a fisheye (gsplat 1.5, Projection.cuh).
_ACROSS = 1e-7
#: Standard deviations that a splat covers at most (gsplat 1.5, ProjectionEWA3DGSFused.cu).
_EXTENT = 3.33
#: Alpha below which a splat is not drawn (3DGS, and gsplat 1.5, Common.h).
_ALPHA_CUT = 1 / 255


def check_model(camera_model: str) -> None:
    """Raises an error unless cameras of this model are drawn."""
    if camera_model in _OTHER_MODELS:
        raise NotImplementedError(
            f"camera_model: {camera_model!r} is not projected as gsplat does; undistort the pictures first"
        )
    one_of("camera_model", camera_model, _MODELS)


def quat_scale_to_covar_preci(
    quats: Any, scales: Any, compute_covar: bool = True, compute_preci: bool = True, triu: bool = False
) -> tuple[Any, Any]:
    """Covariances R S² Rᵀ and their inverses, each [..., 3, 3], or [..., 6] with ``triu``; None if not asked for.

    Parameters
    ----------
    quats, scales : [..., 4] w, x, y, z of any length, and [..., 3].
    triu : whether to return upper triangles by rows.
    """
    xp = namespace(quats, scales)
    batch = np.shape(quats)[:-1]
    quats = floats(xp, quats, "quats", (*batch, 4))
    scales = floats(xp, scales, "scales", (*batch, 3), quats)
    rotations = normalized_quat_to_rotmat(unit(xp, quats))

    def squared(factors: Any) -> Any:
        half = rotations * factors[..., None, :]
        whole = half @ half.swapaxes(-1, -2)
        return whole.reshape((*batch, 9))[..., TRIANGLE] if triu else whole

    return squared(scales) if compute_covar else None, squared(1 / scales) if compute_preci else None


def world_to_cam(means: Any, covars: Any, viewmats: Any) -> tuple[Any, Any]:
    """Means [..., C, N, 3] and covariances [..., C, N, 3, 3] in the space of each camera.

    Parameters
    ----------
    means, covars : [..., N, 3] and [..., N, 3, 3] in the world.
    viewmats : [..., C, 4, 4].
    """
    xp = namespace(means, covars, viewmats)
    *batch, count, _ = np.shape(means)
    means = floats(xp, means, "means", (*batch, count, 3))
    covars = floats(xp, covars, "covars", (*batch, count, 3, 3), means)
    viewmats = floats(xp, viewmats, "viewmats", (*batch, "C", 4, 4), means)
    rotations = viewmats[..., None, :3, :3]
    centres = (rotations @ means[..., None, :, :, None])[..., 0] + viewmats[..., None, :3, 3]
    return centres, rotations @ covars[..., None, :, :, :] @ rotations.swapaxes(-1, -2)


def proj(
    means: Any, covars: Any, Ks: Any, width: int, height: int, camera_model: str = "pinhole"
) -> tuple[Any, Any]:
    """Means [..., C, N, 2] in pixels and covariances [..., C, N, 2, 2] on the picture planes, linearised at the means.

    Parameters
    ----------
    means, covars : [..., C, N, 3] and [..., C, N, 3, 3] in the space of each camera.
    Ks : [..., C, 3, 3] in pixels; skew is ignored.
    camera_model : ``"pinhole"``, ``"ortho"`` or ``"fisheye"``, whose distance from the principal point is the angle from the
        axis.
    """
    check_model(camera_model)
    xp = namespace(means, covars, Ks)
    *batch, count, _ = np.shape(means)
    means = floats(xp, means, "means", (*batch, count, 3))
    covars = floats(xp, covars, "covars", (*batch, count, 3, 3), means)
    lenses = floats(xp, Ks, "Ks", (*batch, 3, 3), means)[..., None, :, :]
    if camera_model == "fisheye":
        return _fisheye(xp, means, covars, lenses)
    x, y, z = (means[..., axis] for axis in range(3))
    none = xp.zeros_like(z)
    centres, rows = [], []
    for axis, (position, size) in enumerate(((x, width), (y, height))):
        focal, principal = lenses[..., axis, axis], lenses[..., axis, 2]
        row = [none, none, none]
        if camera_model == "ortho":
            centres.append(focal * position + principal)
            row[axis] = focal + none
        else:
            slope, margin = position / z, _SLOPE_MARGIN * 0.5 * size / focal
            centres.append(focal * slope + principal)
            limited = xp.clip(slope, -principal / focal - margin, (size - principal) / focal + margin)
            row[axis], row[2] = focal / z, -focal * limited / z
        rows.append(xp.stack(row, -1))
    jacobians = xp.stack(rows, -2)
    return xp.stack(centres, -1), jacobians @ covars @ jacobians.swapaxes(-1, -2)


def _fisheye(xp: Any, means: Any, covars: Any, lenses: Any) -> tuple[Any, Any]:
    """As `proj`, of fisheyes, with the small number where gsplat adds it."""
    x, y, z = (means[..., axis] for axis in range(3))
    square = x * x + y * y
    is_off = square > 0
    # A root of 1 on the axis keeps gradients finite.
    across = xp.where(is_off, xp.sqrt(xp.where(is_off, square, xp.ones_like(z))), xp.zeros_like(z)) + _ACROSS
    x2, y2, xy = x * x + _ACROSS, y * y, x * y
    inverse = 1 / (x2 + y2 + z * z)
    along = z * inverse / (x2 + y2)
    around = xp.arctan2(across, z) / across / (x2 + y2)
    ratio = xp.arctan2(across, z + _ACROSS) / across
    focals = [lenses[..., axis, axis] for axis in (0, 1)]
    centres = [f * p * ratio + lenses[..., axis, 2] for axis, (f, p) in enumerate(zip(focals, (x, y)))]
    rows = [
        [x2 * along + y2 * around, xy * (along - around), -x * inverse],
        [xy * (along - around), y2 * along + x2 * around, -y * inverse],
    ]
    jacobians = xp.stack([xp.stack([f * part for part in row], -1) for f, row in zip(focals, rows)], -2)
    return xp.stack(centres, -1), jacobians @ covars @ jacobians.swapaxes(-1, -2)


def fully_fused_projection(
    means: Any,
    covars: Any,
    quats: Any,
    scales: Any,
    viewmats: Any,
    Ks: Any,
    width: int,
    height: int,
    eps2d: float = 0.3,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    packed: bool = False,
    sparse_grad: bool = False,
    calc_compensations: bool = False,
    camera_model: str = "pinhole",
    opacities: Any = None,
) -> tuple[Any, ...]:
    """Splats on the picture planes of C cameras, as ``gsplat.fully_fused_projection``.

    Parameters
    ----------
    means : [..., N, 3].
    covars : [..., N, 6], upper triangles by rows; or None, to take them from ``quats`` and ``scales``.
    quats, scales : [..., N, 4] w, x, y, z of any length, and [..., N, 3].
    viewmats, Ks : [..., C, 4, 4] and [..., C, 3, 3].
    eps2d : square pixels added to the variances.
    calc_compensations : whether to return factors of opacity that keep the light of small splats.
    camera_model : ``"pinhole"``, ``"ortho"`` or ``"fisheye"``.
    opacities : [..., N], which bound the radii.

    Returns
    -------
    radii [..., C, N, 2] i32, means2d [..., C, N, 2], depths [..., C, N], conics [..., C, N, 3] and compensations
    [..., C, N] or None. Splats that are not drawn have radii 0, and zeros without gradients elsewhere. ``packed``
    leaves them out: the result is batch_ids, camera_ids and gaussian_ids i64 [n], then these arrays with one axis in
    place of the axes before.
    """
    if sparse_grad:
        raise NotImplementedError("sparse_grad: gradients are dense; leave it out")
    xp = namespace(means, covars, quats, scales, viewmats, Ks)
    *batch, count, _ = np.shape(means)
    means = floats(xp, means, "means", (*batch, count, 3))
    if covars is not None:
        triangles = floats(xp, covars, "covars", (*batch, count, 6), means)
        covariances = triangles[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape((*batch, count, 3, 3))
    elif quats is None or scales is None:
        raise ValueError("covars: expected an array, or quats and scales in its place; found None")
    else:
        quats = floats(xp, quats, "quats", (*batch, count, 4), means)
        covariances, _ = quat_scale_to_covar_preci(quats, scales, compute_preci=False)
    centres, turned = world_to_cam(means, covariances, viewmats)
    depths = centres[..., 2]
    is_drawn = (depths > near_plane) & (depths <= far_plane)
    # Splats out of range are projected as if they were in front of the camera: no division by 0, nor in a gradient.
    in_front = xp.zeros_like(centres)
    in_front[..., 2] = 1
    centres = xp.where(is_drawn[..., None], centres, in_front)
    means2d, planar = proj(centres, turned, Ks, width, height, camera_model)

    xx, xy, yy = planar[..., 0, 0], planar[..., 0, 1], planar[..., 1, 1]
    sharp = xx * yy - xy * xy
    xx, yy = xx + eps2d, yy + eps2d
    determinants = xx * yy - xy * xy
    is_drawn = is_drawn & (determinants > 0)
    one, zero = xp.ones_like(depths), xp.zeros_like(depths)
    determinants = xp.where(is_drawn, determinants, one)
    conics = xp.stack([yy / determinants, -xy / determinants, xx / determinants], -1)
    compensations = None
    if calc_compensations:
        ratios = sharp / determinants
        is_positive = ratios > 0
        compensations = xp.where(is_positive, xp.sqrt(xp.where(is_positive, ratios, one)), zero)

    extents = _EXTENT * one
    if opacities is not None:
        strengths = floats(xp, opacities, "opacities", (*batch, count), means)[..., None, :]
        if compensations is not None:
            strengths = strengths * compensations
        is_drawn = is_drawn & (strengths >= _ALPHA_CUT)
        # A cut of 1 where nothing is drawn keeps the root real.
        bounds = xp.sqrt(2 * xp.log(xp.where(is_drawn, strengths / _ALPHA_CUT, one)))
        extents = xp.where(bounds < extents, bounds, extents)
    variances = xp.where(is_drawn[..., None], xp.stack([xx, yy], -1), xp.ones_like(means2d))
    radii = xp.ceil(extents[..., None] * xp.sqrt(variances))
    is_inside = (means2d[..., 0] + radii[..., 0] > 0) & (means2d[..., 0] - radii[..., 0] < width)
    is_inside &= (means2d[..., 1] + radii[..., 1] > 0) & (means2d[..., 1] - radii[..., 1] < height)
    is_drawn = is_drawn & is_inside & (radii > radius_clip).any(-1)

    if packed:
        rows = xp.where(is_drawn.reshape((-1, *is_drawn.shape[-2:])))

        def drawn(values: Any) -> Any:
            return values.reshape((-1, *values.shape[len(batch) :]))[rows]

        ids = rows
    else:

        def drawn(values: Any) -> Any:
            mask = is_drawn.reshape((*is_drawn.shape, *[1] * (values.ndim - is_drawn.ndim)))
            return xp.where(mask, values, xp.zeros_like(values))

        ids = ()
    radii = drawn(detached(radii))
    found = (drawn(means2d), drawn(depths), drawn(conics), None if compensations is None else drawn(compensations))
    return (*ids, xp.asarray(radii, dtype=xp.int32), *found)
