"""What the documentation shows runs: docstrings, the page about Python, the notebook and the other examples."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import types

import numpy as np
import pytest
from conftest import ROOT

import quadrille

EXAMPLES = ROOT / "python" / "examples"
GSPLAT = [".gsplat._harmonics", ".gsplat.distributed", ".gsplat.exporter", ".gsplat._discs", ".gsplat._drawing", ".gsplat.utils"]
MODULES = ["", "._camera", "._convert", "._draw", "._picture", "._runs", "._scene", "._threads", "._viewer", ".losses", *GSPLAT]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = importlib.import_module("quadrille" + name)
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0 and failed == 0


def test_every_function_has_a_docstring() -> None:
    for name in quadrille.__all__:
        value = getattr(quadrille, name)
        assert value.__doc__, name
        if isinstance(value, type):
            fields = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
            assert all(field in value.__doc__ for field in fields), name
            public = [member for member in vars(value) if not member.startswith("_") and member not in fields]
            missing = [member for member in public if not inspect.getdoc(getattr(value, member))]
            assert not missing, (name, missing)


def test_the_page_about_python(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 5
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert (tmp_path / "island.png").stat().st_size > 1000
    assert len(quadrille.load(tmp_path / "clipped.ply")) == len(quadrille.load(ROOT / "scenes" / "island.ply"))


def test_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    scope: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "notebook.ipynb", "exec"), scope)


def test_a_suite_on_workers_of_dask(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("dask")
    rows = []
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.csv"
        words = ["--width", "64", "--presets", "vr-pipe", "--workers", workers, "-o", str(out)]
        subprocess.run([sys.executable, EXAMPLES / "dask_suite.py", *words], check=True, env=dict(os.environ))
        rows.append(out.read_text())
    assert rows[0] == rows[1] and len(rows[0].splitlines()) == 1 + 4 * 4


def test_jax_differentiates_the_call() -> None:
    pytest.importorskip("jax")
    command = [sys.executable, str(EXAMPLES / "jax_vjp.py")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, after = (float(number) for number in re.findall(r"0\.\d+", printed))
    assert after < 0.05 * before


def test_the_render_function_of_nerfview(vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    scene, cameras = vase
    camera = cameras[0].resized(96, 54)
    specification = importlib.util.spec_from_file_location("nerfview_example", EXAMPLES / "nerfview.py")
    assert specification is not None and specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    # What nerfview hands over: a pose of single precision, and the size of its panel.
    state = types.SimpleNamespace(c2w=camera.camera_to_world.astype(np.float32), get_K=lambda size: camera.K)
    tab = types.SimpleNamespace(
        preview_render=False, viewer_width=96, viewer_height=54, render_width=1, render_height=1
    )
    colours, depth = example.render_function(scene)(state, tab)
    assert colours.shape == (54, 96, 3) and colours.dtype == np.uint8 and depth.shape == (54, 96, 1)
    expected = quadrille.render(scene, camera).rgb8().astype(int)
    assert np.abs(colours.astype(int) - expected).max() <= 2
