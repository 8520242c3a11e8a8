"""Pictures."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _quadrille
from ._arrays import as_numpy, colour, is_path, take


class Picture:
    """A picture of premultiplied RGBA, [H, W, 4] of float32, with rows from the top. It is not clamped; 0 to 1 is the
    range of a display, on the curve of sRGB.

    numpy and DLPack take a picture as this array: ``numpy.asarray(picture)``, ``torch.from_dlpack(picture)``.

    >>> import numpy as np, quadrille
    >>> grey = quadrille.Picture(np.full((2, 3, 4), 0.5))
    >>> grey.rgb8(background=1.0)[0, 0]
    array([255, 255, 255], dtype=uint8)
    """

    __slots__ = {
        "rgba": "Premultiplied colours and alpha, [H, W, 4].",
        "layers": "Layers by their names; those of one plane are [H, W], `normal` is [H, W, 3], `top-id` and `top-weight` "
        "are [H, W, k]; `id`, `count` and `top-id` are of uint32, the others of float32.",
        "counts": "`splats_in_frustum` and `fragments_blended`.",
        "times_ms": "Times of the stages in milliseconds: `preprocess`, `bin`, `sort`, `raster`, `total`.",
    }

    rgba: NDArray[np.float32]
    layers: dict[str, NDArray[Any]]
    counts: dict[str, int]
    times_ms: dict[str, float]

    def __init__(
        self,
        rgba: object,
        layers: Mapping[str, NDArray[Any]] | None = None,
        counts: Mapping[str, int] | None = None,
        times_ms: Mapping[str, float] | None = None,
    ) -> None:
        self.rgba = take(rgba, "rgba", ("H", "W", 4))
        self.layers = dict(layers or {})
        self.counts = dict(counts or {})
        self.times_ms = dict(times_ms or {})

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.rgba.shape[1])

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.rgba.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array `rgba`: height, width, 4."""
        return self.rgba.shape

    def __getitem__(self, index: Any) -> Any:
        """Elements of the array `rgba`: ``picture[y, x]`` is a pixel, ``picture[..., 3]`` the alphas."""
        return self.rgba[index]

    def over(self, rgb: object) -> Picture:
        """The picture over an opaque colour, a grey or [3]; layers, counts and times stay."""
        return Picture(_quadrille.over(self.rgba, colour(rgb, "rgb")), self.layers, self.counts, self.times_ms)

    def rgb8(self, background: object = 0) -> NDArray[np.uint8]:
        """The picture over an opaque colour as [H, W, 3] of 8 bits, for ``imshow``, ``PIL.Image.fromarray`` and OpenCV's
        RGB."""
        return _quadrille.rgb8(self.rgba, colour(background, "background"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the colours to a file, whole or not at all: .png, .exr, .npy, .jpg or .webp.

        Raises
        ------
        ValueError : for another extension, and for .jpg if pixels are transparent (see `over`).
        OSError : if the file cannot be written.
        """
        _quadrille.save_picture(self.rgba, os.fspath(path))

    def _repr_png_(self) -> bytes:
        return _quadrille.encode_picture(self.rgba, "picture.png")

    def __repr__(self) -> str:
        layers = f", {', '.join(self.layers)}" if self.layers else ""
        return f"Picture({self.width}x{self.height}{layers})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None or np.dtype(dtype) == self.rgba.dtype:
            return self.rgba.copy() if copy else self.rgba
        if copy is False:
            raise ValueError("dtype: expected float32 without a copy, since other types need one")
        return self.rgba.astype(dtype)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.rgba.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self.rgba.__dlpack_device__()
        return int(kind), int(number)


def read_picture(path: str | os.PathLike[str]) -> Picture:
    """Reads a picture: PNG, EXR, NPY or JPEG, by its content.

    Raises
    ------
    FormatError : if the content does not follow its format.
    OSError : if the file cannot be read.
    """
    return Picture(_quadrille.read_picture(os.fspath(path)))


def compare(
    a: object,
    b: object,
    *,
    protocol: str = "inria",
    colour_correction: str | None = None,
    lpips: str | Sequence[str] = (),
    lpips_weights: str | os.PathLike[str] | None = None,
    ssimulacra2: bool = False,
    error_map: bool = False,
) -> dict[str, Any]:
    """Differences of two pictures of the same size, over black, with 1 as the peak.

    Parameters
    ----------
    a, b : pictures, or their files, as `read_picture` reads them, or arrays [H, W, 4] (premultiplied) or [H, W, 3] of
        float, of uint8 (0 to 255) or of uint16 (0 to 65535).
    protocol : ``"inria"`` clamps and rounds to 8 bits first, as the published numbers of 3DGS do; ``"gsplat"`` clamps;
        ``"float"`` does neither.
    colour_correction : correction of the colours of ``a`` to those of ``b`` before all metrics: ``"affine"``, a factor and an
        offset per channel, or ``"quadratic"``, a polynomial of all channels. With ``"gsplat"``, the metrics are gsplat's
        cc_psnr, cc_ssim and cc_lpips.
    lpips : perceptual distances to measure, ``"vgg"`` (values of 0 to 1, as the original trainer), ``"alex"`` (scaled to
        -1 to 1, as gsplat and nerfstudio) or ``"vgg-scaled"``: ``lpips_vgg``, ``lpips_alex``, ``lpips_vgg_scaled``.
    lpips_weights : file or folder of their weights; by default the environment variable ``QUADRILLE_LPIPS_WEIGHTS``, else
        ``~/.cache/quadrille``, where ``python/tools/lpips_weights.py`` writes them.
    ssimulacra2 : measure SSIMULACRA 2.1 with ``b`` as the original, 100 for identical pictures: ``ssimulacra2``.
    error_map : also return ``flip_map``, the FLIP error of every pixel, [H, W].

    Returns
    -------
    ``psnr_db`` (None for identical pictures), ``ssim``, ``flip``, ``max_abs``, ``p99_9_abs``, ``mse``,
    ``alpha_max_abs``, ``non_finite_pixels`` and ``protocol``, as ``quadrille compare --json`` names them.

    Raises
    ------
    FormatError, OSError : for a file that `read_picture` cannot read.

    >>> import numpy as np, quadrille
    >>> grey = lambda value: np.full((16, 16, 3), value)
    >>> round(quadrille.compare(grey(0.5), grey(0.625), protocol="float")["psnr_db"], 2)
    18.06
    """
    kinds = [lpips] if isinstance(lpips, str) else list(lpips)
    weights = None if lpips_weights is None else os.fspath(lpips_weights)
    pictures = _rgba(a, "a"), _rgba(b, "b")
    text, flip = _quadrille.compare(*pictures, protocol, colour_correction, kinds, weights, ssimulacra2)
    found: dict[str, Any] = json.loads(text)
    if error_map:
        found["flip_map"] = flip
    return found


def pixels(value: object, name: str) -> NDArray[np.float32]:
    """The numbers of a picture, of its file or of an array, whose integers count as 0 to 1."""
    if is_path(value):
        value = read_picture(cast("str | os.PathLike[str]", value))
    if isinstance(value, Picture):
        return value.rgba
    given = as_numpy(value, name)
    kind = given.dtype
    array: NDArray[np.float32] = take(given, name)
    if kind.kind in "iu":
        if kind not in (np.uint8, np.uint16):
            raise TypeError(f"{name}: expected an array of float, uint8 or uint16, whose scale is known, found {kind}")
        array = array / np.float32(np.iinfo(kind).max)
    return array


def _rgba(value: object, name: str) -> NDArray[np.float32]:
    array = pixels(value, name)
    if array.ndim != 3 or array.shape[2] not in (3, 4):
        raise ValueError(f"{name}: expected [H, W, 3] or [H, W, 4], found {list(array.shape)}")
    if array.shape[2] == 3:
        opaque = np.ones((*array.shape[:2], 1), np.float32)
        array = np.concatenate([array, opaque], axis=2)
    return take(array, name)
