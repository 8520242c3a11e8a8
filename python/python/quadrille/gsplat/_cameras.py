"""Cameras of gsplat's calls: poses, lenses and rolling shutters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import check_finite, take
from .cuda._wrapper import RollingShutterType

#: Deviation of a view's rotation from a rotation, and of its last row.
_RIGID = 1e-3
#: Coefficients of a lens by argument, and their places in the order of OpenCV: k1, k2, p1, p2, k3 to k6, s1 to s4.
_COEFFICIENTS = {
    "radial_coeffs": (0, 1, 4, 5, 6, 7),
    "tangential_coeffs": (2, 3),
    "thin_prism_coeffs": (8, 9, 10, 11),
}


def check_lens(arguments: dict[str, Any]) -> None:
    """Refuses coefficients without the unscented transform, as gsplat does, and other cameras with them."""
    given = [name for name in _COEFFICIENTS if arguments.get(name) is not None]
    if given and not arguments.get("with_ut"):
        raise ValueError(f"{given[0]}: expected with_ut=True, as gsplat does, found False")
    if given and arguments["camera_model"] != "pinhole":
        raise ValueError(f"{given[0]}: expected camera_model='pinhole', found {arguments['camera_model']!r}")


def shutter_direction(arguments: dict[str, Any]) -> str | None:
    """Direction of the rolling shutter, of which gsplat asserts the same; None for pictures at one time."""
    shutter, ends = arguments["rolling_shutter"], arguments["viewmats_rs"]
    name = "GLOBAL" if shutter is None else getattr(shutter, "name", None)
    if name not in RollingShutterType.__members__:
        raise ValueError(f"rolling_shutter: expected a RollingShutterType, found {shutter!r}")
    if name == "GLOBAL":
        if ends is not None:
            raise ValueError("viewmats_rs: expected a rolling_shutter other than GLOBAL with it, found none")
        return None
    if not arguments["with_ut"]:
        raise ValueError("rolling_shutter: expected with_ut=True, as gsplat does, found False")
    if ends is None:
        raise ValueError("viewmats_rs: expected an array with a rolling_shutter, found None")
    return str(name).removeprefix("ROLLING_").lower().replace("_", "-")


def distortion_of(arrays: dict[str, NDArray[Any]], cameras: int) -> list[list[float]]:
    """Coefficients of each camera, in the order of OpenCV; none for pinholes."""
    found = np.zeros((cameras, 12))
    names = [name for name in _COEFFICIENTS if name in arrays]
    for name in names:
        places = _COEFFICIENTS[name]
        found[:, places] = take(arrays[name], name, (cameras, len(places)), np.float64)
        check_finite(found, name)
    return found.tolist() if names else []


def views_of(viewmats: Any, name: str, count: int | str = "C") -> NDArray[np.float64]:
    """World-to-camera matrices [C, 4, 4]."""
    views = take(viewmats, name, (count, 4, 4), np.float64)
    check_finite(views, name)
    if not (np.abs(views[:, 3] - [0, 0, 0, 1]) <= _RIGID).all():
        raise ValueError(f"{name}: expected rigid motions with the last row 0, 0, 0, 1, found another last row")
    return views


def cameras_of(viewmats: Any, Ks: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """World-to-camera matrices [C, 4, 4] and lenses [C, 3, 3]."""
    views = views_of(viewmats, "viewmats")
    lenses = take(Ks, "Ks", (len(views), 3, 3), np.float64)
    check_finite(lenses, "Ks")
    if lenses[:, [0, 1], [1, 0]].any():
        raise ValueError("Ks: expected matrices without skew, found a skew, which gsplat ignores")
    return views, lenses
