"""Cameras, pictures, comparison and simulation."""

from __future__ import annotations

import json
import math
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import quadrille

Vase = tuple[quadrille.Scene, list[quadrille.Camera]]
K = [[60.0, 0.0, 32.0], [0.0, 60.0, 18.0], [0.0, 0.0, 1.0]]


def test_cameras() -> None:
    camera = quadrille.Camera.look_at([1, 2, 3], [1, 2, 8], [0, -1, 0], width=64, height=36, fov_degrees=90)
    np.testing.assert_allclose(camera.viewmat[:3, :3], np.eye(3), atol=1e-15)
    np.testing.assert_allclose(camera.eye, [1, 2, 3])
    np.testing.assert_allclose(camera.K[1, 1], 18 / math.tan(math.pi / 4))
    np.testing.assert_allclose(camera.camera_to_world @ camera.viewmat, np.eye(4), atol=1e-15)
    for case in json.loads((ROOT / "tests/support/views.json").read_text()):
        # Flags, suites and links of the viewer give the same cameras, by tests of their own over the same list.
        points = (case["eye"], case["target"], case["up"])
        size = {"width": case["width"], "height": case["height"]}
        found = quadrille.Camera.look_at(*points, **size, fov_degrees=case["fov"])
        np.testing.assert_allclose(found.viewmat[:3], case["world_to_camera"], atol=1e-9)
        np.testing.assert_allclose(np.diag(found.K)[:2], case["focal_px"], atol=1e-9)
    wide = quadrille.Camera(64, 36, K, np.eye(4), lens="fisheye", name="wide")
    assert (wide.lens, wide.name) == ("fisheye", "wide")
    assert pickle.loads(pickle.dumps(wide)) == wide != camera
    pose = np.eye(4)
    pose[:3, 3] = [1, 2, 3]
    opengl = quadrille.Camera.from_opengl(pose, K, 64, 36)
    np.testing.assert_allclose(opengl.eye, [1, 2, 3])
    # OpenGL looks along -z with y up.
    np.testing.assert_allclose(opengl.viewmat[:3, :3], np.diag([1, -1, -1]))


@pytest.mark.parametrize(
    ("lens", "distortion"),
    [
        ("orthographic", []),
        ("fisheye", [0.1, -0.02]),
        ("opencv", [-0.1, 0.05, 0.001, -0.002, 0.003]),
        ("fov", [0.9]),
        ("eucm", [0.6, 1.2]),
        ("thin-prism-fisheye", [0.1, 0, 0.01]),
    ],
)
def test_lenses_survive_pickling_and_draw(lens: str, distortion: list[float]) -> None:
    scene, cameras = quadrille.synth("object", splats=500)
    plain = cameras[0].resized(32, 18)
    focal = np.diag([0.2, 0.2, 1]) if lens == "orthographic" else np.eye(3)
    K = plain.K * [[focal[0, 0], 1, 1], [1, focal[1, 1], 1], [1, 1, 1]]
    camera = quadrille.Camera(32, 18, K, plain.viewmat, lens=lens, distortion=distortion)
    again = pickle.loads(pickle.dumps(camera))
    assert (again.lens, again.distortion) == (lens, camera.distortion)
    assert list(camera.distortion[: len(distortion)]) == distortion and not any(camera.distortion[len(distortion) :])
    drawn = quadrille.render(scene, again).rgba
    assert drawn[..., 3].max() > 0.5
    assert not np.array_equal(drawn, quadrille.render(scene, plain).rgba)


def test_normals_face_parallel_rays() -> None:
    # Discs at both sides of the axis, nearly edge-on: towards the eye alone, one of them would face away from the rays.
    half = np.arctan2(0.98, -0.2) / 2
    scene = quadrille.Scene.from_arrays(
        means=[[-5, 0, 3], [5, 0, 3]],
        quats=[[np.cos(half), 0, np.sin(half), 0]] * 2,
        scales=[[0.5, 0.5, 0.01]] * 2,
        opacities=[0.9, 0.9],
        sh=np.zeros((2, 1, 3)),
    )
    camera = quadrille.Camera(64, 8, [[4, 0, 32], [0, 4, 4], [0, 0, 1]], np.eye(4), lens="orthographic")
    normals = quadrille.render(scene, camera, layers=["normal"]).layers["normal"]
    assert (normals[4, [11, 51], 2] < -0.05).all(), normals[4, :, 2]


