#!/usr/bin/env python3
"""Writes the distances that quadrille's LPIPS is tested against, computed by the authors' package in double precision.

    pip install torch torchvision lpips==0.1.4
    python lpips_reference.py --weights FOLDER > ../../src/base/tests/definitions/lpips.json

FOLDER has the files of lpips_weights.py. Each row of the result is a network, its weights (`trained`, or `generated` by
the function below, so that the test needs no file), a size of the pictures below, the range to which they are scaled,
and the distance.
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import lpips
import numpy as np
import torch

SIZES = {"alex": [(67, 45), (31, 31), (96, 33)], "vgg": [(67, 45), (16, 16), (40, 31)]}

# First random number of pictures; weights begin at 0.
PICTURE = 1 << 60


def random_bits(start, count):
    """The outputs of the generator SplitMix64 for the states from `start` on."""
    with np.errstate(over="ignore"):
        z = (np.arange(count, dtype=np.uint64) + np.uint64(start)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def generated(shapes):
    """Arrays by name: weights that keep the variance of the maps, small biases, and positive linear weights."""
    arrays = {}
    for number, (name, shape) in enumerate(shapes.items()):
        unit = (random_bits(number << 32, int(np.prod(shape))) >> np.uint64(40)).astype(np.float64) / 2**24
        if name.startswith("linear"):
            values = unit
        else:
            limit = np.sqrt(6.0 / np.prod(shape[1:])) if len(shape) == 4 else 0.1
            values = (2.0 * unit - 1.0) * limit
        arrays[name] = values.astype(np.float32).reshape(shape)
    return arrays


def pictures(width, height):
    """Two pictures of 8 bits: ramps that wrap around, and the same with noise of up to 30 steps."""
    y, x, c = np.mgrid[:height, :width, :3]
    a = (x * (3 + c) + y * (7 - 2 * c)) // 2 % 256
    noise = (random_bits(PICTURE, a.size) % np.uint64(61)).astype(np.int64).reshape(a.shape)
    return a, np.clip(a + noise - 30, 0, 255)


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            arrays[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
    return arrays


def model_of(net, arrays):
    """The authors' network with these weights."""
    model = lpips.LPIPS(net=net, version="0.1", pnet_rand=True, verbose=False)
    convolutions = [m for m in model.net.modules() if isinstance(m, torch.nn.Conv2d)]
    parts = [(f"conv{i}", convolution) for i, convolution in enumerate(convolutions, 1)]
    parts += [(f"linear{i}", layer.model[1]) for i, layer in enumerate(model.lins, 1)]
    for name, part in parts:
        weight = torch.tensor(arrays[f"{name}.weight"])
        part.weight.data.copy_(weight.reshape(part.weight.shape))
        if part.bias is not None:
            part.bias.data.copy_(torch.tensor(arrays[f"{name}.bias"]))
    return model.double().eval()


def tensor(picture):
    return torch.tensor(picture.astype(np.float32) / np.float32(255.0)).permute(2, 0, 1).unsqueeze(0).double()


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=Path, metavar="FOLDER", required=True)
    arguments = parser.parse_args()
    rows = []
    for net, sizes in SIZES.items():
        trained = read_safetensors(arguments.weights / f"lpips-{net}.safetensors")
        shapes = {name: array.shape for name, array in trained.items()}
        for weights, arrays in [("trained", trained), ("generated", generated(shapes))]:
            model = model_of(net, arrays)
            for size in sizes:
                a, b = map(tensor, pictures(*size))
                for scale, signed in [("unit", False), ("signed", True)]:
                    distance = model(a, b, normalize=signed).item()
                    rows.append({"net": net, "weights": weights, "size": size, "scale": scale, "distance": distance})
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    sys.stdout.write(f"[\n  {lines}\n]\n")


if __name__ == "__main__":
    main()
