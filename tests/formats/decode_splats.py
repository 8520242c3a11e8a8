#!/usr/bin/env python3
"""Decodes splat files independently of the program, with numpy, Pillow and zstandard.

`decode_splats.py FOLDER > decoded_splats.json` decodes the files of FOLDER that the tests read, and
prints what they compare: the number of rows, sums of every column, and some whole rows.
"""
import gzip
import io
import json
import os
import struct
import sys
import zipfile

import numpy as np
import zstandard
from PIL import Image

C0 = 0.28209479177387814
SQRT1_2 = np.sqrt(0.5)
# Axes in which the SH functions of degree 1 to 4 are odd.
PARITY = "y z x xy yz - xz - y xyz y z x z x xy yz xy yz - xz - xz -".split()


def logistic(x):
    return 1 / (1 + np.exp(-x))


def flip_sh(sh, axes):
    """Changes the sign of functions that are odd in an odd number of `axes`."""
    for k in range(sh.shape[1]):
        if sum(PARITY[k].count(a) for a in axes) % 2:
            sh[:, k] *= -1


def ply_elements(data):
    end = data.index(b"end_header\n") + 11
    types = {"float": "<f4", "uint": "<u4", "uchar": "u1", "double": "<f8"}
    elements = []
    for line in data[:end].decode("latin1").split("\n"):
        words = line.split()
        if words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        if words[:1] == ["property"]:
            elements[-1][2].append((words[2], types[words[1]]))
    tables, at = {}, end
    for name, count, fields in elements:
        dtype = np.dtype(fields)
        tables[name] = np.frombuffer(data, dtype, count, at)
        at += dtype.itemsize * count
    return tables


def compressed_ply(data):
    tables = ply_elements(data)
    chunk, vertex = tables["chunk"], tables["vertex"]
    rows = len(vertex)
    of_row = np.arange(rows) // 256

    def thirds(words):
        words = words.astype(np.int64)
        return np.stack([(words >> 21) / 2047, (words >> 11 & 1023) / 1023, (words & 2047) / 2047], 1)

    def lerp(t, names):
        low = np.stack([chunk["min_" + n][of_row].astype(float) for n in names], 1)
        high = np.stack([chunk["max_" + n][of_row].astype(float) for n in names], 1)
        return low * (1 - t) + high * t

    word = vertex["packed_rotation"].astype(np.int64)
    parts = [((word >> shift & 1023) / 1023 - 0.5) * np.sqrt(2) for shift in (20, 10, 0)]
    largest = np.sqrt(np.maximum(0, 1 - sum(p * p for p in parts)))
    rotation = np.zeros((rows, 4))
    for index in range(4):
        chosen = word >> 30 == index
        rotation[chosen, index] = largest[chosen]
        for other, part in zip([i for i in range(4) if i != index], parts):
            rotation[chosen, other] = part[chosen]
    word = vertex["packed_color"].astype(np.int64)
    colour = np.stack([word >> 24, word >> 16 & 255, word >> 8 & 255], 1) / 255
    if "min_r" in chunk.dtype.names:
        colour = lerp(colour, "rgb")
    sh = np.zeros((rows, 0, 3))
    if "sh" in tables:
        count = len(tables["sh"].dtype.names) // 3
        sh = np.zeros((rows, count, 3))
        for channel in range(3):
            for k in range(count):
                value = tables["sh"][f"f_rest_{channel * count + k}"].astype(float)
                t = np.where(value == 0, 0, np.where(value == 255, 1, (value + 0.5) / 256))
                sh[:, k, channel] = 8 * (t - 0.5)
    return dict(
        mean=lerp(thirds(vertex["packed_position"]), "xyz"),
        scale=np.exp(lerp(thirds(vertex["packed_scale"]), ["scale_x", "scale_y", "scale_z"])),
        rotation=rotation,
        opacity=(word & 255) / 255,
        dc=(colour - 0.5) / C0,
        sh=sh,
    )


