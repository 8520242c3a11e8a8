"""Lens and shutter of a camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._arrays import integer, take
from ._camera import Camera, raw_camera


@dataclass(frozen=True, kw_only=True)
class Blur:
    """Lens and shutter of a camera: the picture is the mean, in linear light, of ``samples`` pictures from points of the
    aperture and times while the shutter is open. The points and times are the same in every call.

    Parameters
    ----------
    f_stop : F-number of the lens: its focal length divided by the diameter of its aperture.
    sensor_height : height of the sensor in world units, from which ``f_stop`` takes the focal length; by default 0.024, a
        full-frame sensor in a world of metres.
    aperture : radius of the aperture in world units, instead of ``f_stop``.
    coc_px : diameter in pixels of the circle of confusion of points infinitely far away, instead of ``f_stop``.
    focus : distance in focus, along the view axis; by default the median depth in the middle of the picture.
    focus_at : point in focus, [3], instead of ``focus``.
    towards : the next camera of a film, towards which the camera moves while the shutter is open.
    shutter : share of the way to that camera, 0 to 1.
    rolling_shutter : instead of a mean, one picture whose rows or columns are read while the camera moves:
        ``"top-to-bottom"``, ``"left-to-right"``, ``"bottom-to-top"`` or ``"right-to-left"``; it needs ``towards`` and the
        profile ``"gsplat-ut"``, and has layers.
    samples : number of pictures, 1 to 4096.

    >>> import quadrille
    >>> scene, cameras = quadrille.synth("object", splats=1000)
    >>> camera = cameras[0].resized(64, 36)
    >>> picture = quadrille.render(scene, camera, blur=quadrille.Blur(coc_px=8, samples=16))
    >>> picture.rgba.shape
    (36, 64, 4)
    """

    f_stop: float | None = None
    sensor_height: float | None = None
    aperture: float | None = None
    coc_px: float | None = None
    focus: float | None = None
    focus_at: object = None
    towards: Camera | None = None
    shutter: float = 1.0
    rolling_shutter: str | None = None
    samples: int = 64


def blur_arguments(blur: Blur) -> dict[str, Any]:
    """The fields of a blur for the native call."""
    if not isinstance(blur, Blur):
        raise TypeError(f"blur: expected a quadrille.Blur, found {type(blur).__name__}")
    lengths = {
        name: None if (value := getattr(blur, name)) is None else float(value)
        for name in ("f_stop", "sensor_height", "aperture", "coc_px", "focus")
    }
    return lengths | {
        "focus_at": None if blur.focus_at is None else take(blur.focus_at, "focus_at", (3,), "float64").tolist(),
        "towards": None if blur.towards is None else raw_camera(blur.towards),
        "shutter": float(blur.shutter),
        "rolling_shutter": blur.rolling_shutter,
        "samples": integer(blur.samples, "samples"),
    }
