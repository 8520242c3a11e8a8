"""Pixels of `quadrille.gsplat` beside the definition in gsplat's own wheel."""

from __future__ import annotations

import functools
from typing import Any

import gsplat_scenes
import numpy as np
import oracle
import pytest
from gsplat_scenes import HEIGHT, WIDTH, Case

import quadrille
from quadrille.gsplat import rasterization

CASES = gsplat_scenes.cases()
ENTRIES = ("radii", "means2d", "depths", "conics", "opacities")
MODES = ("RGB", "D", "ED", "RGB+D", "RGB+ED")
#: Pixels that rounding may put on the other side of the alpha cut or of the stop rule.
NEAR_A_CUT = 1e-4
SHARE_NEAR_A_CUT = 0.002

definition = oracle.definition()
needs_wheel = pytest.mark.skipif(definition is None, reason="gsplat 1.5.3 is not installed")


def in_1_6(case: Case) -> Case:
    """The case with coefficients that 1.6 takes: it has none per camera."""
    if case.sh_degree is not None and case.colors.ndim == 4:
        return case._replace(colors=case.colors[0])
    return case


@functools.cache
def expected(name: str, compat: str, mode: str) -> list[tuple[oracle.Splats2d, oracle.Picture]]:
    """The splats of each camera, and the channels of the colours and the depth."""
    case = CASES[name] if compat == "1.5" else in_1_6(CASES[name])
    found = []
    for camera, (view, lens) in enumerate(zip(case.viewmats, case.Ks)):
        splats = oracle.project(
            definition,
            case.geometry,
            view,
            lens,
            (WIDTH, HEIGHT),
            compat=compat,
            is_antialiased=mode == "antialiased",
            **case.projection,
        )
        colors = case.colors
        if colors.ndim == (4 if case.sh_degree is not None else 3):
            colors = colors[camera]
        if case.sh_degree is not None:
            colors = oracle.harmonics(definition, case.sh_degree, case.geometry["means"], view, colors)
        background = None if case.backgrounds is None else np.append(case.backgrounds[camera], 0)
        values = np.concatenate([colors, splats.depths[:, None]], axis=1)
        found.append((splats, oracle.blend(splats, values, (WIDTH, HEIGHT), background, compat)))
    return found


