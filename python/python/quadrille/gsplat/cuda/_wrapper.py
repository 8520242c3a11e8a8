"""The functions that gsplat has in this module, on a CPU."""

from __future__ import annotations

import enum

from .._harmonics import spherical_harmonics
from .._projection import fully_fused_projection, proj, quat_scale_to_covar_preci, world_to_cam

__all__ = [
    "RollingShutterType",
    "fully_fused_projection",
    "proj",
    "quat_scale_to_covar_preci",
    "spherical_harmonics",
    "world_to_cam",
]


class RollingShutterType(enum.Enum):
    """Direction in which a shutter moves over the picture; GLOBAL for a picture at one time."""

    ROLLING_TOP_TO_BOTTOM = 0
    ROLLING_LEFT_TO_RIGHT = 1
    ROLLING_BOTTOM_TO_TOP = 2
    ROLLING_RIGHT_TO_LEFT = 3
    GLOBAL = 4
