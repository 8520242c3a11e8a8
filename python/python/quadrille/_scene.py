"""Scenes of splats."""

from __future__ import annotations

import html
import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _quadrille
from ._actions import action_text
from ._arrays import matrix as numbers_of
from ._arrays import raw, take
from ._camera import Camera, checked_size
from ._progress import Progress, watched

#: Rounding of the centres of a sum, as a share of the median size of its splats, from which on it is a warning.
_ROUNDING = 0.1


class Scene:
    """Splats that do not change. Calls share them without copies, and scenes can be pickled.

    Scenes come from `load`, `loads`, `synth` and `from_arrays`.

    >>> import quadrille
    >>> scene, _ = quadrille.synth("object", splats=1000)
    >>> len(scene), scene.sh_degree, scene.sh.shape
    (1000, 3, (1000, 16, 3))
    """

    __slots__ = ("_raw",)
    _raw: _quadrille.Scene

    def __init__(self) -> None:
        raise TypeError("scenes are made by load, loads, synth and Scene.from_arrays")

    @classmethod
    def _of(cls, raw: _quadrille.Scene) -> Scene:
        scene = cls.__new__(cls)
        scene._raw = raw
        return scene

    @classmethod
    def _warned(cls, moved: tuple[_quadrille.Scene, list[str]]) -> Scene:
        raw, remarks = moved
        for remark in remarks:
            warnings.warn(remark, stacklevel=3)
        return cls._of(raw)

    @classmethod
    def from_arrays(
        cls,
        means: object,
        quats: object,
        scales: object,
        opacities: object,
        sh: object,
        *,
        raw: bool = False,
    ) -> Scene:
        """A scene of splats in memory, which are copied.

        Parameters
        ----------
        means : [N, 3], centres in world space.
        quats : [N, 4], quaternions w, x, y, z of any length but zero.
        scales : [N, 3], standard deviations; their natural logarithms if ``raw``.
        opacities : [N], 0 to 1; their logits if ``raw``.
        sh : [N, K, 3], coefficients of spherical harmonics, K = 1, 4, 9, 16 or 25.
        raw : whether scales and opacities are raw, as a trainer keeps them.

        Raises
        ------
        ValueError : naming the array whose length or values do not fit.

        >>> import numpy as np, quadrille
        >>> means, quats = np.zeros((2, 3)), [[1, 0, 0, 0]] * 2
        >>> len(quadrille.Scene.from_arrays(means, quats, np.ones((2, 3)), [0.5, 1], np.ones((2, 1, 3))))
        2
        """
        rows = take(means, "means", ("N", 3))
        count = rows.shape[0]
        coefficients = take(sh, "sh", (count, "K", 3))
        if coefficients.shape[1] not in (1, 4, 9, 16, 25):
            raise ValueError(f"sh: expected 1, 4, 9, 16 or 25 coefficients, found {coefficients.shape[1]}")
        arrays = (
            rows,
            take(quats, "quats", (count, 4)),
            take(scales, "scales", (count, 3)),
            take(opacities, "opacities", (count,)),
            coefficients,
        )
        return cls._of(_quadrille.Scene.from_arrays(arrays, bool(raw)))

    @property
    def means(self) -> NDArray[np.floating[Any]]:
        """Centres in world space, [N, 3], as a new array: float32, or float64 for a scene whose file holds doubles
        that float32 does not resolve."""
        means, origin = self._raw.attribute("means"), np.array(self._raw.origin)
        return means.astype(np.float64) + origin if origin.any() else means

    @property
    def quats(self) -> NDArray[np.float32]:
        """Unit quaternions w, x, y, z, [N, 4], as a new array."""
        return self._raw.attribute("quats")

    @property
    def scales(self) -> NDArray[np.float32]:
        """Standard deviations along the axes of each splat, [N, 3], as a new array."""
        return self._raw.attribute("scales")

    @property
    def opacities(self) -> NDArray[np.float32]:
        """Opacities, 0 to 1, [N], as a new array."""
        return self._raw.attribute("opacities")

    @property
    def sh(self) -> NDArray[np.float32]:
        """Coefficients of spherical harmonics, [N, K, 3], as a new array."""
        return self._raw.attribute("sh")

    @property
    def sh_degree(self) -> int:
        """Degree of the spherical harmonics, 0 to 4."""
        return self._raw.sh_degree

    @property
    def format(self) -> str:
        """Format of the file, by its content; ``"memory"`` without a file."""
        return self._raw.format

    @property
    def order(self) -> str | None:
        """Order in which the scene's file asks for the splats to be blended, ``"z"`` or ``"distance"``; None if it does not
        say."""
        return self._raw.order

    @property
    def profile_hint(self) -> str | None:
        """Name of the profile that the scene was trained for, if its file says so. `render` draws by it."""
        return self._raw.profile_hint

    @property
    def dropped(self) -> dict[str, int]:
        """Numbers of invalid rows of the file, by their reasons."""
        return dict(self._raw.dropped)

    @property
    def comments(self) -> list[str]:
        """Comments of the file, in order."""
        return self._raw.comments

    @property
    def bounds(self) -> NDArray[np.floating[Any]] | None:
        """Least and greatest corner of the centres, [2, 3]; None without splats."""
        means = self.means
        return np.stack([means.min(axis=0), means.max(axis=0)]) if len(means) else None

    def __len__(self) -> int:
        return len(self._raw)

    def statistics(self) -> dict[str, Any]:
        """Bounds, and quantiles and histograms of opacity, scale and anisotropy.

        Keys: ``bounds``, ``central_bounds`` (1 % to 99 % of the centres, axis by axis), ``probabilities``, and
        ``opacity``, ``scale`` (largest standard deviation) and ``anisotropy`` (largest by smallest), each with
        ``quantiles`` at the probabilities, ``edges`` and ``counts``.
        """
        return self._raw.statistics()

    def where(self, condition: str) -> Scene:
        """The splats for which a condition holds: comparisons of ``opacity`` (0 to 1), ``scale_min``, ``scale_max`` and
        columns as in PLY (``x``, ``f_dc_0``, ...), joined by ``&&``, ``||``, ``!`` and parentheses.

        >>> import quadrille
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> len(scene.where("opacity > 2"))
        0
        """
        return self._of(self._raw.where_(condition))

    def select(self, mask_or_index: object) -> Scene:
        """The splats of a mask [N] or of indices, in the order of those.

        >>> import quadrille
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> len(scene.select(scene.opacities > 2)), len(scene.select([0, -1]))
        (0, 2)
        """
        index = np.asarray(mask_or_index)
        if index.dtype == np.bool_:
            if index.shape != (len(self),):
                raise ValueError(f"mask: expected [{len(self)}], found {list(index.shape)}")
            index = np.flatnonzero(index)
        elif index.size == 0:
            index = np.zeros(0, np.int64)
        elif index.dtype.kind not in "iu" or index.ndim != 1:
            raise TypeError(f"index: expected a mask or whole numbers [n], found {index.dtype} {list(index.shape)}")
        index = index.astype(np.int64)
        index = np.where(index < 0, index + len(self), index)
        if len(index) and not (0 <= index.min() and index.max() < len(self)):
            raise IndexError(f"index: expected {-len(self)} to {len(self) - 1}, found another index")
        return self._of(self._raw.select(index.astype(np.uint64)))

    def __getitem__(self, rows: object) -> Scene:
        """The splats of a slice, of a mask [N] or of indices.

        >>> import quadrille
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> len(scene[:10]), len(scene[scene.opacities > 2]), len(scene[::-2])
        (10, 0, 500)
        """
        if isinstance(rows, slice):
            return self.select(np.arange(len(self))[rows])
        if np.ndim(rows) == 0:  # type: ignore[arg-type]
            raise TypeError(f"rows: expected a slice, a mask or indices, found {rows!r}; scene[i : i + 1] has one splat")
        return self.select(rows)

    def __add__(self, other: object) -> Scene:
        """The splats of both scenes, those of ``other`` last. Missing coefficients of spherical harmonics are 0.

        >>> import quadrille
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> len(scene + scene[:10])
        1010
        """
        if not isinstance(other, Scene):
            return NotImplemented
        if self.profile_hint != other.profile_hint:
            raise ValueError(
                f"other: expected splats of profile {self.profile_hint}, found {other.profile_hint}: no profile draws both "
                "as they were trained"
            )
        degree = max(self.sh_degree, other.sh_degree)
        moved = np.array(other._raw.origin) - np.array(self._raw.origin)
        parts = []
        for scene, by in ((self, np.zeros(3)), (other, moved)):
            sh = scene.sh
            missing = (degree + 1) ** 2 - sh.shape[1]
            exact = scene._raw.attribute("means") + by
            means = exact.astype(np.float32)
            rounding = np.abs(means - exact).max(initial=0)
            if rounding > _ROUNDING * np.median(scene.scales.max(axis=1, initial=0)):
                warnings.warn(
                    f"other: its splats are {np.abs(moved).max():.6g} away, so that float32 moves them by up to {rounding:.3g}",
                    stacklevel=2,
                )
            padded = np.pad(sh, ((0, 0), (0, missing), (0, 0)))
            parts.append((means, scene.quats, scene.scales, scene.opacities, padded))
        arrays = tuple(np.concatenate(pair) for pair in zip(*parts))
        x, y, z = self._raw.origin
        model = self._raw.model if self._raw.model == other._raw.model else None
        order = self._raw.order if self._raw.order == other._raw.order else None
        return _restored(arrays, degree, (x, y, z), self.profile_hint, model, order)

    def transform(self, matrix: object) -> Scene:
        """The splats under a rotation, a uniform scale and a translation, with their orientations and spherical harmonics.

        Parameters
        ----------
        matrix : [4, 4], for column vectors: ``new = matrix[:3, :3] @ old + matrix[:3, 3]``.

        Raises
        ------
        ValueError : for a matrix that mirrors, shears or scales the axes differently, or moves beyond single precision.

        >>> import numpy as np, quadrille
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> half = scene.transform(np.diag([0.5, 0.5, 0.5, 1]))
        >>> np.allclose(half.means, scene.means / 2, atol=1e-6), np.allclose(half.scales, scene.scales / 2, rtol=1e-5)
        (True, True)
        """
        return self._warned(_quadrille.transform(self._raw, numbers_of(matrix, "matrix", 4)))

    def convert(
        self,
        actions: Sequence[tuple[str, Any] | str],
        *,
        cameras: Sequence[Camera] | None = None,
        near: float | None = None,
        progress: Progress = None,
    ) -> Scene:
        """The splats after actions of `convert`, in order, without files.

        Parameters
        ----------
        actions : as of `convert`: ``[("where", "opacity > 0.1"), ("decimate", "50%"), "morton"]``.
        cameras : the views of ``prune``, in the world before the actions.
        near : depth in world units below which these views leave splats out, in place of the profile's.
        progress : True for a bar, or a function of the stage, the work done, and the work in all.

        Raises
        ------
        ValueError : naming the action, also if it leaves no splat.

        >>> import quadrille
        >>> scene, cameras = quadrille.synth("object", splats=1000)
        >>> scene.convert([("sh", 1), ("decimate", "50%")])
        Scene(500 splats, SH degree 1, memory)
        """
        raws = None if cameras is None else [camera._raw for camera in cameras]
        with watched(progress) as watch:
            texts = [action_text(action) for action in actions]
            found = _quadrille.convert_scene(self._raw, texts, raws, near, watch)
        return self._warned(found)

    @property
    def covariances(self) -> NDArray[np.float32]:
        """Covariances of the splats in world space, [N, 3, 3], as a new array."""
        from .gsplat._projection import quat_scale_to_covar_preci

        covariances: NDArray[np.float32] = quat_scale_to_covar_preci(self.quats, self.scales, compute_preci=False)[0]
        return covariances

    def dumps(self, format: str = "ply") -> bytes:
        """The bytes of the file that `save` writes in ``format``; `loads` reads them.

        >>> import quadrille
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> len(quadrille.loads(scene.dumps("spz4"), "vase.spz"))
        1000
        """
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene")
            self.save(path, format=format)
            with open(path, "rb") as file:
                return file.read()

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Writes the splats to a file, whole or not at all.

        Parameters
        ----------
        path : the file; its name says the format (.ply, .compressed.ply, .spz, .sog, .splat, .glb, .usdz, .usdc,
            .usda).
        format : the format where the name does not say it.

        Raises
        ------
        ValueError : if the format cannot hold the splats.
        OSError : if the file cannot be written.

        >>> import quadrille, tempfile, os
        >>> scene, _ = quadrille.synth("object", splats=1000)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     scene.save(os.path.join(folder, "vase.spz"))
        ...     len(quadrille.load(os.path.join(folder, "vase.spz")))
        1000
        """
        for loss in self._raw.save(os.fspath(path), format):
            warnings.warn(f"{os.fspath(path)}: {loss}", stacklevel=2)

    def __repr__(self) -> str:
        return f"Scene({len(self)} splats, SH degree {self.sh_degree}, {self.format})"

    def _repr_html_(self) -> str:
        bounds = self.bounds
        facts = {
            "splats": f"{len(self):,}",
            "SH degree": str(self.sh_degree),
            "format": self.format,
            "profile": self.profile_hint or "inria (not stated)",
            "memory": f"{self._raw.memory_bytes / 1e6:,.1f} MB",
            "bounds": "none" if bounds is None else " to ".join(str(corner.round(3).tolist()) for corner in bounds),
        }
        dropped = {reason: count for reason, count in self.dropped.items() if count}
        if dropped:
            facts["rows dropped"] = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        rows = (f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
        return "<table>" + "".join(rows) + "</table>"

    def __reduce__(self) -> tuple[Any, ...]:
        raw = self._raw
        arrays = tuple(raw.attribute(name) for name in ("means", "quats", "scales", "opacities", "sh"))
        return _restored, (arrays, raw.sh_degree, tuple(raw.origin), raw.profile_hint, raw.model, raw.order)


def _restored(
    arrays: tuple[NDArray[np.float32], ...],
    sh_degree: int,
    origin: tuple[float, float, float],
    profile_hint: str | None,
    model: str | None = None,
    order: str | None = None,
) -> Scene:
    """The scene of a pickle."""
    return Scene._of(_quadrille.Scene.restore(arrays, sh_degree, origin, profile_hint, model, order))


def load(
    path: str | os.PathLike[str],
    *,
    axes: str | None = None,
    lod: int = 0,
    progress: Progress = None,
) -> Scene:
    """Loads a scene: PLY, compressed PLY, SPZ, SOG, glTF, USD, .ksplat or .splat, by the content of the file.

    What the file states and the picture does not show is a warning. Rows with invalid numbers are dropped and counted
    in `Scene.dropped`.

    Parameters
    ----------
    path : the file, or the folder of a SOG or of a trained model.
    axes : three letters, such as ``"RUB"``, for files that do not state their axes.
    lod : level of detail of a streamed SOG; 0 is the finest.
    progress : True for a bar, or a function of the stage, the splats read and the splats in all.

    Raises
    ------
    FormatError : if the content does not follow its format.
    OSError : if the file cannot be read.
    """
    with watched(progress) as watch:
        raw = _quadrille.load(os.fspath(path), axes, lod, watch)
    return _with_warnings(raw, os.fspath(path))


def loads(data: bytes, name: str, *, axes: str | None = None, lod: int = 0) -> Scene:
    """Loads a scene from the bytes of a file called ``name``, whose extension tells formats without a signature.

    >>> import quadrille
    >>> quadrille.loads(bytes(range(32)) * 2, "two.splat")
    Scene(2 splats, SH degree 0, .splat)
    """
    return _with_warnings(_quadrille.loads(bytes(data), name, axes, lod), name)


def _with_warnings(raw: _quadrille.Scene, path: str) -> Scene:
    for warning in raw.warnings:
        warnings.warn(f"{path}: {warning}", stacklevel=3)
    return Scene._of(raw)


def synth(
    recipe: str,
    *,
    splats: int = 200_000,
    seed: int = 0,
    sh_degree: int = 3,
) -> tuple[Scene, list[Camera]]:
    """A procedural scene and its cameras. The same arguments always give the same scene.

    Parameters
    ----------
    recipe : ``"object"``, ``"room"`` or ``"world"``.
    splats : number of splats, 1 to 10^9.
    seed : seed of the random numbers.
    sh_degree : degree of the spherical harmonics, 0 to 3.

    >>> import quadrille
    >>> scene, cameras = quadrille.synth("room", splats=500)
    >>> scene
    Scene(500 splats, SH degree 3, memory)
    """
    raw, cameras = _quadrille.synth(recipe, splats, seed, sh_degree)
    return Scene._of(raw), [Camera._of(camera) for camera in cameras]


def orbit(scene: Scene, n: int, *, width: int = 1280, height: int = 720) -> list[Camera]:
    """``n`` cameras on a circle around the main content of a scene.

    >>> import quadrille
    >>> scene, _ = quadrille.synth("object", splats=1000)
    >>> [camera.name for camera in quadrille.orbit(scene, 3)]
    ['orbit_00', 'orbit_01', 'orbit_02']
    """
    raws = _quadrille.views(raw_scene(scene), n, checked_size(width, height))
    return [Camera._of(raw) for raw in raws]


def default_camera(scene: Scene, width: int = 1280, height: int = 720) -> Camera:
    """A good view of a scene, found by trying some hundred: the one whose picture shows most detail.

    >>> import quadrille
    >>> scene, _ = quadrille.synth("object", splats=1000)
    >>> quadrille.default_camera(scene, 64, 36)
    Camera('auto', 64x36, pinhole)
    """
    return Camera._of(_quadrille.views(raw_scene(scene), None, checked_size(width, height))[0])


def raw_scene(scene: object) -> _quadrille.Scene:
    """The native scene of an argument."""
    return raw(scene, "scene", _quadrille.Scene, "load")
