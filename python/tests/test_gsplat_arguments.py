"""Each argument and result of `quadrille.gsplat`, and its table."""

from __future__ import annotations

import ast
import concurrent.futures
import inspect
import pathlib
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import gsplat_scenes
import numpy as np
import oracle
import pytest

from quadrille import _compat
from quadrille import gsplat as ours
from quadrille.gsplat import rasterization

CASE = gsplat_scenes.cases()["cloud"]
DOCS = pathlib.Path(__file__).parents[2] / "docs" / "gsplat.md"
ARGUMENTS = {argument.name: argument for argument in _compat.ARGUMENTS}


def call(**changes: Any) -> tuple[Any, Any, Any]:
    return rasterization(**{**CASE.arguments(), **changes})


def same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return a[0].tobytes() == b[0].tobytes() and a[1].tobytes() == b[1].tobytes()


def test_parameters_are_those_of_the_wheel() -> None:
    theirs = oracle.parameters("rasterization")
    if theirs is None:
        pytest.skip("gsplat 1.5.3 is not installed")
    assert len(theirs) == 34
    signature = inspect.signature(rasterization).parameters
    positional = [p for p in signature.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [p.name for p in positional] == [name for name, _ in theirs]
    for parameter, (name, default) in zip(positional, theirs):
        if name == "rolling_shutter":
            assert parameter.default is None and default == "RollingShutterType.GLOBAL"
        elif default is None:
            assert parameter.default is parameter.empty
        else:
            assert parameter.default == ast.literal_eval(default), name


def test_the_table_holds_every_parameter_in_order() -> None:
    signature = inspect.signature(rasterization).parameters
    assert [a.name for a in _compat.ARGUMENTS] == list(signature)
    for argument in _compat.ARGUMENTS:
        parameter = signature[argument.name]
        default = ... if parameter.default is parameter.empty else parameter.default
        assert default == argument.default, argument.name
        by_name = argument.since != "1.5"
        assert (parameter.kind is parameter.KEYWORD_ONLY) == by_name
        assert bool(argument.remedy) == (argument.treatment == "refused")


def test_the_page_is_the_table() -> None:
    assert DOCS.read_text() == _compat.markdown(), "write docs/gsplat.md again: python -m quadrille._compat > docs/gsplat.md"


def test_the_example_of_the_page_runs() -> None:
    example = DOCS.read_text().split("```python\n")[1].split("```")[0]
    exec(example, {})


REFUSED = [name for name, argument in ARGUMENTS.items() if argument.treatment == "refused"]
OTHER = {
    "global_z_order": False,
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_arguments_name_a_remedy(name: str) -> None:
    default = ARGUMENTS[name].default
    other = OTHER.get(name, True if default is False else np.zeros(1))
    with pytest.raises(NotImplementedError, match=f"^{name}: .*; {ARGUMENTS[name].remedy[:20]}"):
        call(**{name: other})
    assert same(call(**{name: default}), call())


@pytest.mark.parametrize("model", ["ftheta", "lidar"])
def test_other_cameras_are_not_drawn(model: str) -> None:
    with pytest.raises(NotImplementedError, match=f"^camera_model: '{model}'"):
        call(camera_model=model)


def test_fisheyes_have_no_points_of_splats() -> None:
    with pytest.raises(NotImplementedError, match="^with_ut"):
        call(camera_model="fisheye", with_ut=True)


def test_a_shutter_named_global_is_the_default() -> None:
    assert same(call(rolling_shutter=SimpleNamespace(name="GLOBAL")), call())


@pytest.mark.parametrize(
    "changes",
    [
        {"sparse_grad": True, "absgrad": True},
        {"channel_chunk": 1},
        {"segmented": True},
        {"packed": False},
        {"tile_size": 8},
        {"tile_size": None},
        {"threads": 1},
        {"threads": 2},
        {"meta": False},
    ],
)
def test_pixels_do_not_depend_on_it(changes: dict[str, Any]) -> None:
    assert same(call(**changes), call())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": np.zeros((400, 4))}, "means: expected \\[N, 3\\], found \\[400, 4\\]"),
        ({"means": np.zeros(3)}, "means: expected"),
        ({"quats": np.zeros((399, 4))}, "quats: expected \\[400, 4\\]"),
        ({"scales": np.zeros((400, 2))}, "scales: expected"),
        ({"opacities": np.zeros((400, 1))}, "opacities: expected \\[400\\]"),
        ({"colors": np.zeros((400, 15, 3))}, "colors: expected at least 16"),
        ({"colors": np.zeros((399, 16, 3))}, "colors: expected \\[400, K, 3\\]"),
        ({"colors": np.zeros((3, 400, 16, 3))}, "colors: expected \\[2, 400, K, 3\\]"),
        ({"colors": np.zeros((400, 0)), "sh_degree": None}, "colors: expected at least 1"),
        ({"colors": None}, "colors: expected an array"),
        ({"colors": None, "compat": "1.6"}, "colors: expected an array"),
        ({"colors": np.zeros((2, 400, 16, 3)), "compat": "1.6"}, "colors: expected \\[N, K, 3\\]"),
        ({"sh_degree": 5}, "sh_degree: expected 0 to 4, found 5"),
        ({"sh_degree": -1}, "sh_degree: expected"),
        ({"viewmats": np.eye(4)}, "viewmats: expected \\[C, 4, 4\\]"),
        ({"viewmats": np.stack([2 * np.eye(4)] * 2)}, "viewmats: expected rigid"),
        ({"viewmats": np.stack([np.diag([2, 1, 1, 1.0])] * 2)}, "rotation"),
        ({"Ks": np.eye(3)[None]}, "Ks: expected \\[2, 3, 3\\]"),
        ({"Ks": CASE.Ks + np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])}, "Ks: expected matrices without skew"),
        ({"Ks": CASE.Ks * np.array([[0, 1, 1], [1, 1, 1], [1, 1, 1]])}, "focal"),
        ({"width": 0}, "width: expected 1 to 32768"),
        ({"height": 32769}, "height: expected 1 to 32768"),
        ({"near_plane": np.nan}, "near_plane: expected a number"),
        ({"eps2d": -0.1}, "eps2d: expected at least 0"),
        ({"tile_size": 0}, "tile_size: expected at least 1"),
        ({"backgrounds": np.zeros((2, 4))}, "backgrounds: expected \\[2, 3\\]"),
        ({"render_mode": "RGBD"}, "render_mode: expected one of RGB"),
        ({"rasterize_mode": "fast"}, "rasterize_mode: expected one of"),
        ({"camera_model": "box"}, "camera_model: expected one of"),
        ({"compat": "1.4"}, "compat: expected one of 1.5, 1.6"),
        ({"threads": -1}, "threads: expected"),
    ],
)
def test_wrong_values_name_the_argument(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(**changes)


@pytest.mark.parametrize("mode", _compat.RAY_MODES)
def test_depth_along_rays_is_not_drawn(mode: str) -> None:
    with pytest.raises(NotImplementedError, match="takes z"):
        call(render_mode=mode)


def test_other_coefficients_are_not_drawn() -> None:
    with pytest.raises(NotImplementedError):
        call(colors=np.zeros((400, 16, 4)))


def test_a_background_of_one_axis_is_that_of_every_camera() -> None:
    behind = np.array([0.2, -0.5, 3.0], np.float32)
    assert same(call(backgrounds=behind), call(backgrounds=np.stack([behind, behind])))
    with pytest.raises(ValueError, match="backgrounds: expected \\[3\\], found \\[4\\]"):
        call(backgrounds=np.zeros(4))


@pytest.mark.parametrize("mode", ["RGB+D", "RGB+ED"])
def test_no_channels_and_depth_are_depth(mode: str) -> None:
    for behind in (None, np.zeros((2, 0)), np.zeros(0)):
        found = call(colors=np.zeros((400, 0)), sh_degree=None, render_mode=mode, backgrounds=behind)
        assert same(found, call(render_mode=mode.removeprefix("RGB+")))


def batches(*batch: int) -> dict[str, Any]:
    """Arguments that differ from batch to batch: splats are moved, and cameras nearer."""
    arguments = CASE.arguments()
    shifts = np.arange(np.prod(batch), dtype=np.float32).reshape(*batch, 1, 1) / 10
    names = ["means", "quats", "scales", "opacities", "colors", "viewmats", "Ks", "backgrounds"]
    changed = {name: np.broadcast_to(arguments[name], (*batch, *arguments[name].shape)).copy() for name in names}
    changed["means"] += shifts
    changed["viewmats"][..., 2, 3] -= shifts[..., 0]
    return changed


@pytest.mark.parametrize("mode", ["RGB", "RGB+ED"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("batch", [(3,), (2, 2), (1, 1)])
def test_batches_are_calls_one_by_one(batch: tuple[int, ...], packed: bool, mode: str) -> None:
    changed, rest = batches(*batch), {"packed": packed, "render_mode": mode}
    colors, alphas, meta = call(**changed, **rest)
    assert colors.shape[: len(batch) + 1] == alphas.shape[: len(batch) + 1] == (*batch, 2)
    assert meta["n_batches"] == np.prod(batch) and meta["n_cameras"] == 2
    first = 0
    for number, index in enumerate(np.ndindex(*batch)):
        one = call(**{name: array[index] for name, array in changed.items()}, **rest)
        assert same((colors[index], alphas[index]), one)
        for name, expected in one[2].items():
            if not isinstance(expected, np.ndarray):
                continue
            if packed:
                found = meta[name][first : first + len(expected)]
                assert (found == (number if name == "batch_ids" else expected)).all(), name
            else:
                assert (meta[name][index] == expected).all(), name
        first += len(one[2]["radii"])
    assert not packed or first == len(meta["batch_ids"])
    if packed and mode == "RGB":
        behind = {**changed, "backgrounds": np.ones(3)}
        assert call(**behind)[0].shape == colors.shape


@pytest.mark.parametrize(
    ("name", "shape"),
    [("viewmats", (2, 2, 4, 4)), ("colors", (400, 16, 3)), ("backgrounds", (2, 3)), ("quats", (400, 4))],
)
def test_every_array_has_the_batches(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected the leading axes \\[3\\] of means, found"):
        call(**{**batches(3), name: np.zeros(shape)})


def test_no_batches_are_an_error() -> None:
    with pytest.raises(ValueError, match="^means: expected at least one batch"):
        call(**{name: array[:0] for name, array in batches(1).items()})


@pytest.mark.parametrize("name", ["viewmats", "Ks"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_cameras_that_are_not_finite_are_named(name: str, number: float) -> None:
    cameras = CASE.arguments()[name].copy()
    cameras[1, 0, 2] = number
    with pytest.raises(ValueError, match=f"^{name}: expected finite numbers, found {number}"):
        call(**{name: cameras})


@pytest.mark.parametrize(("name", "value"), [("sh_degree", 3.0), ("tile_size", 16.0), ("threads", 2.0)])
def test_whole_numbers_of_another_type_are_named(name: str, value: float) -> None:
    with pytest.raises(TypeError, match=f"^{name}: expected an integer, found {value}"):
        call(**{name: value})


def test_masked_elements_are_refused() -> None:
    means = np.ma.masked_array(CASE.geometry["means"], mask=False)
    assert same(call(means=means), call())
    means[3, 1] = np.ma.masked
    with pytest.raises(ValueError, match="^means: expected no masked elements, found some; use .filled()"):
        call(means=means)


def test_numbers_of_16_bits_of_jax_are_taken() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    means = CASE.geometry["means"].astype(bfloat16)
    assert same(call(means=means), call(means=means.astype(np.float32)))


def test_depth_needs_no_colors_in_1_6() -> None:
    for mode in ("D", "ED"):
        without = call(colors=None, sh_degree=None, render_mode=mode, compat="1.6")
        assert same(without, call(render_mode=mode, compat="1.6"))


def test_shapes_follow_the_mode() -> None:
    for mode, channels in [("RGB", 3), ("D", 1), ("ED", 1), ("RGB+D", 4), ("RGB+ED", 4)]:
        colors, alphas, _ = call(render_mode=mode)
        assert colors.shape == (2, gsplat_scenes.HEIGHT, gsplat_scenes.WIDTH, channels)
        assert alphas.shape == (*colors.shape[:3], 1)
        assert colors.flags.c_contiguous and colors.flags.writeable and colors.flags.owndata is not None


def test_any_number_of_channels_is_the_channels_one_by_one() -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 4, 5, 8, 65):
        values = random.normal(size=(400, count)).astype(np.float32)
        behind = random.normal(size=(2, count)).astype(np.float32)
        together, alphas, _ = call(colors=values, sh_degree=None, backgrounds=behind)
        for channel in {0, count // 2, count - 1}:
            one, one_alphas, _ = call(
                colors=values[:, [channel]], sh_degree=None, backgrounds=behind[:, [channel]]
            )
            assert np.abs(together[..., channel] - one[..., 0]).max() < 1e-6
            assert (alphas == one_alphas).all()


def test_no_splats_show_the_background() -> None:
    empty = {name: array[:0] for name, array in CASE.geometry.items()}
    colors, alphas, meta = call(**empty, colors=np.zeros((0, 16, 3)))
    assert (colors == CASE.backgrounds[:, None, None]).all() and not alphas.any()
    assert len(meta["gaussian_ids"]) == 0


def test_no_cameras_give_no_pictures() -> None:
    colors, alphas, meta = call(viewmats=CASE.viewmats[:0], Ks=CASE.Ks[:0], backgrounds=None)
    assert colors.shape[0] == alphas.shape[0] == 0 and meta["n_cameras"] == 0


def test_sizes_and_kernels_of_meta() -> None:
    _, _, meta = call(tile_size=20)
    assert (meta["width"], meta["height"], meta["tile_size"]) == (96, 54, 20)
    assert (meta["tile_width"], meta["tile_height"]) == (5, 3)
    assert (meta["n_cameras"], meta["n_batches"]) == (2, 1)
    for name in _compat.KERNEL_META:
        assert name not in meta
        with pytest.raises(KeyError, match="CUDA kernels"):
            meta[name]
    assert {entry.name for entry in _compat.META} == set(meta)
    assert "means2d" not in call(meta=False)[2]


def test_invalid_rows_are_left_out_with_a_warning() -> None:
    geometry = {name: array.copy() for name, array in CASE.geometry.items()}
    geometry["means"][3, 1] = np.nan
    geometry["quats"][5] = 0
    geometry["scales"][7] = np.inf
    geometry["opacities"][9] = -np.inf
    kept = np.setdiff1d(np.arange(400), [3, 5, 7, 9])
    with pytest.warns(UserWarning, match="4 of 400 splats are left out"):
        found = call(**geometry)
    others = {name: array[kept] for name, array in CASE.geometry.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(found, call(**others, colors=CASE.colors[kept]))


@pytest.mark.parametrize("opacity", [-1.0, 0.0, 1.0, 1.5])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1.0, 1e30])
def test_extreme_values_give_finite_pixels(opacity: float, scale: float) -> None:
    geometry = {name: array.copy() for name, array in CASE.geometry.items()}
    geometry["opacities"][::7] = opacity
    geometry["scales"][::7] = scale
    colors, alphas, _ = call(**geometry)
    assert np.isfinite(colors).all() and ((alphas >= 0) & (alphas <= 1)).all()


def test_other_kinds_of_numbers_are_converted() -> None:
    expected = call()
    as_lists = {name: array.tolist() for name, array in CASE.geometry.items()}
    assert same(call(**as_lists), expected)
    arguments = CASE.arguments()
    for convert in (
        lambda a: a.astype(np.float64),
        lambda a: a.astype(">f4"),
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
    ):
        changed = {k: convert(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
        assert same(rasterization(**changed), expected)
    with pytest.raises(TypeError, match="means"):
        call(means=np.zeros((400, 3), complex))


def test_exported_files_hold_the_values(tmp_path: pathlib.Path) -> None:
    random = np.random.default_rng(2)
    raw = {
        "means": random.normal(size=(50, 3)),
        "scales": random.normal(size=(50, 3)) - 3,
        "quats": random.normal(size=(50, 4)),
        "opacities": random.normal(size=50),
        "sh0": random.normal(size=(50, 1, 3)),
        "shN": random.normal(size=(50, 8, 3)),
    }
    raw = {name: array.astype(np.float32) for name, array in raw.items()}
    path = tmp_path / "splats.ply"
    assert ours.export_splats(**raw, save_to=path) == path.read_bytes()
    found = ours.load_ply_to_splats(path)
    assert list(found) == ["means", "quats", "scales", "opacities", "sh0", "shN"]
    for name, array in raw.items():
        assert tuple(found[name].shape) == array.shape and (np.asarray(found[name]) == array).all(), name
    plyfile = pytest.importorskip("plyfile")
    vertex = plyfile.PlyData.read(path)["vertex"]
    assert (np.asarray(vertex["f_rest_9"]) == raw["shN"][:, 1, 1]).all()
    for format in ("splat", "ply_compressed", "spz", "sog"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(ours.export_splats(**raw, format=format)) > 100
    raw["means"][4, 0], raw["opacities"][8] = np.inf, np.nan
    ours.export_splats(**raw, save_to=path)
    assert len(ours.load_ply_to_splats(path)["means"]) == 48
    with pytest.raises(ValueError, match="format: expected one of"):
        ours.export_splats(**raw, format="obj")


def test_folders_of_pictures_name_what_to_use() -> None:
    with pytest.raises(NotImplementedError, match="quadrille.convert"):
        ours.PngCompression()


def test_arrays_that_change_during_a_call_do_no_harm() -> None:
    arguments = CASE.arguments()
    for name in ("means", "quats", "scales", "opacities", "colors"):
        arguments[name] = arguments[name].copy()
    is_over = threading.Event()

    def disturb() -> None:
        random = np.random.default_rng(3)
        while not is_over.is_set():
            for name in ("means", "quats", "scales", "opacities", "colors"):
                values = arguments[name].reshape(-1)
                values[random.integers(len(values), size=50)] = random.choice([np.nan, np.inf, 0, -1e30, 1, 4])

    writer = threading.Thread(target=disturb)
    writer.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(50):
                _, alphas, meta = rasterization(**arguments)
                assert np.isfinite(alphas).all() and (meta["gaussian_ids"] < 400).all()
    finally:
        is_over.set()
        writer.join()


def test_calls_on_several_threads_give_the_same_bytes() -> None:
    expected = call()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(same(found, expected) for found in pool.map(lambda _: call(), range(32)))
