"""Conversions of files, and tables of raw columns."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _quadrille
from ._actions import action_text
from ._camera import Camera
from ._progress import Progress, watched

PathLike = str | os.PathLike[str]


def convert(
    inputs: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    actions: Sequence[tuple[str, Any] | str] = (),
    format: str | None = None,
    cameras: Sequence[Camera] | None = None,
    report: bool = False,
    near: float | None = None,
    drop_outside: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Converts scene files: reads and joins them, applies actions, and writes the result, whole or not at all.

    Parameters
    ----------
    inputs : a file or several, which are joined.
    output : file to write; its name says the format.
    actions : pairs of a name and a value, in order, as the flags of ``quadrille convert``: ``("where", "opacity >
        0.1")``, ``("decimate", "50%")``, ``("keep-box", [-1, -1, -1, 1, 1, 1])``, ``("sh", 1)``, ``("prune", 0.01)``;
        a name alone where there is no value (``"morton"``, ``"drop-nan"``).
    format : the format where the name does not say it, such as ``"spz3"``.
    cameras : the views of ``prune`` and of the report; by default the cameras of the file beside the first input, and
        for a report without such a file a circle of 8.
    report : compare views of the output with views of the inputs.
    near : depth in world units below which these views leave splats out, in place of the profile's.
    drop_outside : drop splats that the format cannot hold, instead of refusing them.
    progress : True for a bar, or a function of the stage, the work done, and the work in all.

    Returns
    -------
    The document of ``quadrille convert --json``: ``inputs``, ``actions``, ``output`` and, if asked for, ``report``.

    Raises
    ------
    ValueError : naming the action or argument.
    FormatError : if the content of an input does not follow its format.
    OSError : if a file cannot be read or written.

    >>> import os, quadrille, tempfile
    >>> scene, _ = quadrille.synth("object", splats=1000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a, b = (os.path.join(folder, name) for name in ("a.ply", "b.spz"))
    ...     scene.save(a)
    ...     found = quadrille.convert(a, b, actions=[("sh", 1), "morton"])
    >>> found["output"]["splats"], found["output"]["sh_degree"]
    (1000, 1)
    """
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    job = {
        "inputs": [os.fspath(path) for path in paths],
        "output": os.fspath(output),
        "actions": [action_text(action) for action in actions],
        "format": format,
        "report": bool(report),
        "near": near,
        "drop_outside": bool(drop_outside),
    }
    raws = None if cameras is None else [camera._raw for camera in cameras]
    with watched(progress) as watch:
        text, remarks = _quadrille.convert(job, raws, watch)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    found: dict[str, Any] = json.loads(text)
    return found


class Table:
    """The raw columns of a scene file: logarithms of scales, logits of opacities, and columns of any name.

    Tables come from `load_table`. Columns may be changed, added and removed before `save`.
    """

    __slots__ = {
        "_raw": None,
        "columns": "One number per splat by the names of PLY, of the types of the file.",
        "comments": "Comments of the file, in order.",
    }

    _raw: _quadrille.Table
    columns: dict[str, NDArray[Any]]
    comments: list[str]

    def __init__(self) -> None:
        raise TypeError("tables are made by load_table")

    @classmethod
    def _of(cls, raw: _quadrille.Table) -> Table:
        table = cls.__new__(cls)
        table._raw = raw
        table.columns = raw.columns()
        table.comments = raw.comments
        return table

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __repr__(self) -> str:
        return f"Table({len(self)} rows, {len(self.columns)} columns, {self._raw.format})"

    def save(self, path: PathLike, *, format: str | None = None) -> None:
        """Writes the columns to a file, whole or not at all. PLY holds all of them, and rows that were not changed
        have the bytes that they had.

        Raises
        ------
        ValueError : for columns of different lengths, and for splats that the format cannot hold.
        OSError : if the file cannot be written.
        """
        columns = [(name, _column(name, values, len(self))) for name, values in self.columns.items()]
        for loss in self._raw.save(os.fspath(path), format, columns, list(self.comments)):
            warnings.warn(f"{os.fspath(path)}: {loss}", stacklevel=2)

    def __reduce__(self) -> tuple[Any, ...]:
        # PLY holds all columns with their types; a table of another format comes back as one of PLY.
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.ply"
            self.save(path)
            return _restored, (path.read_bytes(),)


def _restored(ply: bytes) -> Table:
    """The table of a pickle."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.ply"
        path.write_bytes(ply)
        return load_table(path)


_TYPES = ("f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4")


def _column(name: str, values: object, rows: int) -> NDArray[Any]:
    column = np.ascontiguousarray(values)
    if column.dtype.newbyteorder("=") not in [np.dtype(kind) for kind in _TYPES]:
        raise TypeError(f"columns[{name!r}]: expected a type of PLY ({', '.join(_TYPES)}), found {column.dtype}")
    if column.shape != (rows,):
        raise ValueError(f"columns[{name!r}]: expected [{rows}], found {list(column.shape)}")
    return column.astype(column.dtype.newbyteorder("="), copy=False)


def load_table(path: PathLike, *, progress: Progress = None) -> Table:
    """Loads the raw columns of a scene file of any format, for changes that keep all others.

    Raises
    ------
    FormatError : if the content does not follow its format.
    OSError : if the file cannot be read.

    >>> import os, quadrille, tempfile
    >>> scene, _ = quadrille.synth("object", splats=1000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "vase.ply")
    ...     scene.save(path)
    ...     table = quadrille.load_table(path)
    >>> table.columns["opacity"].shape
    (1000,)
    """
    with watched(progress) as watch:
        raw = _quadrille.load_table(os.fspath(path), watch)
    for warning in raw.warnings:
        warnings.warn(f"{os.fspath(path)}: {warning}", stacklevel=2)
    return Table._of(raw)
