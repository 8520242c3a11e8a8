#!/usr/bin/env python3
"""Checks that two builds of quadrille give the same results: a change of structure leaves them alone.

usage: benches/compare_builds.py OLD NEW [--shared DIR] [--quick] [--time RUNS | --only-time RUNS | --time-all RUNS]

Runs the same commands with both programs and compares pictures byte for byte and JSON documents
value for value, without host times. `--shared` names a folder with trained scenes and meshes;
without it only the scenes of this repository are used. `--time` also runs render, sim, mesh and deferred in
pairs and prints the median ratios NEW / OLD of the host times and of the whole processes; `--only-time` compares nothing else.
`--time-all` runs every command in pairs and prints the ratio of the shortest times of each kind, and the commands above 1.05.
Exits with 1 when anything differs.
"""

import argparse
import filecmp
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Keys whose values are measured on the host, name files, or identify the build.
VOLATILE = {
    "host_ms", "host_ms_prepare", "host_quads_per_s", "host_s", "load_ms", "ms", "ms_min", "output", "peak_rss_bytes", "quadrille", "fingerprint",
}
# Keys that reports derive from cycles and counts, in a way that has changed, and explanations in prose.
DERIVED = {
    "commit", "critical_occupancy", "critical_unit", "explanation", "limiting_unit", "limiting_utilisation", "memory",
    "basis", "note", "occupancy", "storage_bytes_per_gpc",
}
# Entries of an object of this key that not all versions have, or that count something else in some.
CHANGED = {"units": {"l2", "dram"}, "config": {"l2", "dram"}, "crop": {"dram_bytes"}}
TRAINED = ["udon", "flowers", "statue", "truck", "graffiti", "robot", "showroom"]
PROCEDURAL = ["plane", "sinewave", "ptcloud", "furball"]


def without_volatile(value, key=None):
    if isinstance(value, dict):
        left_out = VOLATILE | DERIVED | CHANGED.get(key, set())
        if "rule" in value:  # a measurement, described in prose
            left_out |= {"name", "unit"}
        return {k: without_volatile(v, k) for k, v in value.items() if k not in left_out}
    if isinstance(value, list):
        return [without_volatile(v) for v in value]
    return value


RENAMED = {
    "variants": "methods",
    "limited_by": "limiting_unit", "psnr_db_vs_reference": "psnr_vs_reference_db", "z_cache": "zrop_cache",
}


def as_now(value):
    """A document in the shape and with the keys of today's: documents from before version 0.2."""
    if isinstance(value, list):
        return [as_now(v) for v in value]
    if not isinstance(value, dict):
        return value
    value = {RENAMED.get(k, k): as_now(v) for k, v in value.items() if k != "quadrille"}
    if isinstance(value.get("limit", ""), (dict, type(None))):
        limit = value.pop("limit") or {"unit": None, "utilisation": None}
        value |= {"limiting_unit": limit["unit"], "limiting_utilisation": limit["utilisation"]}
    if isinstance(value.get("view"), str):
        value["view"] = {"name": value["view"], "width": value.pop("width", None), "height": value.pop("height", None)}
    if isinstance(value.get("view"), dict) and "mesh" in value:
        value["view"] = value["view"]["name"]
    if "flushes" in value and "termination_ratio" in value:
        value["shaded_ratio"] = value.pop("termination_ratio")
    if "timed" in value:
        value["timed"] = cycles_as_now(value["timed"], value.get("unit"))
    return value


def cycles_as_now(timed, unit):
    """The cycles of a mesh row with today's names of units: the names of `sim`, and the merging unit's own."""
    if not isinstance(timed, dict) or "colour" not in timed:
        return timed
    names = {"merge": {"none": "passthrough"}.get(unit, unit), "colour": "crop"}

    def renamed(text):
        return " ".join(names.get(word, word) for word in (text or "").split(" "))

    timed["crop"] = timed.pop("colour") | timed.pop("colour_cache")
    timed["limiting_unit"] = renamed(timed["limiting_unit"])
    timed["units"] = {
        renamed(name): cycles | {"idle": {renamed(reason): count for reason, count in cycles["idle"].items()}}
        for name, cycles in timed["units"].items()
    }
    return timed


