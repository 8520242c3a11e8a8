"""The calls of gsplat on a CPU: ``from quadrille.gsplat import rasterization``.

Modules have the names that they have in gsplat. `docs/gsplat.md` has a table of functions, arguments and results.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

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
from .relocation import compute_relocation
from .rendering import rasterization, rasterization_2dgs, rasterization_vjp
from .strategy import DefaultStrategy, MCMCStrategy, Strategy

__all__ = [
    "DefaultStrategy",
    "MCMCStrategy",
    "PngCompression",
    "RollingShutterType",
    "Strategy",
    "compute_relocation",
    "export_splats",
    "fully_fused_projection",
    "install",
    "load_ply_to_splats",
    "proj",
    "quat_scale_to_covar_preci",
    "rasterization",
    "rasterization_2dgs",
    "rasterization_vjp",
    "spherical_harmonics",
    "world_to_cam",
]

#: The release of gsplat whose functions these are.
__version__ = "1.5.3"


def __getattr__(name: str) -> Any:
    # A class of torch, which is imported with it.
    if name == "SelectiveAdam":
        return importlib.import_module(".optimizers", __name__).SelectiveAdam
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
        raise RuntimeError("quadrille.gsplat.install: gsplat is already imported; call it before the first import")
    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        name = found.name.removeprefix(__name__)
        # Private modules of this package have no namesakes in gsplat.
        if not name.startswith("._"):
            sys.modules[f"gsplat{name}"] = importlib.import_module(found.name)
