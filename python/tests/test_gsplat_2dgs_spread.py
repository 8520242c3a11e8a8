"""Median and distortion of discs, against the blending of gsplat's kernel in numpy."""

from __future__ import annotations

from typing import Any

import gsplat_scenes
import numpy as np
import pytest
from test_gsplat_unscented import turned

from quadrille.gsplat import rasterization_2dgs

CASES = gsplat_scenes.cases()


def dense(case: gsplat_scenes.Case, values: np.ndarray | None, camera: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median, distortion and alpha [H, W] of all discs on all pixels. The depth stands for ``values`` [N] that are None."""
    g = {name: array.astype(np.float64) for name, array in case.geometry.items()}
    view, K = case.viewmats[camera].astype(np.float64), case.Ks[camera].astype(np.float64)
    centres = g["means"] @ view[:3, :3].T + view[:3, 3]
    axes = view[:3, :3] @ (turned(g["quats"]) * g["scales"][:, None, :])
    homographies = K @ np.concatenate([axes[..., :2], centres[..., None]], axis=2)
    values = centres[:, 2] if values is None else values
    x, y = np.meshgrid(np.arange(gsplat_scenes.WIDTH) + 0.5, np.arange(gsplat_scenes.HEIGHT) + 0.5)
    light, summed, median, distortion = np.ones_like(x), np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    is_open = np.ones(x.shape, bool)
    for disc in np.argsort(centres[:, 2].astype(np.float32), kind="stable"):
        if centres[disc, 2] <= case.projection.get("near_plane", 0.01):
            continue
        across, down, depth = homographies[disc]
        signs = np.array([1, 1, -1]) / (depth @ (depth * [1, 1, -1]))
        to_x, to_y = x - signs @ (across * depth), y - signs @ (down * depth)
        met = np.cross(x[..., None] * depth - across, y[..., None] * depth - down)
        on_disc = (met[..., 0] / met[..., 2]) ** 2 + (met[..., 1] / met[..., 2]) ** 2
        sigma = np.minimum(on_disc, 2 * (to_x**2 + to_y**2)) / 2
        alpha = np.minimum(0.999, g["opacities"][disc] * np.exp(-sigma))
        taken = is_open & (alpha >= 1 / 255)
        closes = taken & (light * (1 - alpha) <= 1e-4)
        is_open &= ~closes
        weight = np.where(taken & ~closes, alpha * light, 0)
        distortion += 2 * weight * (values[disc] * (1 - light) - summed)
        median[(weight > 0) & (light > 0.5)] = values[disc]
        summed += weight * values[disc]
        light -= weight
    return median, distortion, 1 - light


@pytest.mark.parametrize("name", ["cloud", "tiny", "opaque"])
@pytest.mark.parametrize("render_mode", ["RGB", "D", "RGB+ED"])
def test_medians_and_distortions_are_those_of_the_kernel(name: str, render_mode: str) -> None:
    case = CASES[name]
    values = np.random.default_rng(4).uniform(0, 2, (len(case.geometry["means"]), 2)).astype(np.float32)
    given = case.arguments() | {"colors": values, "sh_degree": None, "backgrounds": None, "render_mode": render_mode}
    given.pop("eps2d", None)
    _, alphas, *_, distortion, median, meta = rasterization_2dgs(**given, distloss=render_mode != "RGB")
    assert meta["render_distort"] is distortion
    for camera in range(2):
        expected = dense(case, values[:, 1].astype(np.float64) if render_mode == "RGB" else None, camera)
        found: list[Any] = [results[camera, ..., 0] for results in (median, distortion, alphas)]
        assert expected[1].max() > 0.1
        # Fragments at the alpha cut, and medians where half of the light is left, fall on either side.
        off = [np.abs(ours - theirs) for ours, theirs in zip(found, expected)]
        strays = (off[0] > 1e-5) | (off[1] > 1e-4) | (off[2] > 1e-4)
        assert strays.mean() < 0.002, strays.sum()
        assert [part[~strays].max() < bound for part, bound in zip(off, (2e-6, 5e-5, 1e-5))] == [True] * 3


def test_a_pixel_without_discs_has_zeros() -> None:
    given = CASES["cloud"].arguments() | {"colors": np.ones((400, 1)), "sh_degree": None, "backgrounds": None}
    given["opacities"] = np.zeros(400)
    colors, _, _, _, distortion, median, _ = rasterization_2dgs(**given)
    assert not colors.any() and not distortion.any() and not median.any()
