"""Viewers of scenes in the memory of this process."""

from __future__ import annotations

import html
import operator
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from . import _quadrille
from ._arrays import colour, integer
from ._camera import Camera, raw_camera
from ._scene import Scene, default_camera, raw_scene
from ._threads import checked_threads


class Viewer:
    """A server that shows a scene in browsers, on threads of this process. `view` starts one.

    It ends when it is closed, by the end of a ``with`` block, and when nothing refers to it any more. A notebook shows its
    page, also from ``display(viewer)``. Every method may be called from any thread.
    """

    __slots__ = ("_raw",)
    _raw: _quadrille.Viewer

    def __init__(self) -> None:
        raise TypeError("Viewer: expected quadrille.view, found a call of the class")

    @property
    def url(self) -> str:
        """Address of the page, with the token that shows the scene to nobody else."""
        return self._raw.url

    def update(self, scene: Scene, **status: Any) -> None:
        """Shows another scene on all pages, whose cameras stay. The scene is shared, not copied.

        Keywords are those of `status`: ``viewer.update(scene, step=1200, psnr=27.3)``. Without any, the line stays.
        """
        line = _line(status)
        self._raw.update(raw_scene(scene))
        if line:
            self._raw.set_status(line)

    def status(self, **values: Any) -> None:
        """Shows names and values, numbers or texts, in a line of the page: ``viewer.status(step=1200, loss=0.02)``."""
        self._raw.set_status(_line(values))

    @property
    def camera(self) -> Camera | None:
        """Camera of the page whose camera moved last, with the size of its picture; None if no page shows a picture.

        A camera that is set moves all pages, and new pages begin there. Its lens is one of ``cameras`` of `view`, or a
        pinhole with square pixels and a centred principal point; pages keep the sizes of their pictures.
        """
        raw = self._raw.camera()
        return None if raw is None else Camera._of(raw)

    @camera.setter
    def camera(self, camera: Camera) -> None:
        self._raw.set_camera(raw_camera(camera))

    def close(self) -> None:
        """Ends the server and its pages. A second call has no effect."""
        self._raw.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({'closed' if self._raw.is_closed else self.url.partition('#')[0]})"

    def _repr_html_(self) -> str | None:
        if self._raw.is_closed:
            return None
        self._raw.admit_frames()
        url = html.escape(self.url)
        return (
            f'<iframe src="{url}" style="width: 100%; height: 640px; border: 0" allow="fullscreen"></iframe>'
            f'<a href="{url}" target="_blank">Open the viewer in a tab</a>'
        )


def view(
    scene: Scene,
    *,
    cameras: Sequence[Camera] | None = None,
    name: str = "scene",
    port: int = 8490,
    profile: str | None = None,
    near: float | None = None,
    order: str | None = None,
    background: object = 0.0,
    viewers: int = 4,
    max_pixels: int = 8_300_000,
    threads: int | None = None,
) -> Viewer:
    """Shows a scene in a browser, beside a program that goes on, such as a training loop.

    The pages are those of ``quadrille view``: pictures of full size are exact as soon as the camera rests. Only this machine
    reaches them, and only with the token in the address.

    Parameters
    ----------
    scene : the scene, which is shared, not copied.
    cameras : views in the list of the page, which begins with the first; by default the one of `default_camera`.
    name : name of the scene on the page.
    port : port of the address, or one of the next nine if it is taken; 0 lets the system choose.
    profile, near, order : as in `render`, for all scenes that are shown.
    background : an opaque grey or colour [3], 0 to 1.
    viewers : largest number of open pages, 1 to 16.
    max_pixels : largest number of pixels of an exact picture, 65536 to 67108864; larger windows show smaller pictures.
    threads : number of threads that draw, beside those of other calls; by default the number of `set_threads`.

    Raises
    ------
    ValueError : naming the argument, also if no port is free.
    NotImplementedError : if the package was built without its feature ``view``.

    >>> import quadrille
    >>> scene, cameras = quadrille.synth("object", splats=1000)
    >>> with quadrille.view(scene, cameras=cameras, port=0) as viewer:
    ...     viewer.update(scene, step=1200, psnr=27.3)
    ...     viewer.url.startswith("http://localhost:")
    True
    """
    if not hasattr(_quadrille, "Viewer"):
        raise NotImplementedError("view: expected a package built with its feature `view`, found one without it")
    raw = raw_scene(scene)
    listed = [default_camera(scene)] if cameras is None else list(cameras)
    if not listed:
        raise ValueError("cameras: expected at least one, found none")
    settings = {
        "cameras": [raw_camera(camera) for camera in listed],
        "name": str(name),
        "port": _within(port, "port", 0, 65535),
        "profile": profile,
        "near": near,
        "order": order,
        "background": colour(background, "background"),
        "viewers": _within(viewers, "viewers", 1, 16),
        "max_pixels": _within(max_pixels, "max_pixels", 1 << 16, 1 << 26),
        "threads": None if threads is None else checked_threads(threads),
    }
    viewer = object.__new__(Viewer)
    viewer._raw = _quadrille.Viewer(raw, settings)
    return viewer


def _within(value: object, name: str, least: int, most: int) -> int:
    number = integer(value, name)
    if not least <= number <= most:
        raise ValueError(f"{name}: expected {least} to {most}, found {number}")
    return number


def _line(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_shown(name, value)}" for name, value in values.items())


def _shown(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    try:
        return f"{float(value):.5g}"
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected a number or a text, found {type(value).__name__}") from error
