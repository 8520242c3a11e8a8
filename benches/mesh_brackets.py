#!/usr/bin/env python3
"""Runs the scenes of benches/mesh.toml over all assumptions, and prints the tables of docs/mesh.md.

usage: benches/mesh_brackets.py run SUITE [--program PROGRAM] [--meshes DIR] [--only PART]
       benches/mesh_brackets.py table [SUITE]

`run` appends one JSON line per command to the file of results beside the suite (mesh.results.jsonl) and
skips commands that are in it. `table` reads that file alone.
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


def run(arguments):
    suite = tomllib.loads(arguments.suite.read_text())
    results = results_of(arguments.suite)
    known = {tuple(row["key"]) for row in read(results)}
    for key, command in jobs(suite):
        if tuple(key) in known or (arguments.only and key[0] != arguments.only):
            continue
        words = [word.replace("$MESHES", str(arguments.meshes)) for word in command.split()]
        print(" ".join(key), file=sys.stderr, flush=True)
        output = subprocess.run([arguments.program, "mesh", *words, "--json", "-q"], capture_output=True, check=False)
        if output.returncode != 0:
            sys.exit(f"{key}: {output.stderr.decode()}")
        rows = [reduced(row) for row in json.loads(output.stdout)["rows"]]
        with results.open("a") as file:
            file.write(json.dumps({"key": key, "command": command, "rows": rows}) + "\n")


def reduced(row):
    """The counts of a row from which everything else follows."""
    kept = {
        "unit": row["unit"],
        "buffer": row["buffer"],
        "triangles": row["triangles"],
        "mean_px": row["triangle_area_mean_px"],
        "shaded": row["fragments_shaded"],
        "pixels": row["pixels_covered"],
        "rasterized": row["quads"]["rasterized"],
        "culled": row["quads"]["culled"],
        "partial": row["quads"]["partial"],
    }
    if row["psnr_vs_none_covered_db"] is not None:
        kept["psnr_covered_db"] = round(row["psnr_vs_none_covered_db"], 2)
    qfm = row["unit_counters"]["qfm"]
    if qfm:
        kept |= {reason: qfm[reason] for reason in ["alone", "overlapping", "apart"]}
    return kept


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []



class Frame:
    """One scene under one set of assumptions."""

    def __init__(self, quads, grids):
        def of(rows, unit, buffer=None):
            return next(r for r in rows if r["unit"] == unit and r["buffer"] == buffer)

        def per_pixel(row):
            return row["shaded"] / row["pixels"]

        self.none = per_pixel(of(quads, "none"))
        self.qfm = per_pixel(of(quads, "qfm", 32))
        self.reyes = per_pixel(of(quads, "reyes"))
        self.less = self.none / self.qfm
        self.share = 100 * (self.none - self.qfm) / (self.none - per_pixel(of(quads, "qfm", "unbounded")))
        self.by_quads = self.qfm / self.reyes
        if grids:
            self.by_grids = per_pixel(of(grids, "qfm", 32)) / self.reyes
        self.times_reyes = 1 / self.by_quads
        self.mean_px = of(quads, "none")["mean_px"]


def frames(suite, results):
    """Frames by set, scene and variant."""
    rows = {tuple(r["key"]): r["rows"] for r in results}
    found = {}
    for part, scene, variant, options, cull in rows:
        if part == "merging" and cull == "quads":
            frame = Frame(*(rows.get((part, scene, variant, options, c)) for c in ["quads", "grids"]))
            found.setdefault(options, {}).setdefault(scene, {})[variant] = frame
    return {s["name"]: found[s["name"]] for s in suite["merging"]["set"]}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def bracket(suite, by_set, name, scene=None):
    """Lowest, default and highest value over the combinations, and that of the random order."""
    def over(options, choose):
        scenes = [scene] if scene else by_set[options]
        frames_of = by_set[options]
        return mean(choose(getattr(f, name) for f in frames_of[s].values() if hasattr(f, name)) for s in scenes)

    def default(options):
        scenes = [scene] if scene else by_set[options]
        return mean(getattr(by_set[options][s]["default"], name) for s in scenes)

    sets = [s["name"] for s in suite["merging"]["set"] if not s.get("extreme")]
    extreme = next(s["name"] for s in suite["merging"]["set"] if s.get("extreme"))
    lowest, highest = min(over(s, min) for s in sets), max(over(s, max) for s in sets)
    return lowest, default(sets[0]), highest, None if name == "by_grids" else default(extreme)


# What is compared: name, what the paper says of it, the measure, the scene, digits.
PUBLISHED = [
    ("times less, mean", "8.1", "less", None, 2),
    ("% of an unbounded buffer's merges, mean", "over 90", "share", None, 1),
    ("shadings per pixel with QFM, mean", "1.8", "qfm", None, 2),
    ("shadings per pixel without merging, BIGGUY", "nearly 14", "none", "BIGGUY", 1),
    ("shadings per pixel with QFM, BIGGUY", "1.8", "qfm", "BIGGUY", 2),
    ("QFM / Reyes, quads culled, mean", "0.83", "by_quads", None, 2),
    ("QFM / Reyes, grids culled, mean", "1.12", "by_grids", None, 2),
    ("QFM / Reyes, grids culled, PLANE", "about 1.12", "by_grids", "PLANE", 2),
    ("Reyes / QFM, FURBALL", "over 2", "times_reyes", "FURBALL", 2),
    ("Reyes / QFM, PTCLOUD", "over 2", "times_reyes", "PTCLOUD", 2),
]


def saved_and_efficient(row):
    """Quads saved of those that reach the unit, and of the partially covered ones, in per cent."""
    tested = row["rasterized"] - row["culled"]
    merged = tested - row["shaded"] / 4
    return 100 * merged / tested, 100 * merged / row["partial"]


def pixel_merging(results):
    """Rows about the pixel merge unit: name, published, lowest, default, highest, random order."""
    rows = {tuple(r["key"]): r["rows"][0] for r in results if r["key"][0] in ["meshes", "pixels"]}
    by_order, quality, dense = {}, {}, []
    for (part, name, variant, options, _), row in rows.items():
        if part == "meshes" and variant == "pmu":
            by_order.setdefault(options, []).append(saved_and_efficient(row))
        elif part == "pixels" and options == "dense":
            dense.append(saved_and_efficient(row)[1])
        elif part == "pixels":
            quality.setdefault(options, []).append(row["psnr_covered_db"])

    def over(choose):
        file, random, cache = (choose(by_order[o]) for o in ["file", "random", "vertex-cache"])
        return [min(file, cache), file, max(file, cache), random]

    yield "PMU, quads saved in %, mean", "8", over(lambda of: mean(s for s, _ in of))
    yield "PMU, quads saved in %, most", "at most 15", over(lambda of: max(s for s, _ in of))
    lowest, default, highest, random = over(lambda of: max(e for _, e in of))
    efficiency = [min(lowest, *dense), default, max(highest, *dense), random]
    yield "PMU, efficiency in %, most", "up to 64", efficiency
    for look, name in [("plain", "own textures"), ("checker", "checker")]:
        db = quality[look]
        yield f"PMU, PSNR in dB, {name}", "48.6", [min(db), mean(db), max(db), None]


def contains(said, lowest, highest):
    if said.startswith("over "):
        return highest > float(said.split()[-1])
    value = float(said.split()[-1])
    return lowest <= value <= highest


def table(arguments):
    suite = tomllib.loads(arguments.suite.read_text())
    results = read(results_of(arguments.suite))
    by_set = frames(suite, results)
    print("| | published | lowest | default | highest | random order | inside |\n|---|---|---|---|---|---|---|")
    for name, said, measure, scene, digits in PUBLISHED:
        values = bracket(suite, by_set, measure, scene)
        cells = " | ".join("-" if v is None else f"{v:.{digits}f}" for v in values)
        inside = "yes" if contains(said, round(values[0], digits), round(values[2], digits)) else "no"
        print(f"| {name} | {said} | {cells} | {inside} |")
    for name, said, values in pixel_merging(results):
        cells = " | ".join("-" if v is None else f"{v:.1f}" for v in values)
        inside = "yes" if contains(said, round(values[0], 1), round(values[2], 1)) else "no"
        print(f"| {name} | {said} | {cells} | {inside} |")
    print("\n| assumption, all scenes | mean area | none | QFM | times less | of unbounded | QFM / Reyes | grids culled |")
    print("|---|---|---|---|---|---|---|---|")
    for options, scenes in by_set.items():
        line(options, [scene["default"] for scene in scenes.values()])
    print("\n| scene, " + next(iter(by_set)) + " | mean area | none | QFM | times less | of unbounded | QFM / Reyes | grids culled |")
    print("|---|---|---|---|---|---|---|---|")
    for scene, variants in next(iter(by_set.values())).items():
        for variant, frame in variants.items():
            line(f"{scene}, {variant}", [frame])
    quality(results)
    meshes(results)


def line(name, of):
    measures = [("mean_px", 2), ("none", 1), ("qfm", 2), ("less", 1), ("share", 1), ("by_quads", 2), ("by_grids", 2)]
    cells = [f"{mean(getattr(f, m) for f in of):.{d}f}" if hasattr(of[0], m) else "-" for m, d in measures]
    print(f"| {name} | {' | '.join(cells)} |")


def quality(results):
    print("\n| PSNR of covered pixels, dB | QFM | QFM, checker | Reyes | Reyes, checker |\n|---|---|---|---|---|")
    found = {}
    for row in results:
        part, scene, _, look, _ = row["key"]
        if part == "quality":
            for r in row["rows"]:
                found.setdefault(scene, {})[r["unit"], look] = r["psnr_covered_db"]
    for scene, db in found.items():
        cells = [f"{db[unit, look]:.1f}" for unit in ["qfm", "reyes"] for look in ["plain", "checker"]]
        print(f"| {scene} | {' | '.join(cells)} |")


def meshes(results):
    print("\n| saved, % | " + " | ".join(f"{u}, {o}" for u in ["QFM 32", "QFM 512", "PMU 512"] for o in ["file", "random", "cache"]) + " |")
    print("|---|" + "---|" * 9)
    found = {}
    for row in results:
        part, mesh, _, order, _ = row["key"]
        if part == "meshes":
            for r in row["rows"]:
                tested = r["rasterized"] - r["culled"]
                found.setdefault(mesh, {})[r["unit"], r["buffer"], order] = 100 * (1 - r["shaded"] / 4 / tested)
    keys = [(u, b, o) for u, b in [("qfm", 32), ("qfm", 512), ("pmu", 512)] for o in ["file", "random", "vertex-cache"]]
    for mesh, saved in found.items():
        print(f"| {mesh} | " + " | ".join(f"{saved[k]:.1f}" for k in keys) + " |")
    if found:
        print("| mean | " + " | ".join(f"{mean(s[k] for s in found.values()):.1f}" for k in keys) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("suite", type=Path)
    runner.add_argument("--program", type=Path, default=ROOT / "target/release/quadrille")
    runner.add_argument("--meshes", type=Path, default=os.environ.get("MESHES", "meshes"))
    runner.add_argument("--only", choices=["merging", "quality", "meshes", "pixels"])
    runner.set_defaults(action=run)
    printer = commands.add_parser("table")
    printer.add_argument("suite", type=Path, nargs="?", default=ROOT / "benches/mesh.toml")
    printer.set_defaults(action=table)
    arguments = parser.parse_args()
    arguments.action(arguments)


if __name__ == "__main__":
    main()
