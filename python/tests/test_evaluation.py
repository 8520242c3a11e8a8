"""The evaluation loop of a trainer draws the views of real scenes as the program does."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT

import quadrille
from quadrille.gsplat import load_ply_to_splats

#: Trained scenes, which are not part of the repository.
SHARED = ROOT.parent / "shared" / "scenes"


def example() -> ModuleType:
    """The module of the example."""
    path = ROOT / "python" / "examples" / "evaluate.py"
    specification = importlib.util.spec_from_file_location("evaluate", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["island", "udon", "truck", "graffiti"])
def test_pictures_are_those_of_the_program(name: str, tmp_path: pathlib.Path) -> None:
    folder = ROOT / "scenes" if name == "island" else SHARED
    scene, cameras = folder / f"{name}.ply", folder / f"{name}.cameras.json"
    if not scene.exists():
        pytest.skip(f"{scene} is missing")
    words = ["--cameras", str(cameras), "--view", "all", "--width", "160", "--profile", "gsplat-1.5", "--background", "0,0,0"]
    command = [sys.executable, "-m", "quadrille", "render", str(scene), *words, "-o", str(tmp_path / "{view}.npy")]
    subprocess.run([*command, "--quiet"], check=True)
    evaluate = example()
    views = [camera.resized(160) for camera in quadrille.load_cameras(cameras)]
    found = []
    for camera, colours in evaluate.drawn(load_ply_to_splats(scene), views):
        expected = np.load(tmp_path / f"{camera.name}.npy")
        assert expected.shape[:2] == colours.shape[:2]
        found.append(np.abs(expected[..., :3] - colours).max(axis=2).ravel())
    differences = np.concatenate(found)
    largest, share = float(differences.max()), float((differences > 1e-5).mean())
    print(f"{name}: {len(views)} views, largest difference {largest:.1e}, above 1e-5 in {share:.1e} of the pixels")
    # numpy rounds the exponentials of the file's values by the instructions of the processor, so that a fragment at the
    # cut of 1/255 may count in one of the pictures alone.
    assert largest <= 1 / 255
    assert share <= 1e-4
