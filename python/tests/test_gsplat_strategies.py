"""Strategies, relocation and the optimiser of `quadrille.gsplat` beside gsplat's own classes and formulas."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from quadrille import gsplat as ours
from quadrille.gsplat.strategy import ops

torch = pytest.importorskip("torch")

SPLATS, WIDTH, HEIGHT = 300, 80, 60


@pytest.fixture()
def theirs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """gsplat's strategies; what they take from CUDA is computed here."""
    module = pytest.importorskip("gsplat.strategy")
    if module is ours.strategy:
        pytest.skip("gsplat is quadrille.gsplat in this process")
    monkeypatch.setattr(module.ops, "compute_relocation", ours.compute_relocation)
    monkeypatch.setattr(module.ops, "quat_scale_to_covar_preci", ours.quat_scale_to_covar_preci)
    return module


class Trained:
    """Splats under training, after a step of Adam."""

    def __init__(self, is_column: bool = False) -> None:
        random = np.random.default_rng(11)
        opacities = random.normal(size=(SPLATS, 1) if is_column else SPLATS) * 4
        values = {
            "means": random.normal(size=(SPLATS, 3)),
            "quats": random.normal(size=(SPLATS, 4)),
            "scales": random.uniform(-7, -1, (SPLATS, 3)),
            "opacities": opacities,
            "sh0": random.normal(size=(SPLATS, 1, 3)),
        }
        self.params = {n: torch.nn.Parameter(torch.tensor(v, dtype=torch.float32)) for n, v in values.items()}
        self.params["index"] = torch.nn.Parameter(torch.arange(SPLATS).float(), requires_grad=False)
        self.optimizers = {name: torch.optim.Adam([self.params[name]], lr=1e-3) for name in values}
        generator = torch.Generator().manual_seed(5)
        for name in values:
            self.params[name].grad = torch.randn(self.params[name].shape, generator=generator)
            self.optimizers[name].step()

    def same(self, other: Trained) -> None:
        for name, parameter in self.params.items():
            near(parameter, other.params[name])
            assert parameter.requires_grad == other.params[name].requires_grad
        for name, optimizer in self.optimizers.items():
            (group,), (other_group,) = optimizer.param_groups, other.optimizers[name].param_groups
            assert group["params"][0] is self.params[name] and len(optimizer.state) == 1
            state, other_state = optimizer.state[self.params[name]], other.optimizers[name].state[other.params[name]]
            assert set(state) == set(other_state)
            for key in state:
                near(state[key], other_state[key])


def near(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-6, equal_nan=True)


def meta(packed: bool, cameras: int, absgrad: bool) -> dict[str, Any]:
    """The meta of a drawn step, with gradients of means on the picture plane."""
    generator = torch.Generator().manual_seed(cameras)
    radii = torch.randint(0, 12, (cameras, SPLATS, 2), generator=generator, dtype=torch.int32)
    means2d = torch.rand((cameras, SPLATS, 2), generator=generator)
    gradients = torch.randn((cameras, SPLATS, 2), generator=generator) * 1e-5
    camera_ids, rows = torch.where((radii > 0).all(-1))
    if packed:
        radii, means2d, gradients = (array[camera_ids, rows] for array in (radii, means2d, gradients))
    means2d.requires_grad_()
    means2d.grad = gradients
    if absgrad:
        means2d.absgrad = gradients.abs() * 2
    found = {"means2d": means2d, "radii": radii, "gaussian_ids": rows if packed else None}
    return {**found, "width": WIDTH, "height": HEIGHT, "n_cameras": cameras}


