"""Gradients of rasterization in the graph of torch, against those of gsplat's own torch functions."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from test_gsplat_gradients import arguments

from quadrille.gsplat import rasterization
from quadrille.gsplat._gradients import _Pass

torch: Any = pytest.importorskip("torch")
NAMES = ("means", "quats", "scales", "opacities", "colors", "viewmats", "backgrounds")


def tensors(**given: Any) -> dict[str, Any]:
    """Arrays as tensors of f64 with gradients."""
    turned = {name: torch.tensor(given[name], requires_grad=True) for name in NAMES}
    return given | turned | {"Ks": torch.tensor(given["Ks"])}


def dense(given: dict[str, Any], has_depth: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Every splat on every pixel, from the projection and the harmonics of gsplat in torch; with means and radii."""
    own = pytest.importorskip("gsplat.cuda._torch_impl")
    width, height = given["width"], given["height"]
    covars, _ = own._quat_scale_to_covar_preci(given["quats"], given["scales"], True, False)
    projected = own._fully_fused_projection(
        given["means"], covars, given["viewmats"], given["Ks"], width, height, eps2d=0.3, near_plane=0.01,
        camera_model=given.get("camera_model", "pinhole"),
    )
    radii, means2d, depths, conics = projected[:4]
    eyes = torch.inverse(given["viewmats"])[:, :3, 3]
    directions = given["means"][None] - eyes[:, None]
    colors = torch.clamp_min(
        own._spherical_harmonics(given["sh_degree"], directions, given["colors"][None].expand(len(eyes), -1, -1, -1)) + 0.5, 0
    )
    if has_depth:
        colors = torch.cat([colors, depths[..., None]], -1)
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    pixels = torch.stack([columns, rows], -1).to(means2d.dtype) + 0.5
    is_drawn = torch.zeros_like(depths, dtype=torch.bool)
    pictures = []
    for camera in range(len(eyes)):
        order = torch.argsort(depths[camera].float(), stable=True)
        x, y = (pixels[:, :, None] - means2d[camera][order]).unbind(-1)
        xx, xy, yy = conics[camera][order].unbind(-1)
        power = 0.5 * (xx * x * x + yy * y * y) + xy * x * y
        alphas = (given["opacities"][order] * torch.exp(-power)).clamp_max(0.999)
        alphas = torch.where(alphas < 1 / 255, torch.zeros_like(alphas), alphas)
        is_drawn[camera, order] = (alphas > 0).any(0).any(0)
        behind = torch.cumprod(torch.cat([torch.ones_like(alphas[..., :1]), 1 - alphas], -1), -1)
        picture = torch.einsum("hwn,nd->hwd", behind[..., :-1] * alphas, colors[camera][order])
        last = behind[..., -1:]
        shown = picture[..., :3] + last * given["backgrounds"][camera]
        mean = picture[..., 3:] / (1 - last).clamp_min(1e-10)
        pictures.append((torch.cat([shown, mean], -1), 1 - last))
    colors, alphas = (torch.stack(results) for results in zip(*pictures))
    return colors, alphas, {"means2d": means2d, "radii": radii * is_drawn[..., None]}


def along_rigid_motions(gradients: Any, viewmats: Any) -> Any:
    """Slopes [C, 6] along turns and moves of the camera. Off these, the centre of a camera has no unique derivative: ours
    follows the transposed rotation, gsplat's the inverse of the matrix."""
    generators = torch.zeros(6, 4, 4, dtype=torch.float64)
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        generators[axis, a, b], generators[axis, b, a] = -1, 1
        generators[3 + axis, axis, 3] = 1
    motions = torch.einsum("gij,cjk->cgik", generators, viewmats.detach())
    return (motions * gradients[:, None]).sum((-2, -1))


