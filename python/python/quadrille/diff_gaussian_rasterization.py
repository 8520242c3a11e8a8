"""The calls of diff-gaussian-rasterization on a CPU, with torch: the rasteriser of the original trainer.

Change the import: ``from quadrille.diff_gaussian_rasterization import GaussianRasterizationSettings,
GaussianRasterizer``. Pictures are those of the profile ``inria``, or ``inria-aa`` if ``antialiasing`` is set; results are
tensors in the graph of torch.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from . import _quadrille
from ._arrays import check_finite, take
from ._camera import checked_size
from .gsplat._gradients import Call, SavedCall, attach, tracked
from .gsplat._namespace import detached
from .gsplat.cuda._wrapper import spherical_harmonics

__all__ = ["GaussianRasterizationSettings", "GaussianRasterizer"]

#: Splats at or in front of this depth are not drawn.
_NEAR = 0.2
#: Square pixels added to the covariance.
_LOW_PASS = 0.3
#: Least square of half the difference of the variances along the axes, in the radius of the original.
_LEAST_SPREAD = 0.1
#: Relative deviation of the focal length of `projmatrix` from the fields of view, above which the two do not agree.
_FOCAL = 1e-3


#: Fields that only forks of the rasteriser have.
_FORKS = ("projmatrix_raw", "kernel_size", "subpixel_offset", "f_count")


class _Settings(NamedTuple):
    """Fields of the settings."""

    image_height: int
    image_width: int
    tanfovx: float
    tanfovy: float
    bg: Any
    scale_modifier: float
    viewmatrix: Any
    projmatrix: Any
    sh_degree: int
    campos: Any
    prefiltered: bool
    debug: bool
    antialiasing: bool | None = None


class GaussianRasterizationSettings(_Settings):
    """Camera and background of a picture, with the fields of the releases.

    ``viewmatrix`` and ``projmatrix`` are [4, 4] for row vectors, as the original trainer transposes them. ``antialiasing``
    is a field of the newer releases, whose rasteriser also returns inverse depths: None stands for the older ones.
    ``campos``, ``prefiltered`` and ``debug`` are not read: the centre follows from ``viewmatrix``.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> GaussianRasterizationSettings:
        for name in _FORKS:
            if name in kwargs:
                raise NotImplementedError(f"{name}: this field of a fork is not read; leave it out")
        return super().__new__(cls, *args, **kwargs)


def _torch() -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        raise RuntimeError("diff_gaussian_rasterization: tensors of torch are needed; import torch")
    return torch