@pytest.mark.parametrize("name", ["DefaultStrategy", "MCMCStrategy"])
def test_fields_and_defaults_are_those_of_gsplat(theirs: Any, name: str) -> None:
    found, expected = getattr(ours, name)(), getattr(theirs, name)()
    assert dataclasses.asdict(found) == dataclasses.asdict(expected)
    assert list(dataclasses.asdict(found)) == list(dataclasses.asdict(expected))
    state, other = found.initialize_state(), expected.initialize_state()
    assert set(state) == set(other)
    if name == "MCMCStrategy":
        assert torch.equal(state["binoms"], other["binoms"])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"absgrad": True}, {"revised_opacity": True}, {"refine_scale2d_stop_iter": 1500}, {"verbose": True}],
    ids=str,
)
def test_growth_by_gradients_is_that_of_gsplat(theirs: Any, packed: bool, options: dict[str, Any]) -> None:
    # A splat in several pictures keeps its largest radius here, and any of them in gsplat.
    cameras = 1 if "refine_scale2d_stop_iter" in options else 3
    results = []
    for package in (ours, theirs):
        trained = Trained()
        strategy = package.DefaultStrategy(reset_every=1000, refine_start_iter=100, **options)
        strategy.check_sanity(trained.params, trained.optimizers)
        state = strategy.initialize_state(scene_scale=3.0)
        info = meta(packed, cameras, strategy.absgrad)
        drawn = {**info, "means2d": info["means2d"] * 1}
        strategy.step_pre_backward(trained.params, trained.optimizers, state, 1100, drawn)
        assert drawn["means2d"].retains_grad
        torch.manual_seed(9)
        strategy.step_post_backward(trained.params, trained.optimizers, state, 1099, info, packed=packed)
        sums = copy.deepcopy(state)
        strategy.step_post_backward(trained.params, trained.optimizers, state, 1100, info, packed=packed)
        results.append((trained, state, sums))
    (found, state, sums), (expected, expected_state, expected_sums) = results
    found.same(expected)
    assert len(found.params["means"]) != SPLATS
    for kept, other in ((state, expected_state), (sums, expected_sums)):
        assert set(kept) == set(other)
        for name in set(kept) - {"scene_scale"}:
            near(kept[name], other[name])


def test_the_largest_radius_of_several_pictures_counts() -> None:
    trained, strategy = Trained(), ours.DefaultStrategy(refine_scale2d_stop_iter=1500)
    state, info = strategy.initialize_state(), meta(True, 3, False)
    strategy.step_post_backward(trained.params, trained.optimizers, state, 1, info, packed=True)
    expected = torch.zeros(SPLATS)
    for row, radii in zip(info["gaussian_ids"], info["radii"]):
        expected[row] = max(expected[row], radii.max() / WIDTH)
    assert torch.equal(state["radii"], expected)


def test_opacities_are_reset_at_each_multiple() -> None:
    trained, strategy = Trained(), ours.DefaultStrategy(reset_every=50)
    state, info = strategy.initialize_state(), meta(False, 1, False)
    before = trained.params["opacities"].detach().clone()
    for step in (0, 49):
        strategy.step_post_backward(trained.params, trained.optimizers, state, step, info)
        assert torch.equal(trained.params["opacities"], before)
    strategy.step_post_backward(trained.params, trained.optimizers, state, 50, info)
    found = trained.params["opacities"]
    near(found.data, before.clamp(max=math.log(0.01 / 0.99)))
    moments = trained.optimizers["opacities"].state[found]
    assert not moments["exp_avg"].any() and not moments["exp_avg_sq"].any() and moments["step"] == 1


@pytest.mark.parametrize("is_column", [False, True])
@pytest.mark.parametrize("cap", [1_000_000, SPLATS + 3])
def test_growth_by_sampling_is_that_of_gsplat(theirs: Any, is_column: bool, cap: int) -> None:
    results = []
    for package in (ours, theirs):
        trained = Trained(is_column)
        strategy = package.MCMCStrategy(cap_max=cap, refine_start_iter=100)
        strategy.check_sanity(trained.params, trained.optimizers)
        state = strategy.initialize_state()
        torch.manual_seed(4)
        for step in (199, 200):
            strategy.step_post_backward(trained.params, trained.optimizers, state, step, {}, lr=1e-4)
        results.append(trained)
    results[0].same(results[1])
    assert len(results[0].params["means"]) == min(cap, int(1.05 * SPLATS))


@pytest.mark.parametrize("name", ["duplicate", "split", "remove", "reset_opa", "relocate", "sample_add"])
def test_operations_are_those_of_gsplat(theirs: Any, name: str) -> None:
    mask = torch.rand(SPLATS, generator=torch.Generator().manual_seed(2)) < 0.2
    binoms = ours.MCMCStrategy().initialize_state()["binoms"]
    arguments: dict[str, Any] = {
        "reset_opa": {"value": 0.2},
        "relocate": {"mask": mask, "binoms": binoms},
        "sample_add": {"n": 40, "binoms": binoms},
    }.get(name, {"mask": mask})
    results = []
    for module in (ops, theirs.ops):
        trained, state = Trained(), {"sum": torch.arange(SPLATS).float()}
        torch.manual_seed(1)
        getattr(module, name)(params=trained.params, optimizers=trained.optimizers, state=state, **arguments)
        results.append((trained, state))
    results[0][0].same(results[1][0])
    near(results[0][1]["sum"], results[1][1]["sum"])


