"""Suites of runs, meshes, and plots of results: as rows, which pandas.DataFrame takes."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _quadrille
from ._arrays import is_path
from ._progress import Progress, watched
from ._threads import checked_threads

PathLike = str | os.PathLike[str]
Row = dict[str, Any]

#: Least and largest sides of a plot in millimetres, and sizes of its text in points.
_SIDES_MM = (20.0, 1000.0)
_TEXTS_PT = (3.0, 40.0)


def bench(
    suite: PathLike | Mapping[str, Any],
    *,
    results: PathLike | None = None,
    methods: str | Sequence[str] = (),
    threads: int | None = None,
    progress: Progress = None,
) -> list[Row]:
    """Runs a suite: every view of its scenes in every configuration by every method, and its studies of meshes.

    Parameters
    ----------
    suite : a suite file (TOML), or its content as a dictionary, whose paths are relative to the current folder.
    results : results file (.jsonl). Runs that it holds are not repeated, and others are appended as soon as they are done.
    methods : methods in place of those of the suite, as of `simulate`.
    threads : number of threads; by default the number of `set_threads`.
    progress : True for a bar, or a function of the stage, the runs done, and the runs in all.

    Returns
    -------
    A row per run, as a line of the results file of ``quadrille bench``.

    Raises
    ------
    FormatError : for a suite that does not follow its format, and for files of scenes.
    OSError : if a file cannot be read or written.

    >>> import quadrille
    >>> vase = {"name": "vase", "recipe": "object", "splats": 500, "view": "0", "width": 32, "height": 18}
    >>> rows = quadrille.bench({"method": ["baseline", "het+qm"], "scene": [vase]})
    >>> len(rows), [run["name"] for run in rows[0]["methods"]]
    (1, ['baseline', 'het+qm'])
    """
    is_file = is_path(suite)
    with watched(progress) as watch:
        job = {
            "path": os.fspath(suite) if is_file else "suite",  # type: ignore[arg-type]
            "document": None if is_file else json.dumps(suite, default=_plain),
            "methods": [methods] if isinstance(methods, str) else list(methods),
            "results": None if results is None else os.fspath(results),
            "threads": None if threads is None else checked_threads(threads),
            "progress": watch,
        }
        text, remarks = _quadrille.bench(job)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    rows: list[Row] = json.loads(text)
    return rows


def mesh(mesh: PathLike, *, threads: int | None = None, progress: Progress = None, **settings: Any) -> list[Row]:
    """Draws a mesh with multi-sampling and merges quads before they are shaded, without files.

    Parameters
    ----------
    mesh : a file, or the name of a procedural mesh: ``"plane"``, ``"sinewave"``, ``"frog"``, ...
    settings : flags of ``quadrille mesh`` by their names, with ``_`` for ``-``, as in suites: ``tessellate=0.5``,
        ``method=["none", "qfm"]``, ``msaa=4``, ``width=320``, ``view="0"``. None stands for the default, and several
        values of a setting give a row for each combination.
    threads, progress : as of `bench`.

    Returns
    -------
    The rows of ``quadrille mesh --json``.

    Raises
    ------
    FormatError : naming the setting that is unknown or does not fit.
    OSError : if a file cannot be read.

    >>> import quadrille
    >>> rows = quadrille.mesh("plane", method=["none", "qfm"], tessellate=20, width=64, height=48)
    >>> [row["unit"] for row in rows]
    ['none', 'qfm']
    """
    return _study("merging", mesh, settings, threads, progress)


def deferred(mesh: PathLike, *, threads: int | None = None, progress: Progress = None, **settings: Any) -> list[Row]:
    """Draws a mesh with motion and defocus blur, and compares pipelines that shade it.

    Arguments are as of `mesh`, with the flags of ``quadrille deferred``: ``method=["msaa", "sds"]``,
    ``spin=[0, 1, 0, 8]``, ``coc_px=12``.

    Returns
    -------
    The rows of ``quadrille deferred --json``.

    >>> import quadrille
    >>> rows = quadrille.deferred("plane", method=["msaa", "sds"], coc_px=4, width=64, height=48)
    >>> [row["pipeline"] for row in rows]
    ['msaa', 'sds']
    """
    return _study("deferred", mesh, settings, threads, progress)


def _study(
    workload: str, mesh: PathLike, settings: Mapping[str, Any], threads: int | None, progress: Progress
) -> list[Row]:
    given = {name: value for name, value in settings.items() if value is not None}
    suite = {
        "workload": workload,
        "mesh": [{"name": "mesh", "mesh": os.fspath(mesh)} | given],
        "study": [{"name": workload}],
    }
    rows: list[Row] = bench(suite, threads=threads, progress=progress)[0]["rows"]
    return rows


def plot(
    results: PathLike | Sequence[PathLike] | Sequence[Row],
    output: PathLike | Sequence[PathLike] = (),
    *,
    x: str,
    y: str,
    value: str | None = None,
    series: str | Sequence[str] = (),
    where: str | Sequence[str] = (),
    kind: str | None = None,
    combine: str = "mean",
    spread: str | bool | None = None,
    summary: str | None = None,
    marks: Sequence[float] = (),
    log: Sequence[bool] = (False, False),
    fit: Sequence[bool] = (False, False),
    title: str | None = None,
    labels: Sequence[str | None] = (None, None, None),
    names: Mapping[str, str] | None = None,
    width_mm: float = 88.9,
    height_mm: float | None = None,
    text_pt: float = 8.0,
) -> list[Row]:
    """Plots fields of results over each other: lines, bars, dots or a heat map for a paper.

    Parameters
    ----------
    results : rows of `bench`, or results files (.jsonl) or CSV of ``quadrille bench`` and ``sim``.
    output : plot to write, .svg or .pdf, or several; none for the numbers alone.
    x, y, value : fields of the axes and, for a heat map, of the colours, such as ``"tc.bins"`` and ``"speedup"``.
    series : fields that distinguish lines, or bars of a group.
    where : conditions of the rows to plot, such as ``"scene=island,vase"`` or ``"tc.bins>=16"``.
    kind : ``"lines"``, ``"bars"``, ``"scatter"`` or ``"heat"``; by default heat with ``value``, lines if ``x`` has numbers, else
        bars.
    combine, summary : rules by which the rows of a point, and those of a last group of bars, are combined, such as
        ``"mean"`` and ``"geomean"``.
    spread : what is drawn around each point: ``"range"`` (or True) from the smallest to the largest value, or ``"sd"``, the
        standard deviation on both sides of the mean.
    marks : values at which lines cross the plot.
    log, fit : whether the axes x and y are logarithmic, and whether they begin near the smallest value instead of at 0.
    title, labels : heading, and labels of the axes and of the colours; by default the names of the fields.
    names : names of series, or of parts of them, such as ``{"het+qm": "HET+QM"}``.
    width_mm, height_mm, text_pt : sides in millimetres, and the size of the text in points.

    Returns
    -------
    The plotted numbers: a row per point, as ``OUT.plot.csv`` of ``quadrille plot`` holds them.

    Raises
    ------
    ValueError : naming the field or argument.
    OSError : if a file cannot be read or written.

    >>> import quadrille
    >>> vase = {"name": "vase", "recipe": "object", "splats": 500, "view": "0", "width": 32, "height": 18}
    >>> rows = quadrille.bench({"method": ["baseline", "het+qm"], "scene": [vase]})
    >>> [point["method"] for point in quadrille.plot(rows, x="method", y="cycles")]
    ['baseline', 'het+qm']
    """
    for name, number, (least, most) in (
        ("width_mm", width_mm, _SIDES_MM),
        ("height_mm", width_mm if height_mm is None else height_mm, _SIDES_MM),
        ("text_pt", text_pt, _TEXTS_PT),
    ):
        if not least <= number <= most:
            raise ValueError(f"{name}: expected a number from {least} to {most}, found {number}")
    job = {
        "outputs": _paths(output),
        "x": x,
        "y": y,
        "value": value,
        "series": [series] if isinstance(series, str) else list(series),
        "filters": [where] if isinstance(where, str) else list(where),
        "kind": kind,
        "combine": combine,
        "spread": "range" if spread is True else spread or None,
        "summary": summary,
        "marks": [float(mark) for mark in marks],
        "log": [bool(axis) for axis in log],
        "fit": [bool(axis) for axis in fit],
        "title": title,
        "labels": list(labels),
        "names": [list(name) for name in (names or {}).items()],
        "size_mm": (float(width_mm), None if height_mm is None else float(height_mm)),
        "text_pt": float(text_pt),
    }
    given = [results] if is_path(results) else list(results)  # type: ignore[arg-type]
    rows = [row for row in given if isinstance(row, Mapping)]
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, "rows.jsonl")] if rows else _paths(given)  # type: ignore[arg-type]
        if rows:
            pathlib.Path(files[0]).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        text, remarks = _quadrille.plot(job | {"results": files})
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return [{name: _number(cell) for name, cell in row.items()} for row in csv.DictReader(text.splitlines())]


def _plain(value: Any) -> Any:
    """A number or an array of numpy, or a path, as JSON has it."""
    return value.tolist() if hasattr(value, "tolist") else os.fspath(value)


def _paths(paths: PathLike | Sequence[PathLike]) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _number(cell: str) -> float | str | None:
    """A cell of CSV as a number if it is one; None without content."""
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell
