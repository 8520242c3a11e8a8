"""Training with a strategy: as far with `rasterization` as with every splat on every pixel in torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_gsplat_autograd import dense

import quadrille
from quadrille.gsplat import rasterization

torch: Any = pytest.importorskip("torch")
strategies: Any = pytest.importorskip("gsplat.strategy")

SIZE, VIEWS, STEPS, SPLATS = 32, 8, 240, 100
RATES = {"means": 5e-3, "quats": 1e-2, "scales": 2e-2, "opacities": 5e-2, "colors": 2e-2}


def drawn_densely(given: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The results of `rasterization` in torch, as far as a strategy reads them."""
    colors, alphas, meta = dense(given, False)
    return colors, alphas, meta | {"width": SIZE, "height": SIZE, "n_cameras": 1, "gaussian_ids": None}


def trained(is_dense: bool, seed: int = 3) -> tuple[float, float, int]:
    """Mean PSNR of views that are not fitted, before and after, and the number of splats."""
    scene, _ = quadrille.synth("object", splats=2000, seed=1)
    cameras = quadrille.orbit(scene, VIEWS, width=SIZE, height=SIZE)
    photos = [torch.tensor(quadrille.render(scene, camera, background=0.0).rgba[..., :3]) for camera in cameras]
    torch.manual_seed(seed)
    chosen = np.random.default_rng(seed).choice(len(scene), SPLATS, replace=False)
    values = {
        "means": torch.tensor(scene.means[chosen]),
        "quats": torch.randn(SPLATS, 4),
        "scales": torch.full((SPLATS, 3), math.log(0.1 * float(np.ptp(scene.means, 0).max()))),
        "opacities": torch.zeros(SPLATS),
        "colors": torch.zeros(SPLATS, 1, 3),
    }
    params = {name: torch.nn.Parameter(value) for name, value in values.items()}
    optimizers = {name: torch.optim.Adam([params[name]], RATES[name]) for name in params}
    decays = [torch.optim.lr_scheduler.ExponentialLR(one, 0.05 ** (1 / STEPS)) for one in optimizers.values()]
    strategy = strategies.DefaultStrategy(refine_start_iter=30, refine_every=30, refine_stop_iter=STEPS // 2, grow_grad2d=4e-4)
    strategy.check_sanity(params, optimizers)
    state = strategy.initialize_state(scene_scale=float(np.ptp(scene.means, 0).max()))

    def draw(camera: quadrille.Camera) -> tuple[Any, Any, dict[str, Any]]:
        given = {
            "means": params["means"],
            "quats": params["quats"],
            "scales": params["scales"].exp(),
            "opacities": params["opacities"].sigmoid(),
            "colors": params["colors"],
            "viewmats": torch.tensor(camera.viewmat)[None].float(),
            "Ks": torch.tensor(camera.K)[None].float(),
            "width": SIZE,
            "height": SIZE,
            "sh_degree": 0,
            "backgrounds": torch.zeros(1, 3),
        }
        return drawn_densely(given) if is_dense else rasterization(**given, packed=False)

    def mean_psnr(views: list[int]) -> float:
        with torch.no_grad():
            errors = [(draw(cameras[view])[0][0] - photos[view]).square().mean() for view in views]
        return float(np.mean([-10 * math.log10(float(error)) for error in errors]))

    fitted = [view for view in range(VIEWS) if view % 4]
    before = mean_psnr(fitted)
    for step in range(STEPS):
        view = fitted[step % len(fitted)]
        colors, _, meta = draw(cameras[view])
        strategy.step_pre_backward(params, optimizers, state, step, meta)
        (colors[0] - photos[view]).abs().mean().backward()
        for optimizer in optimizers.values():
            optimizer.step()
            optimizer.zero_grad()
        for decay in decays:
            decay.step()
        strategy.step_post_backward(params, optimizers, state, step, meta)
    return before, mean_psnr(fitted), len(params["means"])


def test_training_gets_as_far_as_in_torch() -> None:
    (start, found, splats), (other_start, expected, other_splats) = trained(False), trained(True)
    assert abs(start - other_start) < 0.01
    assert expected > start + 6
    assert splats > 1.2 * SPLATS and other_splats > 1.2 * SPLATS
    assert abs(found - expected) < 0.3, (found, expected, splats, other_splats)
