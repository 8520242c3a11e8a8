"""Pictures of discs, against gsplat's own torch rules for 2D Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_gsplat_gradients import arguments

from quadrille.gsplat import rasterization_2dgs
from quadrille.gsplat.utils import depth_to_normal

torch: Any = pytest.importorskip("torch")
own: Any = pytest.importorskip("gsplat.cuda._torch_impl_2dgs")


def call(seed: int, **changed: Any) -> dict[str, Any]:
    """Discs before two cameras, with colours in place of coefficients."""
    given = arguments(seed=seed)
    random = np.random.default_rng(seed)
    for name in ("absgrad", "camera_model", "compat", "covars", "rasterize_mode", "sh_degree"):
        given.pop(name, None)
    # gsplat's function in torch scales its normals by the third scale, which its kernel takes as 1.
    given["scales"][:, 2] = 1
    given["colors"] = random.uniform(0, 1, (len(given["means"]), 3))
    return given | changed


def dense(given: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Colours with the mean depth, alphas and normals of every disc on every pixel, as gsplat's functions give them."""
    turned = {name: torch.tensor(np.asarray(given[name], np.float64)) for name in
              ("means", "quats", "scales", "opacities", "colors", "viewmats", "Ks", "backgrounds")}
    width, height = given["width"], given["height"]
    _, means2d, depths, rays, normals = own._fully_fused_projection_2dgs(
        *(turned[name] for name in ("means", "quats", "scales", "viewmats", "Ks")), width, height
    )
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    pixels = torch.stack([columns, rows], -1).double() + 0.5
    pictures = []
    for camera, rotation in enumerate(turned["viewmats"][:, :3, :3]):
        order = torch.argsort(depths[camera].float(), stable=True)
        order = order[depths[camera][order] > 0.01]
        m, d = rays[camera][order], pixels[:, :, None] - means2d[camera][order]
        h_u = pixels[:, :, None, :1] * m[:, 2] - m[:, 0]
        h_v = pixels[:, :, None, 1:] * m[:, 2] - m[:, 1]
        met = torch.cross(h_u, h_v, dim=-1)
        on_disc = (met[..., :2] / met[..., 2:]).square().sum(-1)
        sigmas = 0.5 * torch.minimum(on_disc, 2 * d.square().sum(-1))
        alphas = (turned["opacities"][order] * torch.exp(-sigmas)).clamp_max(0.999)
        alphas = torch.where(alphas < 1 / 255, torch.zeros_like(alphas), alphas)
        behind = torch.cumprod(torch.cat([torch.ones_like(alphas[..., :1]), 1 - alphas], -1), -1)
        weights, last = behind[..., :-1] * alphas, behind[..., -1:]
        colors = torch.cat([turned["colors"], depths[camera][:, None]], -1)
        picture = torch.einsum("hwn,nd->hwd", weights, colors[order])
        shown = picture[..., :3] + last * turned["backgrounds"][camera]
        mean = picture[..., 3:] / (1 - last).clamp_min(1e-10)
        in_world = torch.einsum("hwn,nd->hwd", weights, normals[camera][order]) @ rotation
        pictures.append((torch.cat([shown, mean], -1), 1 - last, in_world))
    return tuple(torch.stack(results).numpy() for results in zip(*pictures))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pictures_are_those_of_gsplats_rules(seed: int) -> None:
    given = call(seed, render_mode="RGB+ED")
    found = rasterization_2dgs(**given)
    assert found[1].max() > 0.5
    for ours, expected in zip(found[:3], dense(given)):
        # Some fragments at the alpha cut fall on its other side.
        strays = (np.abs(ours - expected) > 1e-4).any(-1)
        assert strays.mean() < 0.002, strays.sum()


def test_normals_of_depths_and_missing_results() -> None:
    given = call(3, render_mode="RGB+D")
    *_, of_depth, distortion, median, meta = rasterization_2dgs(**given)
    assert of_depth.shape == (2, given["height"], given["width"], 3)
    assert distortion.shape == median.shape == (2, given["height"], given["width"], 1)
    np.testing.assert_array_equal(meta["render_distort"], distortion)
    of_median = rasterization_2dgs(**given, depth_mode="median")[3]
    poses = np.linalg.inv(given["viewmats"].astype(np.float64))
    np.testing.assert_allclose(of_median, depth_to_normal(median, poses, given["Ks"]), atol=1e-6)
    assert np.abs(of_median - of_depth).max() > 0.1
    assert meta["n_cameras"] == 2
    with pytest.raises(KeyError, match="radii: not computed for discs"):
        meta["radii"]
    one = given | {name: given[name][:1] for name in ("viewmats", "Ks", "backgrounds")}
    np.testing.assert_array_equal(rasterization_2dgs(**one)[3], of_depth[0])
    assert rasterization_2dgs(**call(3))[3] is None


def test_what_is_not_computed_is_refused_by_name() -> None:
    given = call(4)
    with pytest.raises(NotImplementedError, match="gradients"):
        rasterization_2dgs(**given | {"means": torch.tensor(given["means"], requires_grad=True)})
    with pytest.raises(ValueError, match="distloss"):
        rasterization_2dgs(**given, distloss=True)


def test_tensors_come_back_as_tensors() -> None:
    given = call(5)
    tensors = {name: torch.tensor(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    ours, plain = rasterization_2dgs(**tensors), rasterization_2dgs(**given)
    for tensor, array in zip(ours[:3] + ours[4:6], plain[:3] + plain[4:6]):
        assert isinstance(tensor, torch.Tensor)
        np.testing.assert_array_equal(tensor.numpy(), array)