@needs_wheel
@pytest.mark.parametrize("compat", ["1.5", "1.6"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_pixels_are_those_of_gsplat(name: str, mode: str, compat: str) -> None:
    case = CASES[name] if compat == "1.5" else in_1_6(CASES[name])
    for rasterize_mode in ("classic", "antialiased"):
        colors, alphas, _ = rasterization(
            **case.arguments(), render_mode=mode, rasterize_mode=rasterize_mode, compat=compat
        )
        assert colors.dtype == alphas.dtype == np.float32
        for camera, (splats, picture) in enumerate(expected(name, compat, rasterize_mode)):
            is_near = picture.margin < NEAR_A_CUT
            assert is_near.mean() <= SHARE_NEAR_A_CUT
            assert picture.alphas.max() > 0.3
            channels = picture.channels
            largest = np.abs(channels[..., -1]).max()
            if "D" in mode.split("+")[-1]:
                depth = colors[camera, ..., -1]
                if "ED" in mode:
                    # A mean over a small alpha is as uncertain as the alpha.
                    depth = depth * np.maximum(alphas[camera, ..., 0], 1e-10)
                error = np.abs(depth - channels[..., -1])
                assert error[~is_near].max() <= 1e-5 * largest
            if mode.startswith("RGB"):
                count = channels.shape[-1] - 1
                error = np.abs(colors[camera, ..., :count] - channels[..., :-1]).max(axis=-1)
                assert error[~is_near].max() <= 1e-5 * max(1, np.abs(case.colors).max())
            assert np.abs(alphas[camera, ..., 0] - picture.alphas)[~is_near].max() <= 1e-5


@needs_wheel
@pytest.mark.parametrize("compat", ["1.5", "1.6"])
@pytest.mark.parametrize("name", CASES)
def test_splats_on_the_picture_plane_are_those_of_gsplat(name: str, compat: str) -> None:
    case = CASES[name] if compat == "1.5" else in_1_6(CASES[name])
    count = len(case.geometry["means"])
    for mode in ("classic", "antialiased"):
        _, _, packed = rasterization(**case.arguments(), rasterize_mode=mode, compat=compat)
        _, _, whole = rasterization(**case.arguments(), rasterize_mode=mode, compat=compat, packed=False)
        is_drawn = (whole["radii"] > 0).all(axis=-1)
        assert (np.argwhere(is_drawn) == np.stack([packed["camera_ids"], packed["gaussian_ids"]], 1)).all()
        assert whole["gaussian_ids"] is None and packed["batch_ids"].sum() == 0
        assert packed["radii"].dtype == np.int32 and packed["camera_ids"].dtype == np.int64
        for entry in ENTRIES:
            assert whole[entry].shape[:2] == (2, count)
            assert (whole[entry][is_drawn] == packed[entry]).all()
        for camera, (splats, _) in enumerate(expected(name, compat, mode)):
            drawn = np.flatnonzero(is_drawn[camera])
            assert len(drawn) > 20 and splats.is_valid[drawn].all()
            found = {entry: whole[entry][camera, drawn] for entry in ENTRIES}
            assert np.abs(found["means2d"] - splats.means2d[drawn]).max() <= 1e-3
            assert np.abs(found["depths"] / splats.depths[drawn] - 1).max() <= 1e-5
            conics = splats.conics[drawn]
            largest = np.maximum(conics[:, :1], conics[:, 2:])
            assert (np.abs(found["conics"] - conics) / largest).max() <= 1e-5
            opacities = splats.opacities[drawn]
            assert np.abs(found["opacities"] / opacities - 1).max() <= 1e-4
            if mode == "classic":
                given = np.asarray(case.arguments()["opacities"], np.float32)
                assert (found["opacities"] == given[drawn]).all()
            # The rule of the CUDA kernel, which the definition in Python simplifies.
            reach = np.minimum(3.33, np.sqrt(2 * np.log(np.maximum(255 * opacities, 1))))
            radii = reach[:, None] * np.sqrt(splats.covariances[drawn][:, [0, 2]])
            is_whole = np.abs(radii - np.round(radii)) < 1e-3
            assert (found["radii"] == np.ceil(radii))[~is_whole].all()
            # Every splat that is left out covers no pixel centre.
            for missing in np.flatnonzero(splats.is_valid & ~is_drawn[camera]):
                assert not covers(splats, missing)


def test_every_value_is_written() -> None:
    """Memory for results is not cleared; numpy and the allocator hand out what another array has left."""
    random = np.random.default_rng(3)
    count, width, height = 40_000, 620, 410
    splats = {
        "means": random.uniform(-1, 1, (count, 3)) + [0, 0, 3],
        "quats": random.normal(size=(count, 4)),
        "scales": np.full((count, 3), 0.004),
        "opacities": random.uniform(0.1, 1, count),
        "colors": random.uniform(0, 1, (count, 3)),
        "viewmats": np.stack([np.eye(4)] * 2),
        "Ks": np.array([[[400.0, 0, 310], [0, 400, 205], [0, 0, 1]], [[900.0, 0, 90], [0, 900, 70], [0, 0, 1]]]),
    }
    scene, camera = quadrille.synth("object", splats=3000)[0], quadrille.synth("object", splats=3000)[1][0]

    def results() -> list[Any]:
        arrays: list[Any] = []
        for packed in (True, False):
            colors, alphas, meta = rasterization(**splats, width=width, height=height, packed=packed)
            arrays += [colors, alphas, *(value for value in meta.values() if isinstance(value, np.ndarray))]
        arrays.append(quadrille.render(scene, camera.resized(width, height)).rgba)
        arrays.append(quadrille.render(scene, camera.resized(width, height), background=0.5, layers=["depth"]).rgba)
        return arrays

    first = [array.copy() for array in results()]
    # More than one array of each size, so that the next results take the memory of one of them.
    left = [np.full(array.nbytes // 4, 0x7FC0_1234, np.uint32) for array in first for _ in range(3)]
    del left
    for before, after in zip(first, results()):
        assert before.dtype == after.dtype and np.array_equal(before, after)


def covers(splats: Any, index: int) -> bool:
    """Whether a splat is above the alpha cut at the centre of a pixel, beyond rounding."""
    x, y = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    dx, dy = x - splats.means2d[index, 0], y - splats.means2d[index, 1]
    a, b, c = splats.conics[index]
    alpha = splats.opacities[index] * np.exp(-0.5 * (a * dx * dx + c * dy * dy) - b * dx * dy)
    return bool((alpha > oracle.ALPHA_CUT * (1 + NEAR_A_CUT)).any())


@needs_wheel
def test_small_splats_are_clipped_by_both_radii() -> None:
    case = CASES["tiny"]
    _, _, every = rasterization(**case.arguments(), packed=False)
    for clip in (2.0, 3.0):
        _, _, found = rasterization(**case.arguments(), packed=False, radius_clip=clip)
        is_large = (every["radii"] > clip).any(axis=-1)
        assert ((found["radii"] > 0).all(axis=-1) == is_large).all()
        assert 0 < is_large.sum() < (every["radii"] > 0).all(axis=-1).sum()
