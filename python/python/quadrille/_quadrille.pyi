"""The extension module. Arguments have been checked, and arrays are of float32 in C order unless stated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Camera",
    "FormatError",
    "LimitError",
    "Meshes",
    "PlaneGradients",
    "SavedPictures",
    "Scene",
    "Table",
    "axes_of_covariances",
    "bench",
    "build_info",
    "compare",
    "convert",
    "convert_scene",
    "encode_picture",
    "load",
    "load_cameras",
    "load_meshes",
    "load_table",
    "loads",
    "loss",
    "main",
    "over",
    "plot",
    "presets",
    "profiles",
    "rasterize",
    "read_picture",
    "render",
    "rgb8",
    "save_picture",
    "set_threads",
    "simulate",
    "synth",
    "transform",
    "views",
    "write_raw",
]

_Floats = NDArray[np.float32]
_Arrays = tuple[_Floats, ...]
_RasterCall = tuple[
    tuple[_Floats, _Floats, _Floats, _Floats],
    _Floats | None,
    tuple[NDArray[np.float64], NDArray[np.float64]],
    _Floats | None,
    Mapping[str, Any],
]
_Progress = Callable[[str, int, int], object] | None

class FormatError(ValueError): ...
class LimitError(ValueError): ...

@final
class Camera:
    def __new__(
        cls,
        size: tuple[int, int],
        k: list[list[float]],
        viewmat: list[list[float]],
        name: str,
        lens: str,
        distortion: list[float],
    ) -> Camera: ...
    @staticmethod
    def look_at(
        eye: list[float],
        target: list[float],
        up: list[float],
        size: tuple[int, int],
        fov_degrees: float,
    ) -> Camera: ...
    def resized(self, width: int | None, height: int | None) -> Camera: ...
    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def lens(self) -> str: ...
    @property
    def k(self) -> list[list[float]]: ...
    @property
    def viewmat(self) -> list[list[float]]: ...
    @property
    def distortion(self) -> list[float]: ...

@final
class Meshes: ...

@final
class Scene:
    @staticmethod
    def from_arrays(arrays: _Arrays, raw: bool) -> Scene: ...
    @staticmethod
    def restore(
        arrays: _Arrays,
        sh_degree: int,
        origin: tuple[float, float, float],
        profile_hint: str | None,
        model: str | None,
        order: str | None,
    ) -> Scene: ...
    def attribute(self, name: str) -> _Floats: ...
    def statistics(self) -> dict[str, Any]: ...
    def select(self, rows: NDArray[np.uint64]) -> Scene: ...
    def where_(self, condition: str) -> Scene: ...
    def save(self, path: str, format: str | None) -> list[str]: ...
    def __len__(self) -> int: ...
    @property
    def sh_degree(self) -> int: ...
    @property
    def format(self) -> str: ...
    @property
    def profile_hint(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def order(self) -> str | None: ...
    @property
    def dropped(self) -> list[tuple[str, int]]: ...
    @property
    def comments(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def origin(self) -> list[float]: ...

@final
class Table:
    @property
    def comments(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def format(self) -> str: ...
    def columns(self) -> dict[str, NDArray[Any]]: ...
    def save(
        self,
        path: str,
        format: str | None,
        columns: list[tuple[str, NDArray[Any]]],
        comments: list[str],
    ) -> list[str]: ...

@final
class PlaneGradients:
    def means2d(self, splats: int | None = None) -> tuple[_Floats, _Floats]: ...

@final
class SavedPictures:
    def raster_gradients(
        self, call: _RasterCall, cotangents: tuple[_Floats, _Floats], is_absolute: bool
    ) -> PlaneGradients: ...
    def project_gradients(
        self, call: _RasterCall, plane: PlaneGradients, means2d: _Floats, names: list[str]
    ) -> list[tuple[str, NDArray[Any]]]: ...

def axes_of_covariances(covars: _Floats) -> tuple[_Floats, _Floats]: ...

def bench(job: Mapping[str, Any]) -> tuple[str, list[str]]: ...
def build_info() -> list[tuple[str, str]]: ...
def compare(
    a: _Floats,
    b: _Floats,
    protocol: str,
    colour_correction: str | None,
    lpips: list[str],
    weights: str | None,
    has_ssimulacra2: bool,
) -> tuple[str, _Floats]: ...
def convert(
    job: Mapping[str, Any], cameras: Sequence[Camera] | None, progress: _Progress
) -> tuple[str, list[str]]: ...
def convert_scene(
    scene: Scene,
    actions: list[tuple[str, str]],
    cameras: Sequence[Camera] | None,
    near: float | None,
    progress: _Progress,
) -> tuple[Scene, list[str]]: ...
def encode_picture(rgba: _Floats, name: str) -> bytes: ...
def load(path: str, axes: str | None, lod: int, progress: _Progress) -> Scene: ...
def load_cameras(path: str, transform: str | None, split: str | None) -> tuple[list[Camera], list[str]]: ...
def load_meshes(
    paths: list[str], transforms: list[list[list[float]]], samples: int, light: str, exposure: float | None
) -> tuple[Meshes, list[str]]: ...
def load_table(path: str, progress: _Progress) -> Table: ...
def loads(data: bytes, name: str, axes: str | None, lod: int) -> Scene: ...
def loss(
    pictures: tuple[_Floats, _Floats],
    padding: str,
    factors: tuple[float, float],
    wanted: tuple[bool, bool],
    threads: int | None,
) -> tuple[list[float], list[_Floats]]: ...
def main(arguments: list[str]) -> int: ...
def over(rgba: _Floats, colour: tuple[float, float, float]) -> _Floats: ...
def plot(job: Mapping[str, Any]) -> tuple[str, list[str]]: ...
def presets() -> list[str]: ...
def profiles() -> list[str]: ...
def rasterize(
    call: _RasterCall, saves: bool
) -> tuple[_Floats, _Floats, list[tuple[str, NDArray[Any]]], int, SavedPictures | None]: ...
def read_picture(path: str) -> _Floats: ...
def render(
    scene: Scene, camera: Camera, look: Mapping[str, Any]
) -> tuple[_Floats, list[tuple[str, NDArray[Any]]], list[tuple[str, int]], list[tuple[str, float]]]: ...
def rgb8(rgba: _Floats, colour: tuple[float, float, float]) -> NDArray[np.uint8]: ...
def save_picture(rgba: _Floats, path: str) -> None: ...
def set_threads(threads: int) -> None: ...
def simulate(
    scene: Scene, camera: Camera, machines: Mapping[str, Any]
) -> tuple[str, list[str], list[tuple[str, str, NDArray[np.uint32]]]]: ...
def synth(recipe: str, splats: int, seed: int, sh_degree: int) -> tuple[Scene, list[Camera]]: ...
def transform(scene: Scene, matrix: list[list[float]]) -> tuple[Scene, list[str]]: ...
def views(scene: Scene, count: int | None, size: tuple[int, int]) -> list[Camera]: ...
def write_raw(
    geometry: tuple[_Floats, _Floats, _Floats, _Floats], sh: _Floats, path: str, format: str
) -> list[str]: ...
