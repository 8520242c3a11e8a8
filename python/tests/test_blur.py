"""Blur of motion and defocus."""

import numpy as np
import pytest

import quadrille


@pytest.fixture(scope="module")
def room():
    scene, cameras = quadrille.synth("room", splats=2000)
    return scene, [camera.resized(64, 36) for camera in cameras]


def to_light(c):
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0.04045) + 0.055) / 1.055) ** 2.4)


def to_srgb(c):
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * np.maximum(c, 0.0031308) ** (1 / 2.4) - 0.055)


def test_a_picture_is_the_mean_of_its_cameras(room):
    scene, cameras = room
    camera, viewmat = cameras[0], cameras[0].viewmat
    moved = viewmat.copy()
    moved[:3, 3] -= [0.4, 0.0, 0.0]
    end = quadrille.Camera(camera.width, camera.height, camera.K, moved)
    blur = quadrille.Blur(towards=end, samples=4)
    found = quadrille.render(scene, camera, blur=blur).rgba.astype(np.float64)
    total = 0
    for time in (0.125, 0.375, 0.625, 0.875):
        at = viewmat.copy()
        at[:3, 3] -= [0.4 * time, 0.0, 0.0]
        one = quadrille.Camera(camera.width, camera.height, camera.K, at)
        rgba = quadrille.render(scene, one).rgba.astype(np.float64)
        alpha = np.where(rgba[..., 3:] > 0, rgba[..., 3:], 1.0)
        total = total + np.concatenate([to_light(rgba[..., :3] / alpha) * alpha, rgba[..., 3:]], axis=2) / 4
    alpha = np.where(total[..., 3:] > 0, total[..., 3:], 1.0)
    expected = np.concatenate([to_srgb(total[..., :3] / alpha) * alpha, total[..., 3:]], axis=2)
    assert np.abs(found - expected).max() < 2e-5


def test_the_lens_is_sharp_at_its_focus(room):
    scene, cameras = room
    camera = cameras[0]
    sharp = quadrille.render(scene, camera).rgba
    depth = quadrille.render(scene, camera, layers=["depth-median"]).layers["depth-median"]
    focus = float(depth[18, 32])
    found = [
        np.abs(quadrille.render(scene, camera, blur=blur).rgba - sharp)[14:23, 28:37].mean()
        for blur in (
            quadrille.Blur(coc_px=8, samples=32),
            quadrille.Blur(coc_px=8, samples=32, focus=focus),
            quadrille.Blur(coc_px=8, samples=32, focus=focus / 4),
        )
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-4)
    assert found[2] > 1.3 * found[0]
    same = quadrille.render(scene, camera, blur=quadrille.Blur(aperture=0, samples=3)).rgba
    assert np.abs(same - sharp).max() < 1e-5
    over = quadrille.render(scene, camera, background=1.0, blur=quadrille.Blur(coc_px=8)).rgba
    assert (over[..., 3] == 1).all()


def test_wrong_arguments_are_named(room):
    scene, cameras = room
    for blur, name in (
        (quadrille.Blur(f_stop=1, aperture=1), "f_stop"),
        (quadrille.Blur(coc_px=1, samples=0), "samples"),
        (quadrille.Blur(towards=cameras[1], shutter=2), "shutter"),
        (quadrille.Blur(coc_px=1, focus=-1), "focus"),
    ):
        with pytest.raises(ValueError, match=name):
            quadrille.render(scene, cameras[0], blur=blur)
    with pytest.raises(ValueError, match="layers"):
        quadrille.render(scene, cameras[0], layers=["depth"], blur=quadrille.Blur(coc_px=1))
    with pytest.raises(TypeError, match="blur"):
        quadrille.render(scene, cameras[0], blur=3)


def test_a_rolling_shutter_reads_row_by_row(vase):
    scene, start = vase[0], vase[1][0].resized(64, 36)

    def turned(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return start.rotated([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])

    end = turned(0.1)
    rolling = quadrille.Blur(towards=end, rolling_shutter="top-to-bottom")
    found = quadrille.render(scene, start, blur=rolling, profile="gsplat-ut", layers=["depth"])
    assert found.layers["depth"].shape == (36, 64)
    still = quadrille.render(scene, start, profile="gsplat-ut").rgba
    rows = [quadrille.render(scene, turned(0.1 * row / 35), profile="gsplat-ut").rgba[row] for row in range(36)]
    assert np.abs(found.rgba - np.stack(rows)).mean() < 0.2 * np.abs(found.rgba - still).mean()
    for blur, profile, message in (
        (rolling, "gsplat", "gsplat-ut"),
        (quadrille.Blur(rolling_shutter="top-to-bottom"), "gsplat-ut", "towards"),
        (quadrille.Blur(towards=end, rolling_shutter="top"), "gsplat-ut", "rolling_shutter: expected one of"),
        (quadrille.Blur(towards=end, rolling_shutter="top-to-bottom", coc_px=3), "gsplat-ut", "cannot be used with"),
    ):
        with pytest.raises(ValueError, match=message):
            quadrille.render(scene, start, blur=blur, profile=profile)
