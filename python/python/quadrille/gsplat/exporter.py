"""Files of raw splats: `export_splats` writes them, `load_ply_to_splats` reads them."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _quadrille
from .._arrays import one_of, take
from ._namespace import detached

__all__ = ["export_splats", "load_ply_to_splats"]

#: Names of formats in gsplat, and ours.
_FORMATS = {"ply": "ply", "splat": "splat", "ply_compressed": "compressed-ply", "spz": "spz4", "sog": "sog"}


def export_splats(
    means: Any,
    scales: Any,
    quats: Any,
    opacities: Any,
    sh0: Any,
    shN: Any,
    format: str = "ply",
    save_to: str | os.PathLike[str] | None = None,
) -> bytes:
    """The bytes of a file of splats, as ``gsplat.export_splats``; rows that are not finite are left out.

    Parameters
    ----------
    means, scales, quats, opacities : [N, 3], [N, 3] logarithms, [N, 4] w, x, y, z and [N] logits.
    sh0, shN : [N, 1, 3] and [N, K, 3], K = 0, 3, 8, 15 or 24.
    format : ``"ply"``, ``"splat"`` or ``"ply_compressed"``, and here also ``"spz"`` and ``"sog"``.
    save_to : file to write the bytes to.

    >>> import numpy as np
    >>> from quadrille.gsplat import export_splats
    >>> zeros = np.zeros((2, 3))
    >>> export_splats(zeros, zeros, np.ones((2, 4)), np.zeros(2), np.zeros((2, 1, 3)), np.zeros((2, 0, 3)))[:3]
    b'ply'
    """
    one_of("format", format, tuple(_FORMATS))
    # Files have no gradients, which the parameters of a trainer require.
    given = (means, quats, scales, opacities, sh0, shN)
    means, quats, scales, opacities, sh0, shN = map(detached, given)
    centres = take(means, "means", ("N", 3))
    count = len(centres)
    arrays = [
        centres,
        take(quats, "quats", (count, 4)),
        take(scales, "scales", (count, 3)),
        take(opacities, "opacities", (count,)),
    ]
    constant, rest = take(sh0, "sh0", (count, 1, 3)), take(shN, "shN", (count, "K", 3))
    if rest.shape[1] not in (0, 3, 8, 15, 24):
        raise ValueError(f"shN: expected 0, 3, 8, 15 or 24 coefficients, found {rest.shape[1]}")
    arrays.append(np.concatenate([constant, rest], axis=1))
    is_valid = np.ones(count, bool)
    for array in arrays:
        is_valid &= np.isfinite(array.reshape(count, -1)).all(axis=1)
    centres, turns, sizes, logits, sh = (np.ascontiguousarray(array[is_valid]) for array in arrays)
    with tempfile.TemporaryDirectory() as folder:
        # The file of the caller appears whole or not at all, as every output.
        path = pathlib.Path(folder) / "splats" if save_to is None else pathlib.Path(save_to)
        geometry = (centres, turns, sizes, logits)
        for loss in _quadrille.write_raw(geometry, sh, os.fspath(path), _FORMATS[format]):
            warnings.warn(f"export_splats: {loss}", stacklevel=2)
        return path.read_bytes()


def load_ply_to_splats(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Raw arrays of a PLY file: means, quats, scales, opacities, sh0 [N, 1, 3] and shN [N, K, 3].

    They are tensors if the program has imported torch, as those of gsplat, and else arrays of numpy.

    >>> import numpy as np, pathlib, tempfile
    >>> from quadrille.gsplat import export_splats, load_ply_to_splats
    >>> zeros = np.zeros((2, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "two.ply"
    ...     data = export_splats(zeros, zeros, np.ones((2, 4)), np.zeros(2), np.zeros((2, 1, 3)), np.zeros((2, 3, 3)),
    ...                          save_to=path)
    ...     tuple(load_ply_to_splats(path)["shN"].shape)
    (2, 3, 3)
    """
    from .._convert import load_table

    columns = load_table(path).columns
    rest = sum(name.startswith("f_rest_") for name in columns) // 3

    def stacked(names: list[str]) -> NDArray[np.float32]:
        return np.stack([np.asarray(columns[name], np.float32) for name in names], axis=-1)

    # Coefficients of a channel stand together in the file.
    order = [[f"f_rest_{channel * rest + k}" for channel in range(3)] for k in range(rest)]
    count = len(columns["x"])
    arrays = {
        "means": stacked(["x", "y", "z"]),
        "quats": stacked([f"rot_{i}" for i in range(4)]),
        "scales": stacked([f"scale_{i}" for i in range(3)]),
        "opacities": np.asarray(columns["opacity"], np.float32),
        "sh0": stacked([f"f_dc_{i}" for i in range(3)])[:, None],
        "shN": np.stack([stacked(names) for names in order], axis=1) if rest else np.zeros((count, 0, 3), np.float32),
    }
    torch = sys.modules.get("torch")
    return {name: array if torch is None else torch.from_numpy(array) for name, array in arrays.items()}
