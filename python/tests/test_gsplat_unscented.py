"""Footprints from points of splats, and lenses, against the rules of gsplat's unscented transform in numpy."""

from __future__ import annotations

from typing import Any

import gsplat_scenes
import numpy as np
import pytest

from quadrille.gsplat import rasterization, rasterization_vjp

CASES = {name: case for name, case in gsplat_scenes.cases().items() if name in ("cloud", "needles", "close", "opaque")}
LENS = {
    "radial_coeffs": np.array([[0.05, -0.02, 0.01, 0.02, 0.0, 0.0], [-0.08, 0.03, 0.0, 0.0, 0.01, 0.0]]),
    "tangential_coeffs": np.array([[0.004, -0.003], [0.0, 0.006]]),
    "thin_prism_coeffs": np.array([[0.002, 0.001, -0.003, 0.0], [0.0, 0.0, 0.004, -0.001]]),
}


def distorted(slopes: np.ndarray, lens: dict[str, np.ndarray], camera: int) -> np.ndarray:
    """Slopes [..., 2] after the lens of OpenCV."""
    k1, k2, k3, k4, k5, k6 = lens["radial_coeffs"][camera]
    p1, p2 = lens["tangential_coeffs"][camera]
    s1, s2, s3, s4 = lens["thin_prism_coeffs"][camera]
    x, y = slopes[..., 0], slopes[..., 1]
    r2 = x * x + y * y
    factor = (1 + k1 * r2 + k2 * r2**2 + k3 * r2**3) / (1 + k4 * r2 + k5 * r2**2 + k6 * r2**3)
    return np.stack(
        [
            x * factor + 2 * p1 * x * y + p2 * (r2 + 2 * x * x) + s1 * r2 + s2 * r2**2,
            y * factor + 2 * p2 * x * y + p1 * (r2 + 2 * y * y) + s3 * r2 + s4 * r2**2,
        ],
        axis=-1,
    )


def turned(quats: np.ndarray) -> np.ndarray:
    """Rotations [N, 3, 3] of quaternions [N, 4]."""
    w, x, y, z = (quats / np.linalg.norm(quats, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


ALPHA, BETA, KAPPA, COUNT = 0.1, 2.0, 0.0, 3
SCALING = ALPHA**2 * (COUNT + KAPPA) - COUNT


def points_of(case: gsplat_scenes.Case) -> np.ndarray:
    """Seven points [N, 7, 3] of each splat in the world."""
    g = {name: array.astype(np.float64) for name, array in case.geometry.items()}
    axes = np.sqrt(COUNT + SCALING) * np.swapaxes(turned(g["quats"]) * g["scales"][:, None, :], 1, 2)
    return np.concatenate([g["means"][:, None], g["means"][:, None] + axes, g["means"][:, None] - axes], axis=1)


def pixels_of(
    seen: np.ndarray, case: gsplat_scenes.Case, lens: dict[str, np.ndarray] | None, camera: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions [..., 2] of points in view space, and which are in the picture or its margin of a tenth."""
    K = case.Ks[camera].astype(np.float64)
    before = seen[..., 2] > 0
    slopes = seen[..., :2] / np.where(before, seen[..., 2], 1)[..., None]
    if lens is not None:
        slopes = distorted(slopes, lens, camera)
    pixels = slopes * [K[0, 0], K[1, 1]] + [K[0, 2], K[1, 2]]
    pixels = np.where(before[..., None], pixels, 0.0)
    size = np.array([gsplat_scenes.WIDTH, gsplat_scenes.HEIGHT])
    return pixels, before & ((pixels >= -0.1 * size) & (pixels < 1.1 * size)).all(-1)


def moments_of(pixels: np.ndarray, case: gsplat_scenes.Case) -> tuple[np.ndarray, np.ndarray]:
    """Centres [N, 2] and inverse covariances [N, 3] of splats whose points are at ``pixels`` [N, 7, 2]."""
    weights = np.full(7, 1 / (2 * (COUNT + SCALING)))
    of_mean, of_covariance = weights.copy(), weights.copy()
    of_mean[0] = SCALING / (COUNT + SCALING)
    of_covariance[0] = of_mean[0] + 1 - ALPHA**2 + BETA
    mean = np.einsum("p,npk->nk", of_mean, pixels)
    shift = pixels - mean[:, None]
    covariance = np.einsum("p,npi,npj->nij", of_covariance, shift, shift)
    covariance += np.eye(2) * case.projection.get("eps2d", 0.3)
    inverse = np.linalg.inv(covariance)
    return mean, inverse[:, [0, 0, 1], [0, 1, 1]]


def expected(case: gsplat_scenes.Case, lens: dict[str, np.ndarray] | None, camera: int) -> tuple[Any, Any, Any]:
    """Centres [N, 2], inverse covariances [N, 3], and which splats have a point in the picture or its margin of a tenth."""
    view = case.viewmats[camera].astype(np.float64)
    pixels, inside = pixels_of(points_of(case) @ view[:3, :3].T + view[:3, 3], case, lens, camera)
    return *moments_of(pixels, case), inside.any(1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("lens", [None, LENS])
def test_centres_and_conics_are_those_of_the_points(name: str, lens: dict[str, np.ndarray] | None) -> None:
    case = CASES[name]
    arguments = case.arguments() | {"with_ut": True, "packed": False} | (lens or {})
    _, _, meta = rasterization(**arguments)
    compare(meta, [expected(case, lens, camera) for camera in range(2)])


def compare(meta: dict[str, Any], footprints: list[tuple[Any, Any, Any]]) -> None:
    """Compares the drawn splats of each camera with its centres, inverse covariances and visible splats."""
    drawn = 0
    for camera, (mean, conic, inside) in enumerate(footprints):
        shown = (meta["radii"][camera] > 0).all(1)
        assert inside[shown].all()
        off = np.abs(meta["means2d"][camera] - mean)[shown]
        assert off.max() < 2e-3, off.max()
        # Inverse covariances are large where footprints are small, so they are compared by their sizes.
        size = np.abs(conic[shown]).max(1, keepdims=True)
        assert (np.abs(meta["conics"][camera] - conic)[shown] / size).max() < 1e-4
        drawn += int(shown.sum())
    assert drawn > 100


def test_small_splats_have_the_footprint_of_the_derivative() -> None:
    case = gsplat_scenes.cases()["tiny"]
    plain, alphas, _ = rasterization(**case.arguments())
    points, other, _ = rasterization(**case.arguments(), with_ut=True)
    # Of values up to 4.
    assert 0 < np.abs(points - plain).max() < 0.02
    assert np.abs(other - alphas).max() < 0.005


def test_coefficients_of_zero_are_a_pinhole() -> None:
    case = CASES["cloud"]
    zeros = {name: np.zeros_like(values) for name, values in LENS.items()}
    plain, _, _ = rasterization(**case.arguments(), with_ut=True)
    lens, _, _ = rasterization(**case.arguments(), with_ut=True, **zeros)
    assert np.abs(plain - lens).max() < 1e-5


def test_what_gsplat_refuses_is_refused() -> None:
    arguments = CASES["cloud"].arguments()
    for name, values in LENS.items():
        with pytest.raises(ValueError, match=f"^{name}: expected with_ut=True"):
            rasterization(**arguments, **{name: values})
        with pytest.raises(ValueError, match=name):
            rasterization(**arguments, with_ut=True, **{name: values[:, :1]})
    with pytest.raises(NotImplementedError, match="with_ut"):
        rasterization_vjp(**arguments, with_ut=True)
