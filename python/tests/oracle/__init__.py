"""gsplat as its wheel defines it: the oracle of `quadrille.gsplat`.

The wheel's own Python file projects and colours splats, in double precision and without torch. Blending is
transcribed from the rules of its kernels, pixel by pixel. Nothing of gsplat is part of this project.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .torch_on_numpy import installed, tensor

ALPHA_CUT = 1 / 255
STOP_TRANSMITTANCE = 1e-4
LEAST_ALPHA = 1e-10


class Compat(NamedTuple):
    """Constants in which versions of gsplat differ."""

    alpha_cap: float
    antialiasing_floor: float


COMPATS = {"1.5": Compat(0.999, 0.0), "1.6": Compat(0.99, 0.005**2)}


def wheel_file(name: str) -> Path | None:
    """A file of the installed gsplat 1.5.3, or None without it."""
    try:
        distribution = importlib.metadata.distribution("gsplat")
    except importlib.metadata.PackageNotFoundError:
        return None
    if distribution.version != "1.5.3":
        return None
    return Path(str(distribution.locate_file(f"gsplat/{name}")))


def definition() -> ModuleType | None:
    """The wheel's `cuda/_torch_impl.py`, which needs neither torch nor CUDA here."""
    path = wheel_file("cuda/_torch_impl.py")
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location("gsplat_torch_impl", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with installed():
        spec.loader.exec_module(module)
    return module


def parameters(function: str) -> list[tuple[str, str | None]] | None:
    """Names and defaults, as source text, of the parameters of a function of the wheel's `rendering.py`."""
    path = wheel_file("rendering.py")
    if path is None:
        return None
    tree = ast.parse(path.read_text())
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    (node,) = found
    args = node.args
    assert not args.posonlyargs and not args.kwonlyargs and args.vararg is None and args.kwarg is None
    defaults = [None] * (len(args.args) - len(args.defaults)) + [ast.unparse(d) for d in args.defaults]
    return [(arg.arg, default) for arg, default in zip(args.args, defaults, strict=True)]


class Splats2d(NamedTuple):
    """Splats on the picture plane, as gsplat's meta has them, for one camera."""

    means2d: np.ndarray
    depths: np.ndarray
    conics: np.ndarray
    opacities: np.ndarray
    is_valid: np.ndarray
    covariances: np.ndarray


class Picture(NamedTuple):
    channels: np.ndarray
    alphas: np.ndarray
    # Relative distance of a pixel's closest decision (alpha cut, stop) from its threshold.
    margin: np.ndarray


def project(
    module: ModuleType,
    scene: dict[str, np.ndarray],
    viewmat: np.ndarray,
    K: np.ndarray,
    size: tuple[int, int],
    *,
    compat: str,
    is_antialiased: bool,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    eps2d: float = 0.3,
    camera_model: str = "pinhole",
) -> Splats2d:
    """Projects a scene as the wheel does."""
    width, height = size
    covars, _ = module._quat_scale_to_covar_preci(tensor(scene["quats"]), tensor(scene["scales"]), True, False)
    means, view, camera = tensor(scene["means"]), tensor(viewmat)[None], tensor(K)[None]
    radii, means2d, depths, conics, factors = module._fully_fused_projection(
        means,
        covars,
        view,
        camera,
        width,
        height,
        eps2d=eps2d,
        near_plane=near_plane,
        far_plane=far_plane,
        calc_compensations=is_antialiased,
        camera_model=camera_model,
    )
    opacities = np.asarray(scene["opacities"], np.float64)
    if is_antialiased:
        floor = np.sqrt(COMPATS[compat].antialiasing_floor)
        opacities = opacities * np.maximum(np.asarray(factors[0]), floor)
    a, b, c = np.moveaxis(np.asarray(conics[0]), -1, 0)
    determinant = a * c - b * b
    covariances = np.stack([c, -b, a], -1) / determinant[:, None]
    return Splats2d(
        np.asarray(means2d[0]),
        np.asarray(depths[0]),
        np.asarray(conics[0]),
        opacities,
        np.asarray((radii[0] > 0).all(-1)),
        covariances,
    )


def harmonics(module: ModuleType, degree: int, means: Any, viewmat: Any, coefficients: Any) -> np.ndarray:
    """Colours of splats as the wheel evaluates them."""
    eye = np.linalg.inv(np.asarray(viewmat, np.float64))[:3, 3]
    directions = np.asarray(means, np.float64) - eye
    colours = module._spherical_harmonics(degree, tensor(directions), tensor(coefficients))
    return np.maximum(np.asarray(colours) + 0.5, 0.0)


def blend(
    splats: Splats2d,
    values: np.ndarray,
    size: tuple[int, int],
    background: np.ndarray | None,
    compat: str,
) -> Picture:
    """Blends values front to back, by the rules of gsplat's kernel, all pixels at once."""
    width, height = size
    cap = COMPATS[compat].alpha_cap
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    transmittance, is_done = np.ones((height, width)), np.zeros((height, width), bool)
    channels = np.zeros((height, width, values.shape[-1]))
    margin = np.full((height, width), np.inf)
    depths = splats.depths.astype(np.float32)
    order = [i for i in np.argsort(depths, kind="stable") if splats.is_valid[i]]
    for i in order:
        dx, dy = splats.means2d[i, 0] - x, splats.means2d[i, 1] - y
        a, b, c = splats.conics[i]
        sigma = 0.5 * (a * dx * dx + c * dy * dy) + b * dx * dy
        alpha = np.minimum(cap, splats.opacities[i] * np.exp(-sigma))
        is_over = (alpha >= ALPHA_CUT) & (sigma >= 0) & ~is_done
        left = transmittance * (1 - alpha)
        near_cut = np.where(is_done, np.inf, np.abs(alpha / ALPHA_CUT - 1))
        near_stop = np.where(is_over, np.abs(left / STOP_TRANSMITTANCE - 1), np.inf)
        margin = np.minimum(margin, np.minimum(near_cut, near_stop))
        is_done |= is_over & (left <= STOP_TRANSMITTANCE)
        is_blended = is_over & ~is_done
        weight = np.where(is_blended, alpha * transmittance, 0.0)
        channels += weight[..., None] * values[i]
        transmittance = np.where(is_blended, left, transmittance)
    if background is not None:
        channels += transmittance[..., None] * background
    return Picture(channels, 1 - transmittance, margin)