@pytest.mark.parametrize("model", ["pinhole", "ortho"])
@pytest.mark.parametrize("mode", ["RGB", "RGB+ED"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_gradients_are_those_of_torch(model: str, mode: str, packed: bool, seed: int) -> None:
    found, expected = (tensors(**arguments(seed, model=model)) for _ in range(2))
    colors, alphas, meta = rasterization(**found, render_mode=mode, packed=packed, absgrad=True)
    meta["means2d"].retain_grad()
    own_colors, own_alphas, _ = dense(expected, mode == "RGB+ED")
    np.testing.assert_allclose(colors.detach(), own_colors.detach(), atol=1e-4)
    random = np.random.default_rng(7)
    v_colors, v_alphas = (torch.tensor(random.normal(size=result.shape)) for result in (colors, alphas))
    ((colors * v_colors).sum() + (alphas * v_alphas).sum()).backward()
    ((own_colors * v_colors).sum() + (own_alphas * v_alphas).sum()).backward()
    for name in NAMES:
        ours, theirs = found[name].grad, expected[name].grad
        if name == "viewmats":
            ours, theirs = (along_rigid_motions(grad, given["viewmats"]) for grad, given in ((ours, found), (theirs, expected)))
        error = float((ours - theirs).norm() / theirs.norm())
        assert error < 1e-4, f"{name}: {error}"
    centres = meta["means2d"]
    assert centres.grad.shape == centres.absgrad.shape == centres.shape
    assert bool((centres.absgrad >= centres.grad.abs() - 1e-6).all())


def test_only_what_requires_a_gradient_has_one() -> None:
    given = tensors(**arguments())
    for name in NAMES:
        given[name].requires_grad_(name in ("opacities", "viewmats"))
    colors, _, _ = rasterization(**given)
    colors.sum().backward()
    assert [name for name in NAMES if given[name].grad is not None] == ["opacities", "viewmats"]
    with torch.no_grad():
        assert not rasterization(**given)[0].requires_grad


def test_losses_may_use_the_centres() -> None:
    given = tensors(**arguments())
    _, _, meta = rasterization(**given, packed=False)
    meta["means2d"][0, :, 0].sum().backward()
    assert bool(given["means"].grad[:, 0].any()) and not bool(given["opacities"].grad.any())


def test_a_retained_graph_has_the_gradients_again() -> None:
    given = tensors(**arguments())
    colors, _, _ = rasterization(**given)
    for _ in range(2):
        colors.sum().backward(retain_graph=True)
    first = given["means"].grad / 2
    given["means"].grad = None
    colors.sum().backward()
    assert torch.equal(given["means"].grad, first)


def test_batches_have_the_gradients_of_their_calls() -> None:
    ones = [tensors(**arguments(seed)) for seed in (0, 1)]
    for one in ones:
        rasterization(**one)[0].square().sum().backward()
    stacked = {name: torch.stack([one[name].detach() for one in ones]).requires_grad_() for name in (*NAMES, "Ks")}
    both = ones[0] | stacked | {"Ks": stacked["Ks"].detach()}
    colors, _, meta = rasterization(**both, packed=False)
    assert colors.shape[:2] == meta["means2d"].shape[:2] == (2, 2)
    colors.square().sum().backward()
    for name in NAMES:
        assert torch.equal(stacked[name].grad, torch.stack([one[name].grad for one in ones])), name
    with pytest.raises(NotImplementedError, match="packed=False"):
        rasterization(**both)


def test_steps_do_not_grow_memory() -> None:
    resource = pytest.importorskip("resource")
    given = tensors(**arguments())

    def step() -> None:
        rasterization(**given)[0].sum().backward()

    for _ in range(200):
        step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        step()
    # In KiB on Linux: a picture of the test takes 5.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000


def test_refusals_name_what_is_missing() -> None:
    given = tensors(**arguments())
    with pytest.raises(NotImplementedError, match="sparse_grad"):
        rasterization(**given, sparse_grad=True)
    colors, _, _ = rasterization(**given)
    for loss in ((colors**2).sum(), colors.sum()):
        (slope,) = torch.autograd.grad(loss, given["means"], create_graph=True)
        with pytest.raises(NotImplementedError, match="second derivatives"):
            slope.sum().backward()
    colors, _, _ = rasterization(**given)
    with torch.no_grad():
        given["means"].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        colors.sum().backward()


def test_a_step_leaves_nothing_to_the_collector_of_cycles() -> None:
    given = tensors(**arguments())
    gc.collect()
    gc.disable()
    try:
        colors, _, _ = rasterization(**given)
        colors.sum().backward()
        del colors, _
        assert not [kept for kept in gc.get_objects() if isinstance(kept, _Pass)]
    finally:
        gc.enable()
