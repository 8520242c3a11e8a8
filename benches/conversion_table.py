#!/usr/bin/env python3
"""Writes the table of conversions in docs/formats.md: processor time, bytes, and mean and worst PSNR of the views.

usage: benches/conversion_table.py QUADRILLE SCENES [--peer SPLAT_TRANSFORM] [--docs]

Converts every NAME.ply of the folder SCENES that has a NAME.cameras.json, and compares the result with the scene over all
of its cameras. `--peer` names the program splat-transform, whose columns stand beside. `--docs` replaces the table in
docs/formats.md; without it, the table is printed.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs/formats.md"
MARKS = ["<!-- table of conversions -->\n", "<!-- end of the table of conversions -->\n"]
FORMATS = {"compressed PLY": "a.compressed.ply", "SPZ 4": "a.spz", "SOG": "a.sog", "GLB": "a.glb"}
# Width of the pictures that are compared, in pixels.
WIDTH = "400"


def processor_s(command):
    """Runs a command; returns the seconds of processor time that it took, or None if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return None
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def mean_and_worst(quadrille, scene, cameras, converted):
    """Mean PSNR of the views that differ, and PSNR of the worst one, as cells."""
    command = [quadrille, "compare", scene, converted, "--cameras", cameras, "--view", "all", "--width", WIDTH, "--json"]
    out = subprocess.run(list(map(str, command)), capture_output=True, check=True).stdout
    found = json.loads(out)
    values = [found[of]["psnr_db"] for of in ("mean", "worst")]
    return ["identical" if value is None else f"{value:.1f}" for value in values]


def cells(quadrille, command, scene, cameras, converted):
    seconds = processor_s(command)
    if seconds is None:
        return ["", "failed", "", ""]
    return [f"{seconds:.1f}", f"{converted.stat().st_size:,}", *mean_and_worst(quadrille, scene, cameras, converted)]


def rows(arguments, folder):
    for cameras in sorted(arguments.scenes.glob("*.cameras.json")):
        name = cameras.name.removesuffix(".cameras.json")
        scene = arguments.scenes / f"{name}.ply"
        if not scene.is_file():
            continue
        for label, file in FORMATS.items():
            own, theirs = folder / f"own.{file}", folder / f"peer.{file}"
            command = [arguments.quadrille, "convert", scene, "-o", own, "--drop-outside", "-q"]
            row = [f"{name}, {label}", *cells(arguments.quadrille, command, scene, cameras, own)]
            if arguments.peer:
                command = [arguments.peer, "-w", scene, theirs]
                row += cells(arguments.quadrille, command, scene, cameras, theirs)
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("quadrille", type=Path)
    parser.add_argument("scenes", type=Path)
    parser.add_argument("--peer", type=Path, help="the program splat-transform")
    parser.add_argument("--docs", action="store_true", help="replace the table of docs/formats.md")
    arguments = parser.parse_args()
    headings = ["scene, format", "s", "bytes", "mean dB", "worst dB"]
    if arguments.peer:
        headings += ["splat-transform: s", "bytes", "mean dB", "worst dB"]
    lines = [headings, ["---"] * len(headings)]
    with tempfile.TemporaryDirectory() as folder:
        lines += rows(arguments, Path(folder))
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    if not arguments.docs:
        print(table, end="")
        return
    before, rest = DOCS.read_text().split(MARKS[0])
    _, after = rest.split(MARKS[1])
    DOCS.write_text(before + MARKS[0] + table + MARKS[1] + after)


if __name__ == "__main__":
    main()