def document_as_now(document):
    """One shape per command, always a list."""
    document = as_now(document)
    if "versus" in document:
        return document["versus"]
    if "methods" in document and "scene" in document:
        return {"views": [document]}
    if "mesh" in document:
        return {"rows": [document]}
    return document


def first_difference(a, b, at=""):
    """Path and values of the first difference of two JSON values; None when there is none."""
    if type(a) is not type(b):
        return at, a, b
    if isinstance(a, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b:
                return f"{at}.{key}", a.get(key, "absent"), b.get(key, "absent")
            found = first_difference(a[key], b[key], f"{at}.{key}")
            if found:
                return found
        return None
    if isinstance(a, list):
        if len(a) != len(b):
            return f"{at}.length", len(a), len(b)
        pairs = enumerate(zip(a, b))
        return next(filter(None, (first_difference(x, y, f"{at}[{i}]") for i, (x, y) in pairs)), None)
    return None if a == b else (at, a, b)


def same_file(old, new):
    """Byte for byte, but for the order of a JSON document's keys."""
    same = filecmp.cmp(old, new, shallow=False)
    return same or (new.suffix == ".json" and json.loads(old.read_bytes()) == json.loads(new.read_bytes()))


class Case:
    """A command; `{out}` in it is a folder of its own, whose files are compared as well."""

    def __init__(self, group, *arguments):
        self.group, self.arguments = group, [str(a) for a in arguments]

    def run(self, program, folder):
        folder.mkdir(parents=True, exist_ok=True)
        arguments = [a.replace("{out}", str(folder)) for a in self.arguments]
        done = subprocess.run([program, *arguments], capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def compare(self, programs, scratch):
        results = [self.run(p, scratch / side) for p, side in zip(programs, ("old", "new"))]
        (old_code, old_out, _), (new_code, new_out, new_err) = results
        if old_code != new_code:
            return [f"exit code {old_code}, now {new_code}: {new_err.decode()[-300:]}"]
        differences = []
        if "--json" in self.arguments and old_code == 0:
            documents = [without_volatile(document_as_now(json.loads(out))) for out in (old_out, new_out)]
            found = first_difference(*documents)
            if found:
                differences.append(f"JSON at {found[0]}: {found[1]}, now {found[2]}")
        names = [sorted(p.name for p in (scratch / side).iterdir()) for side in ("old", "new")]
        if names[0] != names[1]:
            differences.append(f"files {names[0]}, now {names[1]}")
        same = set(names[0]) & set(names[1])
        # A map's PNG holds a legend, which may be drawn otherwise; its values are in the NPY.
        compared = [n for n in same if "--maps" not in self.arguments or not n.endswith(".png")]
        for name in sorted(compared):
            if not same_file(scratch / "old" / name, scratch / "new" / name):
                differences.append(f"{name} differs")
        return differences


def cases(shared, quick):
    island = ROOT / "scenes/island.ply"
    views = ["--cameras", ROOT / "scenes/island.cameras.json"]
    splats = [("island", island, [*views, "--width", "320"])]
    if shared:
        scenes = shared / "scenes"
        small = scenes / "reference"
        names = TRAINED[:4] if quick else TRAINED
        splats += [(n, scenes / f"{n}.ply", ["--cameras", small / f"{n}.small.cameras.json"]) for n in names]
    for name, path, cameras in splats:
        for ending in ("png", "exr", "npy"):
            out = f"{{out}}/{{view}}.{ending}"
            yield Case("render", "render", path, *cameras, "--view", "all", "-o", out, "--json")
        yield Case("render", "render", path, *cameras, "--view", "0", "-o", "{out}/a.npy", "--backend", "reference")
        yield Case("render", "render", path, "--width", "200", "-o", "{out}/auto.npy")
        yield Case("info", "info", path, "--json")
        # SPZ has a range of positions.
        for ending, more in (("ply", []), ("spz", ["--drop-outside"]), ("sog", []), ("glb", [])):
            yield Case("convert", "convert", path, "-o", f"{{out}}/a.{ending}", *more)
    # `{variant}` is the word for `{method}` that older builds know.
    for name, path, cameras in splats[: 3 if quick else 8]:
        yield Case("sim", "sim", path, *cameras, "--view", "0", "--method", "all", "-o", "{out}/{variant}.npy",
                   "--maps", "{out}", "--json")
    for settings in ([], ["--set", "gpu.gpcs=2"], ["--set", "crop.format=rgba8"], ["--set", "gpu.gpcs=2", "--set", "cores.cores=8"]):
        yield Case("sim", "sim", island, *views, "--view", "1", "--width", "240", "--method", "all", *settings, "--json")
    yield Case("microbench", "microbench", "--json")
    if not quick:
        yield Case("bench", "bench", ROOT / "benches/island.toml", "--json")
    for recipe in ("island", "room", "object"):
        yield Case("synth", "synth", recipe, "--splats", "20000", "-o", "{out}/scene.ply",
                   "--cameras-out", "{out}/cameras.json")
    size = ["--width", "160", "--height", "110"] if quick else ["--width", "320", "--height", "220"]
    units = ["--method", "none,qfm,pmu,reyes", "-o", "{out}/{variant}.png", "--json"]
    meshes = [[name, "--tessellate", "0.5,10", "--hairs", "600"][: 5 if name == "furball" else 3] for name in PROCEDURAL]
    if shared:
        m = shared / "meshes"
        meshes += [
            [m / "bigguy/bigguy.obj", "--tessellate", "0.5,10"],
            [m / "bigguy/bigguy.obj", "--army", "3,2", "--tessellate", "10"],
            [m / "spot/spot_triangulated.obj"],
            [m / "flighthelmet/FlightHelmet.gltf"],
            [m / "monsterfrog/monsterfrog.obj", "--tessellate", "2", "--displace",
             m / "monsterfrog/monsterfrog_height.png", "--displace-by", "2"],
            [m / "hairy_object/hair_ribbons.ply"],
            [m / "scorpion/scorpion.obj"],
            [sorted((m / "teaset_bezier").glob("tea*"))[0]],
        ]
    for mesh in meshes:
        for more in (["--msaa", "1,4,16"], ["--msaa", "4", "--coarse", "--psnr"], ["--msaa", "8", "--cull", "grids"]):
            yield Case("mesh", "mesh", *mesh, *size, *more, *units)
        yield Case("mesh", "mesh", *mesh, *size, "--msaa", "4", "--method", "none,qfm,pmu", "--cycles", "--json")
    blur = ["--spin", "0,1,0,2", "--coc-px", "4", "--traffic"]
    shading = ["--method", "msaa,cached-decoupled,cached-decoupled+z,sds", "--grid", "pixel,adaptive"]
    outputs = ["-o", "{out}/{variant}.png", "--heat", "{out}/heat.{variant}.png", "--json"]
    for mesh in [["arcade", "--tessellate", "200"], ["frog"], *([[m / "flighthelmet/FlightHelmet.gltf"]] if shared else [])]:
        yield Case("deferred", "deferred", *mesh, *size, *blur, *shading, *outputs)
    if shared:
        spot = m / "spot/spot_triangulated.obj"
        ply = Path(tempfile.gettempdir()) / "compare_builds_spot.ply"
        yield Case("versus", "mesh", spot, "--to-splats", "{out}/spot.ply")
        Case("versus", "mesh", spot, "--to-splats", ply).run(ARGUMENTS.old, ply.parent)
        yield Case("versus", "mesh", spot, "--versus", ply, "--width", "240", "--height", "140", "--msaa", "4", "--json")


def timed(programs, shared, runs):
    """Median ratios NEW / OLD of the host times that the programs themselves report, and of the whole processes."""
    scene = (shared / "scenes/truck.ply") if shared else ROOT / "scenes/island.ply"
    cameras = (shared / "scenes/truck.cameras.json") if shared else ROOT / "scenes/island.cameras.json"
    mesh = [shared / "meshes/bigguy/bigguy.obj", "--tessellate", "0.5"] if shared else ["plane", "--tessellate", "0.5"]
    size = ["--width", "1728", "--height", "1080", "--msaa", "16"]

    def render(d):
        return sum(v["ms"]["total"] for v in d["views"])

    def sim(d):
        # Documents of one view used to be the view itself.
        variants = as_now(d.get("views", [d])[0])["methods"]
        return sum(v["host_ms"] for v in variants)

    def frame(d):
        rows = d["rows"] if "rows" in d else [d]
        return rows[0]["host_ms"]["visibility"] + sum(r["host_ms"]["merging"] for r in rows)

    jobs = {
        "render": (["render", scene, "--cameras", cameras, "--view", "all", "--repeat", "15", "--json"], render),
        "sim": (["sim", scene, "--cameras", cameras, "--view", "0", "--threads", "1",
                 "--method", "baseline,qm,het,het+qm", "--json"], sim),
        "mesh": (["mesh", *mesh, *size, "--method", "none,qfm,pmu", "--json"], frame),
        "mesh --cycles": (["mesh", *mesh[:1], *mesh[1:2], "2", "--width", "864", "--height", "540", "--msaa", "4",
                           "--method", "none,qfm,pmu", "--cycles", "--json"], None),
        "deferred": (["deferred", "arcade", "--tessellate", "200", "--width", "1280", "--height", "720", "--spin", "0,1,0,2",
                      "--coc-px", "4", "--json"], None),
    }
    for name, (arguments, of) in jobs.items():
        ratios = {"host times": [], "whole process": []}
        for _ in range(runs):
            times = []
            for program in programs:
                start = time.perf_counter()
                out = subprocess.run([program, *map(str, arguments)], capture_output=True, check=True).stdout
                whole = time.perf_counter() - start
                times.append((of(json.loads(out)) if of else whole, whole))
            for of_kind, (old, new) in zip(ratios.values(), zip(*times)):
                of_kind.append(new / old)
        for kind, of_kind in ratios.items():
            spread = f"{min(of_kind):.3f} to {max(of_kind):.3f}"
            print(f"time {name:15} {kind:13} new / old {statistics.median(of_kind):.3f} ({spread}, {runs} pairs)")


def timed_all(programs, shared, quick, runs):
    """Ratios NEW / OLD of the shortest times of the whole processes, by kind of command; commands above 1.05 are listed."""
    sums = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, case in enumerate(cases(shared, quick)):
            shortest = [float("inf"), float("inf")]
            for turn in range(runs):
                for side, program in list(enumerate(programs))[:: -1 if turn % 2 else 1]:
                    start = time.perf_counter()
                    case.run(program, Path(scratch) / f"{number}.{side}")
                    shortest[side] = min(shortest[side], time.perf_counter() - start)
            sums[case.group] = [a + b for a, b in zip(sums.get(case.group, (0, 0)), shortest)]
            if shortest[1] > 1.05 * shortest[0]:
                ratio, ms = shortest[1] / shortest[0], 1000 * shortest[0]
                print(f"SLOWER {ratio:.3f} of {ms:.0f} ms: quadrille {' '.join(case.arguments)}")
    for group, (old, new) in sums.items():
        print(f"time {group:12} whole processes new / old {new / old:.3f} (sums of the shortest of {runs} pairs)")


def main():
    programs = (ARGUMENTS.old, ARGUMENTS.new)
    if ARGUMENTS.only_time:
        timed(programs, ARGUMENTS.shared, ARGUMENTS.only_time)
        return 0
    if ARGUMENTS.time_all:
        timed_all(programs, ARGUMENTS.shared, ARGUMENTS.quick, ARGUMENTS.time_all)
        return 0
    counts, failed = {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, case in enumerate(cases(ARGUMENTS.shared, ARGUMENTS.quick)):
            differences = case.compare(programs, Path(scratch) / str(number))
            same, different = counts.get(case.group, (0, 0))
            counts[case.group] = (same + (not differences), different + bool(differences))
            if differences:
                failed += 1
                print(f"DIFFERS quadrille {' '.join(case.arguments)}")
                for difference in differences:
                    print(f"    {difference}")
    for group, (same, different) in counts.items():
        print(f"{group:12} {same:4} commands the same, {different} different")
    if ARGUMENTS.time:
        timed(programs, ARGUMENTS.shared, ARGUMENTS.time)
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the program of the build to agree with")
    parser.add_argument("new", help="the program of the build under test")
    parser.add_argument("--shared", type=Path, help="folder with trained scenes and meshes")
    parser.add_argument("--quick", action="store_true", help="fewer scenes, smaller pictures")
    parser.add_argument("--time", type=int, default=0, metavar="RUNS", help="pairs of timed runs")
    parser.add_argument("--only-time", type=int, default=0, metavar="RUNS", help="pairs of timed runs, and no results")
    parser.add_argument("--time-all", type=int, default=0, metavar="RUNS", help="pairs of timed runs of every command")
    ARGUMENTS = parser.parse_args()
    sys.exit(main())
