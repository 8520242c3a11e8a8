"""Rolling shutters, against the rules of gsplat's kernel in numpy."""

from __future__ import annotations

from typing import Any

import gsplat_scenes
import numpy as np
import pytest
from test_gsplat_unscented import CASES, LENS, compare, moments_of, pixels_of, points_of, turned

from quadrille.gsplat import RollingShutterType, rasterization, spherical_harmonics

SIZE = np.array([gsplat_scenes.WIDTH, gsplat_scenes.HEIGHT], np.float64)
ROLLING = [shutter for shutter in RollingShutterType if shutter.name != "GLOBAL"]


def ends(case: gsplat_scenes.Case) -> np.ndarray:
    """Poses [2, 4, 4] at the end of the readout: cameras that turn by four degrees and move."""
    turn, moved = np.eye(4), np.eye(4)
    axis = np.array([0.3, 0.9, -0.3])
    angle = np.radians(2)
    turn[:3, :3] = turned(np.array([[np.cos(angle), *(np.sin(angle) * axis / np.linalg.norm(axis))]]))[0]
    moved[:3, 3] = [0.15, -0.1, 0.2]
    return moved @ turn @ case.viewmats.astype(np.float64)


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """Quaternion w, x, y, z of a rotation by less than half a turn."""
    w = np.sqrt(1 + np.trace(rotation)) / 2
    off = rotation - rotation.T
    return np.array([w, off[2, 1] / (4 * w), off[0, 2] / (4 * w), off[1, 0] / (4 * w)])


def at(start: np.ndarray, end: np.ndarray, times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points [..., 3] of the world in the view spaces at ``times`` [...]."""
    q, r = quaternion(start[:3, :3]), quaternion(end[:3, :3])
    r = r if q @ r > 0 else -r
    angle = np.arccos(min(q @ r, 1))
    turns = np.sin((1 - times) * angle)[..., None] * q + np.sin(times * angle)[..., None] * r
    rotations = turned(turns.reshape(-1, 4)).reshape(*times.shape, 3, 3)
    moved = (1 - times)[..., None] * start[:3, 3] + times[..., None] * end[:3, 3]
    return np.einsum("...ij,...j->...i", rotations, points) + moved


def times_of(pixels: np.ndarray, shutter: str) -> np.ndarray:
    axis = 1 if shutter in ("ROLLING_TOP_TO_BOTTOM", "ROLLING_BOTTOM_TO_TOP") else 0
    if shutter in ("ROLLING_TOP_TO_BOTTOM", "ROLLING_LEFT_TO_RIGHT"):
        return np.floor(pixels[..., axis]) / (SIZE[axis] - 1)
    return (SIZE[axis] - np.ceil(pixels[..., axis])) / (SIZE[axis] - 1)


def expected(case: gsplat_scenes.Case, lens: Any, camera: int, shutter: str) -> tuple[Any, Any, Any]:
    start, end, points = case.viewmats[camera].astype(np.float64), ends(case)[camera], points_of(case)

    def project(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return pixels_of(at(start, end, times, points), case, lens, camera)

    zeros = np.zeros(points.shape[:2])
    (first, is_first), (last, is_last) = project(zeros), project(zeros + 1)
    pixels = np.where(is_first[..., None], first, last)
    rolled = pixels
    for _ in range(10):
        rolled = project(times_of(rolled, shutter))[0]
    inside = is_first | is_last
    return *moments_of(np.where(inside[..., None], rolled, pixels), case), inside.any(1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("lens", [None, LENS])
@pytest.mark.parametrize("shutter", ROLLING)
def test_centres_and_conics_are_those_of_the_kernel(name: str, lens: Any, shutter: RollingShutterType) -> None:
    case = CASES[name]
    rolling = {"with_ut": True, "rolling_shutter": shutter, "viewmats_rs": ends(case)}
    arguments = case.arguments() | rolling | {"packed": False} | (lens or {})
    _, _, meta = rasterization(**arguments)
    compare(meta, [expected(case, lens, camera, shutter.name) for camera in range(2)])


def test_depths_and_colours_take_the_middle() -> None:
    case = CASES["cloud"]
    rolling = {"with_ut": True, "rolling_shutter": RollingShutterType.ROLLING_LEFT_TO_RIGHT, "viewmats_rs": ends(case)}
    arguments = case.arguments() | rolling | {"packed": False}
    picture, _, meta = rasterization(**arguments)
    means, colours = case.geometry["means"].astype(np.float64), []
    for camera, (start, end) in enumerate(zip(case.viewmats.astype(np.float64), ends(case))):
        depths = at(start, end, np.full(len(means), 0.5), means)[:, 2]
        shown = (meta["radii"][camera] > 0).all(1)
        assert np.abs(meta["depths"][camera] - depths)[shown].max() < 1e-5
        centre = (np.linalg.inv(start)[:3, 3] + np.linalg.inv(end)[:3, 3]) / 2
        directions = (means - centre).astype(np.float32)
        colours.append(np.maximum(spherical_harmonics(3, directions, case.colors) + 0.5, 0))
    plain, _, _ = rasterization(**arguments | {"colors": np.stack(colours), "sh_degree": None})
    assert np.abs(plain - picture).max() < 1e-4


def test_a_camera_at_rest_draws_as_without_a_shutter() -> None:
    case = CASES["cloud"]
    still = rasterization(**case.arguments(), with_ut=True)[0]
    rolling = {"rolling_shutter": RollingShutterType.ROLLING_TOP_TO_BOTTOM, "viewmats_rs": case.viewmats}
    assert np.abs(rasterization(**case.arguments(), with_ut=True, **rolling)[0] - still).max() < 1e-4
    moving = rolling | {"viewmats_rs": ends(case)}
    assert np.abs(rasterization(**case.arguments(), with_ut=True, **moving)[0] - still).max() > 0.1


def test_what_gsplat_asserts_is_refused() -> None:
    case = CASES["cloud"]
    arguments, shutter = case.arguments(), RollingShutterType.ROLLING_TOP_TO_BOTTOM
    for changed, message in (
        ({"rolling_shutter": shutter, "viewmats_rs": ends(case)}, "rolling_shutter: expected with_ut=True"),
        ({"rolling_shutter": shutter, "with_ut": True}, "viewmats_rs: expected an array"),
        ({"viewmats_rs": ends(case), "with_ut": True}, "viewmats_rs: expected a rolling_shutter"),
        ({"rolling_shutter": "top", "with_ut": True}, "rolling_shutter: expected a RollingShutterType"),
        ({"rolling_shutter": shutter, "viewmats_rs": ends(case)[:1], "with_ut": True}, "viewmats_rs: expected"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            rasterization(**arguments | changed)
