"""Meshes among the splats of a scene."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence

import numpy as np

from . import _quadrille
from ._arrays import integer, is_path, matrix


class Meshes:
    """Meshes that `render` draws among splats, with their places and their light. `load_meshes` makes them."""

    __slots__ = ("_raw",)
    _raw: _quadrille.Meshes

    def __init__(self) -> None:
        raise TypeError("Meshes: expected quadrille.load_meshes, found a call of the class")


def load_meshes(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    transforms: Sequence[object] | None = None,
    samples: int = 4,
    light: str = "auto",
    exposure: float | None = None,
) -> Meshes:
    """Loads meshes that stand among the splats of a scene: OBJ, PLY, glTF, Bezier patches, or procedural ones by name.

    Warnings of the files are given as such.

    Parameters
    ----------
    paths : a file or the name of a procedural mesh, or several.
    transforms : for each mesh a matrix [4, 4] that moves it to the world of the scene: a rotation, a uniform scale and a
        translation. By default, meshes stay where they are.
    samples : samples per pixel: 1, 2, 4 or 8.
    light : ``"auto"``, ``"file"``, ``"headlight"`` or ``"sky"``.
    exposure : stops by which the meshes are brightened.

    Raises
    ------
    ValueError, TypeError : naming the argument.
    FormatError : if the content of a file does not follow its format.
    OSError : if a file cannot be read.

    >>> import numpy as np
    >>> import quadrille
    >>> scene, cameras = quadrille.synth("object", splats=1000)
    >>> wave = quadrille.load_meshes("sinewave", transforms=[np.diag([0.1, 0.1, 0.1, 1])])
    >>> quadrille.render(scene, cameras[0].resized(64, 36), meshes=wave).rgba.shape
    (36, 64, 4)
    """
    files = [paths] if is_path(paths) else list(paths)  # type: ignore[arg-type]
    for file in files:
        if not is_path(file):
            raise TypeError(f"paths: expected paths of files, found {type(file).__name__}")
    moves = [np.eye(4)] * len(files) if transforms is None else list(transforms)
    if len(moves) != len(files):
        raise ValueError(f"transforms: expected {len(files)}, one for each mesh, found {len(moves)}")
    rows = [matrix(move, "transforms", 4) for move in moves]
    exposed = None if exposure is None else float(exposure)
    names = [os.fspath(file) for file in files]  # type: ignore[arg-type]
    raw, remarks = _quadrille.load_meshes(names, rows, integer(samples, "samples"), light, exposed)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    meshes = object.__new__(Meshes)
    meshes._raw = raw
    return meshes
