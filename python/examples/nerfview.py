"""A viewer in a browser: nerfview asks for pictures, and quadrille draws them on the CPU.

    pip install nerfview viser imageio jaxtyping matplotlib rich scipy splines torch
    python nerfview.py scene.ply

Release 0.1.3 of nerfview states only viser of the packages that it imports.

`render_function` also serves a training script that shows its splats in nerfview.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import quadrille


class CameraState(Protocol):
    """What nerfview says of the camera."""

    c2w: NDArray[np.floating[Any]]

    def get_K(self, img_wh: tuple[int, int]) -> NDArray[np.floating[Any]]: ...


class RenderTabState(Protocol):
    """What nerfview says of the size of the picture."""

    preview_render: bool
    render_width: int
    render_height: int
    viewer_width: int
    viewer_height: int


Pictures = tuple[NDArray[np.uint8], NDArray[np.float32]]


def render_function(scene: quadrille.Scene) -> Callable[[CameraState, RenderTabState], Pictures]:
    """The function that nerfview calls for every picture: colours [H, W, 3] and depth [H, W, 1]."""

    def render(camera: CameraState, tab: RenderTabState) -> Pictures:
        if tab.preview_render:
            size = tab.render_width, tab.render_height
        else:
            size = tab.viewer_width, tab.viewer_height
        # The pose follows OpenCV, as the cameras of quadrille. It is of single precision.
        view = np.linalg.inv(np.asarray(camera.c2w, np.float64))
        view[3] = [0, 0, 0, 1]
        drawn = quadrille.Camera(*size, camera.get_K(size), view)
        picture = quadrille.render(scene, drawn, layers=["depth"])
        return picture.rgb8(), picture.layers["depth"][..., None]

    return render


def main() -> None:
    """Serves a scene until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--port", type=int, default=8080)
    arguments = parser.parse_args()
    # Nothing else of this file needs them.
    import nerfview
    import viser

    scene = quadrille.load(arguments.scene, progress=True)
    server = viser.ViserServer(port=arguments.port)
    viewer = nerfview.Viewer(server=server, render_fn=render_function(scene), mode="rendering")
    print(f"{viewer.state} on http://localhost:{arguments.port}")
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
