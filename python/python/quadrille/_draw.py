"""Pictures of scenes, and runs of the emulated GPU."""

from __future__ import annotations

import itertools
import json
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _quadrille
from ._arrays import colour, raw
from ._blur import Blur, blur_arguments
from ._camera import Camera, raw_camera
from ._meshes import Meshes
from ._picture import Picture
from ._progress import Progress, watched
from ._scene import Scene, load, raw_scene
from ._threads import checked_threads


def render(
    scene: Scene,
    camera: Camera,
    *,
    profile: str | None = None,
    near: float | None = None,
    order: str | None = None,
    layers: Sequence[str] = (),
    depth: str = "z",
    stop: str | None = None,
    background: object = None,
    reference: bool = False,
    threads: int | None = None,
    meshes: Meshes | None = None,
    blur: Blur | None = None,
) -> Picture:
    """Renders a view of a scene with the picture of the reference renderer, to 1e-6 or so. The same arguments give the
    same bytes on any number of threads.

    Parameters
    ----------
    scene, camera : the scene, and the camera that sees it.
    profile : the renderer whose picture it is, one of `profiles`; by default the one that the scene was trained for.
    near : depth in world units below which splats are left out, in place of the profile's.
    order : order in which splats are blended: ``"z"``, by depth along the view, as trainers sort, or ``"distance"``, by
        distance from the camera; by default the order that the scene's file states, else ``"z"``.
    layers : names of layers beside the colours: ``"depth"``, ``"depth-sum"``, ``"depth-inverse"``,
        ``"depth-median"``, ``"alpha"``, ``"normal"``, ``"id"``, ``"count"``, ``"top:8"`` (``top-id``, ``top-weight``).
    depth : ``"z"`` along the line of sight, or ``"distance"`` from the camera.
    stop : rule for when a pixel stops, in place of the profile's: ``"none"``, ``"inria"``, ``"gsplat"``, ``"hw"``.
    background : an opaque grey or colour [3]; by default the picture is transparent where nothing covers it.
    reference : draw with the scalar reference renderer, which defines the picture and is slow.
    threads : number of threads; by default the number of `set_threads`.
    meshes : meshes among the splats, from `load_meshes`; the camera must be a pinhole. Depths and alpha show splats and
        meshes, other layers the splats, dimmed by the meshes before them.
    blur : lens and shutter of the camera; a blurred picture has no layers.

    Raises
    ------
    ValueError : naming the argument.

    >>> import quadrille
    >>> scene, cameras = quadrille.synth("object", splats=1000)
    >>> picture = quadrille.render(scene, cameras[0].resized(64, 36), layers=["depth", "normal"])
    >>> picture.rgba.shape, picture.layers["normal"].shape
    ((36, 64, 4), (36, 64, 3))
    """
    if depth not in ("z", "distance"):
        raise ValueError(f"depth: expected 'z' or 'distance', found {depth!r}")
    if isinstance(layers, str):
        layers = [layers]
    look = {
        "profile": profile,
        "near": near,
        "order": order,
        "layers": list(layers),
        "is_distance": depth == "distance",
        "stop": stop,
        "background": None if background is None else colour(background, "background"),
        "reference": bool(reference),
        "threads": None if threads is None else checked_threads(threads),
        "meshes": None if meshes is None else raw(meshes, "meshes", _quadrille.Meshes, "load_meshes"),
        "blur": None if blur is None else blur_arguments(blur),
    }
    rgba, planes, counts, times = _quadrille.render(raw_scene(scene), raw_camera(camera), look)
    named = {name: _layer(planes_of) for name, planes_of in planes}
    return Picture(rgba, named, dict(counts), dict(times))


def _layer(planes: Any) -> Any:
    """The planes [k, H, W] of a layer as [H, W], or as [H, W, k]."""
    return planes[0] if len(planes) == 1 else np.ascontiguousarray(np.moveaxis(planes, 0, -1))


#: A scene, or the file of one.
SceneOrPath = Scene | str | os.PathLike[str]


def render_many(
    scene: Scene | Iterable[SceneOrPath],
    cameras: Camera | Iterable[Camera],
    *,
    progress: Progress = None,
    **as_render: Any,
) -> Iterator[Picture]:
    """Renders views one by one, as `render` does, each when it is asked for.

    Parameters
    ----------
    scene : a scene, or a sequence of scenes and files. A file is read when its first view is drawn, so that at most two
        scenes of files are in memory. As in the films of the command line, ``M`` scenes of a list are distributed over ``N``
        cameras: camera ``i`` sees scene ``i * M // N``. An iterator has a scene for each camera.
    cameras : the views, or one `Camera` that sees all scenes.
    progress : True for a bar, or a function of the stage, the work done, and the work in all.
    as_render : arguments of `render`.

    >>> import quadrille
    >>> scene, cameras = quadrille.synth("object", splats=1000)
    >>> views = [camera.resized(32, 18) for camera in cameras[:2]]
    >>> [picture.width for picture in quadrille.render_many(scene, views)]
    [32, 32]
    """
    views: Iterable[Any]
    shown: Iterator[Any]
    if isinstance(scene, (Scene, str, os.PathLike)):
        # One file is refused, as by `render`.
        views = [cameras] if isinstance(cameras, Camera) else list(cameras)
        shown, total = itertools.repeat(scene), len(views)
    elif isinstance(cameras, Camera):
        views, shown, total = itertools.repeat(cameras), map(_read, scene), operator.length_hint(scene)
    else:
        views = list(cameras)
        total = len(views)
        shown = _distributed(scene, total) if isinstance(scene, Sequence) else map(_read, scene)
    with watched(progress) as watch:
        for done, camera in enumerate(views, 1):
            # `zip` would hold the scene before the last one.
            try:
                one = next(shown)
            except StopIteration:
                break
            picture = render(one, camera, **as_render)
            if watch is not None:
                watch("render", done, max(done, total))
            yield picture