def test_discs_have_the_depth_of_their_planes() -> None:
    # Turned by 60 degrees about y: a ray of slope t across meets the plane at a depth of 2 / (1 + t tan 60).
    turn = np.deg2rad(30)
    scene = quadrille.Scene.from_arrays(
        means=[[0, 0, 2]],
        quats=[[np.cos(turn), 0, np.sin(turn), 0]],
        scales=[[0.5, 0.5, 0.5]],
        opacities=[0.9],
        sh=np.zeros((1, 1, 3)),
    )
    camera = quadrille.Camera(33, 33, [[64, 0, 16.5], [0, 64, 16.5], [0, 0, 1]], np.eye(4))
    depth = quadrille.render(scene, camera, profile="2dgs", layers=["depth"]).layers["depth"]
    slopes = (np.arange(8, 24) + 0.5 - 16.5) / 64
    np.testing.assert_allclose(depth[16, 8:24], 2 / (1 + slopes * np.tan(np.deg2rad(60))), rtol=1e-5)
    with pytest.raises(ValueError, match="a profile of ellipsoids"):
        quadrille.simulate(scene, camera, variants=["baseline"], profile="2dgs")
    parallel = quadrille.Camera(33, 33, [[64, 0, 16.5], [0, 64, 16.5], [0, 0, 1]], np.eye(4), lens="orthographic")
    with pytest.raises(ValueError, match="a pinhole camera, for profile 2dgs"):
        quadrille.render(scene, parallel, profile="2dgs")


def test_parallel_rays_move_with_the_scene(tmp_path: pathlib.Path) -> None:
    scene, cameras = quadrille.synth("object", splats=500)
    source = tmp_path / "scene.ply"
    scene.save(source)
    plain = cameras[0].resized(32, 18)
    K = plain.K * [[0.2, 1, 1], [1, 0.2, 1], [1, 1, 1]]
    camera = quadrille.Camera(32, 18, K, plain.viewmat, name="plan", lens="orthographic")
    found = quadrille.convert(source, tmp_path / "out.ply", actions=[("scale", 2)], cameras=[camera], report=True)
    [view] = found["report"]["views"]
    assert view["psnr_db"] is None or view["psnr_db"] > 80, view


def test_lenses_name_what_is_wrong() -> None:
    for arguments, message in [
        ({"lens": "mirror"}, "lens: expected one of pinhole, fisheye, .*, opencv"),
        ({"distortion": [0.1]}, "distortion: expected none for the lens pinhole"),
        ({"lens": "fisheye", "distortion": [0.0] * 5}, "distortion: expected up to 4"),
        ({"lens": "division", "distortion": [0.1, 0.2]}, "division: expected up to 1"),
        ({"lens": "opencv", "distortion": [np.nan]}, "opencv: expected up to 12"),
    ]:
        with pytest.raises(ValueError, match=message):
            quadrille.Camera(8, 8, [[9, 0, 4], [0, 9, 4], [0, 0, 1]], np.eye(4), **arguments)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"width": 0}, ValueError, "width: expected 1 to 32768 pixels, found 0"),
        ({"height": 32769}, ValueError, "height: expected 1 to 32768 pixels, found 32769"),
        ({"width": 6.5}, TypeError, "width: expected a whole number"),
        ({"K": np.eye(4)}, ValueError, r"K: expected \[3, 3\], found \[4, 4\]"),
        ({"K": [[60, 1, 32], [0, 60, 18], [0, 0, 1]]}, ValueError, "K: expected"),
        ({"K": [[0, 0, 32], [0, 60, 18], [0, 0, 1]]}, ValueError, "focal length"),
        ({"viewmat": 2 * np.eye(4)}, ValueError, "viewmat: last row"),
        ({"viewmat": np.diag([2, 2, 2, 1])}, ValueError, "rotation"),
        ({"viewmat": np.full((4, 4), np.nan)}, ValueError, "viewmat"),
        ({"lens": "cube"}, ValueError, "lens: expected one of pinhole"),
    ],
)
def test_cameras_that_cannot_be(change: dict[str, object], error: type, message: str) -> None:
    arguments = {"width": 64, "height": 36, "K": K, "viewmat": np.eye(4), **change}
    with pytest.raises(error, match=message):
        quadrille.Camera(**arguments)  # type: ignore[arg-type]


