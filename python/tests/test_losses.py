"""Structural similarity and the loss of trainers, for arrays of numpy."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import quadrille
from quadrille.losses import l1_ssim, l1_ssim_vjp, ssim


def pictures(*shape: int, noise: float = 0.1) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A picture and a noisy copy."""
    random = np.random.default_rng(1)
    a = random.random(shape, np.float32)
    return a, np.clip(a + noise * random.standard_normal(shape), 0, 1).astype(np.float32)


def test_similarity_is_that_of_compare() -> None:
    a, b = pictures(40, 56, 3)
    for padding, protocol in [("same", "float"), ("valid", "nerfstudio")]:
        expected = quadrille.compare(a, b, protocol=protocol)["ssim"]
        assert ssim(a, b, padding=padding) == pytest.approx(expected, abs=1e-12)
    assert quadrille.ssim(a, a) == 1 and l1_ssim(a, a) == 0 and quadrille.losses.ssim is quadrille.ssim


@pytest.mark.parametrize("padding", ["same", "valid"])
def test_gradients_are_differences(padding: str) -> None:
    a, b = pictures(2, 13, 17, 3)
    loss, vjp = l1_ssim_vjp(a, b, 0.4, padding=padding)
    assert loss == l1_ssim(a, b, 0.4, padding=padding)
    for name, gradient in vjp(2.0).items():
        direction = np.random.default_rng(2).standard_normal(a.shape).astype(np.float32)
        direction[np.abs(a - b) < 2e-3] = 0

        def moved(by: float) -> Any:
            pair = [a + np.float32(by) * direction, b] if name == "a" else [a, b + np.float32(by) * direction]
            return l1_ssim(*pair, 0.4, padding=padding)

        slope = (moved(2e-4) - moved(-2e-4)) / 4e-4
        assert 2 * slope == pytest.approx((gradient.astype(float) * direction).sum(), rel=1e-3)


def test_layouts_and_kinds_agree(tmp_path: pathlib.Path) -> None:
    a, b = pictures(24, 32, 3)
    expected = l1_ssim(a, b)
    assert l1_ssim(np.stack([a, a]), np.stack([b, b])) == pytest.approx(expected, abs=1e-12)
    first = [np.moveaxis(array, -1, 0) for array in (a, b)]
    assert l1_ssim(*first, channels="first") == pytest.approx(expected, abs=1e-12)
    _, vjp = l1_ssim_vjp(*first, channels="first")
    assert np.allclose(np.moveaxis(vjp()["a"], 0, -1), l1_ssim_vjp(a, b)[1]()["a"], atol=1e-9)
    bytes_of = [np.round(array * 255).astype(np.uint8) for array in (a, b)]
    own = quadrille.Picture(np.dstack([bytes_of[0] / 255, np.ones((24, 32))]))
    own.save(tmp_path / "a.png")
    known = ssim(*bytes_of)
    assert ssim(own, bytes_of[1]) == ssim(tmp_path / "a.png", bytes_of[1]) == known
    assert ssim(own, np.moveaxis(bytes_of[1], -1, 0), channels="first") == pytest.approx(known, abs=1e-12)
    assert ssim(a, b, threads=1) == ssim(a, b, threads=3)


def test_wrong_pictures_are_refused() -> None:
    a, b = pictures(8, 9, 3)
    for words, message in [
        ({"b": b[:7]}, r"b: expected \[8, 9, 3\], found \[7, 9, 3\]"),
        ({"a": a[0]}, r"a: expected \[..., H, W, C\], found \[9, 3\]"),
        ({"padding": "valid"}, "padding: expected same below 11 x 11 pixels"),
        ({"padding": "none"}, "padding: expected one of same, valid"),
        ({"channels": "second"}, "channels: expected one of last, first"),
        ({"a": np.where(a < 0.1, np.nan, a)}, "a: expected finite numbers, found NaN"),
        ({"b": np.where(b < 0.1, np.inf, b)}, "b: expected finite numbers, found inf"),
        ({"a": np.moveaxis(a, -1, 0)}, 'a: expected .*; pass channels="first"'),
        ({"a": a[:0], "b": b[:0]}, "a: expected pictures of 9 x 0 pixels"),
    ]:
        with pytest.raises(ValueError, match=message):
            ssim(**({"a": a, "b": b} | words))
    with pytest.raises(TypeError, match="whose scale is known"):
        ssim(a, (b * 100).astype(np.int32))
