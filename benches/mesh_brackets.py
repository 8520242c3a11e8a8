#!/usr/bin/env python3
"""Runs the scenes of benches/mesh.toml over all assumptions.

usage: benches/mesh_brackets.py SUITE [--program PROGRAM] [--meshes DIR] [--only STUDY]

Appends one JSON line per command to the file of results beside the suite (mesh.results.jsonl), from which
`quadrille figures --kept` draws figures, and skips commands that are in it.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def results_of(suite):
    return suite.with_suffix(".results.jsonl")


def jobs(suite):
    """Yields (key, arguments) of every command of the suite, those of the brackets first."""
    merging = suite["merging"]
    for number, options in enumerate(merging["set"]):
        for scene in merging["scene"]:
            variants = {"default": scene["default"]}
            if number == 0:
                variants |= scene.get("variants", {}) | scene.get("quads_alone", {})
            for variant, arguments in variants.items():
                is_alone = options.get("extreme") or variant in scene.get("quads_alone", {})
                for cull in ["quads"] if is_alone else ["quads", "grids"]:
                    key = ["merging", scene["name"], variant, options["name"], cull]
                    yield key, f"{arguments} {merging['flags']} {options['flags']} --cull {cull}"
    quality = suite["quality"]
    scenes = [scene for scene in merging["scene"] if scene["name"] in quality["scenes"]]
    for scene, (look, flags) in itertools.product(scenes, quality["looks"].items()):
        key = ["quality", scene["name"], "default", look, "quads"]
        yield key, f"{scene['default']} {quality['flags']} {flags}"
    meshes = suite["meshes"]
    for (name, path), order, unit in itertools.product(meshes["mesh"].items(), meshes["orders"], meshes["units"]):
        key = ["meshes", name, unit.split()[1], order, "quads"]
        yield key, f"{path} {meshes['flags']} {unit} --reorder {order}"
    pixels = suite["pixels"]
    for (name, path), (look, flags) in itertools.product(meshes["mesh"].items(), pixels["looks"].items()):
        yield ["pixels", name, "default", look, "quads"], f"{path} {pixels['flags']} {pixels['quality']} {flags}"
    for area, arguments in pixels["dense"].items():
        yield ["pixels", "BIGGUY", area, "dense", "quads"], f"{arguments} {pixels['flags']}"
    for name, path in meshes["mesh"].items():
        yield ["buffers", name, "default", "", ""], f"{path} {suite['buffers']['flags']}"
    for area, arguments in suite["buffers"]["dense"].items():
        yield ["buffers_dense", "BIGGUY", area, "", ""], f"{arguments} {suite['buffers']['flags']}"
    for scene in merging["scene"]:
        yield ["entries", scene["name"], "default", "", ""], f"{scene['default']} {suite['entries']['flags']}"
    yield ["areas", "BIGGUY", "default", "", ""], suite["areas"]["flags"]


def named(key):
    """Study, mesh, variant and settings of a command."""
    part, mesh, variant, option, cull = key
    if part == "merging" and option == "bound, random":
        return {"study": "random", "mesh": mesh}
    if part == "merging" and variant == "default":
        return {"study": part, "mesh": mesh, "settings": {"assumptions": option, "culling": cull}}
    if part == "merging" and variant.startswith("40000"):
        return {"study": "dense", "mesh": mesh, "variant": variant}
    if part == "merging":
        return {"study": "variants", "mesh": mesh, "variant": variant, "settings": {"culling": cull}}
    if part == "meshes":
        return {"study": "orders_pmu" if variant == "pmu" else "orders", "mesh": mesh, "settings": {"order": option}}
    if option == "dense":
        return {"study": "pixels_dense", "mesh": mesh, "settings": {"area": variant}}
    if part in ["quality", "pixels"]:
        return {"study": part, "mesh": mesh, "settings": {"look": option}}
    return {"study": part, "mesh": mesh, **({} if variant == "default" else {"settings": {"area": variant}})}


def run(arguments):
    suite = tomllib.loads(arguments.suite.read_text())
    results = results_of(arguments.suite)
    known = [{k: row[k] for k in row if k != "rows"} for row in read(results)]
    for key, command in jobs(suite):
        run_key = named(key)
        if run_key in known or (arguments.only and run_key["study"] != arguments.only):
            continue
        words = [word.replace("$MESHES", str(arguments.meshes)) for word in command.split()]
        print(" ".join(key), file=sys.stderr, flush=True)
        output = subprocess.run([arguments.program, "mesh", *words, "--json", "-q"], capture_output=True, check=False)
        if output.returncode != 0:
            sys.exit(f"{key}: {output.stderr.decode()}")
        rows = [reduced(row, key[0] == "areas") for row in json.loads(output.stdout)["rows"]]
        with results.open("a") as file:
            file.write(json.dumps({**run_key, "rows": rows}) + "\n")


def reduced(row, has_area):
    """The counts of a row from which everything else follows."""
    kept = {
        "unit": row["unit"],
        "buffer": row["buffer"],
        "msaa": row["msaa"] if has_area else None,
        "area_px": row["triangle_area_px"] if has_area else None,
        "triangles": row["triangles"],
        "mean_px": row["triangle_area_mean_px"],
        "shaded": row["fragments_shaded"],
        "pixels": row["pixels_covered"],
        "rasterized": row["quads"]["rasterized"],
        "culled": row["quads"]["culled"],
        "partial": row["quads"]["partial"],
        "psnr_covered_db": row["psnr_vs_none_covered_db"],
    }
    return {name: value for name, value in kept.items() if value is not None}


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/quadrille")
    parser.add_argument("--meshes", type=Path, default=os.environ.get("MESHES", "meshes"))
    parser.add_argument("--only")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
