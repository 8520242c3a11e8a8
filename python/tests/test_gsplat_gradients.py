"""Gradients of rasterization without torch."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import pytest

from quadrille.gsplat import quat_scale_to_covar_preci, rasterization, rasterization_vjp

SIZE = (24, 16)


def arguments(seed: int = 0, splats: int = 30, cameras: int = 2, model: str = "pinhole") -> dict[str, Any]:
    """Splats of moderate opacity in front of two cameras, so that no pixel is opaque."""
    focal = 5.0 if model == "ortho" else 20.0
    random = np.random.default_rng(seed)
    views = np.tile(np.eye(4), (cameras, 1, 1))
    views[:, :3, 3] = random.normal(0, 0.1, (cameras, 3)) + [0, 0, 4]
    return {
        "means": random.normal(0, 0.8, (splats, 3)),
        "quats": random.normal(size=(splats, 4)),
        "scales": random.uniform(0.1, 0.5, (splats, 3)),
        "opacities": random.uniform(0.1, 0.4, splats),
        "colors": random.normal(0, 0.3, (splats, 4, 3)),
        "viewmats": views,
        "Ks": np.tile([[focal, 0, 12], [0, focal, 8], [0, 0, 1]], (cameras, 1, 1)),
        "camera_model": model,
        "width": SIZE[0],
        "height": SIZE[1],
        "sh_degree": 1,
        "backgrounds": random.uniform(size=(cameras, 3)),
    }


@pytest.mark.parametrize(("mode", "model"), [("RGB", "pinhole"), ("RGB+ED", "pinhole"), ("RGB+ED", "fisheye")])
def test_gradients_are_the_slopes_of_the_pictures(mode: str, model: str) -> None:
    # Splats that are above the alpha cut in the whole picture: a moving cut is a step, of which gradients know nothing.
    given = arguments(splats=12, model=model) | {"render_mode": mode}
    given["means"] = given["means"] * 0.3
    given["scales"] = given["scales"] + 1.5
    colors, alphas, _, vjp = rasterization_vjp(**given)
    np.testing.assert_array_equal(colors, rasterization(**given)[0])
    random = np.random.default_rng(1)
    v_colors, v_alphas = random.normal(size=colors.shape), random.normal(size=alphas.shape)
    found = vjp(v_colors, v_alphas)

    def loss(values: dict[str, Any]) -> float:
        pictures = rasterization(**values)
        return float((pictures[0] * v_colors).sum(dtype=np.float64) + (pictures[1] * v_alphas).sum(dtype=np.float64))

    for name in ("means", "quats", "scales", "opacities", "colors", "backgrounds"):
        assert found[name].shape == given[name].shape
        # The direction of the gradient: its slope is the gradient's length.
        direction = found[name] / np.linalg.norm(found[name])
        step = 1e-3
        ends = [loss(given | {name: given[name] + sign * step * direction}) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope == pytest.approx(np.linalg.norm(found[name]), rel=0.02), name
    moves = np.zeros_like(given["viewmats"])
    moves[:, :3, 3] = found["viewmats"][:, :3, 3]
    ends = [loss(given | {"viewmats": given["viewmats"] + sign * 1e-5 * moves}) for sign in (1, -1)]
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx((moves**2).sum(), rel=0.02)


def test_gradients_by_centres_in_the_picture() -> None:
    given = arguments()
    colors, alphas, _, vjp = rasterization_vjp(**given)
    zeros = np.zeros(colors.shape), np.zeros(alphas.shape)
    found = vjp(np.ones(colors.shape), zeros[1])
    assert found["means2d"].shape == (2, 30, 2)
    assert (found["means2d_abs"] >= np.abs(found["means2d"]) - 1e-12).all()
    # A loss by the centres alone: x of the first camera moves with x of the means, by the focal length over the depth.
    by_centres = np.zeros((2, 30, 2))
    by_centres[0, :, 0] = 1
    moved = vjp(*zeros, by_centres)["means"]
    depths = given["means"][:, 2] + given["viewmats"][0, 2, 3]
    drawn = moved[:, 0] != 0
    assert drawn.sum() > 20
    np.testing.assert_allclose(moved[drawn, 0], 20 / depths[drawn], rtol=1e-5)


def test_covariances_stand_for_axes() -> None:
    given = arguments()
    covars, _ = quat_scale_to_covar_preci(given["quats"], given["scales"], compute_preci=False)
    by_axes = rasterization_vjp(**given)
    by_covars = rasterization_vjp(**given | {"covars": covars, "quats": None, "scales": None})
    np.testing.assert_allclose(by_covars[0], by_axes[0], atol=1e-5)
    random = np.random.default_rng(3)
    cotangents = random.normal(size=by_axes[0].shape), random.normal(size=by_axes[1].shape)
    found, expected = by_covars[3](*cotangents), by_axes[3](*cotangents)
    assert found["covars"].shape == (30, 3, 3) and "scales" not in found and "covars" not in expected
    assert not np.tril(found["covars"], -1).any()
    np.testing.assert_allclose(found["means"], expected["means"], rtol=1e-3, atol=1e-3)
    # A larger splat: all scales times 1 + t change covariances by 2 t, and the loss by the sum of scale by gradient.
    growth = (expected["scales"] * given["scales"]).sum(axis=1)
    np.testing.assert_allclose(2 * (found["covars"] * covars).sum(axis=(1, 2)), growth, rtol=1e-3, atol=1e-3)


def test_batches_have_the_gradients_of_their_calls() -> None:
    ones = [arguments(seed) for seed in (0, 1)]
    arrays = [name for name, value in ones[0].items() if isinstance(value, np.ndarray)]
    both = ones[0] | {name: np.stack([one[name] for one in ones]) for name in arrays}
    colors, alphas, _, vjp = rasterization_vjp(**both)
    found = vjp(np.cos(colors), np.sin(alphas))
    for number, one in enumerate(ones):
        expected = rasterization_vjp(**one)[3](np.cos(colors[number]), np.sin(alphas[number]))
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name][number], array, err_msg=name)


def test_nothing_in_view_has_no_gradient() -> None:
    given = arguments()
    given["means"][:, 2] = -10
    colors, alphas, _, vjp = rasterization_vjp(**given)
    found = vjp(np.ones_like(colors), np.ones_like(alphas))
    assert not any(found[name].any() for name in ("means", "quats", "scales", "opacities", "colors", "viewmats"))
    np.testing.assert_allclose(found["backgrounds"], SIZE[0] * SIZE[1])
    with pytest.raises(ValueError, match="v_colors: expected"):
        vjp(np.ones(3), np.ones_like(alphas))


def test_memory_is_used_again_only_when_no_array_needs_it() -> None:
    given = arguments(splats=50_000, cameras=1)

    def gradients() -> Any:
        colors, alphas, _, vjp = rasterization_vjp(**given)
        return vjp(np.ones_like(colors), np.zeros_like(alphas))["colors"]

    def place(array: Any) -> int:
        return int(array.__array_interface__["data"][0])

    first = gradients()
    kept, place_of_first = first.copy(), place(first)
    second = gradients()
    np.testing.assert_array_equal(second, kept)
    assert not np.shares_memory(first, second)
    # A view is a part of the array.
    row = first[49_999]
    second[:] = np.nan
    del first, second
    third = gradients()
    np.testing.assert_array_equal(third, kept)
    np.testing.assert_array_equal(row, kept[49_999])
    place_of_third = place(third)
    assert place_of_third != place_of_first
    del third
    if hasattr(mmap, "MADV_HUGEPAGE"):
        assert place(gradients()) == place_of_third


def test_no_cameras_have_no_gradient() -> None:
    given = arguments(splats=50_000, cameras=1)
    colors, alphas, _, vjp = rasterization_vjp(**given)
    # These fill the memory that later gradients use.
    assert abs(vjp(np.ones_like(colors), np.zeros_like(alphas))["colors"]).sum() > 0
    none = {"viewmats": np.zeros((0, 4, 4)), "Ks": np.zeros((0, 3, 3)), "backgrounds": None}
    colors, alphas, _, vjp = rasterization_vjp(**given | none)
    assert abs(vjp(np.ones_like(colors), np.zeros_like(alphas))["colors"]).sum() == 0
