"""Sequences of scenes: which one each frame shows, and how many are in memory."""

from __future__ import annotations

import pathlib
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import quadrille

Vase = tuple[quadrille.Scene, list[quadrille.Camera]]


def test_films_of_scenes_show_each_in_its_time(
    tmp_path: pathlib.Path, vase: Vase
) -> None:
    scene, camera = vase[0], vase[1][0].resized(48, 27)
    scenes = [scene.convert([("rotate", [0, 30 * step, 0])]) for step in range(3)]
    paths = [tmp_path / f"turning_{step}.ply" for step in range(3)]
    for one, path in zip(scenes, paths):
        one.save(path)
    drawn = [quadrille.render(quadrille.load(path), camera).rgba for path in paths]
    assert all((drawn[step] != drawn[step - 1]).any() for step in range(3))

    def same(found: Iterable[quadrille.Picture], expected: list[int]) -> bool:
        pictures = [picture.rgba for picture in found]
        return len(pictures) == len(expected) and all(
            np.array_equal(picture, drawn[step]) for picture, step in zip(pictures, expected)
        )

    assert same(quadrille.render_many(paths, camera), [0, 1, 2])
    assert same(quadrille.render_many((str(path) for path in paths), camera), [0, 1, 2])
    assert same(quadrille.render_many([quadrille.load(paths[0]), paths[2]], [camera] * 5), [0, 0, 0, 2, 2])
    assert same(quadrille.render_many(paths, [camera] * 2), [0, 1])
    assert same(quadrille.render_many(iter(paths), [camera] * 2), [0, 1])
    assert same(quadrille.render_many(quadrille.load(paths[1]), camera), [1])
    seen: list[Any] = []
    list(quadrille.render_many(paths, camera, progress=lambda *state: seen.append(state)))
    assert seen == [("render", done, 3) for done in (1, 2, 3)]
    with pytest.raises(TypeError, match="quadrille.load reads files"):
        list(quadrille.render_many(str(paths[0]), [camera]))


class Tracked(quadrille.Scene):
    """A scene whose end can be seen."""

    __slots__ = ("__weakref__",)

    def __init__(self) -> None: ...


def test_films_of_files_hold_two_scenes(
    tmp_path: pathlib.Path, vase: Vase, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{step}.ply" for step in range(4)]
    for path in paths:
        vase[0].save(path)
    alive: list[weakref.ref[Tracked]] = []

    def load(path: Any) -> Tracked:
        assert sum(one() is not None for one in alive) <= 1
        scene = Tracked()
        scene._raw = quadrille.load(path)._raw
        alive.append(weakref.ref(scene))
        return scene

    monkeypatch.setattr("quadrille._draw.load", load)
    camera = vase[1][0].resized(16, 9)
    assert len(list(quadrille.render_many(paths, camera))) == len(list(quadrille.render_many(paths, [camera] * 4))) == 4
    assert len(alive) == 8
