"""Suites, meshes and plots as functions: the rows of the command line."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import quadrille

VASE = {"name": "vase", "recipe": "object", "splats": 500, "view": "0..2", "width": 48, "height": 27}
SUITE: dict[str, Any] = {"method": ["baseline", "het+qm"], "matrix": {"tc": {"bins": [16, 32]}}, "scene": [VASE]}


def program(*words: object) -> Any:
    """The JSON document that a command prints."""
    command = [sys.executable, "-m", "quadrille", *map(str, words), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def without_times(rows: Any) -> Any:
    """Rows without the times of this machine."""
    if isinstance(rows, list):
        return [without_times(row) for row in rows]
    if isinstance(rows, dict):
        return {key: without_times(value) for key, value in rows.items() if not key.startswith("host_")}
    return rows


def test_a_suite_gives_the_rows_of_the_program(tmp_path: pathlib.Path) -> None:
    rows = quadrille.bench(SUITE)
    assert len(rows) == 2 * 2 and rows[0]["methods"][0]["cycles"] > 0
    suite = tmp_path / "suite.toml"
    suite.write_text(
        'method = ["baseline", "het+qm"]\n[matrix]\ntc.bins = [16, 32]\n[[scene]]\nname = "vase"\nrecipe = "object"\n'
        'splats = 500\nview = "0..2"\nwidth = 48\nheight = 27\n'
    )
    kept = tmp_path / "rows.jsonl"
    assert without_times(quadrille.bench(suite, results=kept)) == without_times(rows)
    seen: list[int] = []
    assert quadrille.bench(suite, results=kept, progress=lambda stage, done, total: seen.append(done)) == [
        json.loads(line) for line in kept.read_text().splitlines()
    ]
    assert without_times(program("bench", suite)["rows"]) == without_times(rows)
    only = quadrille.bench(suite, methods="qm", threads=1)
    assert [run["name"] for run in only[0]["methods"]] == ["qm"]
    with pytest.raises(quadrille.FormatError, match="suite: .*scen"):
        quadrille.bench({"scen": [VASE]})
    with pytest.raises(ValueError, match="methods: .*did you mean"):
        quadrille.bench(SUITE, methods="baselin")
    with pytest.raises(FileNotFoundError):
        quadrille.bench(tmp_path / "none.toml")


def test_meshes_give_the_rows_of_the_program() -> None:
    size = {"width": np.int64(64), "height": np.int64(48)}
    merged = quadrille.mesh("plane", method=["none", "qfm"], msaa=4, tessellate=np.float32(20), buffer=None, **size)
    words = ["--method", "none,qfm", "--msaa", 4, "--tessellate", 20, "--width", 64, "--height", 48]
    assert without_times(merged) == without_times(program("mesh", "plane", *words)["rows"])
    blurred = quadrille.deferred("plane", method=["msaa", "sds"], coc_px=4, width=64, height=48)
    words = ["--method", "msaa,sds", "--coc-px", 4, "--width", 64, "--height", 48]
    assert without_times(blurred) == without_times(program("deferred", "plane", *words)["rows"])
    with pytest.raises(ValueError, match="mesaa"):
        quadrille.mesh("plane", mesaa=4)
    with pytest.raises(OSError, match=r"none\.obj"):
        quadrille.mesh("none.obj")


def test_plots_return_the_plotted_numbers(tmp_path: pathlib.Path) -> None:
    rows = quadrille.bench(SUITE | {"scene": [VASE | {"view": "0"}]})
    where = ["method=het+qm"]
    points = quadrille.plot(rows, tmp_path / "bins.svg", x="tc.bins", y="speedup", series="method", where=where)
    assert [point["tc.bins"] for point in points] == [16, 32] and all(point["speedup"] > 0 for point in points)
    assert (tmp_path / "bins.svg").read_text().startswith("<svg")
    kept = tmp_path / "rows.jsonl"
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outputs = [tmp_path / "a.pdf", tmp_path / "a.svg"]
    assert quadrille.plot(kept, outputs, x="tc.bins", y="speedup", series=["method"], where=where[0]) == points
    assert outputs[0].read_bytes().startswith(b"%PDF") and outputs[1].read_bytes() == (tmp_path / "bins.svg").read_bytes()
    for words, message in [
        ({"x": "tc.bin"}, "tc.bin"),
        ({"kind": "pie"}, "kind: expected one of"),
        ({"combine": "meen"}, "combine: .*did you mean mean"),
        ({"where": "speedup"}, "where: expected FIELD=VALUE"),
        ({"output": tmp_path / "a.png"}, "output: expected a name that ends in .svg or .pdf"),
        ({"width_mm": 5}, "width_mm: expected a number from 20.0 to 1000.0, found 5"),
    ]:
        with pytest.raises(ValueError, match=message):
            quadrille.plot(rows, **({"x": "tc.bins", "y": "speedup"} | words))


def test_plots_show_standard_deviations_and_names(tmp_path: pathlib.Path) -> None:
    rows = quadrille.bench(SUITE | {"scene": [VASE | {"view": "0..2"}]})
    drawn = tmp_path / "cycles.svg"
    words = {"x": "scene", "y": "cycles", "series": "method", "kind": "bars"}
    points = quadrille.plot(rows, drawn, **words, spread="sd", names={"het+qm": "HET+QM"})
    point = points[-1]
    # Two views, with two sizes of the bins that change nothing.
    assert point["rows"] == 4
    assert point["sd"] == pytest.approx((point["max"] - point["min"]) / 3**0.5, abs=1)
    assert "HET+QM" in drawn.read_text()
    assert quadrille.plot(rows, **words, spread=True) == quadrille.plot(rows, **words, spread="range")
    with pytest.raises(ValueError, match="spread: expected"):
        quadrille.plot(rows, **words, spread="all")



def test_a_simulation_has_a_short_table(vase: tuple[quadrille.Scene, list[quadrille.Camera]]) -> None:
    scene, cameras = vase
    found = quadrille.simulate(scene, cameras[0].resized(64, 36), variants=["baseline", "het+qm", "gscore"])
    baseline, merged, other = found.table
    assert list(baseline) == [
        "method", "cycles", "frame_ms", "limiting_unit", "quads", "fragments", "speedup", "quads_ratio", "fragments_ratio",
    ]  # fmt: skip
    assert merged["speedup"] == baseline["cycles"] / merged["cycles"]
    assert merged["quads_ratio"] == baseline["quads"] / merged["quads"]
    assert other["method"] == "gscore" and other["quads"] is None and other["fragments"] > 0
    assert json.loads(json.dumps(found)) == found
