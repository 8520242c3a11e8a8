"""Fits splats to pictures on the CPU, by the gradients of `quadrille.gsplat.rasterization`.

    python fit.py ../../scenes/island.ply --splats 2000 --steps 500 --width 128

Of 16 views of an orbit, 12 are fitted, and every fourth is only compared. The splats start at random pixels of the
fitted pictures, at the depths of these pixels, as points of a depth camera or of a reconstruction would.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
import torch

import quadrille
from quadrille.gsplat import rasterization
from quadrille.losses import l1_ssim

#: Views of the orbit, and the distance of the views that are only compared.
VIEWS, HELD_OUT = 16, 4
#: Learning rates of Adam at the first step, and their factor at the last; that of the means is per extent of the points.
RATES, DECAY = {"means": 2e-3, "quats": 1e-2, "scales": 2e-2, "opacities": 5e-2, "colors": 2e-2}, 0.2
#: Opacity of the first splats, and their size in distances of neighbours.
OPACITY, SIZE = 0.8, 0.6
#: First spherical harmonic, which is constant.
HARMONIC = 0.28209479177387814


class Photos:
    """Pictures of a scene from an orbit, with their cameras as tensors."""

    def __init__(self, scene: quadrille.Scene, width: int) -> None:
        cameras = quadrille.orbit(scene, VIEWS, width=width, height=width * 9 // 16)
        drawn = [quadrille.render(scene, camera, layers=["depth"]) for camera in cameras]
        self.colors = torch.stack([torch.tensor(picture.rgba[..., :3]) for picture in drawn]).clamp(0, 1)
        self.depths = torch.stack([torch.tensor(picture.layers["depth"]) for picture in drawn])
        self.viewmats = torch.stack([torch.tensor(camera.viewmat).float() for camera in cameras])
        self.Ks = torch.stack([torch.tensor(camera.K).float() for camera in cameras])
        self.fitted = [view for view in range(VIEWS) if view % HELD_OUT]

    def points(self, count: int) -> tuple[Any, Any]:
        """Positions and colours of random pixels of the fitted pictures."""
        views = torch.tensor(self.fitted)[torch.randint(len(self.fitted), (count,))]
        rows, columns = (torch.randint(size, (count,)) for size in self.depths.shape[1:3])
        pixels = torch.stack([columns + 0.5, rows + 0.5, torch.ones(count)], -1)
        rays = torch.linalg.solve(self.Ks[views], pixels)
        in_camera = rays * self.depths[views, rows, columns].reshape(-1, 1)
        poses = torch.inverse(self.viewmats[views])
        positions = torch.einsum("nij,nj->ni", poses[:, :3, :3], in_camera) + poses[:, :3, 3]
        return positions, self.colors[views, rows, columns]


def first_splats(photos: Photos, count: int) -> dict[str, Any]:
    """Round splats at points, as parameters: logarithms of scales, logits of opacities and colours."""
    positions, colors = photos.points(count)
    neighbours = torch.cdist(positions, positions).topk(4, largest=False).values[:, 1:].mean(1)
    values = {
        "means": positions,
        "quats": torch.randn(count, 4),
        "scales": (SIZE * neighbours.clamp_min(1e-4)).log()[:, None].repeat(1, 3),
        "opacities": torch.logit(torch.full((count,), OPACITY)),
        "colors": torch.logit(colors.clamp(0.02, 0.98)),
    }
    return {name: value.requires_grad_() for name, value in values.items()}


def draw(splats: dict[str, Any], photos: Photos, view: int) -> Any:
    """The picture [H, W, 3] of a view, in the graph."""
    colors, _, _ = rasterization(
        splats["means"],
        splats["quats"],
        splats["scales"].exp(),
        splats["opacities"].sigmoid(),
        splats["colors"].sigmoid(),
        photos.viewmats[view : view + 1],
        photos.Ks[view : view + 1],
        photos.colors.shape[2],
        photos.colors.shape[1],
    )
    return colors[0]


def held_out_psnr(splats: dict[str, Any], photos: Photos) -> float:
    """Mean PSNR in dB of the views that are not fitted."""
    with torch.no_grad():
        views = range(0, VIEWS, HELD_OUT)
        errors = [(draw(splats, photos, view).clamp(0, 1) - photos.colors[view]).square().mean() for view in views]
    return float(np.mean([-10 * math.log10(float(error)) for error in errors]))


def fit(splats: dict[str, Any], photos: Photos, steps: int) -> None:
    """Changes splats so that they look like the photos; one photo per step."""
    extent = float((splats["means"] - splats["means"].mean(0)).detach().norm(dim=1).quantile(0.9))
    rates = RATES | {"means": RATES["means"] * extent}
    optimizer = torch.optim.Adam([{"params": [splats[name]], "lr": rate} for name, rate in rates.items()])
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, DECAY ** (1 / max(steps, 1)))
    for step in range(steps):
        view = photos.fitted[step % len(photos.fitted)]
        optimizer.zero_grad()
        l1_ssim(draw(splats, photos, view), photos.colors[view]).backward()
        optimizer.step()
        decay.step()


def main() -> None:
    """Fits splats, prints the PSNR before and after, and writes them and the pictures of a held-out view."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scene", help="scene whose pictures are fitted")
    parser.add_argument("--splats", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--width", type=int, default=128, help="width of the pictures in pixels [default: 128]")
    parser.add_argument("--output", default="fitted.ply", help="file of the fitted splats [default: fitted.ply]")
    parser.add_argument("--picture", default="fit.png", help="the first view before, after, and of the scene")
    options = parser.parse_args()
    torch.manual_seed(0)
    photos = Photos(quadrille.load(options.scene), options.width)
    splats = first_splats(photos, options.splats)
    shown, before = [draw(splats, photos, 0).detach()], held_out_psnr(splats, photos)
    fit(splats, photos, options.steps)
    shown += [draw(splats, photos, 0).detach(), photos.colors[0]]
    row = torch.nn.functional.pad(torch.cat(shown, 1).clamp(0, 1), (0, 1), value=1.0)
    quadrille.Picture(row.numpy()).save(options.picture)
    arrays = {name: value.detach() for name, value in splats.items()}
    arrays["sh"] = (arrays.pop("colors").sigmoid()[:, None] - 0.5) / HARMONIC
    quadrille.Scene.from_arrays(**arrays, raw=True).save(options.output)
    print(f"held-out views: {before:.2f} dB before, {held_out_psnr(splats, photos):.2f} dB after {options.steps} steps")


if __name__ == "__main__":
    main()
