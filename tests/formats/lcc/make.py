"""Writes scenes in LCC and LCC2 by their descriptions alone, and the splats that a reader finds in them.

The layout is that of the white paper of XGRIDS (github.com/xgrids/LCCWhitepaper); files of LCC2 are SPZ, version 2, by
the description of Niantic. Needs Python's own modules only: `python3 make.py` in this folder makes the files anew.
"""

import gzip
import json
import math
import random
import struct
from pathlib import Path

HERE = Path(__file__).parent
SH_C0 = 0.28209479177387814
SCALE = [0.002, 0.004, 0.001], [0.5, 0.3, 0.8]
REST = [-0.9, -0.5, -0.7], [0.6, 0.8, 0.75]
ENVIRONMENT_SCALE = [1.0, 2.0, 0.5], [40.0, 30.0, 20.0]
#: Place of each component x, y, z, w in the three stored ones and the largest one, by the number of the largest.
PLACES = {0: (3, 0, 1, 2), 1: (0, 3, 1, 2), 2: (0, 1, 3, 2), 3: (0, 1, 2, 3)}
random.seed(20261201)


def mix(limits, axis, share):
    return (1 - share) * limits[0][axis] + share * limits[1][axis]


def record(scale):
    """The 32 bytes of a splat with random values, and the splat."""
    position = [struct.unpack("<f", struct.pack("<f", random.uniform(-9, 9)))[0] for _ in range(3)]
    colour = [random.randrange(256) for _ in range(4)]
    scales = [random.randrange(65536) for _ in range(3)]
    largest, smaller = random.randrange(4), [random.randrange(250, 774) for _ in range(3)]
    packed = smaller[0] | smaller[1] << 10 | smaller[2] << 20 | largest << 30
    stored = [v / 1023 * math.sqrt(2) - math.sqrt(0.5) for v in smaller]
    stored.append(math.sqrt(1 - sum(v * v for v in stored)))
    x, y, z, w = (stored[place] for place in PLACES[largest])
    data = struct.pack("<3f4B3HI3H", *position, *colour, *scales, packed, 1, 2, 3)
    splat = {
        "mean": position,
        "colour": [(c / 255 - 0.5) / SH_C0 for c in colour[:3]],
        "opacity": colour[3] / 255,
        "scale": [mix(scale, axis, v / 65535) for axis, v in enumerate(scales)],
        "rotation": [w, x, y, z],
    }
    assert len(data) == 32
    return data, splat


def rest():
    """The 64 bytes of higher coefficients, and these, one list per channel."""
    words = [[random.randrange(2048), random.randrange(1024), random.randrange(2048)] for _ in range(15)]
    data = b"".join(struct.pack("<I", r | g << 11 | b << 21) for r, g, b in words) + b"\xee" * 4
    most = (2047, 1023, 2047)
    return data, [[mix(REST, axis, word[axis] / most[axis]) for word in words] for axis in range(3)]


def grid(folder, *, has_rest):
    """An LCC with two levels in three cells, one of which is empty at the finer level, and an environment."""
    folder.mkdir(exist_ok=True)
    cells = [((0, 0), (5, 2)), ((1, 0), (0, 1)), ((2, 7), (4, 3))]
    data, coefficients, index, levels = b"", b"", b"", [[], []]
    for (x, y), counts in cells:
        index += struct.pack("<HH", x, y)
        for level, count in enumerate(counts):
            index += struct.pack("<IQI", count, len(data), 32 * count)
            for _ in range(count):
                part, splat = record(SCALE)
                data += part
                if has_rest:
                    part, splat["rest"] = rest()
                    coefficients += part
                levels[level].append(splat)
    environment, splats = b"", []
    for _ in range(2):
        part, splat = record(ENVIRONMENT_SCALE)
        environment += part
        if has_rest:
            part, splat["rest"] = rest()
            environment += part
        splats.append(splat)
    attributes = [("scale", SCALE), ("shcoef", REST), ("envscale", ENVIRONMENT_SCALE)]
    description = {
        "version": "5.0",
        "totalSplats": sum(map(len, levels)),
        "totalLevel": 2,
        "cellLengthX": 3.0,
        "cellLengthY": 3.0,
        "indexDataSize": 36,
        "splats": [len(level) for level in levels],
        "encoding": "COMPRESS",
        "fileType": "Quality" if has_rest else "Portable",
        "attributes": [{"name": name, "min": low, "max": high} for name, (low, high) in attributes],
    }
    (folder / "scene.lcc").write_text(json.dumps(description, indent=1) + "\n")
    files = {"index.bin": index, "data.bin": data, "environment.bin": environment}
    if has_rest:
        files["shcoef.bin"] = coefficients
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [level + splats for level in levels]


def spz(path, count):
    """An SPZ, version 2, of random splats without harmonics."""
    positions, alphas, colours, scales, rotations, splats = [], [], [], [], [], []
    for _ in range(count):
        position = [random.randrange(-20000, 20000) for _ in range(3)]
        positions += [part for v in position for part in struct.pack("<i", v)[:3]]
        alpha, colour = random.randrange(1, 255), [random.randrange(256) for _ in range(3)]
        scale, rotation = [random.randrange(90, 200) for _ in range(3)], [random.randrange(70, 186) for _ in range(3)]
        alphas.append(alpha)
        colours += colour
        scales += scale
        rotations += rotation
        x, y, z = (v / 127.5 - 1 for v in rotation)
        splats.append(
            {
                "mean": [v / 4096 for v in position],
                "colour": [(c / 255 - 0.5) / 0.15 for c in colour],
                "opacity": alpha / 255,
                "scale": [math.exp(v / 16 - 10) for v in scale],
                "rotation": [math.sqrt(1 - x * x - y * y - z * z), x, y, z],
            }
        )
    header = struct.pack("<4sIIBBBB", b"NGSP", 2, count, 0, 12, 0, 0)
    content = header + bytes(positions + alphas + colours + scales + rotations)
    path.write_bytes(gzip.compress(content, mtime=0))
    return splats


def tree(folder):
    """An LCC2 of three levels: a branch that ends at the middle level, and two leaves that share a file."""
    (folder / "data/3dgs").mkdir(parents=True, exist_ok=True)
    files = {name: spz(folder / f"data/3dgs/{name}.spz", count) for name, count in
             [("fine", 7), ("middle", 3), ("coarse", 2), ("env", 1)]}
    def node(name, start, count, child=()):
        data = {"3dgs": {"name": list(files).index(name), "start": start, "count": count}}
        return {"boundingBox": {}, "data": data, "child": {str(at): one for at, one in enumerate(child)}}
    split = node("middle", 0, 2, [node("fine", 0, 3), node("fine", 3, 4)])
    root = {
        "splatFiles": [f"data/3dgs/{name}.spz" for name in files],
        "data": {"env": {"name": 3}},
        "child": [node("coarse", 0, 2, [split, node("middle", 2, 1)])],
    }
    description = {
        "version": "1.0", "totalSplats": 12, "totalLevels": 3, "lodSplats": [7, 3, 2], "splatType": ".spz", "root": root,
    }
    text = json.dumps(description, indent=1)
    # A comma before a closing bracket, as some programs write it.
    (folder / "scene.lcc2").write_text(text.replace("\n}", ",\n}") + "\n")
    fine, middle, coarse, env = files.values()
    return [fine + middle[2:] + env, middle + env, coarse + env]


found = {
    "quality": grid(HERE / "quality", has_rest=True),
    "portable": grid(HERE / "portable", has_rest=False),
    "tree": tree(HERE / "tree"),
}
(HERE / "splats.json").write_text(json.dumps(found) + "\n")