def spz(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
        _, version, rows, degree, fraction = struct.unpack("<IIIBB", data[:14])
        count = (degree + 1) ** 2 - 1
        sizes = [rows * size for size in (6 if version == 1 else 9, 1, 3, 3, 4 if version >= 3 else 3, 3 * count)]
        ends = 16 + np.cumsum([0] + sizes)
        streams = [data[a:b] for a, b in zip(ends, ends[1:])]
    else:
        _, version, rows, degree, fraction, _, used, toc = struct.unpack("<IIIBBBBI", data[:20])
        count = (degree + 1) ** 2 - 1
        streams, at = [], toc + 16 * used
        for entry in range(used):
            packed, raw = struct.unpack("<QQ", data[toc + 16 * entry : toc + 16 * entry + 16])
            frame = data[at : at + packed]
            streams.append(zstandard.ZstdDecompressor().decompress(frame, max_output_size=raw))
            at += packed
        streams += [b""] * (6 - used)
    position, opacity, colour, scale, rotation, rest = streams
    if version == 1:
        mean = np.frombuffer(position, "<f2").astype(float).reshape(rows, 3)
    else:
        parts = np.frombuffer(position, "u1").reshape(rows, 3, 3).astype(np.int64)
        fixed = parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16
        mean = np.where(fixed >= 1 << 23, fixed - (1 << 24), fixed) / 2.0**fraction
    xyzw = np.zeros((rows, 4))
    if version < 3:
        xyz = np.frombuffer(rotation, "u1").reshape(rows, 3) / 127.5 - 1
        xyzw[:, :3] = xyz
        xyzw[:, 3] = np.sqrt(np.maximum(0, 1 - (xyz * xyz).sum(1)))
    else:
        for row, word in enumerate(struct.unpack(f"<{rows}I", rotation)):
            index, squares = word >> 30, 0
            for part in (3, 2, 1, 0):
                if part != index:
                    value = (word & 511) / 511 * SQRT1_2 * (-1 if word >> 9 & 1 else 1)
                    xyzw[row, part] = value
                    squares += value * value
                    word >>= 10
            xyzw[row, index] = np.sqrt(max(0, 1 - squares))
    sh = (np.frombuffer(rest, "u1").astype(float).reshape(rows, count, 3) - 128) / 128
    # Right, up, back to right, down, forward.
    mean[:, 1:] *= -1
    xyzw[:, 1:3] *= -1
    flip_sh(sh, "yz")
    return dict(
        mean=mean,
        scale=np.exp(np.frombuffer(scale, "u1").reshape(rows, 3) / 16 - 10.0),
        rotation=xyzw[:, [3, 0, 1, 2]],
        opacity=np.frombuffer(opacity, "u1") / 255,
        dc=(np.frombuffer(colour, "u1").reshape(rows, 3) / 255 - 0.5) / 0.15,
        sh=sh,
    )


def sog(read):
    meta = json.loads(read("meta.json"))
    first = "version" not in meta
    rows = meta["means"]["shape"][0] if first else meta["count"]

    def pixels(name):
        return np.array(Image.open(io.BytesIO(read(name))).convert("RGBA")).astype(np.int64)

    def values(part, at=0):
        return pixels(meta[part]["files"][at]).reshape(-1, 4)[:rows]

    def numbers(part, bytes_):
        entry = meta[part]
        if first:
            low, high = np.array(entry["mins"]), np.array(entry["maxs"])
            return low + (high - low) * bytes_ / 255
        return np.array(entry["codebook"])[bytes_]

    low, high = np.array(meta["means"]["mins"]), np.array(meta["means"]["maxs"])
    fixed = values("means")[:, :3] | values("means", 1)[:, :3] << 8
    log = low + (high - low) * fixed / 65535
    quats = values("quats")
    parts = (quats[:, :3] / 255 * 2 - 1) * SQRT1_2
    rotation = np.zeros((rows, 4))
    for index in range(4):
        chosen = quats[:, 3] == 252 + index
        for part, other in enumerate(i for i in range(4) if i != index):
            rotation[chosen, other] = parts[chosen, part]
        rotation[chosen, index] = np.sqrt(np.maximum(0, 1 - (parts[chosen] ** 2).sum(1)))
    rotation[quats[:, 3] < 252] = [1, 0, 0, 0]
    colour = values("sh0")
    if first:
        colour = numbers("sh0", colour)
        dc, opacity = colour[:, :3], logistic(colour[:, 3])
    else:
        dc, opacity = numbers("sh0", colour[:, :3]), colour[:, 3] / 255
    sh = np.zeros((rows, 0, 3))
    if "shN" in meta:
        palette = pixels(meta["shN"]["files"][0])
        count = palette.shape[1] // 64
        labels = values("shN", 1)
        label = labels[:, 0] | labels[:, 1] << 8
        columns = (label % 64)[:, None] * count + np.arange(count)[None]
        sh = numbers("shN", palette[(label // 64)[:, None], columns][..., :3])
    return dict(
        mean=np.sign(log) * np.expm1(np.abs(log)),
        scale=np.exp(numbers("scales", values("scales")[:, :3])),
        rotation=rotation,
        opacity=opacity,
        dc=dc,
        sh=sh,
    )


def ksplat(data):
    sections, level = struct.unpack("<I", data[4:8])[0], struct.unpack("<H", data[20:22])[0]
    low, high = struct.unpack("<ff", data[36:44])
    low, high = low or -1.5, high or 1.5
    at, columns = 4096 + 1024 * sections, {name: [] for name in ("mean", "scale", "rotation", "opacity", "dc", "sh")}
    for section in range(sections):
        header = data[4096 + 1024 * section :][:1024]
        rows, capacity, per_bucket, buckets = struct.unpack("<IIII", header[:16])
        block, span = struct.unpack("<f", header[16:20])[0], struct.unpack("<I", header[24:28])[0] or 32767
        full, partial, degree = struct.unpack("<IIH", header[32:42])
        lengths = [per_bucket] * full + list(struct.unpack(f"<{partial}I", data[at : at + 4 * partial]))
        at += 4 * partial
        centres = np.frombuffer(data, "<f4", 3 * buckets, at).reshape(buckets, 3).astype(float)
        at += 12 * buckets
        bucket_of = np.repeat(np.arange(len(lengths)), lengths)
        count = (degree + 1) ** 2 - 1
        fields = [("p", "<f4" if level == 0 else "<u2", 3), ("s", "<f4" if level == 0 else "<f2", 3)]
        fields += [("q", "<f4" if level == 0 else "<f2", 4), ("c", "u1", 4)]
        fields += [("h", ["<f4", "<f2", "u1"][level], 3 * count)]
        records = np.frombuffer(data, np.dtype(fields), rows, at)
        at += capacity * records.dtype.itemsize
        mean = records["p"].astype(float)
        if level > 0:
            mean = (mean - span) * block / 2 / span + centres[bucket_of[:rows]]
        rest = records["h"].astype(float)
        if level == 2:
            rest = low + (high - low) * rest / 255
        sh, start, first = np.zeros((rows, count, 3)), 0, 0
        for l in range(1, degree + 1):
            for channel in range(3):
                sh[:, first : first + 2 * l + 1, channel] = rest[:, start : start + 2 * l + 1]
                start += 2 * l + 1
            first += 2 * l + 1
        columns["mean"].append(mean)
        columns["scale"].append(records["s"].astype(float))
        columns["rotation"].append(records["q"].astype(float))
        columns["opacity"].append(records["c"][:, 3] / 255)
        columns["dc"].append((records["c"][:, :3] / 255 - 0.5) / C0)
        columns["sh"].append(sh)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def glb(data):
    length = struct.unpack("<I", data[12:16])[0]
    document, binary = json.loads(data[20 : 20 + length]), data[28 + length :]
    attributes = document["meshes"][0]["primitives"][0]["attributes"]

    def values(name):
        accessor = document["accessors"][attributes[name]]
        view = document["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return np.frombuffer(binary, "<f4", accessor["count"] * width, start).reshape(-1, width).astype(float)

    prefix = "KHR_gaussian_splatting:"
    x, y, z, w = values(prefix + "ROTATION").T
    names = [f"{prefix}SH_DEGREE_{l}_COEF_{n}" for l in range(1, 4) for n in range(2 * l + 1)]
    mean = values("POSITION") * [-1, -1, 1]
    sh = [values(name) for name in names if name in attributes]
    sh = np.stack(sh, 1) if sh else np.zeros((len(mean), 0, 3))
    flip_sh(sh, "xy")
    return dict(
        mean=mean,
        scale=values(prefix + "SCALE"),
        # Half a turn around z.
        rotation=np.stack([-z, -y, x, w], 1),
        opacity=values(prefix + "OPACITY")[:, 0],
        dc=values(prefix + "SH_DEGREE_0_COEF_0"),
        sh=sh,
    )


def dot_splat(data):
    floats = np.frombuffer(data, "<f4").reshape(-1, 8)[:, :6].astype(float)
    bytes_ = np.frombuffer(data, "u1").reshape(-1, 32)[:, 24:].astype(float)
    return dict(
        mean=floats[:, :3],
        scale=floats[:, 3:],
        rotation=(bytes_[:, 4:] - 128) / 128,
        opacity=bytes_[:, 3] / 255,
        dc=(bytes_[:, :3] / 255 - 0.5) / C0,
        sh=np.zeros((len(floats), 0, 3)),
    )


def decode(path):
    if os.path.isdir(path):
        return sog(lambda name: open(os.path.join(path, name), "rb").read())
    data = open(path, "rb").read()
    if path.endswith(".sog"):
        return sog(zipfile.ZipFile(io.BytesIO(data)).read)
    readers = {".compressed.ply": compressed_ply, ".spz": spz, ".ksplat": ksplat, ".glb": glb, ".splat": dot_splat}
    return next(read for end, read in readers.items() if path.endswith(end))(data)


def shortened(values):
    return [float("%.10g" % value) for value in values]


def digest(splats):
    q = splats["rotation"]
    splats["rotation"] = q / np.linalg.norm(q, axis=1, keepdims=True)
    rows = len(splats["mean"])
    table = np.concatenate(
        [
            splats["mean"],
            splats["scale"],
            splats["rotation"],
            splats["opacity"].reshape(rows, 1),
            splats["dc"],
            splats["sh"].transpose(0, 2, 1).reshape(rows, -1),
        ],
        1,
    )
    sampled = sorted({rows * i // 6 for i in range(6)} | {rows - 1})
    return dict(
        rows=rows,
        sums=shortened(table.sum(0)),
        absolute_sums=shortened(np.abs(table).sum(0)),
        sampled={str(row): shortened(table[row]) for row in sampled},
    )


NAMES = """biker.spz flowers.compressed.ply flowers.glb flowers.sog flowers.v3.spz flowers.v4.spz graffiti_sog
guitar.compressed.ply minimal-v2.spz minimal-v3.spz minimal-v4.spz minimal.ksplat minimal.splat statue.sog
statue_lod/0_0 statue_lod/1_0 truck.splat""".split()

if __name__ == "__main__":
    lines = []
    for name in NAMES:
        digested = json.dumps(digest(decode(os.path.join(sys.argv[1], name))), separators=(",", ":"))
        lines.append(f"{json.dumps(name)}: {digested}")
    print("{\n" + ",\n".join(lines) + "\n}")
