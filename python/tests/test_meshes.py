"""Meshes among splats."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import quadrille

Vase = tuple[quadrille.Scene, list[quadrille.Camera]]


def wall(path: pathlib.Path, camera: quadrille.Camera, depth: float) -> pathlib.Path:
    """A square that covers the picture at a depth, lit by its emission alone."""
    corners = np.array([[-9, -9, 1], [9, -9, 1], [9, 9, 1], [-9, 9, 1]]) * depth
    corners = corners @ camera.viewmat[:3, :3] + camera.eye
    path.with_suffix(".mtl").write_text("newmtl red\nKd 0 0 0\nKe 1 0 0\n")
    lines = [f"mtllib {path.stem}.mtl", "usemtl red", *(f"v {x} {y} {z}" for x, y, z in corners)]
    path.write_text("\n".join([*lines, "f 1 2 3 4", "f 4 3 2 1", ""]))
    return path


def test_depth_decides(tmp_path: pathlib.Path, vase: Vase, view: quadrille.Camera) -> None:
    scene, _ = vase
    plain = quadrille.render(scene, view, layers=["depth"])
    far = float(plain.layers["depth"].max()) * 3
    behind = quadrille.load_meshes(wall(tmp_path / "behind.obj", view, far), samples=1)
    found = quadrille.render(scene, view, meshes=behind, layers=["alpha", "depth"])
    red = plain.rgba[..., :3] + (1 - plain.rgba[..., 3:]) * np.array([1, 0, 0], np.float32)
    np.testing.assert_allclose(found.rgba[..., :3], red, atol=1e-5)
    assert found.layers["alpha"].min() == 1
    bare = plain.rgba[..., 3] == 0
    np.testing.assert_allclose(found.layers["depth"][bare], far, rtol=1e-4)
    # The same wall, moved before everything.
    eye = view.eye
    closer = np.eye(4) * [*[0.1 / far] * 3, 1]
    closer[:3, 3] = eye - eye * (0.1 / far)
    before = quadrille.load_meshes([tmp_path / "behind.obj"], transforms=[closer], samples=8)
    found = quadrille.render(scene, view, meshes=before)
    np.testing.assert_allclose(found.rgba, np.broadcast_to([1, 0, 0, 1], found.rgba.shape), atol=1e-6)
    assert found.counts["fragments_blended"] == 0
    exact = quadrille.render(scene, view, meshes=behind, reference=True)
    np.testing.assert_allclose(exact.rgba, quadrille.render(scene, view, meshes=behind).rgba, atol=1e-4)


@pytest.mark.parametrize(
    ("paths", "named", "error", "message"),
    [
        ("plane", {"transforms": []}, ValueError, "transforms: expected 1"),
        ("plane", {"transforms": [np.ones((4, 4))]}, ValueError, "transforms: expected a rotation"),
        ("plane", {"transforms": [np.eye(3)]}, ValueError, "transforms"),
        ("plane", {"samples": 3}, ValueError, "samples of meshes: expected 1, 2, 4 or 8"),
        ("plane", {"light": "moon"}, ValueError, "light"),
        ("plane", {"exposure": 99.0}, ValueError, "exposure"),
        ([3], {}, TypeError, "paths"),
        ("no such mesh", {}, ValueError, "no such mesh"),
    ],
)
def test_wrong_arguments(paths: object, named: dict[str, object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        quadrille.load_meshes(paths, **named)  # type: ignore[arg-type]


def test_wrong_views(vase: Vase, view: quadrille.Camera) -> None:
    scene, _ = vase
    with pytest.raises(TypeError, match="meshes: expected a quadrille.Meshes, found str; quadrille.load_meshes"):
        quadrille.render(scene, view, meshes="plane")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="load_meshes"):
        quadrille.Meshes()
    meshes = quadrille.load_meshes("plane")
    k = [[60.0, 0.0, 32.0], [0.0, 60.0, 16.0], [0.0, 0.0, 1.0]]
    panorama = quadrille.Camera(64, 32, k, np.eye(4), lens="equirectangular")
    with pytest.raises(ValueError, match="pinhole"):
        quadrille.render(scene, panorama, meshes=meshes)
    with pytest.raises(ValueError, match="layers"):
        quadrille.render(scene, view, meshes=meshes, layers=["depth"], depth="distance")
