"""Finds the pose of a camera from its picture on the CPU, by the gradients of `rasterization` by `viewmats`.

    python pose.py ../../scenes/island.ply

A camera is turned by 5 degrees about a random axis, and moved by 5 % of its distance to the scene. Its pose is the start
times a rigid motion, the exponential of six numbers, which Adam changes until the picture is the wanted one.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import torch

import quadrille
from quadrille.gsplat import rasterization

#: Rates of Adam at the first step, in radians and in distances of the camera, and their factor at the last step.
RATE, DECAY = 1e-2, 1e-2


def motion(twist: Any) -> Any:
    """The rigid motion [4, 4] of three numbers of a rotation in radians and three of a translation."""
    zero = twist.new_zeros(())
    x, y, z, u, v, w = twist
    rows = [[zero, -z, y, u], [z, zero, -x, v], [-y, x, zero, w], [zero] * 4]
    return torch.matrix_exp(torch.stack([torch.stack(row) for row in rows]))


def difference(pose: Any, other: Any) -> tuple[float, float]:
    """Angle in degrees, and distance of the centres, between two poses."""
    between = pose @ torch.linalg.inv(other)
    turn = between[:3, :3]
    sine = torch.stack([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]).norm() / 2
    return math.degrees(math.atan2(float(sine), (float(turn.trace()) - 1) / 2)), float(between[:3, 3].norm())


def find_pose(scene: quadrille.Scene, camera: quadrille.Camera, start: Any, distance: float, steps: int) -> Any:
    """The pose, world to camera, at which the scene looks as from the camera; the search begins at `start`."""
    splats = [torch.tensor(array) for array in (scene.means, scene.quats, scene.scales, scene.opacities, scene.sh)]
    lens = torch.tensor(camera.K)[None]

    def draw(pose: Any) -> Any:
        degree = math.isqrt(scene.sh.shape[1]) - 1
        return rasterization(*splats, pose[None], lens, camera.width, camera.height, sh_degree=degree)[0]

    wanted = draw(torch.tensor(camera.viewmat))
    # The motion turns about a point in front of the camera: turns about the camera itself look like moves.
    to_point, units = torch.eye(4, dtype=start.dtype), torch.ones(6, dtype=start.dtype)
    to_point[2, 3], units[3:] = -distance, distance
    from_point = torch.linalg.inv(to_point)
    twist = torch.zeros(6, dtype=start.dtype, requires_grad=True)
    optimizer = torch.optim.Adam([twist], RATE)
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, DECAY ** (1 / max(steps, 1)))
    for _ in range(steps):
        optimizer.zero_grad()
        (draw(from_point @ motion(twist * units) @ to_point @ start) - wanted).abs().mean().backward()
        optimizer.step()
        decay.step()
    return (from_point @ motion(twist * units) @ to_point @ start).detach()


def main() -> None:
    """Moves a camera, finds its pose again, and prints the differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--width", type=int, default=128, help="width of the picture in pixels [default: 128]")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--degrees", type=float, default=5.0, help="angle of the turn [default: 5]")
    parser.add_argument("--percent", type=float, default=5.0, help="length of the move in %% of the distance [default: 5]")
    parser.add_argument("--seed", type=int, default=0, help="number that fixes the turn and the move [default: 0]")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    scene = quadrille.load(options.scene)
    camera = quadrille.orbit(scene, 16, width=options.width, height=options.width * 9 // 16)[0]
    pose = torch.tensor(camera.viewmat)
    # The median depth of the picture.
    distance = float(torch.tensor(quadrille.render(scene, camera, layers=["depth"]).layers["depth"]).median())
    turn, move = torch.nn.functional.normalize(torch.randn(2, 3, dtype=pose.dtype), dim=1)
    length = options.percent / 100 * distance
    start = motion(torch.cat([turn * math.radians(options.degrees), torch.zeros(3)])) @ pose
    start[:3, 3] += move * length
    for name, found in (("start", start), ("found", find_pose(scene, camera, start, distance, options.steps))):
        degrees, away = difference(found, pose)
        print(f"{name}: {degrees:.4f} degrees, {100 * away / distance:.4f} % of the distance")


if __name__ == "__main__":
    main()
