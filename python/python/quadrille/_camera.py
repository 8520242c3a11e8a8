"""Cameras."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _quadrille
from ._arrays import matrix, raw, take

# From x right, y up, z back to x right, y down, z forward.
_OPENCV_OF_OPENGL = np.diag([1.0, -1.0, -1.0, 1.0])


class Camera:
    """A camera: x right, y down, z forward; pixel centres at integer + 0.5. Numbers are float64.

    Parameters
    ----------
    width, height : sides of the picture in pixels, 1 to 32768.
    K : [3, 3], focal lengths and principal point in pixels: ``[[fx, 0, cx], [0, fy, cy], [0, 0, 1]]``. The focal lengths of
        an orthographic camera are in pixels per world unit.
    viewmat : [4, 4], from world space to view space. Its rotation may deviate from a rigid one by 1e-3.
    name : name of the view.
    lens : ``"pinhole"``, ``"orthographic"``, ``"fisheye"``, ``"equirectangular"`` (the whole sphere; ``K`` then follows
        from the size), or a model with distortion: ``"opencv"``, ``"fov"``, ``"division"``, ``"eucm"``,
        ``"thin-prism-fisheye"`` or ``"rad-tan-thin-prism-fisheye"``.
    distortion : the first coefficients of the lens; the others are 0. A fisheye has k1 to k4, ``"opencv"`` those of OpenCV
        (k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4), the others those of COLMAP, in the same order.

    >>> import numpy as np, quadrille
    >>> camera = quadrille.Camera(64, 36, [[60, 0, 32], [0, 60, 18], [0, 0, 1]], np.eye(4))
    >>> camera.resized(128, 72).K[0, 0]
    np.float64(120.0)
    """

    __slots__ = ("_raw",)

    def __init__(
        self,
        width: int,
        height: int,
        K: object,
        viewmat: object,
        *,
        name: str = "",
        lens: str = "pinhole",
        distortion: Sequence[float] = (),
    ) -> None:
        size = checked_size(width, height)
        coefficients = [float(k) for k in distortion]
        self._raw = _quadrille.Camera(size, matrix(K, "K", 3), matrix(viewmat, "viewmat", 4), name, lens, coefficients)

    @classmethod
    def _of(cls, raw: _quadrille.Camera) -> Camera:
        camera = cls.__new__(cls)
        camera._raw = raw
        return camera

    @classmethod
    def look_at(
        cls,
        eye: object,
        target: object,
        up: object,
        *,
        width: int,
        height: int,
        fov_degrees: float = 60.0,
    ) -> Camera:
        """A camera at ``eye`` that looks at ``target``, with ``up`` towards the top of the picture.

        ``fov_degrees`` is the vertical field of view.

        >>> import quadrille
        >>> quadrille.Camera.look_at([0, 0, -4], [0, 0, 0], [0, -1, 0], width=64, height=36).eye
        array([ 0.,  0., -4.])
        """
        size = checked_size(width, height)
        points = _point(eye, "eye"), _point(target, "target"), _point(up, "up")
        return cls._of(_quadrille.Camera.look_at(*points, size, float(fov_degrees)))

    @classmethod
    def from_opengl(cls, c2w: object, K: object, width: int, height: int, *, name: str = "") -> Camera:
        """A camera from the pose of OpenGL, Blender and nerfstudio: [4, 4] or [3, 4], from view space, with y up and z
        back, to world space.

        >>> import numpy as np, quadrille
        >>> K = [[60, 0, 32], [0, 60, 18], [0, 0, 1]]
        >>> quadrille.Camera.from_opengl(np.eye(4), K, 64, 36).viewmat.diagonal()
        array([ 1., -1., -1.,  1.])
        """
        pose = take(c2w, "c2w", dtype=np.float64)
        if pose.shape == (3, 4):
            pose = np.vstack([pose, [0.0, 0.0, 0.0, 1.0]])
        if pose.shape != (4, 4):
            raise ValueError(f"c2w: expected [4, 4] or [3, 4], found {list(pose.shape)}")
        try:
            viewmat = np.linalg.inv(pose @ _OPENCV_OF_OPENGL)
        except np.linalg.LinAlgError as error:
            raise ValueError("c2w: expected a rigid transform, found a singular matrix") from error
        # The last row of an inverse is exact only up to rounding.
        viewmat[3] = [0.0, 0.0, 0.0, 1.0]
        return cls(width, height, K, viewmat, name=name)

    def resized(self, width: int | None = None, height: int | None = None) -> Camera:
        """The same view on a picture of another size.

        With both sides, each axis of ``K`` scales by its own factor, so that the fields of view stay. With one side, the
        other keeps the proportions up to a whole pixel, and pixels keep their shape, as with ``quadrille render --width``.

        >>> import numpy as np, quadrille
        >>> quadrille.Camera(980, 545, [[850, 0, 490], [0, 850, 272.5], [0, 0, 1]], np.eye(4)).resized(160).height
        89
        """
        sides = [None if side is None else checked_side(name, side) for name, side in (("width", width), ("height", height))]
        return self._of(self._raw.resized(*sides))

    @property
    def K(self) -> NDArray[np.float64]:
        """Focal lengths and principal point in pixels, [3, 3]."""
        return np.array(self._raw.k)

    @property
    def viewmat(self) -> NDArray[np.float64]:
        """Transform of world space to view space, [4, 4]."""
        return np.array(self._raw.viewmat)

    @property
    def camera_to_world(self) -> NDArray[np.float64]:
        """Transform of view space (x right, y down, z forward) to world space, [4, 4]."""
        view = self.viewmat
        pose = np.eye(4)
        pose[:3, :3] = view[:3, :3].T
        pose[:3, 3] = self.eye
        return pose

    @property
    def eye(self) -> NDArray[np.float64]:
        """Centre of the camera in world space, [3]."""
        view = self.viewmat
        # The sum with zero turns minus zero into zero.
        eye: NDArray[np.float64] = -(view[:3, :3].T @ view[:3, 3]) + 0.0
        return eye

    def to_opengl(self) -> NDArray[np.float64]:
        """The pose that `from_opengl` takes: from view space, with y up and z back, to world space, [4, 4].

        >>> import numpy as np, quadrille
        >>> pose = np.diag([1.0, -1.0, -1.0, 1.0])
        >>> camera = quadrille.Camera.from_opengl(pose, [[60, 0, 32], [0, 60, 18], [0, 0, 1]], 64, 36)
        >>> bool((camera.to_opengl() == pose).all())
        True
        """
        pose: NDArray[np.float64] = self.camera_to_world @ _OPENCV_OF_OPENGL
        return pose

    def translated(self, offset: object) -> Camera:
        """The camera moved by ``offset`` along its own axes: x right, y down, z forward, in world units.

        >>> import numpy as np, quadrille
        >>> camera = quadrille.Camera(64, 36, [[60, 0, 32], [0, 60, 18], [0, 0, 1]], np.eye(4))
        >>> camera.translated([0, 0, 2]).eye
        array([0., 0., 2.])
        """
        view = self.viewmat
        view[:3, 3] -= take(offset, "offset", (3,), np.float64)
        return self._with_viewmat(view)

    def rotated(self, rotation: object) -> Camera:
        """The camera turned about its centre by a rotation matrix [3, 3] of its own axes: what the camera saw in
        direction ``rotation @ d`` is then seen in direction ``d``.

        >>> import numpy as np, quadrille
        >>> camera = quadrille.Camera(64, 36, [[60, 0, 32], [0, 60, 18], [0, 0, 1]], np.eye(4))
        >>> to_the_right = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        >>> camera.rotated(to_the_right).camera_to_world[:3, 2]
        array([1., 0., 0.])
        """
        view = self.viewmat
        view[:3] = np.array(matrix(rotation, "rotation", 3)).T @ view[:3]
        return self._with_viewmat(view)

    @property
    def fov(self) -> tuple[float, float]:
        """Horizontal and vertical field of view in degrees, without the distortion of the lens; 0 with parallel rays.

        >>> import quadrille
        >>> camera = quadrille.Camera.look_at([0, 0, -4], [0, 0, 0], [0, -1, 0], width=64, height=64, fov_degrees=90)
        >>> [round(angle, 6) for angle in camera.fov]
        [90.0, 90.0]
        """

        def angle(side: int, focal: float, principal: float) -> float:
            ends = np.array([principal, side - principal]) / focal
            if self.lens == "orthographic":
                return 0.0
            is_angle = self.lens == "equirectangular" or self.lens.endswith("fisheye")
            return float(np.degrees((ends if is_angle else np.arctan(ends)).sum()))

        K = self.K
        return angle(self.width, K[0, 0], K[0, 2]), angle(self.height, K[1, 1], K[1, 2])

    @property
    def width(self) -> int:
        """Width of the picture in pixels."""
        return self._raw.width

    @property
    def height(self) -> int:
        """Height of the picture in pixels."""
        return self._raw.height

    @property
    def name(self) -> str:
        """Name of the view."""
        return self._raw.name

    @property
    def lens(self) -> str:
        """Name of the lens, as for the class."""
        return self._raw.lens

    @property
    def distortion(self) -> tuple[float, ...]:
        """Coefficients of the lens, as for the class."""
        return tuple(self._raw.distortion)

    def __repr__(self) -> str:
        return f"Camera({self.name!r}, {self.width}x{self.height}, {self.lens})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Camera) and self._state() == other._state()

    def __hash__(self) -> int:
        return hash((self.name, self.width, self.height))

    def _with_viewmat(self, viewmat: NDArray[np.float64]) -> Camera:
        width, height, k, _, *others = self._state()
        return _restored(width, height, k, viewmat.tolist(), *others)

    def _state(self) -> tuple[Any, ...]:
        raw = self._raw
        return (raw.width, raw.height, raw.k, raw.viewmat, raw.name, raw.lens, raw.distortion)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._state()


def _restored(
    width: int,
    height: int,
    k: list[list[float]],
    viewmat: list[list[float]],
    name: str,
    lens: str,
    distortion: list[float],
) -> Camera:
    """The camera of a pickle."""
    return Camera(width, height, k, viewmat, name=name, lens=lens, distortion=distortion)


def load_cameras(
    path: str | os.PathLike[str], *, transform: str | None = None, split: str | None = None
) -> list[Camera]:
    """The cameras of a file or folder: ``cameras.json`` of the trainers, ``transforms.json`` of nerfstudio, models of
    COLMAP, exported poses, and paths of viewers.

    A camera that cannot be drawn is left out with a warning.

    Parameters
    ----------
    path : the file, or a folder that holds one.
    transform : from the world of the file to the world of the scene: a ``dataparser_transforms.json``, ``"undo"`` for
        the inverse of the file's own ``applied_transform``, or ``"none"``. By default, a ``dataparser_transforms.json``
        beside the file is applied.
    split : ``"test"``, ``"train"`` or ``"val"`` as the file states; else every eighth view by name is for tests, as in
        the 3DGS trainer and gsplat. ``"test:nerfstudio"``, ``"test:10"`` (every tenth) and ``"test:0.9"`` (nine tenths
        for training) are other splits. By default, all cameras in the order of the file.

    Raises
    ------
    ValueError : for another split, and for one without cameras.
    FormatError : if the content does not follow its format.
    OSError : if the file cannot be read.
    """
    if split is not None and split.partition(":")[0] not in ("test", "train", "val"):
        raise ValueError(f"split: expected 'test', 'train' or 'val', found {split!r}")
    cameras, remarks = _quadrille.load_cameras(os.fspath(path), transform, split)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return [Camera._of(raw) for raw in cameras]


def raw_camera(camera: object) -> _quadrille.Camera:
    """The native camera of an argument."""
    return raw(camera, "camera", _quadrille.Camera, "load_cameras")


def _point(value: object, name: str) -> list[float]:
    point: list[float] = take(value, name, (3,), np.float64).tolist()
    return point


def checked_size(width: int, height: int) -> tuple[int, int]:
    """Width and height, each 1 to 32768."""
    return checked_side("width", width), checked_side("height", height)


def checked_side(name: str, side: object) -> int:
    """A side of a picture, 1 to 32768."""
    if isinstance(side, bool) or not isinstance(side, (int, np.integer)):
        raise TypeError(f"{name}: expected a whole number, found {type(side).__name__}")
    if not 1 <= side <= 32768:
        raise ValueError(f"{name}: expected 1 to 32768 pixels, found {side}")
    return int(side)
