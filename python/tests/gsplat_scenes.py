"""Scenes for the comparison with gsplat, made by numpy alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

WIDTH, HEIGHT = 96, 54


class Case(NamedTuple):
    """Arguments of a call: arrays of float32, and cameras."""

    geometry: dict[str, np.ndarray]
    colors: np.ndarray
    sh_degree: int | None
    backgrounds: np.ndarray | None
    viewmats: np.ndarray
    Ks: np.ndarray
    #: Further arguments of the projection.
    projection: dict[str, Any]

    def arguments(self) -> dict[str, Any]:
        g = self.geometry
        return {
            **{name: g[name] for name in ("means", "quats", "scales", "opacities")},
            "colors": self.colors,
            "viewmats": self.viewmats,
            "Ks": self.Ks,
            "width": WIDTH,
            "height": HEIGHT,
            "sh_degree": self.sh_degree,
            "backgrounds": self.backgrounds,
            **self.projection,
        }


def _views() -> tuple[np.ndarray, np.ndarray]:
    """Two cameras whose pixels are not square, whose principal points are off the middle."""
    turn = 0.2
    second = np.array(
        [[np.cos(turn), 0, np.sin(turn), -0.8], [0, 1, 0, 0.1], [-np.sin(turn), 0, np.cos(turn), 0.3], [0, 0, 0, 1]]
    )
    views = np.stack([np.eye(4), second])
    lenses = np.array([[[90, 0, 50], [0, 80, 25], [0, 0, 1]], [[75, 0, 44], [0, 75, 30], [0, 0, 1]]], np.float64)
    # As gsplat, which takes them in single precision.
    return views.astype(np.float32), lenses.astype(np.float32)


def _geometry(random: np.random.Generator, count: int, spread: Any, sizes: Any, opacities: Any) -> dict[str, Any]:
    means = random.normal(size=(count, 3)) * spread + [0, 0, 4]
    arrays = {
        "means": means,
        "quats": random.normal(size=(count, 4)) * random.uniform(0.1, 10, (count, 1)),
        "scales": np.exp(random.uniform(np.log(sizes[0]), np.log(sizes[1]), (count, 3))),
        "opacities": random.uniform(*opacities, count),
    }
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def cases() -> dict[str, Case]:
    """The scenes, named after their difficulty."""
    random = np.random.default_rng(20261126)
    views, lenses = _views()
    plain: dict[str, Any] = {}
    parallel = lenses / np.array([[4, 1, 1], [1, 4, 1], [1, 1, 1]], np.float32)

    def rows(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    wide = [1.2, 0.7, 0.8]
    cloud = _geometry(random, 400, wide, (0.02, 0.3), (0, 1))
    needles = _geometry(random, 300, wide, (0.0005, 0.8), (0.2, 1))
    close = _geometry(random, 120, [1.0, 0.6, 2.5], (0.1, 0.8), (0.05, 0.9))
    tiny = _geometry(random, 800, wide, (1e-4, 0.03), (0.3, 1))
    opaque = _geometry(random, 150, wide, (0.1, 0.5), (0.9, 1))
    # Up to 90 degrees from the axis, and behind the camera.
    around = _geometry(np.random.default_rng(20261201), 600, [4.0, 3.0, 4.0], (0.05, 0.4), (0.2, 1))
    rounds = lenses * np.array([[0.35, 1, 1], [1, 0.35, 1], [1, 1, 1]], np.float32)
    # At the caps of alpha.
    opaque["opacities"][::2] = 1
    return {
        "cloud": Case(cloud, rows(400, 16, 3), 3, rows(2, 3), views, lenses, plain),
        "needles": Case(needles, rows(2, 300, 9, 3), 1, None, views, lenses, plain),
        "close": Case(close, rows(120, 3), None, rows(2, 3), views, lenses, {"near_plane": 0.4, "far_plane": 5.0}),
        "tiny": Case(tiny, rows(2, 800, 5), None, rows(2, 5), views, lenses, {"eps2d": 0.1}),
        "opaque": Case(opaque, rows(150, 25, 3), 4, None, views, lenses, plain),
        "parallel": Case(
            cloud, rows(400, 9, 3), 2, rows(2, 3), views, parallel, {"camera_model": "ortho", "near_plane": 3.0}
        ),
        "fisheye": Case(
            around, rows(600, 4, 3), 1, rows(2, 3), views, rounds, {"camera_model": "fisheye", "near_plane": 0.2}
        ),
    }