def _read(scene: SceneOrPath) -> Any:
    return load(scene) if isinstance(scene, (str, os.PathLike)) else scene


def _distributed(scenes: Sequence[SceneOrPath], frames: int) -> Iterator[Any]:
    """The scene of each frame."""
    numbers = (frame * len(scenes) // frames for frame in range(frames))
    for number, of_scene in itertools.groupby(numbers):
        yield from itertools.repeat(_read(scenes[number]), len(list(of_scene)))


def profiles() -> list[str]:
    """Names of the profiles: renderers whose pictures can be drawn. The first is the default."""
    return _quadrille.profiles()


def presets() -> list[str]:
    """Names of the emulated GPUs. The first is the default."""
    return _quadrille.presets()


class Simulation(dict[str, Any]):
    """The document of a simulated view, as `simulate` describes it, with its short table."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row per method, for ``pandas.DataFrame``: ``method``, ``cycles``, ``frame_ms``, ``limiting_unit``, the ``quads``
        and ``fragments`` blended and, relative to the baseline, ``speedup``, ``quads_ratio`` and ``fragments_ratio``. None
        stands for what a method does not have, and without a baseline for its ratios."""
        rows = []
        for run in self["methods"]:
            row = {"method": run["name"]}
            row |= {key: run.get(key) for key in ("cycles", "frame_ms", "limiting_unit")}
            row |= {key: (run.get(key) or {}).get("blended") for key in ("quads", "fragments")}
            ratios = (self.get("ratios") or {}).get(run["name"], {})
            row |= {"speedup": ratios.get("speedup")}
            row |= {f"{key}_ratio": ratios.get(key) for key in ("quads", "fragments")}
            rows.append(row)
        return rows


def simulate(
    scene: Scene,
    camera: Camera,
    *,
    variants: Sequence[str] = ("baseline", "het+qm"),
    preset: str = "vr-pipe",
    settings: Mapping[str, Any] | None = None,
    profile: str | None = None,
    near: float | None = None,
    order: str | None = None,
    maps: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> Simulation:
    """Runs a view through the emulated graphics pipeline, cycle by cycle.

    Parameters
    ----------
    scene, camera : the scene, and the camera that sees it.
    variants : the methods: ``"baseline"``, ``"het"``, ``"qm"``, ``"het+qm"``, ``"multipass:N"``,
        ``"imitated:het+qm"``, ``"interlock"``, ``"compute"``, ``"gscore"``.
    preset : the emulated GPU, one of `presets`.
    settings : fields of the configuration by their names, such as ``{"tc.bins": 64}``.
    profile, near, order : as in `render`.
    maps : also return ``maps``: for each variant of the pipeline, counts per pixel by name, [H, W] of uint32.
    threads : number of threads; by default the number of `set_threads`.
    progress : True for a bar, or a function of the stage, the work done, and the work in all.

    Returns
    -------
    The document of a view in ``quadrille sim --json``: ``methods`` with cycles and counters, ``ratios``, ``config``. Its
    property ``table`` has the numbers that matter most, a row per method.
    Until the next release, ``methods`` is also called ``variants``.
    Keys that begin with ``host_`` are times of this machine; all others are the same on every machine.

    >>> import quadrille
    >>> scene, cameras = quadrille.synth("object", splats=1000)
    >>> found = quadrille.simulate(scene, cameras[0].resized(64, 36))
    >>> [run["name"] for run in found["methods"]]
    ['baseline', 'het+qm']
    >>> [row["limiting_unit"] is not None for row in found.table]
    [True, True]
    """
    with watched(progress) as watch:
        machines = {
            "variants": [variants] if isinstance(variants, str) else list(variants),
            "preset": preset,
            "settings": [f"{name}={_setting(value)}" for name, value in (settings or {}).items()],
            "profile": profile,
            "near": near,
            "order": order,
            "maps": bool(maps),
            "threads": None if threads is None else checked_threads(threads),
            "progress": watch,
        }
        text, remarks, counts = _quadrille.simulate(raw_scene(scene), raw_camera(camera), machines)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    found = Simulation(json.loads(text))
    found["variants"] = found["methods"]
    if maps:
        found["maps"] = {}
        for variant, name, values in counts:
            found["maps"].setdefault(variant, {})[name] = values
    return found


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)
