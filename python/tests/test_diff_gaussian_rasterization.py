"""The calls of diff-gaussian-rasterization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrille
from quadrille.gsplat import quat_scale_to_covar_preci
from quadrille.diff_gaussian_rasterization import GaussianRasterizationSettings, GaussianRasterizer

torch: Any = pytest.importorskip("torch")


def settings_of(camera: quadrille.Camera, degree: int = 0, **others: Any) -> GaussianRasterizationSettings:
    """The settings that the original trainer makes of a camera."""
    K, near, far = camera.K, 0.01, 100.0
    tans = camera.width / (2 * K[0, 0]), camera.height / (2 * K[1, 1])
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1] = 1 / tans[0], 1 / tans[1]
    projection[0, 2], projection[1, 2] = 2 * K[0, 2] / camera.width - 1, 2 * K[1, 2] / camera.height - 1
    projection[2, 2], projection[2, 3], projection[3, 2] = far / (far - near), -far * near / (far - near), 1
    view = torch.tensor(camera.viewmat.T)
    fields: dict[str, Any] = {
        "image_height": camera.height,
        "image_width": camera.width,
        "tanfovx": tans[0],
        "tanfovy": tans[1],
        "bg": torch.tensor([0.1, 0.2, 0.3]),
        "scale_modifier": 1.0,
        "viewmatrix": view,
        "projmatrix": view @ torch.tensor(projection.T),
        "sh_degree": degree,
        "campos": torch.tensor(camera.eye),
        "prefiltered": False,
        "debug": False,
    }
    return GaussianRasterizationSettings(**(fields | others))


def splats_of(scene: quadrille.Scene) -> dict[str, Any]:
    arrays = {
        "means3D": scene.means,
        "opacities": scene.opacities[:, None],
        "shs": scene.sh,
        "scales": scene.scales,
        "rotations": scene.quats,
    }
    return {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}


@pytest.mark.parametrize("antialiasing", [None, False, True])
def test_pictures_are_those_of_render(
    vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera, antialiasing: bool | None
) -> None:
    scene = vase[0]
    rasterizer = GaussianRasterizer(settings_of(view, scene.sh_degree, antialiasing=antialiasing))
    color, radii, *depths = rasterizer(means2D=None, **splats_of(scene))
    profile = "inria-aa" if antialiasing else "inria"
    picture = quadrille.render(scene, view, profile=profile).over([0.1, 0.2, 0.3])
    # Both round differently: the cuts of single fragments may differ.
    differences = np.abs(color.detach().permute(1, 2, 0).numpy() - picture.rgba[..., :3]).max(-1)
    assert np.quantile(differences, 0.99) < 1e-5 and differences.max() < 5e-3
    assert radii.dtype == torch.int32 and (radii > 0).sum() > 1000
    assert bool((rasterizer.markVisible(torch.tensor(scene.means))[radii > 0]).all())
    if antialiasing is None:
        assert not depths
    else:
        (inverse,) = depths
        depth = quadrille.render(scene, view, profile=profile, layers=["depth"]).layers["depth"]
        alpha = quadrille.render(scene, view, profile=profile).rgba[..., 3]
        opaque = alpha > 0.9
        # By Jensen's inequality, the mean inverse is at least the inverse of the mean.
        assert inverse[0].detach().numpy()[opaque] / alpha[opaque] == pytest.approx(1 / depth[opaque], rel=0.2)


def test_gradients_are_slopes(vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    scene = vase[0][:12]
    camera = quadrille.Camera.look_at([0, 0, -4], [0, 0, 0], [0, -1, 0], width=24, height=16, fov_degrees=40)
    random = np.random.default_rng(3)
    arrays = {
        "means3D": random.normal(0, 0.2, (12, 3)),
        "opacities": random.uniform(0.2, 0.4, (12, 1)),
        "shs": scene.sh[:, :4] * 0.3,
        "scales": random.uniform(1.5, 2, (12, 3)),
        "rotations": random.normal(size=(12, 4)),
    }
    weights = torch.tensor(random.normal(size=(3, 16, 24)))
    for antialiasing in (None, False):
        rasterizer = GaussianRasterizer(settings_of(camera, 1, antialiasing=antialiasing))

        def loss(given: dict[str, Any], means2D: Any = None) -> Any:
            color, _, *depths = rasterizer(means2D=means2D, **given)
            return (color * weights).sum() + sum(depth.sum() for depth in depths)

        given = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
        means2D = torch.zeros(12, 3, requires_grad=True)
        loss(given, means2D).backward()
        for name, value in given.items():
            direction = value.grad / value.grad.norm()
            with torch.no_grad():
                ends = [loss(given | {name: value + sign * 1e-3 * direction}) for sign in (1, -1)]
            slope = float(ends[0] - ends[1]) / 2e-3
            assert slope == pytest.approx(float(value.grad.norm()), rel=0.02), name
        assert means2D.grad.shape == (12, 3) and bool(means2D.grad[:, :2].all()) and not bool(means2D.grad[:, 2].any())


def test_centres_move_in_device_coordinates(vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera) -> None:
    """Where splats do not turn with the view, the gradient by x is that of the centre times focal length by depth."""
    small = quadrille.Camera.look_at([0, 0, -4], [0, 0, 0], [0, -1, 0], width=24, height=16, fov_degrees=40)
    given = {
        "means3D": torch.zeros(1, 3, requires_grad=True),
        "opacities": torch.full((1, 1), 0.4),
        "colors_precomp": torch.ones(1, 3),
        "scales": torch.full((1, 3), 0.3),
        "rotations": torch.tensor([[1.0, 0, 0, 0]]),
    }
    means2D = torch.zeros(1, 3, requires_grad=True)
    color, _ = GaussianRasterizer(settings_of(small))(means2D=means2D, **given)
    (color[:, :, :10]).sum().backward()
    by_pixel = means2D.grad[0, 0] / (small.width / 2)
    assert float(given["means3D"].grad[0, 0]) == pytest.approx(float(by_pixel * small.K[0, 0] / 4), rel=1e-4)


def test_covariances_are_shapes(vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera) -> None:
    """Scales and rotations give the same picture and gradients through their covariances."""
    given = splats_of(vase[0])
    axes = {name: given.pop(name).requires_grad_() for name in ("scales", "rotations")}
    draw = GaussianRasterizer(settings_of(view))
    covars, _ = quat_scale_to_covar_preci(axes["rotations"], axes["scales"], compute_preci=False, triu=True)
    found, gradients = [], []
    for shape in (axes, {"cov3D_precomp": covars}):
        color, _ = draw(means2D=None, **given, **shape)
        found.append(color)
        (color * torch.linspace(-1, 1, color.numel()).reshape(color.shape)).sum().backward()
        gradients.append([value.grad.clone() for value in axes.values()])
        for value in axes.values():
            value.grad = None
    assert float((found[0] - found[1]).abs().max()) < 1e-4
    for of_axes, of_covars in zip(*gradients):
        assert float((of_axes - of_covars).norm()) < 2e-3 * float(of_axes.norm())


def test_refusals_name_the_argument(vase: tuple[quadrille.Scene, list[quadrille.Camera]], view: quadrille.Camera) -> None:
    given = splats_of(vase[0])
    with pytest.raises(ValueError, match="shs, colors_precomp: expected one of them"):
        GaussianRasterizer(settings_of(view))(means2D=None, **given, colors_precomp=torch.ones(2000, 3))
    with pytest.raises(ValueError, match="cov3D_precomp: expected the first two, or the last"):
        GaussianRasterizer(settings_of(view))(means2D=None, **given, cov3D_precomp=torch.ones(2000, 6))
    with pytest.raises(ValueError, match="projmatrix: expected the focal lengths"):
        GaussianRasterizer(settings_of(view, tanfovx=3.0))(means2D=None, **given)
    with pytest.raises(NotImplementedError, match="kernel_size"):
        settings_of(view, kernel_size=0.1)
    with pytest.raises(TypeError, match="colour"):
        settings_of(view, colour=0.1)
    assert settings_of(view)._replace(sh_degree=1).sh_degree == 1