class GaussianRasterizer:
    """Draws pictures with the settings of one camera.

    Parameters
    ----------
    raster_settings : camera and background.
    version : ``"2023"`` returns colour and radii, ``"2024"`` also inverse depths; by default as the settings have
        ``antialiasing``.
    """

    def __init__(self, raster_settings: GaussianRasterizationSettings, version: str | None = None) -> None:
        if version not in (None, "2023", "2024"):
            raise ValueError(f"version: expected '2023' or '2024', found {version!r}")
        self.raster_settings = raster_settings
        self.version = version or ("2023" if raster_settings.antialiasing is None else "2024")

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return self.forward(*args, **kwargs)

    def markVisible(self, positions: Any) -> Any:
        """Whether each of the positions [N, 3] is behind the near plane, as a tensor of bool [N]."""
        torch = _torch()
        with torch.no_grad():
            view = torch.as_tensor(self.raster_settings.viewmatrix).to(positions.dtype)
            return positions @ view[:3, 2] + view[3, 2] > _NEAR

    def forward(
        self,
        means3D: Any,
        means2D: Any,
        opacities: Any,
        shs: Any = None,
        colors_precomp: Any = None,
        scales: Any = None,
        rotations: Any = None,
        cov3D_precomp: Any = None,
    ) -> tuple[Any, ...]:
        """Draws splats: means3D [N, 3], opacities [N, 1] or [N], shs [N, K, 3] or colors_precomp [N, 3], scales [N, 3],
        rotations [N, 4] w, x, y, z; or cov3D_precomp [N, 6], upper triangles by rows, in place of scales and rotations.

        The values of means2D [N, 3] are not read; its gradient is that of the centres in normalised device coordinates.
        Returns colour [3, H, W] and radii [N], whole pixels of three standard deviations, 0 where nothing is drawn; then,
        by ``version``, inverse depths [1, H, W], the sum of weight by depth.

        Raises
        ------
        ValueError : for arrays of wrong shape, both or none of two alternatives, and matrices that do not agree.
        """
        torch, settings = _torch(), self.raster_settings
        if (shs is None) == (colors_precomp is None):
            raise ValueError("shs, colors_precomp: expected one of them")
        axes = (scales, rotations)
        if any(part is None for part in axes) if cov3D_precomp is None else any(part is not None for part in axes):
            raise ValueError("scales, rotations, cov3D_precomp: expected the first two, or the last")
        has_depth = self.version == "2024"
        shape = (scales, rotations) if cov3D_precomp is None else (cov3D_precomp,)
        call, tensors = self._call(torch, means3D, opacities.reshape(-1), shs, colors_precomp, shape)
        needs = means2D is not None and means2D.requires_grad or tracked(tensors) is not None
        is_tracked = torch.is_grad_enabled() and needs
        saved = SavedCall(call)
        pixels, alphas, arrays, invalid = saved.draw() if is_tracked else _quadrille.rasterize(call, False)[:4]
        if invalid:
            warnings.warn(
                f"{invalid} of {len(means3D)} splats are left out: a number is not finite, or the quaternion is zero",
                stacklevel=3,
            )
        meta = {name: torch.from_numpy(array) for name, array in arrays}
        pixels, alphas = torch.from_numpy(pixels), torch.from_numpy(alphas)
        radii = _radii(torch, meta)
        if is_tracked:
            shift = None
            if means2D is not None:
                ndc = torch.tensor([settings.image_width / 2, settings.image_height / 2], dtype=means2D.dtype)
                # Zeros with the gradient of the centres in pixels, times the pixels per unit.
                shift = ((means2D - means2D.detach())[:, :2] * ndc).float()[None]
            pixels, alphas = attach(tensors, (pixels, alphas), meta, saved, shift=shift)
        color = pixels[0, ..., :3].permute(2, 0, 1)
        return (color, radii, pixels[0, ..., 3:].permute(2, 0, 1)) if has_depth else (color, radii)

    def _call(
        self, torch: Any, means: Any, opacities: Any, shs: Any, colors: Any, shape: tuple[Any, ...]
    ) -> tuple[Call, dict[str, Any]]:
        """The native call, and the tensors that it differentiates by. ``shape`` is scales and rotations, or covariances."""
        settings = self.raster_settings
        width, height = checked_size(settings.image_width, settings.image_height)
        view = take(detached(settings.viewmatrix), "viewmatrix", (4, 4), np.float64).T
        projection = take(detached(settings.projmatrix), "projmatrix", (4, 4), np.float64).T
        check_finite(view, "viewmatrix")
        check_finite(projection, "projmatrix")
        lens = projection @ np.linalg.inv(view)
        focal = np.array([width / (2 * settings.tanfovx), height / (2 * settings.tanfovy)])
        of_matrix = np.abs([lens[0, 0] * width / 2, lens[1, 1] * height / 2])
        if not np.allclose(of_matrix, focal, rtol=_FOCAL):
            raise ValueError(
                f"projmatrix: expected the focal lengths of tanfovx and tanfovy, {focal.tolist()} pixels, found "
                f"{of_matrix.tolist()}"
            )
        K = np.array(
            [[focal[0], 0, (1 + lens[0, 2]) * width / 2], [0, focal[1], (1 + lens[1, 2]) * height / 2], [0, 0, 1]]
        )
        background = torch.as_tensor(settings.bg).reshape(-1)
        viewmats = torch.as_tensor(settings.viewmatrix).T[None]
        if len(shape) == 2:
            scales, rotations = shape
            scales = scales * settings.scale_modifier if settings.scale_modifier != 1 else scales
            shapes = {"quats": rotations, "scales": scales}
        else:
            # As in the original, the modifier does not apply to covariances.
            shapes = {"covars": shape[0]}
        degree: int | None = None if shs is None else int(settings.sh_degree)
        values = shs if colors is None else colors
        if self.version == "2024":
            # Inverse depth is a fourth channel.
            if shs is not None:
                eye = -(viewmats[0, :3, :3].T @ viewmats[0, :3, 3])
                values = torch.clamp_min(spherical_harmonics(int(settings.sh_degree), means - eye.to(means.dtype), shs) + 0.5, 0)
                degree = None
            depths = means @ viewmats[0, 2, :3].to(means.dtype) + viewmats[0, 2, 3]
            inverse = 1 / torch.where(depths > _NEAR, depths, torch.full_like(depths, _NEAR))
            values = torch.cat([values, inverse[:, None]], 1)
            background = torch.cat([background, background.new_zeros(1)])
        tensors = {
            "means": means,
            **shapes,
            "opacities": opacities,
            "colors": values,
            "viewmats": viewmats,
            "backgrounds": background[None],
        }
        plain = {name: detached(value) for name, value in tensors.items()}
        count = len(means)
        tail = (values.shape[-1],) if degree is None else ("K", 3)
        if "covars" in plain:
            quats, axes = _quadrille.axes_of_covariances(take(plain["covars"], "cov3D_precomp", (count, 6)))
        else:
            quats = take(plain["quats"], "rotations", (count, 4))
            axes = take(plain["scales"], "scales", (count, 3))
        geometry = (
            take(plain["means"], "means3D", ("N", 3)),
            quats,
            axes,
            take(plain["opacities"], "opacities", (count,)),
        )
        drawing: dict[str, Any] = {
            "camera_model": "pinhole",
            "profile": "inria-aa" if settings.antialiasing else "inria",
            "size": (width, height),
            "near": _NEAR,
            "far": np.inf,
            "least_radius": 0.0,
            "unscented": False,
            "distortion": [],
            "rolling_shutter": None,
            "low_pass": _LOW_PASS,
            "depth": None,
            "spread": False,
            "meta": True,
            "packed": False,
            "threads": None,
            "sh_degree": degree,
            "per_camera": False,
        }
        colours = take(plain["colors"], "shs" if degree is not None else "colors_precomp", (count, *tail))
        behind = take(plain["backgrounds"], "bg", (1, 3 if degree is not None else values.shape[-1]))
        return (geometry, colours, (view[None].copy(), K[None]), behind, drawing), tensors


def _radii(torch: Any, meta: dict[str, Any]) -> Any:
    """Radii of the original: three standard deviations along the longer axis, rounded up; 0 where nothing is drawn."""
    xx, xy, yy = meta["conics"][0].double().unbind(-1)
    drawn = (meta["radii"][0] > 0).all(-1)
    determinant = torch.where(drawn, xx * yy - xy * xy, torch.ones_like(xx))
    # The covariance is the inverse of the conic.
    middle = (xx + yy) / (2 * determinant)
    spread = torch.sqrt(torch.clamp_min(middle * middle - 1 / determinant, _LEAST_SPREAD))
    radii = torch.ceil(3 * torch.sqrt(middle + spread))
    return torch.where(drawn, radii, torch.zeros_like(radii)).int()
