"""The calls of gsplat on a CPU: ``from quadrille.gsplat import rasterization``.

Modules have the names that they have in gsplat. `docs/gsplat.md` has a table of functions, arguments and results.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

from .compression import PngCompression
from .cuda._wrapper import (
    RollingShutterType,
    fully_fused_projection,
    proj,
    quat_scale_to_covar_preci,
    spherical_harmonics,
    world_to_cam,
)
from .exporter import export_splats, load_ply_to_splats
from .rendering import rasterization, rasterization_2dgs

__all__ = [
    "PngCompression",
    "RollingShutterType",
    "export_splats",
    "fully_fused_projection",
    "install",
    "load_ply_to_splats",
    "proj",
    "quat_scale_to_covar_preci",
    "rasterization",
    "rasterization_2dgs",
    "spherical_harmonics",
    "world_to_cam",
]


def install() -> None:
    """Makes ``import gsplat``, and imports of its submodules, give the modules of this package to the whole process.

    A script that imports gsplat then runs without it. Further calls change nothing. From a shell::

        python -c "import quadrille.gsplat, runpy; quadrille.gsplat.install(); runpy.run_path('script.py')"

    Raises
    ------
    RuntimeError : if gsplat itself has been imported.
    """
    this = sys.modules[__name__]
    if sys.modules.setdefault("gsplat", this) is not this:
        raise RuntimeError("quadrille.gsplat.install: gsplat is already imported; call install() before its first import")
    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        sys.modules["gsplat" + found.name.removeprefix(__name__)] = importlib.import_module(found.name)
