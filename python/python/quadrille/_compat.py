"""What `quadrille.gsplat` does with each argument and result of gsplat.

The tables are data: the functions read their checks from them, `docs/gsplat.md` is written from them, and tests hold
them to the signature of gsplat itself.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, NamedTuple

Compat = Literal["1.5", "1.6"]
COMPATS: tuple[Compat, ...] = ("1.5", "1.6")

Treatment = Literal["used", "ignored", "refused"]


class Argument(NamedTuple):
    """An argument of `rasterization`."""

    name: str
    #: Default value; `...` if there is none. Members of enumerations stand as None.
    default: Any
    #: Version of gsplat that has it, or "quadrille".
    since: Literal["1.5", "1.6", "quadrille"]
    #: Whether pictures depend on it, it has no effect, or other values than the default raise NotImplementedError.
    treatment: Treatment
    #: Meaning and limits.
    text: str
    #: What to do instead of using it.
    remedy: str = ""


_DISTORTION = "undistort the pictures first, or render a fisheye with quadrille.render"
_MODELS = (
    "pinhole; ortho, with focal lengths in pixels per world unit; or fisheye, equidistant and in order of z, without `with_ut`. "
    "Other models raise NotImplementedError."
)
_FROM_WORLD = "use the projection of splats, which is the default"
_DATA = "pass the values in colors: any number of channels is drawn"

ARGUMENTS: tuple[Argument, ...] = (
    Argument("means", ..., "1.5", "used", "[N, 3], world units. All arrays may have the same further axes in front."),
    Argument("quats", ..., "1.5", "used", "[N, 4] w, x, y, z of any length but zero."),
    Argument("scales", ..., "1.5", "used", "[N, 3], linear."),
    Argument("opacities", ..., "1.5", "used", "[N], after the sigmoid."),
    Argument(
        "colors",
        ...,
        "1.5",
        "used",
        "Without `sh_degree`: [N, D] or [C, N, D], D at least 1, or 0 with depth; negative values too. With it: coefficients [N, K, 3] or, "
        "in \"1.5\" only, [C, N, K, 3]. None in \"1.6\" if only depth is drawn.",
    ),
    Argument("viewmats", ..., "1.5", "used", "[C, 4, 4], world to camera, OpenCV axes; a rigid motion up to 1e-3."),
    Argument("Ks", ..., "1.5", "used", "[C, 3, 3] in pixels; no skew, which gsplat's kernels ignore."),
    Argument("width", ..., "1.5", "used", "1 to 32768 pixels."),
    Argument("height", ..., "1.5", "used", "1 to 32768 pixels."),
    Argument("near_plane", 0.01, "1.5", "used", "Splats at or in front of it are not drawn."),
    Argument("far_plane", 1e10, "1.5", "used", "Splats behind it are not drawn."),
    Argument("radius_clip", 0.0, "1.5", "used", "Splats whose two radii are at most this are not drawn."),
    Argument("eps2d", 0.3, "1.5", "used", "Square pixels added to the covariance."),
    Argument("sh_degree", None, "1.5", "used", "0 to 4, with (sh_degree + 1)² at most K."),
    Argument("packed", True, "1.5", "used", "Only affects the layout of `meta`."),
    Argument("tile_size", 16, "1.5", "used", "Only reported in `meta`; None is reported as 16."),
    Argument("backgrounds", None, "1.5", "used", "[C, D], or [D] for all cameras and batches; the background of depth is 0."),
    Argument("render_mode", "RGB", "1.5", "used", "RGB, D, ED, RGB+D or RGB+ED; d, Ed, RGB-d and RGB-Ed of 1.6 raise "
             "NotImplementedError."),
    Argument("sparse_grad", False, "1.5", "ignored", "Gradients are dense; where they are recorded, True raises NotImplementedError."),
    Argument("absgrad", False, "1.5", "used", "Whether the backward pass sets `meta[\"means2d\"].absgrad`."),
    Argument("rasterize_mode", "classic", "1.5", "used", "classic or antialiased, with the minimum factor of `compat`."),
    Argument("channel_chunk", 32, "1.5", "ignored", "Pixels do not depend on it."),
    Argument("distributed", False, "1.5", "refused", "", "run one process per camera"),
    Argument("camera_model", "pinhole", "1.5", "used", _MODELS),
    Argument("segmented", False, "1.5", "ignored", "Pixels do not depend on it."),
    Argument("covars", None, "1.5", "used", "[N, 3, 3], in place of quats and scales; the upper triangle is read."),
    Argument("with_ut", False, "1.5", "used", "Footprints from seven points of each splat. Calls for gradients raise "
             "NotImplementedError."),
    Argument("with_eval3d", False, "1.5", "refused", "", _FROM_WORLD),
    Argument("radial_coeffs", None, "1.5", "used", "[C, 6] with `with_ut`: k1 to k6 of OpenCV."),
    Argument("tangential_coeffs", None, "1.5", "used", "[C, 2] with `with_ut`: p1, p2."),
    Argument("thin_prism_coeffs", None, "1.5", "used", "[C, 4] with `with_ut`: s1 to s4."),
    Argument("ftheta_coeffs", None, "1.5", "refused", "", _DISTORTION),
    Argument("rolling_shutter", None, "1.5", "used", "Member of `RollingShutterType`; others than GLOBAL with `with_ut` and "
             "`viewmats_rs`. Near and far plane, order and depths take the pose at half time. "
             "Its rounding to whole rows blurs pictures, as in gsplat without `with_eval3d`; `quadrille.Blur` does not round."),
    Argument("viewmats_rs", None, "1.5", "used", "[C, 4, 4], poses at the end of the readout."),
    Argument("return_normals", False, "1.6", "refused", "", "take the layer normal of quadrille.render"),
    Argument("global_z_order", True, "1.6", "refused", "", "keep True: splats are drawn in order of z"),
    Argument("rays", None, "1.6", "refused", "", _FROM_WORLD),
    Argument("lidar_coeffs", None, "1.6", "refused", "", _FROM_WORLD),
    Argument("external_distortion_coeffs", None, "1.6", "refused", "", _DISTORTION),
    Argument("ut_params", None, "1.6", "refused", "", _FROM_WORLD),
    Argument("extra_signals", None, "1.6", "refused", "", _DATA),
    Argument("extra_signals_sh_degree", None, "1.6", "refused", "", _DATA),
    Argument("renderer_config", None, "1.6", "refused", "", "leave it out: it tunes GPU kernels"),
    Argument("compat", "1.5", "quadrille", "used", "Version of gsplat whose pixels are reproduced: \"1.5\", the releases, whose "
             "largest alpha is 0.999, or \"1.6\", the main branch, with 0.99 and factors of antialiasing of at least 0.005."),
    Argument("threads", None, "quadrille", "used", "Threads of this call; by default the number of `quadrille.set_threads`."),
    Argument("meta", True, "quadrille", "used", "Whether to fill `meta`, which costs some time."),
)

#: Modes of 1.6 that take the distance along the ray instead of z.
RAY_MODES = ("d", "Ed", "RGB-d", "RGB-Ed")
MODES = ("RGB", "D", "ED", "RGB+D", "RGB+ED")


class Entry(NamedTuple):
    """An entry of `meta`."""

    name: str
    text: str


_IDS = "i64, in order of batches, cameras and splats; None unless `packed`"
META: tuple[Entry, ...] = (
    Entry("batch_ids", f"Batches of the drawn pairs, {_IDS}."),
    Entry("camera_ids", f"Cameras of the drawn pairs, {_IDS}."),
    Entry("gaussian_ids", f"Rows of the drawn pairs, {_IDS}."),
    Entry("radii", "i32 [n, 2] or [C, N, 2], pixels; 0 where a splat is not drawn."),
    Entry("means2d", "[n, 2] or [C, N, 2], pixels."),
    Entry("depths", "[n] or [C, N], z in camera space."),
    Entry("conics", "[n, 3] or [C, N, 3], inverse covariance xx, xy, yy."),
    Entry("opacities", "[n] or [C, N], with the factor of antialiasing."),
    Entry("width", "As given."),
    Entry("height", "As given."),
    Entry("tile_size", "As given."),
    Entry("tile_width", "Tiles in a row."),
    Entry("tile_height", "Tiles in a column."),
    Entry("n_cameras", "C, the number of cameras."),
    Entry("n_batches", "Number of batches; 1 without further axes."),
)

#: Entries of gsplat's `meta` that feed its CUDA kernels.
KERNEL_META = ("tiles_per_gauss", "isect_ids", "flatten_ids", "isect_offsets")


class Calls(NamedTuple):
    """A kind of calls of gsplat in public code."""

    text: str
    #: Number among the calls that were read.
    number: int
    #: What raises NotImplementedError; empty if such calls run.
    refused: str = ""


CALLS: tuple[Calls, ...] = (
    Calls("a pinhole camera, without gradients", 40),
    Calls("the same call in training and evaluation", 22),
    Calls("training alone", 19),
    Calls("`backgrounds` [D] for all cameras", 4),
    Calls("`covars`", 2),
    Calls("batches", 2),
    Calls("`fully_fused_projection` or `spherical_harmonics`", 2),
    Calls("2D splats", 4, "gradients of `rasterization_2dgs`, which draws forward only"),
    Calls("the unscented transform, or lidar", 3, "`with_eval3d`, `rays`, `lidar_coeffs`"),
    Calls("an orthographic camera", 1),
)


def _value(value: Any) -> str:
    return "" if value is ... else f"`{value!r}`"


def _treatment(argument: Argument) -> str:
    if argument.treatment == "refused":
        return f"Default only. {argument.text} Instead, {argument.remedy}."
    if argument.treatment == "ignored":
        return f"Ignored. {argument.text}"
    return argument.text


def markdown() -> str:
    """The page `docs/gsplat.md`."""
    since = {"1.5": "1.5", "1.6": "1.6, by name only", "quadrille": "Quadrille, by name only"}
    rows = [
        f"| `{a.name}` | {_value(a.default)} | {since[a.since]} | {' '.join(_treatment(a).split())} |" for a in ARGUMENTS
    ]
    entries = [f"| `{entry.name}` | {entry.text} |" for entry in META]
    calls = [
        f"| {kind.text} | {kind.number} | {f'no: {kind.refused}' if kind.refused else 'yes'} |" for kind in CALLS
    ]
    runs = sum(kind.number for kind in CALLS if not kind.refused)
    kernel = ", ".join(f"`{name}`" for name in KERNEL_META)
    return "\n".join(
        [
            "# gsplat on a CPU",
            "",
            "`quadrille.gsplat.rasterization` takes the arguments of `gsplat.rasterization` and returns its pixels, without",
            "CUDA and without torch:",
            "",
            "```python",
            "import quadrille",
            "from quadrille.gsplat import rasterization",
            "",
            "scene, cameras = quadrille.synth(\"object\", splats=1000)",
            "camera = cameras[0].resized(64, 36)",
            "viewmats, Ks = camera.viewmat[None], camera.K[None]",
            "colors, alphas, meta = rasterization(",
            "    scene.means, scene.quats, scene.scales, scene.opacities, scene.sh, viewmats, Ks, 64, 36, sh_degree=3",
            ")",
            "assert colors.shape == (1, 36, 64, 3) and alphas.max() > 0.5",
            "```",
            "",
            "Arrays may be of numpy or of any library with DLPack, in the memory of the CPU; results have the array type",
            "of `means`. Rows that are not finite or whose quaternion is zero are left out, with a warning that counts them.",
            "",
            "## Gradients",
            "",
            "If a tensor of torch among `means`, `quats`, `scales`, `opacities`, `colors`, `viewmats` and `backgrounds`",
            "requires a gradient, colours and alphas are in its graph, and `meta[\"means2d\"]` too, with `retain_grad` and,",
            "if `absgrad` is set, `.absgrad`. `rasterization_vjp` returns a function of the same gradients for arrays of any",
            "library. They are exact for the picture that is drawn, up to the rounding of float32, and the same on any",
            "number of threads: [gradients](gradients.md) says how they are checked and what they cost, and shows programs.",
            "Gradients by `viewmats` agree with gsplat's along rigid motions; off these, the camera's",
            "centre follows the transposed rotation in place of the inverse matrix. There are no gradients by `Ks` or of second",
            "order, which raise an error, or by the other entries of `meta`, which are constants. Several batches need",
            "`packed=False` and no `absgrad`.",
            "",
            "## Kinds of calls",
            "",
            f"Of {sum(kind.number for kind in CALLS)} calls in public code, each read with the question whether it runs with another import and",
            f"the device `cpu`, {runs} are of kinds that run. The others raise NotImplementedError.",
            "",
            "| kind | calls | runs |",
            "|---|---|---|",
            *calls,
            "",
            "Calls that are `distributed`, or have other cameras than these, were not among these; they raise",
            "NotImplementedError too. Gradients of batches need `packed=False`.",
            "",
            "In 29 repositories, 58 places construct the settings of diff-gaussian-rasterization. 42 of them use the fields of its",
            "releases alone, as `quadrille.diff_gaussian_rasterization` has them. The fields of forks, such as `kernel_size`,",
            "`projmatrix_raw`, `subpixel_offset` and `f_count`, raise NotImplementedError with the name of the field.",
            "",
            "## Arguments",
            "",
            "Unsupported values raise NotImplementedError, which names an alternative. Values that fail an assertion of",
            "gsplat raise ValueError.",
            "",
            "| argument | default | version of gsplat | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Results",
            "",
            "`colors` [C, H, W, X] and `alphas` [C, H, W, 1] are new, contiguous and f32. The third result, the dictionary",
            "`meta`, describes the drawn pairs of a camera and a splat. Splats that cover no pixel centre are left out.",
            "Further axes in front of the arguments, the batches, are in front of all results but packed ones.",
            "",
            "| entry | content |",
            "|---|---|",
            *entries,
            "",
            f"{kernel} raise KeyError: they are inputs of CUDA kernels.",
            "",
            "## Other functions",
            "",
            "`export_splats` writes raw values as `ply`, `splat` or `ply_compressed`, as gsplat does, and as `spz` or `sog`.",
            "`save_ply` of `utils` writes PLY alone, also of plain colours.",
            "`load_ply_to_splats` reads a PLY file back, as tensors if the program has imported torch.",
            "`PngCompression` raises NotImplementedError.",
            "",
            "`rasterization_2dgs` draws discs with the pixels of gsplat, their normals, median and distortion. Tensors that require",
            "gradients raise NotImplementedError. Its dictionary has no entries of single discs. Where the plane of the camera",
            "cuts a disc, gsplat draws a part of it by a box that has no meaning there; Quadrille draws all that is before the",
            "camera.",
            "",
            "`spherical_harmonics`, `quat_scale_to_covar_preci`, `world_to_cam`, `proj`, `fully_fused_projection` (pinhole,",
            "ortho and fisheye cameras, packed or not, of quaternions and scales or of `covars`), and `depth_to_points`,",
            "`depth_to_normal` and `normalized_quat_to_rotmat` of `utils` take arrays of numpy and tensors of torch, and",
            "are differentiable with torch. Splats that are not drawn have zeros and no gradients in the results of",
            "`fully_fused_projection`; `sparse_grad` raises NotImplementedError.",
            "",
            "`DefaultStrategy`, `MCMCStrategy`, the operations of `strategy.ops`, `compute_relocation` and `SelectiveAdam`",
            "work on tensors of torch. With the seeds of gsplat they give its results, with three differences.",
            "`DefaultStrategy` resets opacities every `reset_every` steps, which the releases 1.5 of gsplat never do. A splat in",
            "several pictures of a step counts with its largest radius. Sums of `compute_relocation` are in double precision.",
            "",
            "Functions are in the modules where gsplat has them, such as `quadrille.gsplat.rendering`. After",
            "`quadrille.gsplat.install()`, a program that imports gsplat and its modules gets these. `cli` of `distributed`",
            "calls its function once, in this process.",
            "",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(markdown())
