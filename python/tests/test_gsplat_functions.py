"""Projection and harmonics of `quadrille.gsplat` beside gsplat's own functions of torch, values and gradients."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import oracle
import pytest

from quadrille import gsplat as ours
from quadrille.gsplat import utils

torch = pytest.importorskip("torch")

WIDTH, HEIGHT = 120, 80
CAMERAS, SPLATS = 2, 60
#: Largest deviation from gsplat's functions, relative to the largest value.
NEAR = 1e-9


@pytest.fixture(scope="module")
def theirs() -> ModuleType:
    """The wheel's functions of torch, which need no CUDA."""
    path = oracle.wheel_file("cuda/_torch_impl.py")
    if path is None:
        pytest.skip("gsplat 1.5.3 is not installed")
    spec = importlib.util.spec_from_file_location("gsplat_functions_of_torch", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def leaves(*batch: int) -> dict[str, Any]:
    """Splats and cameras in double precision. Some splats are behind the cameras, and some beside the pictures."""
    random = np.random.default_rng(7)
    means = random.normal(size=(*batch, SPLATS, 3)) * [1.5, 1.0, 1.5] + [0, 0, 3]
    views = np.broadcast_to(np.eye(4), (*batch, CAMERAS, 4, 4)).copy()
    views[..., 1, :3, 3] = [0.3, -0.2, 0.5]
    lenses = np.broadcast_to([[90.0, 0, 55], [0, 80, 42], [0, 0, 1]], (*batch, CAMERAS, 3, 3)).copy()
    arrays = {
        "means": means,
        "quats": random.normal(size=(*batch, SPLATS, 4)),
        "scales": np.exp(random.uniform(-4, -1, (*batch, SPLATS, 3))),
        "viewmats": views,
        "Ks": lenses,
        "opacities": random.uniform(0.001, 1, (*batch, SPLATS)),
    }
    return {name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in arrays.items()}


def near(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert (found - expected).abs().max() <= NEAR * max(1, expected.abs().max())


def weighted(results: list[Any]) -> Any:
    """A sum over results in which every element has a weight of its own."""
    generator = torch.Generator().manual_seed(3)
    return sum((r * torch.rand(r.shape, generator=generator, dtype=r.dtype)).sum() for r in results)


def same(ours: Callable[..., list[Any]], theirs: Callable[..., list[Any]], arguments: list[Any]) -> None:
    """Checks values, and gradients of all arguments."""
    found, expected = ours(*arguments), theirs(*arguments)
    for a, b in zip(found, expected, strict=True):
        near(a, b)
    gradients = [torch.autograd.grad(weighted(results), arguments) for results in (found, expected)]
    for a, b in zip(*gradients, strict=True):
        assert b.abs().max() > 0
        near(a, b)


@pytest.mark.parametrize("degree", range(5))
def test_harmonics(theirs: ModuleType, degree: int) -> None:
    random = np.random.default_rng(degree)
    directions = torch.tensor(random.normal(size=(3, 40, 3)), requires_grad=degree > 0)
    coefficients = torch.tensor(random.normal(size=(3, 40, 25, 3)), requires_grad=True)
    arguments = [directions, coefficients] if degree else [coefficients]

    def of(function: Callable[..., Any]) -> Callable[..., list[Any]]:
        return lambda *values: [function(degree, values[0] if degree else directions, values[-1])]

    same(of(ours.spherical_harmonics), of(theirs._spherical_harmonics), arguments)
    values = ours.spherical_harmonics(degree, directions.detach().numpy(), coefficients.detach().numpy())
    assert isinstance(values, np.ndarray)
    near(torch.tensor(values), ours.spherical_harmonics(degree, directions, coefficients))


def test_masks_leave_harmonics_out() -> None:
    random = np.random.default_rng(1)
    directions, coefficients = random.normal(size=(5, 3)), random.normal(size=(5, 4, 3))
    masks = np.array([True, False, True, False, True])
    found = ours.spherical_harmonics(1, directions, coefficients, masks)
    assert (found[~masks] == 0).all()
    assert (found[masks] == ours.spherical_harmonics(1, directions[masks], coefficients[masks])).all()
    tensor = torch.tensor(coefficients, requires_grad=True)
    ours.spherical_harmonics(1, torch.tensor(directions), tensor, torch.tensor(masks)).sum().backward()
    assert (tensor.grad[~masks] == 0).all() and (tensor.grad[masks] != 0).any()


def test_harmonics_without_a_direction_have_finite_gradients() -> None:
    directions = torch.zeros((1, 3), requires_grad=True)
    ours.spherical_harmonics(2, directions, torch.ones((1, 9, 3))).sum().backward()
    assert torch.isfinite(directions.grad).all()


@pytest.mark.parametrize("triu", [False, True])
def test_covariances(theirs: ModuleType, triu: bool) -> None:
    splats = leaves()

    def of(function: Callable[..., Any]) -> Callable[..., list[Any]]:
        return lambda quats, scales: list(function(quats, scales, True, True, triu))

    same(
        of(ours.quat_scale_to_covar_preci), of(theirs._quat_scale_to_covar_preci), [splats["quats"], splats["scales"]]
    )
    assert ours.quat_scale_to_covar_preci(splats["quats"], splats["scales"], False, False) == (None, None)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("model", ["pinhole", "ortho", "fisheye"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["quats", "covars"])
def test_projection(theirs: ModuleType, batch: tuple[int, ...], model: str, packed: bool, kind: str) -> None:
    splats = leaves(*batch)
    options = {"eps2d": 0.2, "near_plane": 0.5, "far_plane": 6.0, "calc_compensations": True, "camera_model": model}
    names = ["means", "quats", "scales", "viewmats", "Ks"]
    is_drawn: Any = None

    def expected(means: Any, quats: Any, scales: Any, views: Any, lenses: Any) -> list[Any]:
        nonlocal is_drawn
        # Its kernels ignore the skew that these functions read.
        lenses = lenses * torch.tensor([[1, 0, 1], [0, 1, 1], [0, 0, 1]])
        covars, _ = theirs._quat_scale_to_covar_preci(quats, scales, True, False)
        radii, *results = theirs._fully_fused_projection(means, covars, views, lenses, WIDTH, HEIGHT, **options)
        is_drawn = (radii > 0).all(-1)
        return [radii[is_drawn].double(), *(result[is_drawn] for result in results)]

    def found(means: Any, quats: Any, scales: Any, views: Any, lenses: Any) -> list[Any]:
        covars = None
        if kind == "covars":
            covars, _ = ours.quat_scale_to_covar_preci(quats, scales, True, False, triu=True)
            quats = scales = None
        results = ours.fully_fused_projection(
            means, covars, quats, scales, views, lenses, WIDTH, HEIGHT, packed=packed, **options
        )
        if packed:
            *ids, radii = results[:4]
            results = results[4:]
            assert all(index.dtype == torch.int64 for index in ids)
            rows = torch.stack(ids if batch else ids[1:], 1)
            expected(means, *(splats[name] for name in names[1:]))
            assert (rows == is_drawn.nonzero()).all()
        else:
            radii, *results = results
            expected(means, *(splats[name] for name in names[1:]))
            assert ((radii > 0).all(-1) == is_drawn).all() and (radii[~is_drawn] == 0).all()
            radii, results = radii[is_drawn], [result[is_drawn] for result in results]
        return [radii.double(), *results]

    same(found, expected, [splats[name] for name in names])
    # A fisheye leaves out fewer splats than the others.
    assert 20 < is_drawn.sum() < is_drawn.numel() - 15


def test_opacities_bound_the_radii() -> None:
    splats = {name: array.detach() for name, array in leaves().items()}
    geometry = [splats["means"], None, splats["quats"], splats["scales"], splats["viewmats"], splats["Ks"]]
    options = {"calc_compensations": True, "near_plane": 0.5}
    every = ours.fully_fused_projection(*geometry, WIDTH, HEIGHT, **options)
    bounded = ours.fully_fused_projection(*geometry, WIDTH, HEIGHT, opacities=splats["opacities"], **options)
    strengths = splats["opacities"] * every[4]
    reach = torch.sqrt(2 * torch.log((255 * strengths).clamp(min=1))).clamp(max=3.33)
    determinants = 1 / (every[3][..., 0] * every[3][..., 2] - every[3][..., 1] ** 2)
    deviations = torch.sqrt(every[3][..., [2, 0]] * determinants[..., None])
    is_drawn = (bounded[0] > 0).all(-1)
    assert (bounded[0] == torch.ceil(reach[..., None] * deviations).int())[is_drawn].all()
    assert (is_drawn <= (strengths >= 1 / 255)).all()
    assert 0 < ((every[0] > 0).all(-1) & ~is_drawn).sum()
    small = ours.fully_fused_projection(*geometry, WIDTH, HEIGHT, radius_clip=4.0, **options)
    assert (((small[0] > 0).all(-1)) == (every[0] > 4).any(-1)).all()


def test_projection_of_numpy_is_that_of_torch() -> None:
    splats = {name: array.detach() for name, array in leaves().items()}
    geometry = [splats["means"], None, splats["quats"], splats["scales"], splats["viewmats"], splats["Ks"]]
    expected = ours.fully_fused_projection(*geometry, WIDTH, HEIGHT, packed=True)
    arrays = [None if value is None else value.numpy() for value in geometry]
    found = ours.fully_fused_projection(*arrays, WIDTH, HEIGHT, packed=True)
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert isinstance(a, np.ndarray)
            near(torch.tensor(a).double(), b.double())


def test_splats_in_the_plane_of_the_camera_have_no_gradients() -> None:
    means = torch.tensor([[0.1, 0.2, 0.0], [0.0, 0.0, 2.0]], dtype=torch.float64, requires_grad=True)
    quats, scales = torch.ones((2, 4)).double(), torch.full((2, 3), 0.1).double()
    views, lenses = torch.eye(4).double()[None], torch.tensor([[[90.0, 0, 60], [0, 80, 40], [0, 0, 1]]]).double()
    radii, *results = ours.fully_fused_projection(
        means, None, quats, scales, views, lenses, WIDTH, HEIGHT, calc_compensations=True
    )
    weighted(results).backward()
    assert (radii[0, 0] == 0).all() and (means.grad[0] == 0).all()
    assert torch.isfinite(means.grad).all() and means.grad[1].abs().max() > 0


def test_what_is_not_projected_says_so() -> None:
    splats = leaves()
    geometry = [splats["means"], None, splats["quats"], splats["scales"], splats["viewmats"], splats["Ks"]]
    with pytest.raises(NotImplementedError, match="^camera_model: 'ftheta'"):
        ours.fully_fused_projection(*geometry, WIDTH, HEIGHT, camera_model="ftheta")
    with pytest.raises(NotImplementedError, match="^sparse_grad"):
        ours.fully_fused_projection(*geometry, WIDTH, HEIGHT, packed=True, sparse_grad=True)
    with pytest.raises(ValueError, match="^covars: expected an array, or quats and scales"):
        ours.fully_fused_projection(*geometry[:2], None, *geometry[3:], WIDTH, HEIGHT)
    with pytest.raises(ValueError, match="^coeffs: expected at least 9"):
        ours.spherical_harmonics(2, torch.ones((4, 3)), torch.ones((4, 4, 3)))


def test_points_of_a_plane_have_its_normal() -> None:
    random = np.random.default_rng(5)
    turn = utils.normalized_quat_to_rotmat(np.array([0.8, 0.0, 0.6, 0.0]))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, random.normal(size=3)
    lens = np.array([[20.0, 0, 6], [0, 25, 4], [0, 0, 1]])
    flat = np.full((1, 8, 12, 1), 2.0)
    points = utils.depth_to_points(flat, pose[None], lens[None])
    seen = (points[0] - pose[:3, 3]) @ turn
    assert np.allclose(seen[..., 2], 2) and np.allclose(20 * seen[3, 7, 0] / 2 + 6, 7.5)
    along = utils.depth_to_points(flat, pose[None], lens[None], z_depth=False)
    assert np.allclose(np.linalg.norm(along - pose[:3, 3], axis=-1), 2)
    normals = utils.depth_to_normal(torch.tensor(flat), torch.tensor(pose[None]), torch.tensor(lens[None]))
    assert np.allclose(normals[0, 1:-1, 1:-1].numpy(), -turn[:, 2]) and (normals[0, 0] == 0).all()
