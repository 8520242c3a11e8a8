"""Scenes, tables and conversions."""

from __future__ import annotations

import pathlib
import pickle
import warnings

import numpy as np
import pytest
from conftest import ROOT

import quadrille


def two() -> dict[str, object]:
    """The arrays of two splats."""
    return {
        "means": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 2.0]]),
        "quats": np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 4.0]]),
        "scales": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]),
        "opacities": np.array([0.25, 1.0]),
        "sh": np.arange(24.0).reshape(2, 4, 3) / 10,
    }


def test_arrays_come_back_activated() -> None:
    scene = quadrille.Scene.from_arrays(**two())
    assert len(scene) == 2 and scene.sh_degree == 1 and scene.format == "memory"
    np.testing.assert_allclose(scene.means, two()["means"], rtol=1e-7)
    np.testing.assert_allclose(scene.quats, [[1, 0, 0, 0], [0, 0, 0.6, 0.8]], rtol=1e-7)
    np.testing.assert_allclose(scene.scales, two()["scales"], rtol=1e-7)
    np.testing.assert_allclose(scene.opacities, two()["opacities"], rtol=1e-7)
    np.testing.assert_allclose(scene.sh, two()["sh"], rtol=1e-7)
    for name in ("means", "quats", "scales", "opacities", "sh"):
        array = getattr(scene, name)
        assert array.dtype == np.float32 and array.flags.c_contiguous and array.flags.writeable, name
    np.testing.assert_array_equal(scene.bounds, [[0, 0, 1], [1, 0, 2]])


def test_raw_arrays_are_activated() -> None:
    arrays = two()
    arrays["scales"] = np.log(arrays["scales"])
    arrays["opacities"] = np.array([0.0, np.inf])
    scene = quadrille.Scene.from_arrays(**arrays, raw=True)
    np.testing.assert_allclose(scene.scales, two()["scales"], rtol=1e-6)
    np.testing.assert_array_equal(scene.opacities, [0.5, 1.0])


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("means", np.zeros((10, 4)), ValueError, r"means: expected \[N, 3\], found \[10, 4\]"),
        ("means", np.zeros(3), ValueError, r"means: expected \[N, 3\], found \[3\]"),
        ("means", "ten", TypeError, "means: expected an array, found the path 'ten'"),
        ("means", np.zeros((2, 3), complex), TypeError, "means: expected numbers, found complex128"),
        ("means", [[np.nan, 0, 0], [0, 0, 0]], ValueError, r"means\[0\]: expected finite numbers"),
        ("means", [[1e300, 0, 0], [0, 0, 0]], ValueError, r"means\[0\]: expected finite numbers"),
        ("quats", np.zeros((2, 4)), ValueError, r"rotations\[0\]: expected a finite quaternion other than zero"),
        ("quats", np.ones((2, 3)), ValueError, r"quats: expected \[2, 4\], found \[2, 3\]"),
        ("scales", -np.ones((2, 3)), ValueError, r"scales\[0\]: expected numbers of at least 0"),
        ("opacities", [0.5, 1.5], ValueError, r"opacities\[1\]: expected a number from 0 to 1, found 1.5"),
        ("opacities", [[0.5, 0.5]], ValueError, r"opacities: expected \[2\]"),
        ("sh", np.zeros((2, 5, 3)), ValueError, "sh: expected 1, 4, 9, 16 or 25 coefficients, found 5"),
        ("sh", np.zeros((2, 3)), ValueError, r"sh: expected \[2, K, 3\]"),
    ],
)
def test_arrays_that_do_not_fit_are_named(name: str, value: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        quadrille.Scene.from_arrays(**{**two(), name: value})


def test_arrays_of_any_layout_are_the_same_scene() -> None:
    plain = quadrille.Scene.from_arrays(**two())
    for change in (
        lambda a: np.asfortranarray(a),
        lambda a: a.astype(">f8"),
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: a.tolist(),
        lambda a: a.astype(np.float32),
    ):
        other = quadrille.Scene.from_arrays(**{name: change(array) for name, array in two().items()})
        np.testing.assert_array_equal(plain.sh, other.sh)
        np.testing.assert_array_equal(plain.quats, other.quats)


class OnDevice:
    """An array in the memory of a GPU."""

    def __dlpack__(self, **_: object) -> object:
        raise AssertionError("asked for its memory")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_memory_of_gpus_is_refused_before_it_is_touched() -> None:
    message = r"means: expected an array in CPU memory, found one in memory of cuda:0; use \.cpu\(\)"
    with pytest.raises(TypeError, match=message):
        quadrille.Scene.from_arrays(**{**two(), "means": OnDevice()})


def test_empty_scenes_are_scenes() -> None:
    none = quadrille.Scene.from_arrays(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), [], np.zeros((0, 1, 3)))
    assert len(none) == 0 and none.bounds is None
    camera = quadrille.Camera(8, 8, [[8, 0, 4], [0, 8, 4], [0, 0, 1]], np.eye(4))
    assert not quadrille.render(none, camera).rgba.any()


