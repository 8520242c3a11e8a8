"""Scenes and data of the tests."""

from __future__ import annotations

import pathlib

import pytest

import quadrille

#: The root of the repository.
ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def vase() -> tuple[quadrille.Scene, list[quadrille.Camera]]:
    """A procedural scene of 2,000 splats and its cameras."""
    return quadrille.synth("object", splats=2000, seed=1)


@pytest.fixture(scope="session")
def view(vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> quadrille.Camera:
    """A small view of the vase."""
    return vase[1][0].resized(96, 54)


@pytest.fixture(scope="session")
def large() -> tuple[quadrille.Scene, quadrille.Camera]:
    """A scene that takes a while: a million splats."""
    scene, cameras = quadrille.synth("room", splats=1_000_000, sh_degree=3)
    return scene, cameras[0].resized(980, 545)