def test_camera_files(tmp_path: pathlib.Path, vase: Vase) -> None:
    frames = [{"file_path": "a.png", "transform_matrix": np.eye(4).tolist()}]
    path = tmp_path / "transforms.json"
    path.write_text(json.dumps({"fl_x": 60, "fl_y": 60, "cx": 32, "cy": 18, "w": 64, "h": 36, "frames": frames}))
    (camera,) = quadrille.load_cameras(path)
    assert camera.name == "a" and (camera.width, camera.height) == (64, 36)
    path.write_text(json.dumps({"camera_angle_x": 0.7, "frames": frames}))
    with pytest.warns(UserWarning, match="picture size") as warned:
        quadrille.load_cameras(path)
    assert [str(warning.message).count(path.name) for warning in warned] == [1]
    with pytest.raises(quadrille.FormatError):
        path.write_text("{}")
        quadrille.load_cameras(path)


def test_cameras_of_a_split(tmp_path: pathlib.Path) -> None:
    names = [f"view_{number:02}" for number in range(20)]
    frames = [{"file_path": f"{name}.png", "transform_matrix": np.eye(4).tolist()} for name in reversed(names)]
    path = tmp_path / "transforms.json"
    path.write_text(json.dumps({"fl_x": 60, "fl_y": 60, "cx": 32, "cy": 18, "w": 64, "h": 36, "frames": frames}))
    found = {split: [camera.name for camera in quadrille.load_cameras(path, split=split)] for split in ("test", "train")}
    assert sorted(found["test"]) == names[::8]
    assert sorted(found["test"] + found["train"]) == names and len(quadrille.load_cameras(path)) == 20
    assert [camera.name for camera in quadrille.load_cameras(path, split="test:10")] == ["view_10", "view_00"]
    with pytest.raises(ValueError, match="split: expected 'test', 'train' or 'val', found 'both'"):
        quadrille.load_cameras(path, split="both")
    with pytest.raises(ValueError, match="no views for validation"):
        quadrille.load_cameras(path, split="val")


def test_files_in_place_of_pictures_and_scenes(tmp_path: pathlib.Path, vase: Vase, view: quadrille.Camera) -> None:
    picture = quadrille.render(vase[0], view, background=1.0)
    path = tmp_path / "a.png"
    picture.save(path)
    expected = quadrille.compare(picture, quadrille.read_picture(path))
    assert quadrille.compare(picture, path) == quadrille.compare(picture, str(path)) == expected
    with pytest.raises(FileNotFoundError):
        quadrille.compare(picture, tmp_path / "none.png")
    with pytest.raises(TypeError, match="rgba: expected an array, found the path 'a.png'; quadrille.read_picture"):
        quadrille.Picture("a.png")
    for call in (quadrille.render, quadrille.simulate):
        with pytest.raises(TypeError, match="scene: expected a quadrille.Scene, found str; quadrille.load reads"):
            call("scene.ply", view)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="camera: expected a quadrille.Camera, found list"):
            call(vase[0], [view])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="scene: expected a quadrille.Scene, found .*Path; quadrille.load reads"):
        quadrille.orbit(path, 3)  # type: ignore[arg-type]


def test_picture_of_layers(vase: Vase, view: quadrille.Camera) -> None:
    layers = ["depth", "normal", "id", "count", "top:3"]
    picture = quadrille.render(vase[0], view, layers=layers)
    shapes = {name: (array.shape, array.dtype.name) for name, array in picture.layers.items()}
    assert shapes == {
        "depth": ((54, 96), "float32"),
        "normal": ((54, 96, 3), "float32"),
        "id": ((54, 96), "uint32"),
        "count": ((54, 96), "uint32"),
        "top-id": ((54, 96, 3), "uint32"),
        "top-weight": ((54, 96, 3), "float32"),
    }
    plain = quadrille.render(vase[0], view)
    assert plain.rgba.tobytes() == picture.rgba.tobytes()
    assert picture.counts["fragments_blended"] == picture.layers["count"].sum()
    np.testing.assert_array_equal(picture.layers["top-id"][..., 0], picture.layers["id"])
    covered = picture.rgba[..., 3] > 0.9
    far = quadrille.render(vase[0], view, layers=["depth"], depth="distance").layers["depth"]
    assert (far[covered] >= picture.layers["depth"][covered] * (1 - 1e-6)).all()
    assert set(plain.times_ms) == {"preprocess", "bin", "sort", "raster", "total"}