def test_selections(vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    scene = vase[0]
    mask = scene.opacities > 0.5
    selected = scene.select(mask)
    assert len(selected) == mask.sum() > 0
    np.testing.assert_array_equal(selected.means, scene.means[mask])
    np.testing.assert_array_equal(scene.select([5, -1, 5]).sh, scene.sh[[5, -1, 5]])
    where = scene.where("opacity > 0.5")
    np.testing.assert_array_equal(where.means, scene.means[mask])
    with pytest.raises(IndexError):
        scene.select([2000])
    with pytest.raises(ValueError, match=r"mask: expected \[2000\], found \[3\]"):
        scene.select([True, False, True])
    with pytest.raises(TypeError):
        scene.select([0.5])
    with pytest.raises(ValueError, match="condition: expected"):
        scene.where("opacity >")


def test_pickles_are_bit_identical(vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera) -> None:
    scene, camera = pickle.loads(pickle.dumps((vase[0], view)))
    assert camera == view
    a, b = quadrille.render(vase[0], view).rgba, quadrille.render(scene, camera).rgba
    assert a.tobytes() == b.tobytes()


def test_pickled_tables_keep_columns_and_comments(tmp_path: pathlib.Path, vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    vase[0].save(tmp_path / "vase.ply")
    table = quadrille.load_table(tmp_path / "vase.ply")
    table.columns["segment"] = np.arange(len(table), dtype=np.uint16)
    table.comments.append("a remark")
    again = pickle.loads(pickle.dumps(table))
    assert list(again.columns) == list(table.columns) and again.comments == table.comments
    for name, values in table.columns.items():
        assert again.columns[name].dtype == values.dtype
        np.testing.assert_array_equal(again.columns[name], values)


def test_far_scenes_keep_their_place(tmp_path: pathlib.Path, vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    near, far = tmp_path / "near.ply", tmp_path / "far.ply"
    vase[0].save(near)
    table = quadrille.load_table(near)
    for axis, by in (("x", 500_000.0), ("y", 4_600_000.0)):
        table.columns[axis] = table.columns[axis].astype(np.float64) + by
    table.columns["z"] = table.columns["z"].astype(np.float64)
    table.save(far)
    scene = quadrille.load(far)
    assert scene.means.dtype == np.float64
    np.testing.assert_allclose(scene.means - [500_000, 4_600_000, 0], vase[0].means, atol=1e-6)
    again = pickle.loads(pickle.dumps(scene))
    np.testing.assert_array_equal(scene.means, again.means)
    # The parts of a sum keep their places, and float32 about the origin of one of them is not exact in the other.
    np.testing.assert_array_equal((scene[:5] + scene[5:]).means, scene.means)
    with pytest.warns(UserWarning, match="other: its splats are .* away"):
        both = scene + vase[0]
    np.testing.assert_array_equal(both.means[: len(scene)], scene.means)
    np.testing.assert_allclose(both.means[len(scene) :], vase[0].means, atol=0.5)
    back = tmp_path / "back.ply"
    scene.save(back)
    np.testing.assert_allclose(quadrille.load(back).means, scene.means, atol=1e-6)


def test_a_table_is_saved_with_the_same_bytes(tmp_path: pathlib.Path) -> None:
    for source in sorted((ROOT / "scenes").glob("*.ply")):
        saved = tmp_path / source.name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quadrille.load_table(source).save(saved)
        body = source.read_bytes().split(b"end_header\n", 1)[1]
        assert saved.read_bytes().split(b"end_header\n", 1)[1] == body, source.name


def test_columns_of_any_name_and_type(tmp_path: pathlib.Path, vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    path = tmp_path / "a.ply"
    vase[0].save(path)
    table = quadrille.load_table(path)
    for kind in ("f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4"):
        table.columns[f"of_{kind}"] = np.arange(2000).astype(kind)
    table.comments.append("made by a test")
    table.save(path)
    again = quadrille.load_table(path)
    assert again.comments[-1] == "made by a test"
    for name, values in table.columns.items():
        assert again.columns[name].dtype == values.dtype, name
        np.testing.assert_array_equal(again.columns[name], values)
    table.columns["short"] = np.zeros(3)
    with pytest.raises(ValueError, match=r"columns\['short'\]: expected \[2000\], found \[3\]"):
        table.save(path)
    del table.columns["short"]
    table.columns["text"] = np.array(["a"] * 2000)
    with pytest.raises(TypeError, match=r"columns\['text'\]: expected a type of PLY"):
        table.save(path)


def test_errors_of_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        quadrille.load(tmp_path / "none.ply")
    assert missing.value.filename == str(tmp_path / "none.ply") and missing.value.errno == 2
    bad = tmp_path / "bad.ply"
    bad.write_bytes(b"ply\nnonsense")
    with pytest.raises(quadrille.FormatError, match=r"bad\.ply: .*expected"):
        quadrille.load(bad)
    assert issubclass(quadrille.FormatError, ValueError) and issubclass(quadrille.LimitError, ValueError)
    with pytest.raises(ValueError, match="path: expected a name that ends in"):
        quadrille.synth("object", splats=100)[0].save(tmp_path / "a.xyz")
    with pytest.raises(ValueError, match="axes: expected"):
        quadrille.load(bad, axes="XYZ")
    with pytest.raises(ValueError, match="recipe: expected"):
        quadrille.synth("castle")


def test_what_a_format_cannot_hold_is_warned_of(tmp_path: pathlib.Path, vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    with pytest.warns(UserWarning, match="spherical harmonics of degree 3 are left out"):
        vase[0].save(tmp_path / "a.splat")
    assert quadrille.load(tmp_path / "a.splat").sh_degree == 0


@pytest.mark.parametrize("suffix", ["usda", "usdc", "usdz"])
def test_stages_of_usd_hold_the_scene(
    tmp_path: pathlib.Path, vase: tuple[quadrille.Scene, list[quadrille.Camera]], suffix: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    vase[0].save(path)
    for again in (quadrille.load(path), quadrille.loads(path.read_bytes(), path.name)):
        assert again.format != vase[0].format and again.sh_degree == 3
        for name in ("means", "scales", "opacities", "sh"):
            np.testing.assert_allclose(getattr(again, name), getattr(vase[0], name), rtol=2e-6, atol=1e-6, err_msg=name)
        camera = vase[1][0].resized(96, 54)
        drawn, expected = (quadrille.render(scene, camera).rgba for scene in (again, vase[0]))
        assert np.abs(drawn - expected).max() < 1e-4
    table = quadrille.convert(path, tmp_path / "b.ply")
    assert table["output"]["splats"] == len(vase[0])


def test_conversion_with_a_report(tmp_path: pathlib.Path, vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    source, out = tmp_path / "a.ply", tmp_path / "b.spz"
    vase[0].save(source)
    stages: list[tuple[str, int, int]] = []
    found = quadrille.convert(
        source,
        out,
        actions=[("where", "opacity > 0.1"), ("keep_box", [-9, -9, -9, 9, 9, 9]), "morton"],
        cameras=[camera.resized(96, 54) for camera in vase[1][:3]],
        report=True,
        progress=lambda *stage: stages.append(stage),
    )
    assert [step["action"] for step in found["actions"]] == [
        "where opacity > 0.1",
        "keep-box -9.0,-9.0,-9.0,9.0,9.0,9.0",
        "morton",
    ]
    assert found["output"]["written"] and found["output"]["splats"] == len(quadrille.load(out))
    assert len(found["report"]["views"]) == 3 and found["report"]["mean"]["psnr_db"] > 30
    assert stages
    with pytest.raises(ValueError, match="prune: expected a weight from 0 to 1|cameras: expected cameras for the action prune"):
        quadrille.convert(source, out, actions=[("prune", 0.01)])
    with pytest.raises(ValueError, match="action: expected one of keep-box"):
        quadrille.convert(source, out, actions=["polish"])
    with pytest.raises(TypeError, match="actions: expected a name"):
        quadrille.convert(source, out, actions=[3])  # type: ignore[list-item]
    with pytest.raises(ValueError):
        quadrille.convert(source, source)
    with pytest.raises(ValueError, match="inputs: expected at least one file"):
        quadrille.convert([], out)


def test_scenes_are_cut_and_joined(vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera) -> None:
    scene = vase[0]
    joined = scene[:500] + scene[500:]
    assert quadrille.render(joined, view).rgba.tobytes() == quadrille.render(scene, view).rgba.tobytes()
    flat = quadrille.Scene.from_arrays(scene.means, scene.quats, scene.scales, scene.opacities, scene.sh[:, :1])
    both = scene + flat
    assert both.sh_degree == scene.sh_degree and not both.sh[len(scene) :, 1:].any()
    with pytest.raises(TypeError, match="rows: expected a slice"):
        scene[3]
    with pytest.raises(TypeError):
        scene + 3


def test_covariances_are_those_of_axes_and_scales(vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    scene = vase[0][:50]
    variances = np.linalg.eigvalsh(scene.covariances.astype(np.float64))
    np.testing.assert_allclose(variances, np.sort(scene.scales.astype(np.float64) ** 2), rtol=1e-3, atol=1e-9)


def test_moves_of_a_camera(view: quadrille.Camera) -> None:
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    moved = view.translated([0.1, 0.2, 0.3]).rotated(turn)
    pose = view.camera_to_world
    np.testing.assert_allclose(moved.eye, (pose @ [0.1, 0.2, 0.3, 1])[:3])
    np.testing.assert_allclose(moved.camera_to_world[:3, :3], pose[:3, :3] @ turn, atol=1e-12)
    again = quadrille.Camera.from_opengl(moved.to_opengl(), moved.K, moved.width, moved.height)
    np.testing.assert_allclose(again.viewmat, moved.viewmat, atol=1e-9)


def test_a_transformed_scene_looks_the_same_from_the_moved_camera(
    vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera
) -> None:
    scene = vase[0]
    turn = quadrille.Camera.look_at([1, 2, 3], [0, 0.5, 0], [0, 1, 0], width=8, height=8, fov_degrees=50).viewmat
    matrix = np.array(turn) @ np.diag([1.7, 1.7, 1.7, 1])
    moved = scene.transform(matrix)
    assert np.allclose(moved.means, scene.means @ matrix[:3, :3].T + matrix[:3, 3], atol=1e-5)
    # The camera in the new world, with distances that are 1.7 times as large.
    viewmat = view.viewmat @ np.linalg.inv(matrix)
    viewmat[:3] *= 1.7
    camera = quadrille.Camera(view.width, view.height, view.K, viewmat)
    found = quadrille.compare(quadrille.render(scene, view), quadrille.render(moved, camera), protocol="float")
    assert found["psnr_db"] > 55
    for wrong in (np.diag([1, 1, 2, 1]), np.diag([1, 1, -1, 1]), np.full((4, 4), np.nan), np.eye(4) + np.eye(4)[::-1]):
        with pytest.raises(ValueError, match="matrix"):
            scene.transform(wrong)


def test_moves_beyond_the_precision_of_numbers_are_refused_or_told(
    vase: tuple[quadrille.Scene, list[quadrille.Camera]],
) -> None:
    scene = vase[0]
    matrix = np.eye(4)
    matrix[0, 3] = 1e39
    with pytest.raises(ValueError, match="single precision"):
        scene.transform(matrix)
    matrix[0, 3] = 1e16
    with pytest.warns(UserWarning, match="rounded to steps of 2.00e0"):
        scene.transform(matrix)
    with pytest.warns(UserWarning, match="rounded to steps of 2.00e0"):
        scene.convert([("translate", "1e16,0,0")])


def test_actions_in_memory_are_those_of_files(
    vase: tuple[quadrille.Scene, list[quadrille.Camera]], tmp_path: pathlib.Path
) -> None:
    scene, cameras = vase
    small = [camera.resized(96, 54) for camera in cameras[:3]]
    actions = [("where", "opacity > 0.1"), ("rotate", [0, 90, 0]), ("prune", 0.01), ("decimate", "80%"), ("sh", 1), "morton"]
    found = scene.convert(actions, cameras=small)
    scene.save(tmp_path / "a.ply")
    quadrille.convert(tmp_path / "a.ply", tmp_path / "b.ply", actions=actions, cameras=small)
    expected = quadrille.load(tmp_path / "b.ply")
    assert len(found) == len(expected) < len(scene) and found.sh_degree == 1
    for name in ("means", "scales", "opacities", "sh"):
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-4, atol=1e-5), name
    assert len(scene) == 2000
    for wrong, message in [
        (["decimat"], "action: .*did you mean decimate"),
        ([("prune", 0.5)], "cameras: expected cameras for the action prune, found none"),
        ([("where", "opacity > 2")], "where opacity > 2: expected at least one splat"),
    ]:
        with pytest.raises(ValueError, match=message):
            scene.convert(wrong)
    with pytest.warns(UserWarning, match="a number without % is a count"):
        scene.convert([("decimate", 5)])
