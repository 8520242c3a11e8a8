"""Modules of `quadrille.gsplat`: their names, and `install`, which gives them to programs that import gsplat."""

from __future__ import annotations

import importlib
import subprocess
import sys

import oracle
import pytest


MODULES = [
    "rendering",
    "exporter",
    "utils",
    "compression",
    "distributed",
    "relocation",
    "strategy",
    "strategy.base",
    "strategy.default",
    "strategy.mcmc",
    "strategy.ops",
    "cuda._wrapper",
]


def run(program: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, since modules stay imported."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_the_names_of_the_wheel(name: str) -> None:
    ours = importlib.import_module(f"quadrille.gsplat.{name}")
    path = oracle.wheel_file(name.replace(".", "/") + ".py")
    if path is None:
        pytest.skip("gsplat 1.5.3 is not installed")
    assert path.exists() or path.with_suffix("").is_dir()
    if name not in ("strategy.base", "strategy.default", "strategy.mcmc"):
        assert ours.__all__ and all(hasattr(ours, function) for function in ours.__all__)


def test_an_installed_package_answers_every_import_of_gsplat() -> None:
    program = """
import sys
import quadrille.gsplat
quadrille.gsplat.install()
quadrille.gsplat.install()
import gsplat, gsplat.rendering
from gsplat import rasterization
from gsplat.exporter import export_splats
from gsplat.strategy.ops import remove
import gsplat.cuda._wrapper, gsplat.optimizers
assert gsplat is quadrille.gsplat and gsplat.rendering is quadrille.gsplat.rendering
assert rasterization is quadrille.gsplat.rendering.rasterization
assert export_splats is quadrille.gsplat.export_splats
assert gsplat.__version__ == "1.5.3" and "torch" not in sys.modules
"""
    found = run(program)
    assert found.returncode == 0, found.stderr


def test_an_imported_gsplat_is_not_replaced() -> None:
    program = """
import sys, types
sys.modules["gsplat"] = theirs = types.ModuleType("gsplat")
import quadrille.gsplat
try:
    quadrille.gsplat.install()
except RuntimeError as error:
    print(error)
assert sys.modules["gsplat"] is theirs and "gsplat.rendering" not in sys.modules
"""
    found = run(program)
    assert found.returncode == 0, found.stderr
    assert "gsplat is already imported; call it before the first import" in found.stdout