def test_reference_and_threads_and_profiles(vase: Vase, view: quadrille.Camera) -> None:
    fast = quadrille.render(vase[0], view)
    slow = quadrille.render(vase[0], view, reference=True)
    assert np.abs(fast.rgba - slow.rgba).max() < 2e-5
    for threads in (1, 2, 8):
        assert quadrille.render(vase[0], view, threads=threads).rgba.tobytes() == fast.rgba.tobytes()
    for profile in quadrille.profiles():
        assert quadrille.render(vase[0], view, profile=profile).rgba.any()
    with pytest.raises(ValueError, match="profile: expected one of inria"):
        quadrille.render(vase[0], view, profile="none")
    with pytest.raises(ValueError, match="stop: expected"):
        quadrille.render(vase[0], view, stop="never")
    with pytest.raises(ValueError, match="layers: expected"):
        quadrille.render(vase[0], view, layers=["colour"])
    with pytest.raises(ValueError, match="layers: expected top:1 to top:32"):
        quadrille.render(vase[0], view, layers=["top:99"])
    with pytest.raises(ValueError, match="depth: expected"):
        quadrille.render(vase[0], view, depth="w")
    with pytest.raises(ValueError, match="threads: expected"):
        quadrille.render(vase[0], view, threads=-1)


def test_the_program_and_the_module_draw_the_same_bytes(tmp_path: pathlib.Path, vase: Vase) -> None:
    scene, out = tmp_path / "vase.ply", tmp_path / "vase.npy"
    vase[0].save(scene)
    eye = vase[1][0].eye
    words = ["--eye=" + ",".join(map(str, eye)), "--target=0,0,0", "--up=0,-1,0", "--fov=50", "--width=96", "--height=54"]
    command = [sys.executable, "-m", "quadrille", "render", str(scene), *words, "-o", str(out), "--quiet"]
    subprocess.run(command, check=True)
    camera = quadrille.Camera.look_at(eye, [0, 0, 0], [0, -1, 0], width=96, height=54, fov_degrees=50)
    ours = quadrille.render(quadrille.load(scene), camera)
    assert ours.rgba.tobytes() == np.load(out).tobytes()
    assert quadrille.read_picture(out).rgba.tobytes() == ours.rgba.tobytes()


