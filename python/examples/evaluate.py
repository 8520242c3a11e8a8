"""The evaluation loop of a trainer, without torch and without a GPU.

    python evaluate.py point_cloud.ply --cameras cameras.json --photos images/ --width 980

Splats are activated as gsplat's `simple_trainer.py` does, drawn by the same call from every camera, and compared with the
photos of the same names. Without photos, the pictures are written.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quadrille
from quadrille.gsplat import load_ply_to_splats, rasterization

Array = NDArray[Any]


def drawn(
    splats: dict[str, Array], cameras: list[quadrille.Camera]
) -> Iterator[tuple[quadrille.Camera, NDArray[np.float32]]]:
    """The picture of each camera, [H, W, 3] over black, not clamped."""
    splats = {name: np.asarray(array) for name, array in splats.items()}
    colors = np.ascontiguousarray(np.concatenate([splats["sh0"], splats["shN"]], axis=1))
    activated = {
        "means": splats["means"],
        "quats": splats["quats"],
        "scales": np.exp(splats["scales"]),
        "opacities": 1 / (1 + np.exp(-splats["opacities"])),
        "colors": colors,
    }
    for camera in cameras:
        colours, _, _ = rasterization(
            **activated,
            viewmats=camera.viewmat[None],
            Ks=camera.K[None],
            width=camera.width,
            height=camera.height,
            sh_degree=int(np.sqrt(colors.shape[1])) - 1,
            near_plane=0.01,
            far_plane=1e10,
            packed=False,
            meta=False,
        )
        yield camera, colours[0]


def main() -> None:
    """Evaluates a scene and prints the metrics as JSON, as the trainer does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--cameras", required=True)
    parser.add_argument("--photos", type=pathlib.Path, help="folder with a picture of each view")
    parser.add_argument("--width", type=int, help="width of the pictures [default: as in the camera file]")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("renders"))
    arguments = parser.parse_args()
    cameras = quadrille.load_cameras(arguments.cameras)
    if arguments.width:
        cameras = [camera.resized(arguments.width) for camera in cameras]
    splats = load_ply_to_splats(arguments.scene)
    found: list[dict[str, Any]] = []
    start = time.perf_counter()
    for camera, colours in drawn(splats, cameras):
        if arguments.photos is None:
            arguments.output.mkdir(exist_ok=True)
            opaque = np.ones((*colours.shape[:2], 1), np.float32)
            quadrille.Picture(np.concatenate([colours, opaque], axis=2)).save(arguments.output / f"{camera.name}.png")
            continue
        photo = next(arguments.photos.glob(f"{camera.name}.*"))
        found.append(quadrille.compare(colours, quadrille.read_picture(photo)))
    print(
        json.dumps(
            {
                "psnr": np.mean([f["psnr_db"] for f in found]) if found else None,
                "ssim": np.mean([f["ssim"] for f in found]) if found else None,
                "ellipse_time": (time.perf_counter() - start) / len(cameras),
                "num_GS": len(splats["means"]),
            }
        )
    )


if __name__ == "__main__":
    main()
