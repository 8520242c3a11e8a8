"""Tensors of torch in the calls of `quadrille.gsplat`."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import types
from typing import Any

import gsplat_scenes
import numpy as np
import pytest

from quadrille.gsplat import export_splats, load_ply_to_splats, rasterization, spherical_harmonics
from quadrille.gsplat.utils import save_ply

torch = pytest.importorskip("torch")

CASE = gsplat_scenes.cases()["cloud"]


def tensors() -> dict[str, Any]:
    arguments = CASE.arguments()
    return {n: torch.tensor(v) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}


def raw() -> dict[str, Any]:
    """Parameters of a trainer."""
    random = np.random.default_rng(2)
    shapes = {"means": (9, 3), "scales": (9, 3), "quats": (9, 4), "opacities": (9,), "sh0": (9, 1, 3), "shN": (9, 8, 3)}
    values = {name: torch.tensor(random.normal(size=shape), dtype=torch.float32) for name, shape in shapes.items()}
    return {name: torch.nn.Parameter(value) for name, value in values.items()}


def test_results_are_tensors_with_the_values_of_numpy() -> None:
    colors, alphas, meta = rasterization(**tensors())
    expected = rasterization(**CASE.arguments())
    assert torch.equal(colors, torch.tensor(expected[0])) and torch.equal(alphas, torch.tensor(expected[1]))
    assert torch.equal(meta["means2d"], torch.tensor(expected[2]["means2d"])) and colors.is_contiguous()


def test_batches_are_tensors() -> None:
    arguments = tensors()
    stacked = {n: torch.stack([v, v]) if isinstance(v, torch.Tensor) else v for n, v in arguments.items()}
    colors, _, meta = rasterization(**stacked, packed=False)
    expected = rasterization(**arguments, packed=False)
    assert torch.equal(colors[1], expected[0]) and torch.equal(meta["radii"][0], expected[2]["radii"])


def test_parameters_are_exported_and_read_as_tensors(tmp_path: pathlib.Path) -> None:
    parameters, path = raw(), tmp_path / "splats.ply"
    export_splats(**parameters, save_to=path)
    found = load_ply_to_splats(path)
    for name, parameter in parameters.items():
        assert isinstance(found[name], torch.Tensor) and torch.equal(found[name], parameter.detach()), name
        torch.nn.Parameter(found[name])
    program = """
import sys
from quadrille.gsplat import load_ply_to_splats
import numpy as np
assert all(isinstance(array, np.ndarray) for array in load_ply_to_splats(sys.argv[1]).values())
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def test_plain_colours_are_saved_as_harmonics(tmp_path: pathlib.Path) -> None:
    parameters, path = raw(), tmp_path / "splats.ply"
    save_ply(parameters, path)
    assert path.read_bytes() == export_splats(**parameters)
    colours = torch.rand(9, 3)
    save_ply(torch.nn.ParameterDict(parameters), path, colours)
    found = load_ply_to_splats(path)
    assert found["shN"].shape == (9, 0, 3)
    assert torch.allclose(0.5 + spherical_harmonics(0, found["means"], found["sh0"]), colours, atol=1e-6)


def test_a_compiler_does_not_look_into_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, calls = rasterization(**tensors())[0], []

    def disable(function: Any) -> Any:
        calls.append(function)
        return function

    monkeypatch.setattr(torch, "compiler", types.SimpleNamespace(disable=disable), raising=False)
    monkeypatch.delitem(sys.modules, "torch._dynamo", raising=False)
    rasterization(**tensors())
    assert not calls
    monkeypatch.setitem(sys.modules, "torch._dynamo", types.ModuleType("torch._dynamo"))
    assert torch.equal(rasterization(**tensors())[0], expected) and len(calls) == 1


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this torch has no compiler")
def test_compiled_functions_call_it() -> None:
    arguments = tensors()
    with torch.no_grad():
        found = torch.compile(lambda scale: rasterization(**arguments)[0] * scale, backend="eager")(torch.tensor(2.0))
        assert torch.equal(found, rasterization(**arguments)[0] * 2)
