"""Rasterization call of gsplat, on a CPU.

`docs/gsplat.md` has a table of its arguments and results. Nothing here needs torch; tensors of torch are taken, and
given back, if the program uses it.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _quadrille
from .._arrays import Shape, give, integer, one_of, take
from .._camera import checked_size
from .._compat import ARGUMENTS, COMPATS, KERNEL_META, MODES, RAY_MODES
from .._threads import checked_threads
from ._cameras import cameras_of, check_lens, distortion_of, shutter_direction, views_of
from ._gradients import NAMES, Call, SavedCall, attach, tracked, vjp_of
from ._namespace import TRIANGLE, detached, outside_graphs
from ._projection import check_model

__all__ = ["Meta", "drawn_arguments", "rasterization", "rasterization_vjp"]

#: Derivatives by arguments, by name.
Gradients = dict[str, NDArray[Any]]

_TILE_SIZE = 16


class Meta(dict[str, Any]):
    """Results beside the pictures. Entries that only CUDA kernels read are missing, and say so."""

    def __missing__(self, key: str) -> Any:
        if key in KERNEL_META:
            raise KeyError(f"{key}: this input of gsplat's CUDA kernels is not computed")
        raise KeyError(key)


def rasterization(
    means: Any,
    quats: Any,
    scales: Any,
    opacities: Any,
    colors: Any,
    viewmats: Any,
    Ks: Any,
    width: int,
    height: int,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    eps2d: float = 0.3,
    sh_degree: int | None = None,
    packed: bool = True,
    tile_size: int | None = 16,
    backgrounds: Any = None,
    render_mode: str = "RGB",
    sparse_grad: bool = False,
    absgrad: bool = False,
    rasterize_mode: str = "classic",
    channel_chunk: int = 32,
    distributed: bool = False,
    camera_model: str = "pinhole",
    segmented: bool = False,
    covars: Any = None,
    with_ut: bool = False,
    with_eval3d: bool = False,
    radial_coeffs: Any = None,
    tangential_coeffs: Any = None,
    thin_prism_coeffs: Any = None,
    ftheta_coeffs: Any = None,
    rolling_shutter: Any = None,
    viewmats_rs: Any = None,
    *,
    return_normals: bool = False,
    global_z_order: bool = True,
    rays: Any = None,
    lidar_coeffs: Any = None,
    external_distortion_coeffs: Any = None,
    ut_params: Any = None,
    extra_signals: Any = None,
    extra_signals_sh_degree: Any = None,
    renderer_config: Any = None,
    compat: str = "1.5",
    threads: int | None = None,
    meta: bool = True,
) -> tuple[Any, Any, Meta]:
    """Draws splats from C cameras with the pixels of ``gsplat.rasterization``.

    Arguments are those of gsplat 1.5 in their order; what 1.6 adds, and ``compat``, ``threads`` and ``meta``, have to
    be named. `docs/gsplat.md` says of each what it does. Arrays that are float32 in C order are not copied.

    Parameters
    ----------
    means, quats, scales, opacities : [N, 3], [N, 4] w, x, y, z of any length, [N, 3] and [N], activated.
    colors : with ``sh_degree``, coefficients [N, K, 3] or [C, N, K, 3]; else values [N, D] or [C, N, D].
    covars : [N, 3, 3], in place of ``quats`` and ``scales``; the upper triangle is read.
    with_ut : project seven points of each splat (unscented transform), in place of the derivative of the camera; without
        gradients.
    radial_coeffs, tangential_coeffs, thin_prism_coeffs : [C, 6], [C, 2] and [C, 4] with ``with_ut``: the lens of OpenCV.
    rolling_shutter, viewmats_rs : with ``with_ut``, a member of `RollingShutterType` and the poses [C, 4, 4] at the end of
        the readout, which starts at ``viewmats``.
    viewmats, Ks : [C, 4, 4] world to camera and [C, 3, 3] in pixels; with ``camera_model="ortho"``, focal lengths are
        in pixels per world unit. ``"fisheye"`` is drawn without ``with_ut``.
    backgrounds : [C, D], or [D] for all cameras.
    compat : ``"1.5"`` agrees with the releases of gsplat, ``"1.6"`` with its main branch.

    Returns
    -------
    colors [C, H, W, X], alphas [C, H, W, 1], and a dictionary of the splats on the picture planes. All arrays may have
    the same further axes in front, the batches, which the results then have too.

    Raises
    ------
    ValueError : naming the argument, where gsplat asserts.
    NotImplementedError : for what only gsplat does, with a remedy.

    >>> import numpy as np
    >>> from quadrille.gsplat import rasterization
    >>> means, quats = np.array([[0, 0, 2.0]]), np.array([[1.0, 0, 0, 0]])
    >>> K = np.array([[[50.0, 0, 16], [0, 50, 12], [0, 0, 1]]])
    >>> colors, alphas, meta = rasterization(
    ...     means, quats, np.full((1, 3), 0.1), np.ones(1), np.ones((1, 3)), np.eye(4)[None], K, 32, 24
    ... )
    >>> colors.shape, alphas.shape, meta["gaussian_ids"]
    ((1, 24, 32, 3), (1, 24, 32, 1), array([0]))
    """
    arguments = locals()
    return _warned(outside_graphs(_in_graph if tracked(arguments) else _drawn)(arguments), means)


def rasterization_vjp(*args: Any, **kwargs: Any) -> tuple[Any, Any, Meta, Callable[..., Gradients]]:
    """Draws as `rasterization`, and also returns the function of its gradients, for arrays of any library.

    ``vjp(v_colors, v_alphas, v_means2d=None)`` takes the derivatives of a loss by the results, and by ``means2d`` [C, N, 2]
    if the loss uses them, and returns those by ``means``, ``quats``, ``scales``, ``opacities``, ``colors``, ``viewmats``,
    ``backgrounds`` and ``covars``, as far as they are given, in the shape of the argument; and ``means2d`` and
    ``means2d_abs`` [C, N, 2] per pixel: the derivatives by the centres in the pictures, and the sums of the absolute values
    of the pixels' parts. All are float32, but ``viewmats`` is float64. Axes of batches are in front of all.

    >>> import numpy as np
    >>> from quadrille.gsplat import rasterization_vjp
    >>> means, quats = np.array([[0, 0, 2.0]]), np.array([[1.0, 0, 0, 0]])
    >>> K = np.array([[[50.0, 0, 16], [0, 50, 12], [0, 0, 1]]])
    >>> colors, alphas, meta, vjp = rasterization_vjp(
    ...     means, quats, np.full((1, 3), 0.1), np.ones(1) / 2, np.ones((1, 3)), np.eye(4)[None], K, 32, 24
    ... )
    >>> gradients = vjp(np.ones_like(colors), np.zeros_like(alphas))
    >>> gradients["means"].shape, bool(gradients["opacities"][0] > 0)
    ((1, 3), True)
    """
    bound = inspect.signature(rasterization).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments, calls = bound.arguments, list[SavedCall]()
    _check_gradients(arguments)
    results = _warned(_drawn(arguments, calls), arguments["means"])
    unused = ("covars",) if arguments["covars"] is None else ("quats", "scales")
    names = [name for name in NAMES if name not in unused and arguments[name] is not None]
    vjps = [vjp_of(call, names) for call in calls]
    batch = np.shape(arguments["means"])[:-2]
    return *results, _vjp_of_batches(vjps, batch, np.ndim(arguments["backgrounds"]) == 1)


def _vjp_of_batches(vjps: list[Callable[..., Gradients]], batch: Shape, is_shared: bool) -> Callable[..., Gradients]:
    """The function of the gradients of all batches. ``is_shared`` means that they have one background [D]."""

    def vjp(v_colors: object, v_alphas: object, v_means2d: object = None) -> Gradients:
        given = [take(v_colors, "v_colors"), take(v_alphas, "v_alphas")]
        given += [] if v_means2d is None else [take(v_means2d, "v_means2d")]
        parts = [array.reshape((len(vjps), *array.shape[len(batch) :])) for array in given]
        found = [vjp(*(part[number] for part in parts)) for number, vjp in enumerate(vjps)]
        gradients = {name: _stacked([one[name] for one in found], batch) for name in found[0]}
        if "covars" in gradients:
            gradients["covars"] = _square(gradients["covars"])
        if is_shared:
            gradients["backgrounds"] = sum(one["backgrounds"].sum(axis=0) for one in found)
        return gradients

    return vjp


def _square(triangles: NDArray[np.float32]) -> NDArray[np.float32]:
    """Gradients [..., 6] by upper triangles as matrices, with zeros below the diagonal, which is not read."""
    square = np.zeros((*triangles.shape[:-1], 9), np.float32)
    square[..., TRIANGLE] = triangles
    return square.reshape((*triangles.shape[:-1], 3, 3))


def drawn_arguments(arguments: dict[str, Any]) -> tuple[Any, Any, Meta]:
    """Draws as `rasterization`, given all its arguments by name and perhaps the ``profile``, without gradients. With
    ``spread``, the median and the distortion of the last channel follow the channels."""
    return _warned(outside_graphs(_drawn)(arguments), arguments["means"])


def _warned(drawn: tuple[Any, Any, Meta, int], means: Any) -> tuple[Any, Any, Meta]:
    pixels, alphas, found, invalid = drawn
    if invalid:
        warnings.warn(
            f"{invalid} of {found['n_batches'] * np.shape(means)[-2]} splats are left out: a number is not finite, or "
            "the quaternion is zero",
            stacklevel=3,
        )
    return pixels, alphas, found


def _in_graph(arguments: dict[str, Any]) -> tuple[Any, Any, Meta, int]:
    """As `_drawn`, with results in the graph of torch."""
    _check_gradients(arguments)
    if arguments["sparse_grad"]:
        raise NotImplementedError("sparse_grad: gradients are dense; leave it False")
    batch = np.shape(arguments["means"])[:-2]
    if batch:
        return _batches_in_graph(arguments, batch)
    tensors = tracked(arguments) or {}
    calls: list[SavedCall] = []
    plain = arguments | {name: detached(arguments[name]) for name in NAMES} | {"meta": True}
    pixels, alphas, found, invalid = _drawn(plain, calls)
    if tensors["covars"] is not None:
        tensors |= {"covars": tensors["covars"].flatten(-2)[..., TRIANGLE], "quats": None, "scales": None}
    pixels, alphas = attach(tensors, (pixels, alphas), found, calls[0], bool(arguments["absgrad"]))
    return pixels, alphas, found, invalid


def _batches_in_graph(arguments: dict[str, Any], batch: Shape) -> tuple[Any, Any, Meta, int]:
    """As `_in_graph`, batch by batch."""
    if arguments["packed"] or arguments["absgrad"]:
        name = "packed" if arguments["packed"] else "absgrad"
        raise NotImplementedError(f"{name}: gradients of several batches need {name}=False")
    torch: Any = sys.modules["torch"]
    shared = () if np.ndim(arguments["backgrounds"]) > 1 else ("backgrounds",)
    names = [name for name in _ARRAYS if arguments[name] is not None and name not in shared]
    # Views of the tensors, which are in their graph.
    drawn = [
        _in_graph(arguments | {name: arguments[name][index] for name in names}) for index in np.ndindex(*batch)
    ]

    def stacked(parts: list[Any]) -> Any:
        return torch.stack(parts).reshape(batch + parts[0].shape)

    found = Meta(
        {
            name: stacked([one[2][name] for one in drawn]) if isinstance(value, torch.Tensor) else value
            for name, value in drawn[0][2].items()
        }
    )
    found["n_batches"] = len(drawn)
    pixels, alphas = (stacked([one[part] for one in drawn]) for part in (0, 1))
    return pixels, alphas, found, sum(one[3] for one in drawn)


#: Arguments that are arrays, and the precision in which each is taken.
_ARRAYS = {
    "means": np.float32,
    "quats": np.float32,
    "scales": np.float32,
    "opacities": np.float32,
    "colors": np.float32,
    "viewmats": np.float64,
    "viewmats_rs": np.float64,
    "Ks": np.float64,
    "backgrounds": np.float32,
    "covars": np.float32,
    "radial_coeffs": np.float64,
    "tangential_coeffs": np.float64,
    "thin_prism_coeffs": np.float64,
}


def _drawn(arguments: dict[str, Any], saved: list[SavedCall] | None = None) -> tuple[Any, Any, Meta, int]:
    """Pictures, alphas and `meta` of all batches, and the number of rows that are left out. ``saved`` takes the calls of
    the batches with their pictures."""
    _refuse_others(arguments)
    check_lens(arguments)
    direction = shutter_direction(arguments)
    compat, render_mode, tile_size = arguments["compat"], arguments["render_mode"], arguments["tile_size"]
    check_model(arguments["camera_model"])
    if arguments["camera_model"] == "fisheye" and arguments.get("with_ut"):
        raise NotImplementedError("with_ut: points of splats are not projected by fisheyes; leave it False")
    one_of("compat", compat, COMPATS)
    one_of("rasterize_mode", arguments["rasterize_mode"], ("classic", "antialiased"))
    if render_mode in RAY_MODES:
        along_z = render_mode.upper().replace("-", "+")
        raise NotImplementedError(f"render_mode: {render_mode!r} is not drawn; use {along_z!r}, which takes z")
    one_of("render_mode", render_mode, MODES)
    if arguments["colors"] is None and (compat == "1.5" or render_mode.startswith("RGB")):
        raise ValueError(f"colors: expected an array, found None (render_mode {render_mode!r}, compat {compat!r})")
    size = checked_size(arguments["width"], arguments["height"])
    tile_size = _TILE_SIZE if tile_size is None else integer(tile_size, "tile_size")
    if tile_size < 1:
        raise ValueError(f"tile_size: expected at least 1, found {tile_size}")
    threads = arguments["threads"]
    drawing = {
        "camera_model": arguments["camera_model"],
        "profile": arguments.get("profile") or _profile(compat, arguments["rasterize_mode"]),
        "size": size,
        "near": _number("near_plane", arguments["near_plane"]),
        "far": _number("far_plane", arguments["far_plane"]),
        "least_radius": _number("radius_clip", arguments["radius_clip"]),
        "low_pass": _number("eps2d", arguments["eps2d"], least=0.0),
        "unscented": bool(arguments.get("with_ut")),
        "depth": {"ED": "mean", "D": "sum"}.get(render_mode.rsplit("+", 1)[-1]),
        "spread": bool(arguments.get("spread")),
        "meta": bool(arguments["meta"]),
        "packed": bool(arguments["packed"]),
        "threads": None if threads is None else checked_threads(threads),
    }
    batch, elements = _batches(arguments)
    prepared = [_call(element, drawing, arguments, direction) for element in elements]
    if saved is None:
        drawn = [_quadrille.rasterize(call, False)[:4] for call in prepared]
    else:
        saved.extend(SavedCall(call) for call in prepared)
        drawn = [call.draw() for call in saved]
    found = Meta()
    if drawing["meta"]:
        found.update(dict.fromkeys(("batch_ids", "camera_ids", "gaussian_ids")))
        for (name, _), *arrays in zip(drawn[0][2], *([array for _, array in one[2]] for one in drawn)):
            if name == "batch_ids":
                arrays = [array + number for number, array in enumerate(arrays)]
            found[name] = np.concatenate(arrays) if batch and drawing["packed"] else _stacked(arrays, batch)
    like = arguments["means"]
    found.update({name: give(array, like) for name, array in found.items() if array is not None})
    found.update(
        tile_width=-(-size[0] // tile_size),
        tile_height=-(-size[1] // tile_size),
        width=size[0],
        height=size[1],
        tile_size=tile_size,
        n_batches=len(elements),
        n_cameras=elements[0]["viewmats"].shape[0],
    )
    pixels = give(_stacked([one[0] for one in drawn], batch), like)
    return pixels, give(_stacked([one[1] for one in drawn], batch), like), found, sum(one[3] for one in drawn)


def _batches(arguments: dict[str, Any]) -> tuple[Shape, list[dict[str, NDArray[Any]]]]:
    """The axes before those of one call, and the arrays of each of the calls that they hold."""
    unused = () if arguments["covars"] is None else ("quats", "scales")
    arrays = {
        name: take(arguments[name], name, None, dtype)
        for name, dtype in _ARRAYS.items()
        if arguments.get(name) is not None and name not in unused
    }
    for name in () if unused else ("quats", "scales"):
        if name not in arrays:
            raise ValueError(f"{name}: expected an array, or covars in its place, found None")
    batch = arrays["means"].shape[:-2]
    if 0 in batch:
        raise ValueError(f"means: expected at least one batch, found {list(arrays['means'].shape)}")
    # A background of one axis is that of every batch.
    is_shared = {name: name == "backgrounds" and array.ndim == 1 for name, array in arrays.items()}
    for name, array in arrays.items():
        if not is_shared[name] and array.shape[: len(batch)] != batch:
            raise ValueError(f"{name}: expected the leading axes {list(batch)} of means, found {list(array.shape)}")
    return batch, [
        {name: array if is_shared[name] else array[index] for name, array in arrays.items()}
        for index in np.ndindex(*batch)
    ]


def _stacked(arrays: list[NDArray[Any]], batch: Shape) -> NDArray[Any]:
    """Arrays of batches under their axes; without such axes the one array itself."""
    return np.stack(arrays).reshape(batch + arrays[0].shape) if batch else arrays[0]


def _call(
    arrays: dict[str, NDArray[Any]], drawing: dict[str, Any], arguments: dict[str, Any], direction: str | None
) -> Call:
    """The native call that draws one batch, with the direction of its rolling shutter."""
    centres = take(arrays["means"], "means", ("N", 3))
    count = len(centres)
    if "covars" in arrays:
        triangles = take(arrays["covars"], "covars", (count, 3, 3)).reshape(count, 9)[:, TRIANGLE]
        quats, scales = _quadrille.axes_of_covariances(np.ascontiguousarray(triangles))
    else:
        quats = take(arrays["quats"], "quats", (count, 4))
        scales = take(arrays["scales"], "scales", (count, 3))
    geometry = centres, quats, scales, take(arrays["opacities"], "opacities", (count,))
    views, lenses = cameras_of(arrays["viewmats"], arrays["Ks"])
    values, behind, per_camera, sh_degree = None, None, False, arguments["sh_degree"]
    if "colors" in arrays:
        has_depth = drawing["depth"] is not None
        values, per_camera = _colors(arrays["colors"], sh_degree, count, len(views), arguments["compat"], has_depth)
        channels = values.shape[-1]
        if not arguments["render_mode"].startswith("RGB"):
            values = None
        elif "backgrounds" in arrays:
            shared = arrays["backgrounds"].ndim == 1
            behind = take(arrays["backgrounds"], "backgrounds", (channels,) if shared else (len(views), channels))
            behind = np.tile(behind, (len(views), 1)) if shared else behind
    if values is None or channels == 0:
        # Depth alone.
        values, behind, per_camera, sh_degree = None, None, False, None
    drawing = {
        **drawing,
        "sh_degree": sh_degree,
        "per_camera": per_camera,
        "distortion": distortion_of(arrays, len(views)),
        "rolling_shutter": None,
    }
    if direction is not None:
        ends = views_of(arrays["viewmats_rs"], "viewmats_rs", len(views))
        drawing["rolling_shutter"] = direction, ends.reshape(len(ends), 16).tolist()
    return geometry, values, (views, lenses), behind, drawing


def _check_gradients(arguments: dict[str, Any]) -> None:
    """Refuses gradients of footprints from points."""
    if arguments["with_ut"]:
        raise NotImplementedError("with_ut: the unscented transform has no gradients; leave it False in training")


def _refuse_others(values: dict[str, Any]) -> None:
    """Raises NotImplementedError for arguments that only gsplat reads, unless they have their defaults."""
    for argument in ARGUMENTS:
        if argument.treatment != "refused":
            continue
        name, value = argument.name, values[argument.name]
        if argument.default is None:
            is_default = value is None
        else:
            is_default = bool(value) == argument.default
        if not is_default:
            shown = repr(value) if isinstance(value, (bool, str)) else type(value).__name__
            raise NotImplementedError(f"{name}: {shown} is not supported; {argument.remedy}")


def _profile(compat: str, rasterize_mode: str) -> str:
    name = {"1.5": "gsplat-1.5", "1.6": "gsplat"}[compat]
    return name if rasterize_mode == "classic" else f"{name}-aa"


def _number(name: str, value: float, least: float = -np.inf) -> float:
    number = float(value)
    if not number >= least:
        expected = "a number" if least == -np.inf else f"at least {least:g}"
        raise ValueError(f"{name}: expected {expected}, found {number}")
    return number


def _colors(
    colors: Any, sh_degree: int | None, count: int, cameras: int, compat: str, has_depth: bool
) -> tuple[NDArray[np.float32], bool]:
    """Values [N, D] or [C, N, D], or coefficients [N, K, 3] or [C, N, K, 3]; and whether each camera has its own."""
    values = take(colors, "colors")
    tail: tuple[str | int, ...] = ("D",)
    if sh_degree is not None:
        degree = integer(sh_degree, "sh_degree")
        if not 0 <= degree <= 4:
            raise ValueError(f"sh_degree: expected 0 to 4, found {degree}")
        if values.ndim >= 3 and values.shape[-1] != 3:
            raise NotImplementedError(f"colors: {values.shape[-1]} channels of coefficients are not drawn; use 3")
        tail = ("K", 3)
    per_camera = values.ndim == len(tail) + 2
    values = take(values, "colors", ((cameras,) if per_camera else ()) + (count, *tail))
    if sh_degree is not None and per_camera and compat == "1.6":
        raise ValueError("colors: expected [N, K, 3] as gsplat 1.6 does, found [C, N, K, 3]; compat='1.5' takes it")
    if values.shape[-1] < 1 and not has_depth:
        raise ValueError("colors: expected at least 1 channel, found 0")
    if sh_degree is not None and (sh_degree + 1) ** 2 > values.shape[-2]:
        raise ValueError(
            f"colors: expected at least {(sh_degree + 1) ** 2} coefficients for sh_degree {sh_degree}, "
            f"found {values.shape[-2]}"
        )
    return values, per_camera
