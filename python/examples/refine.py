"""Refines a pruned scene on the CPU, so that it looks like the whole scene again.

    python refine.py ../../scenes/island.ply --prune 0.2 --width 160
    python refine.py udon.ply --cameras udon.cameras.json --prune 0.3

`prune` drops the splats whose weight stays below its value in every pixel. The others are changed until their pictures are
those of the whole scene in 8 bits; the loss is their mean squared error, which PSNR is the logarithm of.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
import torch

import quadrille
from quadrille.gsplat import rasterization

#: Learning rates of Adam at the first step, and their factor at the last; that of the means is per extent of the scene.
RATES, DECAY = {"means": 5e-4, "quats": 5e-3, "scales": 2.5e-2, "opacities": 1e-1, "sh": 1e-2}, 0.05
#: Opacities are at least this far from 0 and 1, where the logit has no slope.
MARGIN = 1e-4


def parameters(scene: quadrille.Scene) -> dict[str, Any]:
    """The splats as tensors with gradients: logarithms of scales, logits of opacities."""
    values = {
        "means": torch.tensor(scene.means),
        "quats": torch.tensor(scene.quats),
        "scales": torch.tensor(scene.scales).log(),
        "opacities": torch.tensor(scene.opacities).clamp(MARGIN, 1 - MARGIN).logit(),
        "sh": torch.tensor(scene.sh),
    }
    return {name: value.requires_grad_() for name, value in values.items()}


def draw(splats: dict[str, Any], camera: quadrille.Camera) -> Any:
    """The picture [H, W, 3] of a camera over black, in the graph."""
    colors, _, _ = rasterization(
        splats["means"],
        splats["quats"],
        splats["scales"].exp(),
        splats["opacities"].sigmoid(),
        splats["sh"],
        torch.tensor(camera.viewmat)[None].float(),
        torch.tensor(camera.K)[None].float(),
        camera.width,
        camera.height,
        sh_degree=math.isqrt(splats["sh"].shape[1]) - 1,
    )
    return colors[0]


def mean_psnr(pictures: list[Any], photos: list[Any]) -> float:
    """Mean PSNR in dB."""
    errors = [float((picture.clamp(0, 1) - photo).square().mean()) for picture, photo in zip(pictures, photos)]
    return float(np.mean([-10 * math.log10(max(error, 1e-20)) for error in errors]))


def refine(splats: dict[str, Any], cameras: list[quadrille.Camera], photos: list[Any], steps: int) -> None:
    """Changes splats so that they look like the photos; one photo per step."""
    centred = splats["means"].detach() - splats["means"].detach().mean(0)
    rates = RATES | {"means": RATES["means"] * float(centred.norm(dim=1).quantile(0.9))}
    optimizer = torch.optim.Adam([{"params": [splats[name]], "lr": rate} for name, rate in rates.items()])
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, DECAY ** (1 / max(steps, 1)))
    for step in range(steps):
        view = step % len(cameras)
        optimizer.zero_grad()
        (draw(splats, cameras[view]) - photos[view]).square().mean().backward()
        optimizer.step()
        decay.step()


def main() -> None:
    """Prunes a scene, refines it, prints the PSNR of each, and writes the refined scene."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--cameras", help="camera file [default: 12 views of an orbit]")
    parser.add_argument("--prune", type=float, default=0.3, help="smallest weight of a splat that stays [default: 0.3]")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--width", type=int, default=320, help="width of the pictures in pixels [default: 320]")
    parser.add_argument("--output", default="refined.ply", help="file of the refined scene [default: refined.ply]")
    options = parser.parse_args()
    scene = quadrille.load(options.scene)
    cameras = quadrille.load_cameras(options.cameras) if options.cameras else quadrille.orbit(scene, 12, width=640, height=360)
    # As the command, pruning looks at pictures of the size of the cameras.
    pruned = scene.convert([("prune", options.prune)], cameras=cameras)
    cameras = [camera.resized(options.width) for camera in cameras]
    drawn = [quadrille.render(scene, camera, background=0.0) for camera in cameras]
    # A view of nothing has no finite PSNR.
    seen = [bool(picture.rgb8().any()) for picture in drawn]
    cameras = [camera for camera, is_seen in zip(cameras, seen) if is_seen]
    whole = [torch.tensor(picture.rgba[..., :3]) for picture, is_seen in zip(drawn, seen) if is_seen]
    photos = [(picture.clamp(0, 1) * 255).round() / 255 for picture in whole]
    splats = parameters(pruned)
    found = [mean_psnr(whole, photos)]
    for steps in (0, options.steps):
        refine(splats, cameras, photos, steps)
        with torch.no_grad():
            found.append(mean_psnr([draw(splats, camera) for camera in cameras], photos))
    arrays = {name: value.detach() for name, value in splats.items()}
    quadrille.Scene.from_arrays(**arrays, raw=True).save(options.output)
    regained = (found[2] - found[1]) / (found[0] - found[1])
    print(f"{len(scene)} splats: {found[0]:.2f} dB; {len(pruned)} after pruning: {found[1]:.2f} dB")
    print(f"after {options.steps} steps: {found[2]:.2f} dB, {100 * regained:.0f} % of the loss regained")


if __name__ == "__main__":
    main()