def test_missing_parameters_and_optimizers_are_named() -> None:
    trained, strategy = Trained(), ours.DefaultStrategy()
    strategy.check_sanity(trained.params, trained.optimizers)
    with pytest.raises(ValueError, match="^optimizers: expected one for each of"):
        strategy.check_sanity(trained.params, {})
    with pytest.raises(ValueError, match="^params: expected .*, found no opacities"):
        others = [name for name in trained.optimizers if name != "opacities"]
        strategy.check_sanity(*({name: all_[name] for name in others} for all_ in (trained.params, trained.optimizers)))
    with pytest.raises(ValueError, match="^info: expected the meta of rasterization, found no radii"):
        info = dict.fromkeys(["width", "height", "n_cameras", "gaussian_ids", "means2d"])
        strategy.step_post_backward(trained.params, trained.optimizers, {}, 1, info)
    with pytest.raises(ValueError, match="^optimizers: expected one for sh0"):
        del trained.optimizers["sh0"]
        ops.remove(trained.params, trained.optimizers, {}, torch.zeros(SPLATS, dtype=torch.bool))


def test_relocation_is_the_formula() -> None:
    random = np.random.default_rng(8)
    opacities, scales = random.uniform(0.01, 0.999, 40), random.uniform(0.1, 2, (40, 3))
    copies = random.integers(0, 60, 40)
    binoms = ours.MCMCStrategy().initialize_state()["binoms"]
    ratios = torch.tensor(copies)
    new_opacities, new_scales = ours.compute_relocation(
        torch.tensor(opacities), torch.tensor(scales), ratios, binoms.double()
    )
    assert (ratios == torch.tensor(copies)).all()
    for row in range(40):
        n = int(np.clip(copies[row], 1, 51))
        opacity = 1 - (1 - opacities[row]) ** (1 / n)
        terms = [
            math.comb(i - 1, k) * (-1) ** k / math.sqrt(k + 1) * opacity ** (k + 1)
            for i in range(1, n + 1)
            for k in range(i)
        ]
        factor = opacities[row] / math.fsum(terms)
        assert abs(new_opacities[row] - opacity) <= 1e-12
        assert np.abs(new_scales[row].numpy() / (factor * scales[row]) - 1).max() <= 1e-9
    single, _ = ours.compute_relocation(
        torch.tensor(opacities[:, None]).float(), torch.tensor(scales).float(), ratios, binoms
    )
    assert single.shape == (40, 1) and single.dtype == torch.float32


def test_the_optimizer_steps_visible_splats_alone() -> None:
    torch.manual_seed(0)
    parameter = torch.nn.Parameter(torch.randn(50, 2, 3, dtype=torch.float64))
    idle = torch.nn.Parameter(torch.ones(50))
    rate, eps, betas = 0.1, 1e-3, (0.8, 0.95)
    optimizer = ours.SelectiveAdam([{"params": [parameter], "lr": rate}, {"params": [idle], "lr": rate}], eps, betas)
    assert isinstance(optimizer, torch.optim.Adam)
    values = parameter.detach().clone()
    first, second = torch.zeros_like(values), torch.zeros_like(values)
    for _ in range(4):
        gradient, is_visible = torch.randn(50, 2, 3, dtype=torch.float64), torch.rand(50) < 0.5
        parameter.grad = gradient
        optimizer.step(is_visible)
        for row in torch.where(is_visible)[0]:
            first[row] = betas[0] * first[row] + (1 - betas[0]) * gradient[row]
            second[row] = betas[1] * second[row] + (1 - betas[1]) * gradient[row] ** 2
            values[row] -= rate * first[row] / (second[row].sqrt() + eps)
    assert torch.allclose(parameter.detach(), values, rtol=1e-12, atol=1e-12)
    assert torch.equal(idle.detach(), torch.ones(50))
    optimizer = ours.SelectiveAdam([parameter, idle], eps, betas)
    with pytest.raises(ValueError, match="^params: expected groups of one tensor, found one of 2"):
        optimizer.step(torch.ones(50))
