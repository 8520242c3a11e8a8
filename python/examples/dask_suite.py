"""A suite on several workers: every view of a scene, on every emulated GPU, by Dask.

    python dask_suite.py scene.ply --cameras cameras.json --workers 4 -o rows.csv

Workers receive the scene once, as a pickle. The rows are the same on any number of workers.
"""

from __future__ import annotations

import argparse
import csv
import sys
from typing import Any

import dask

import quadrille

Row = dict[str, Any]


def run(scene: quadrille.Scene, camera: quadrille.Camera, preset: str) -> list[Row]:
    """The rows of a view on a GPU: one per method, with cycles and the speedup over the baseline."""
    found = quadrille.simulate(scene, camera, preset=preset, variants=["baseline", "het", "qm", "het+qm"], threads=1)
    baseline = found["methods"][0]["cycles"]
    return [
        {
            "preset": preset,
            "view": camera.name,
            "method": variant["name"],
            "cycles": variant["cycles"],
            "speedup": round(baseline / variant["cycles"], 4),
        }
        for variant in found["methods"]
    ]


def suite(
    scene: quadrille.Scene, cameras: list[quadrille.Camera], presets: list[str], *, workers: int
) -> list[Row]:
    """The rows of all views on all GPUs, in order."""
    shared = dask.delayed(scene)
    jobs = [dask.delayed(run)(shared, camera, preset) for preset in presets for camera in cameras]
    scheduler = "sync" if workers == 1 else "processes"
    results = dask.compute(*jobs, scheduler=scheduler, num_workers=workers)
    return [row for rows in results for row in rows]


def main() -> None:
    """Runs a suite and writes its rows as CSV."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="?", help="scene file [default: a procedural vase]")
    parser.add_argument("--cameras", help="camera file [default: a circle of 4 views]")
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--presets", nargs="+", default=["vr-pipe", "orin"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("-o", "--output", help="CSV file [default: standard output]")
    arguments = parser.parse_args()
    if arguments.scene:
        scene = quadrille.load(arguments.scene)
    else:
        scene, _ = quadrille.synth("object", splats=5000)
    cameras = quadrille.load_cameras(arguments.cameras) if arguments.cameras else quadrille.orbit(scene, 4)
    views = [camera.resized(arguments.width) for camera in cameras]
    rows = suite(scene, views, arguments.presets, workers=arguments.workers)
    out = open(arguments.output, "w", newline="") if arguments.output else sys.stdout
    with out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)


# Workers import this file.
if __name__ == "__main__":
    main()
