"""Trained 3D Gaussian-splatting scenes on a CPU: load, render, compare, convert, simulate.

>>> import quadrille
>>> scene, cameras = quadrille.synth("object", splats=1000)
>>> picture = quadrille.render(scene, cameras[0].resized(64, 36))
>>> picture.rgba.shape
(36, 64, 4)

Arrays are numpy arrays of float32. Lengths are in the units of the scene, sizes in pixels. Cameras follow OpenCV: x
right, y down, z forward. ``quadrille.gsplat`` has the call of gsplat.
"""

from __future__ import annotations

import importlib
import pathlib
from typing import TYPE_CHECKING

# The package `quadrille` of PyPI is another one, which installs a module of the same name.
if (pathlib.Path(__file__).parent / "cogol.py").exists():
    raise ImportError(
        "the folder of quadrille also holds the package `quadrille` of PyPI; "
        "uninstall both it and `quadrille-splat`, then install `quadrille-splat` again"
    )

if TYPE_CHECKING:
    from ._blur import Blur
    from ._camera import Camera, load_cameras
    from ._convert import Table, convert, load_table
    from ._draw import Simulation, presets, profiles, render, render_many, simulate
    from ._meshes import Meshes, load_meshes
    from ._picture import Picture, compare, read_picture
    from ._quadrille import FormatError, LimitError
    from ._runs import bench, deferred, mesh, plot
    from ._scene import Scene, default_camera, load, loads, orbit, synth
    from ._threads import build_info, set_threads
    from ._viewer import Viewer, view
    from .losses import ssim

__all__ = [
    "Blur",
    "Camera",
    "FormatError",
    "LimitError",
    "Meshes",
    "Picture",
    "Scene",
    "Simulation",
    "Table",
    "Viewer",
    "bench",
    "build_info",
    "compare",
    "convert",
    "default_camera",
    "deferred",
    "load",
    "load_cameras",
    "load_meshes",
    "load_table",
    "loads",
    "mesh",
    "orbit",
    "plot",
    "presets",
    "profiles",
    "read_picture",
    "render",
    "render_many",
    "set_threads",
    "simulate",
    "ssim",
    "synth",
    "view",
]

# Modules are imported when they are used, so that the command line does not wait for numpy.
_MODULES = {
    "_blur": ["Blur"],
    "_camera": ["Camera", "load_cameras"],
    "_convert": ["Table", "convert", "load_table"],
    "_draw": ["Simulation", "presets", "profiles", "render", "render_many", "simulate"],
    "_meshes": ["Meshes", "load_meshes"],
    "_picture": ["Picture", "compare", "read_picture"],
    "_quadrille": ["FormatError", "LimitError"],
    "_runs": ["bench", "deferred", "mesh", "plot"],
    "_scene": ["Scene", "default_camera", "load", "loads", "orbit", "synth"],
    "_threads": ["build_info", "set_threads"],
    "_viewer": ["Viewer", "view"],
    "losses": ["ssim"],
}
#: Modules that ``import quadrille`` alone makes available.
_SUBMODULES = ["diff_gaussian_rasterization", "gsplat", "losses"]
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from ._threads import build_info

        return build_info()["version"]
    if name in _SUBMODULES:
        return importlib.import_module("." + name, __name__)
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("." + module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES, "__version__"})