def test_the_command_line_reports_its_codes() -> None:
    for words, code in ((["--version"], 0), (["render"], 2), (["info", "no-such-file.ply"], 3)):
        done = subprocess.run([sys.executable, "-m", "quadrille", *words], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    version = subprocess.run([sys.executable, "-m", "quadrille", "--version"], capture_output=True, text=True).stdout
    assert version.split() == ["quadrille", quadrille.build_info()["version"]]


def test_pictures_as_others_take_them(tmp_path: pathlib.Path, vase: Vase, view: quadrille.Camera) -> None:
    picture = quadrille.render(vase[0], view)
    assert np.asarray(picture) is picture.rgba
    assert np.from_dlpack(picture).tobytes() == picture.rgba.tobytes()
    assert np.asarray(picture, dtype=np.float64).dtype == np.float64
    assert picture._repr_png_().startswith(b"\x89PNG")
    white = picture.over(1.0)
    np.testing.assert_allclose(white.rgba[..., :3], picture.rgba[..., :3] + 1 - picture.rgba[..., 3:], atol=1e-6)
    np.testing.assert_array_equal(white.rgb8(), picture.rgb8(background=[1, 1, 1]))
    np.testing.assert_array_equal(quadrille.render(vase[0], view, background=1).rgba, white.rgba)
    picture.save(tmp_path / "a.webp")
    for name in ("a.png", "a.exr", "a.npy"):
        picture.save(tmp_path / name)
        assert quadrille.read_picture(tmp_path / name).rgba.shape == picture.rgba.shape
    with pytest.raises(ValueError, match="an opaque picture"):
        picture.save(tmp_path / "a.jpg")
    with pytest.raises(ValueError, match="a name that ends in"):
        picture.save(tmp_path / "a.bmp")
    with pytest.raises(FileNotFoundError):
        quadrille.read_picture(tmp_path / "none.png")


def test_comparison() -> None:
    grey = np.full((20, 30, 3), 128, np.uint8)
    other = grey + np.uint8(16)
    found = quadrille.compare(grey, other, error_map=True)
    assert found["psnr_db"] == pytest.approx(20 * math.log10(255 / 16), abs=1e-4)
    assert found["flip_map"].shape == (20, 30) and found["flip_map"].mean() == pytest.approx(found["flip"], rel=1e-5)
    assert quadrille.compare(grey, grey)["psnr_db"] is None
    with pytest.raises(ValueError):
        quadrille.compare(grey, other[:10])
    with pytest.raises(ValueError, match=r"a: expected \[H, W, 3\] or \[H, W, 4\], found \[20, 30\]"):
        quadrille.compare(grey[..., 0], other)
    with pytest.raises(ValueError, match="protocol: expected"):
        quadrille.compare(grey, other, protocol="best")



def test_integers_are_scaled_by_their_type() -> None:
    bytes_, words = np.full((16, 16, 3), 51, np.uint8), np.full((16, 16, 3), 13107, np.uint16)
    assert quadrille.compare(bytes_, words, protocol="float")["max_abs"] < 1e-7
    assert quadrille.compare(words, np.full((16, 16, 3), 26214, np.uint16), protocol="float")["max_abs"] > 0.19
    # The scale of other integers is not known: 0 to 255 in int64 were clamped to white, and any two pictures identical.
    for kind in (np.int64, np.int32, np.int16):
        with pytest.raises(TypeError, match="a: expected an array of float, uint8 or uint16"):
            quadrille.compare(bytes_.astype(kind), words)


def test_lpips_names_the_way_to_its_weights(tmp_path: pathlib.Path) -> None:
    grey = np.full((40, 40, 3), 128, np.uint8)
    with pytest.raises(ValueError, match="lpips: expected one of vgg, alex, vgg-scaled"):
        quadrille.compare(grey, grey, lpips="resnet")
    with pytest.raises(FileNotFoundError, match="lpips-alex"):
        quadrille.compare(grey, grey, lpips=["alex"], lpips_weights=tmp_path)
    weights = os.environ.get("QUADRILLE_LPIPS_WEIGHTS")
    if weights is None:
        pytest.skip("QUADRILLE_LPIPS_WEIGHTS names no weights")
    found = quadrille.compare(grey, grey // 2, lpips=["alex", "vgg"], lpips_weights=weights)
    assert 0 < found["lpips_alex"] < 1 and 0 < found["lpips_vgg"] < 1 and "lpips_vgg_scaled" not in found


def test_ssimulacra2_takes_the_second_picture_as_the_original() -> None:
    rows, columns, channels = np.indices((24, 32, 3))
    picture = ((rows * rows + 3 * columns * channels) % 256).astype(np.uint8)
    banded = picture // 32 * 32
    assert quadrille.compare(picture, picture, ssimulacra2=True)["ssimulacra2"] == 100
    scores = [quadrille.compare(*pair, ssimulacra2=True)["ssimulacra2"] for pair in [(banded, picture), (picture, banded)]]
    assert scores[0] != scores[1] and max(scores) < 90
    assert "ssimulacra2" not in quadrille.compare(picture, banded)
    with pytest.raises(ValueError, match="SSIMULACRA2: expected at least 8 x 8 pixels, found 32 x 7"):
        quadrille.compare(picture[:7], banded[:7], ssimulacra2=True)


def test_simulation(vase: Vase, view: quadrille.Camera) -> None:
    found = quadrille.simulate(vase[0], view, variants=["baseline", "het", "compute"], maps=True)
    by_name = {run["name"]: run for run in found["variants"]}
    assert list(by_name) == ["baseline", "het", "compute"]
    assert by_name["het"]["cycles"] > 0 and found["ratios"]["het"]
    maps = found["maps"]
    assert set(maps) == {"baseline", "het"} and maps["baseline"]["blended"].shape == (54, 96)
    assert (maps["het"]["blended"] <= maps["baseline"]["blended"]).all()
    small = quadrille.simulate(vase[0], view, variants="baseline", settings={"crop.format": "rgba8"})
    assert small["changed"] == {"crop.format": '"rgba8"'}
    again = quadrille.simulate(vase[0], view, variants="baseline", settings={"crop.format": "rgba8"}, threads=1)
    without_times = lambda d: {k: v for k, v in d["variants"][0].items() if not k.startswith("host_")}  # noqa: E731
    assert without_times(small) == without_times(again)
    with pytest.warns(UserWarning, match="has no effect"):
        quadrille.simulate(vase[0], view, variants="baseline", settings={"qru.window": 64})
    for arguments, message in (
        ({"variants": ["fast"]}, "variants: expected"),
        ({"preset": "voodoo"}, "preset: expected"),
        ({"settings": {"tc.bins": "many"}}, "tc.bins"),
        ({"settings": {"no.such": 1}}, "no"),
    ):
        with pytest.raises(ValueError, match=message):
            quadrille.simulate(vase[0], view, **arguments)  # type: ignore[arg-type]


def test_html_and_names(vase: Vase, view: quadrille.Camera) -> None:
    assert "2,000" in vase[0]._repr_html_()
    assert repr(quadrille.render(vase[0], view, layers="depth")) == "Picture(96x54, depth)"
    assert "render" in dir(quadrille)
    with pytest.raises(AttributeError):
        _ = quadrille.no_such_name  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        quadrille.Scene()


def test_order(tmp_path):
    scene, cameras = quadrille.synth("room", splats=3000)
    camera = cameras[0].resized(96, 54)
    by_depth, by_distance = (quadrille.render(scene, camera, order=order).rgba for order in ("z", "distance"))
    assert np.array_equal(quadrille.render(scene, camera).rgba, by_depth)
    assert np.abs(by_depth - by_distance).max() > 0.01
    with pytest.raises(ValueError, match="order.*distance.*name"):
        quadrille.render(scene, camera, order="name")
    # A GLB states the order; an unknown one is the format's default.
    path = tmp_path / "room.glb"
    scene.save(path)
    assert (scene.order, quadrille.load(path).order) == (None, "z")
    path.write_bytes(path.read_bytes().replace(b'"zDepth"', b'"byName"'))
    with pytest.warns(UserWarning, match="sortingMethod"):
        other = quadrille.load(path)
    for kept in (other, pickle.loads(pickle.dumps(other)), other[:50], other + other[:5], other.transform(np.eye(4))):
        assert kept.order == "distance"
    assert (other + scene).order is None
    drawn = quadrille.render(other, camera).rgba
    assert np.abs(drawn - by_distance).max() < 1e-3 < np.abs(drawn - by_depth).max()


def _quadratic(picture, photo, fits=5, saturated=0.5 / 255):
    """The correction of multinerf, by least squares of numpy."""
    inside = lambda values: (values >= saturated) & (values <= 1 - saturated)  # noqa: E731
    at_first = inside(picture)
    for _ in range(fits):
        r, g, b = picture.T
        terms = np.stack([r * r, r * g, r * b, g * g, g * b, b * b, r, g, b, np.ones_like(r)], 1)
        maps = []
        for channel in range(3):
            used = at_first[:, channel] & inside(picture[:, channel]) & inside(photo[:, channel])
            maps.append(np.linalg.lstsq(terms * used[:, None], photo[:, channel] * used, rcond=-1)[0])
        picture = np.clip(terms @ np.stack(maps, 1), 0, 1)
    return picture


def _affine(picture, photo):
    """The correction of gsplat: the photo is mapped to the picture, and the picture back."""
    slope = ((photo * picture).mean(0) - photo.mean(0) * picture.mean(0)) / photo.var(0)
    return np.clip((picture - picture.mean(0) + slope * photo.mean(0)) / slope, 0, 1)


@pytest.mark.parametrize(("name", "corrected"), [("affine", _affine), ("quadratic", _quadratic)])
def test_colour_correction(name, corrected):
    random = np.random.default_rng(5)
    photo = np.clip(random.normal(0.5, 0.3, (40, 30, 3)), 0, 1).astype(np.float32)
    picture = np.clip(0.7 * photo**1.2 + 0.1 + random.normal(0, 0.02, photo.shape), 0, 1).astype(np.float32)
    expected = corrected(picture.reshape(-1, 3).astype(np.float64), photo.reshape(-1, 3).astype(np.float64))
    found = quadrille.compare(picture, photo, protocol="gsplat", colour_correction=name)
    own = quadrille.compare(expected.reshape(photo.shape), photo, protocol="gsplat")
    assert found["psnr_db"] > quadrille.compare(picture, photo, protocol="gsplat")["psnr_db"] + 1
    for metric, bound in (("psnr_db", 1e-4), ("ssim", 1e-6), ("flip", 1e-5), ("max_abs", 1e-5)):
        assert abs(found[metric] - own[metric]) < bound, metric
    with pytest.raises(ValueError, match="colour_correction.*quadratic.*cubic"):
        quadrille.compare(picture, photo, colour_correction="cubic")
