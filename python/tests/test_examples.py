"""The examples with gradients, at small size."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import quadrille

torch = pytest.importorskip("torch")

EXAMPLES = ROOT / "python" / "examples"
ISLAND = str(ROOT / "scenes" / "island.ply")


def numbers(name: str, *words: str) -> list[float]:
    """All numbers that an example prints."""
    command = [sys.executable, str(EXAMPLES / name), *words]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", printed)]


def test_the_page_about_gradients() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "gradients.md").read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/gradients.md", "exec"), {})


def test_splats_are_fitted_to_pictures(tmp_path: pathlib.Path) -> None:
    output, picture = tmp_path / "fitted.ply", tmp_path / "fit.png"
    before, after, steps = numbers("fit.py", ISLAND, "--output", str(output), "--picture", str(picture))
    assert before < 20 and after > 26 and steps == 500
    assert len(quadrille.load(output)) == 2000
    assert quadrille.read_picture(picture).shape[:2] == (72, 3 * 128)


def test_a_camera_is_found_again(tmp_path: pathlib.Path) -> None:
    scene = tmp_path / "vase.ply"
    quadrille.synth("object", splats=2000, seed=1)[0].save(scene)
    for seed in ("0", "1"):
        at_start, away_at_start, degrees, away = numbers("pose.py", str(scene), "--width", "96", "--seed", seed)
        assert at_start == pytest.approx(5, abs=1e-3) and away_at_start == pytest.approx(5, abs=1e-3)
        assert degrees < 0.1 and away < 0.1


def test_a_pruned_scene_is_refined(tmp_path: pathlib.Path) -> None:
    scene, output = tmp_path / "vase.ply", tmp_path / "refined.ply"
    quadrille.synth("object", splats=2000, seed=1)[0].save(scene)
    words = ["--prune", "0.3", "--width", "128", "--steps", "200", "--output", str(output)]
    splats, whole, left, pruned, _, refined, _ = numbers("refine.py", str(scene), *words)
    assert splats == 2000 and left < 1500 and whole > 55
    # Eight decibels are a sixth of the squared error.
    assert refined > pruned + 8
    assert len(quadrille.load(output)) == left
