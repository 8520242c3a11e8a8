"""Writes the files of this folder with usd-core (26.11) and numpy: stages of splats, and the splats that usd-core finds in them.

`python make.py FOLDER` writes them into FOLDER.
"""

import json
import sys
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdUtils, UsdVol, Vt

# Directions in which the colours of splats are compared.
DIRECTIONS = [(-0.48, 0.6, 0.64), (0.6, 0, -0.8)]


def add_field(stage, path, rows, degree, seed, half=False):
    """Adds a prim of random splats."""
    random = np.random.default_rng(seed)
    field = UsdVol.ParticleField3DGaussianSplat.Define(stage, path)
    numbers = {
        "Positions": random.normal(size=(rows, 3)),
        "Scales": random.uniform(0.01, 0.5, size=(rows, 3)),
        "RadianceSphericalHarmonicsCoefficients": 0.4 * random.normal(size=(rows * (degree + 1) ** 2, 3)),
    }
    vectors = Vt.Vec3hArray if half else Vt.Vec3fArray
    for name, values in numbers.items():
        name += "h" if half else ""
        kind = np.float16 if half else np.float32
        getattr(field, f"Create{name}Attr")(vectors.FromNumpy(values.astype(kind)))
    quaternions = random.normal(size=(rows, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    quaternion = Gf.Quath if half else Gf.Quatf
    name = "CreateOrientationshAttr" if half else "CreateOrientationsAttr"
    getattr(field, name)([quaternion(*map(float, q)) for q in quaternions])
    # Quarters repeat, so that binary layers pack long arrays as a table of values.
    opacities = (random.integers(1, 4, size=rows) / 4).astype(np.float32)
    if half:
        field.CreateOpacitieshAttr(Vt.HalfArray.FromNumpy(opacities.astype(np.float16)))
    else:
        field.CreateOpacitiesAttr(Vt.FloatArray.FromNumpy(opacities))
    field.CreateRadianceSphericalHarmonicsDegreeAttr(degree)
    return field


def add_world(stage, up):
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    return world


def make_placed(path):
    """Prims in float and half below transforms of every kind, and prims that are not drawn."""
    stage = Usd.Stage.CreateNew(path)
    world = add_world(stage, "Z")
    world.AddTranslateOp().Set((1, -2, 3.5))
    world.AddTranslateOp(opSuffix="pivot").Set((0.5, 0, -0.25))
    world.AddRotateXYZOp().Set((10, 20, 30))
    world.AddScaleOp().Set((2, 2, 2))
    world.AddTranslateOp(opSuffix="pivot", isInverseOp=True)
    first = add_field(stage, "/World/first", 3, 1, 1)
    first.CreateSortingModeHintAttr("cameraDistance")
    first.AddOrientOp().Set(Gf.Quatf(0.5, 0.5, -0.5, 0.5))
    turned = UsdGeom.Xform.Define(stage, "/World/turned")
    turned.AddRotateZYXOp().Set((-70, 15, 40))
    turned.AddTransformOp().Set(Gf.Matrix4d().SetTranslate((0, 1, 0)))
    half = add_field(stage, "/World/turned/half", 2, 2, 2, half=True)
    half.CreateSortingModeHintAttr("cameraDistance")
    half.GetOpacitieshAttr().Clear()
    half.CreateOpacitiesAttr().Set(Vt.FloatArray([0.1, 0.2]), 2)
    half.GetOpacitiesAttr().Set(Vt.FloatArray([0.5, 0.6]), 1)
    # A prim that starts anew.
    alone = add_field(stage, "/World/turned/alone", 1, 0, 3)
    alone.CreateSortingModeHintAttr("cameraDistance")
    alone.SetResetXformStack(True)
    alone.AddRotateXOp().Set(90)
    alone.AddTranslateOp().Set((0, 0, 4))
    add_field(stage, "/World/hidden", 1, 0, 4).CreateVisibilityAttr("invisible")
    add_field(stage, "/World/off", 1, 0, 5).GetPrim().SetActive(False)
    add_field(stage, "/World/guide", 1, 0, 6).CreatePurposeAttr("guide")
    add_field(stage, "/_class_Splats", 1, 0, 7).GetPrim().SetSpecifier(Sdf.SpecifierClass)
    stage.Save()


def make_package(path):
    """A root layer that refers to a binary layer, as 3dgrut lays out its packages."""
    folder = Path(path).parent
    inner = Usd.Stage.CreateNew(str(folder / "gaussians.usdc"))
    root = add_world(inner, "Y")
    root.AddTransformOp().Set(Gf.Matrix4d().SetScale(-1))
    add_field(inner, "/World/gaussians", 18, 1, 8)
    # Too few scales are ignored, and too many opacities are left out.
    short = add_field(inner, "/World/short", 2, 0, 9)
    short.GetScalesAttr().Set(Vt.Vec3fArray([(1, 2, 3)]))
    short.GetOpacitiesAttr().Set(Vt.FloatArray([0.25, 0.5, 0.75]))
    inner.DefinePrim("/World/again").GetReferences().AddInternalReference("/World/short")
    inner.Save()
    outer = Usd.Stage.CreateNew(str(folder / "default.usda"))
    add_world(outer, "Y")
    outer.OverridePrim("/World/gaussians").GetReferences().AddReference("gaussians.usdc")
    outer.Save()
    UsdUtils.CreateNewUsdzPackage(outer.GetRootLayer().identifier, path)
    for name in ["gaussians.usdc", "default.usda"]:
        (folder / name).unlink()


def harmonics(x, y, z):
    """Basis of degree 0 to 2 in the order and with the signs of 3D Gaussian splatting."""
    return np.array([
        0.28209479177387814,
        -0.4886025119029199 * y, 0.4886025119029199 * z, -0.4886025119029199 * x,
        1.0925484305920792 * x * y, -1.0925484305920792 * y * z, 0.31539156525252005 * (2 * z * z - x * x - y * y),
        -1.0925484305920792 * x * z, 0.5462742152960396 * (x * x - y * y),
    ])


def values(stage, field, name, default, rows, per_row=1):
    """Rows of an array by the rules of the schema, at the earliest time."""
    for suffix in ["", "h"]:
        attribute = field.GetPrim().GetAttribute(name + suffix)
        found = attribute.Get(Usd.TimeCode.EarliestTime()) if attribute else None
        if found is not None:
            if isinstance(found, (Vt.QuatfArray, Vt.QuathArray)):
                found = [[q.GetReal(), *q.GetImaginary()] for q in found]
            found = np.array(found, dtype=np.float64)
            if len(found) >= rows * per_row:
                return found[: rows * per_row]
    return np.tile(default, (rows, 1))


def splats(path):
    """Splats of a stage in right, down, forward: centre, covariance (upper triangle), opacity, and colours in `DIRECTIONS`."""
    stage = Usd.Stage.Open(path)
    up = UsdGeom.GetStageUpAxis(stage)
    axes = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]] if up == "Z" else [[1, 0, 0], [0, -1, 0], [0, 0, -1]], dtype=float)
    cache = UsdGeom.XformCache()
    result = []
    for prim in stage.Traverse():
        if not prim.IsA(UsdVol.ParticleField):
            continue
        imageable = UsdGeom.Imageable(prim)
        if imageable.ComputeVisibility() == "invisible" or imageable.ComputePurpose() == "guide":
            continue
        field = UsdVol.ParticleField3DGaussianSplat(prim)
        matrix = np.array(cache.GetLocalToWorldTransform(prim)).T
        linear, offset = axes @ matrix[:3, :3], axes @ matrix[:3, 3]
        positions = field.GetPositionsAttr().Get(Usd.TimeCode.EarliestTime())
        if positions is None:
            positions = field.GetPositionshAttr().Get()
        positions = np.array(positions, dtype=np.float64)
        rows = len(positions)
        degree = field.GetRadianceSphericalHarmonicsDegreeAttr().Get()
        count = (degree + 1) ** 2
        scales = values(stage, field, "scales", [1, 1, 1], rows)
        quaternions = values(stage, field, "orientations", [1, 0, 0, 0], rows)
        opacities = values(stage, field, "opacities", [1], rows).reshape(rows)
        coefficients = values(stage, field, "radiance:sphericalHarmonicsCoefficients", [0, 0, 0], rows, count)
        coefficients = coefficients.reshape(rows, -1, 3)
        turn = linear / abs(np.cbrt(np.linalg.det(linear)))
        for row in range(rows):
            q = Gf.Quatd(*map(float, quaternions[row]))
            own = np.array(Gf.Matrix3d(q)).T @ np.diag(scales[row])
            own = linear @ own
            colours = []
            for direction in DIRECTIONS:
                basis = harmonics(*(turn.T @ np.array(direction, dtype=float)))[: coefficients.shape[1]]
                colours.append((basis @ coefficients[row]).tolist())
            result.append({
                "mean": (linear @ positions[row] + offset).tolist(),
                "covariance": (own @ own.T)[np.triu_indices(3)].tolist(),
                "opacity": float(opacities[row]),
                "colours": colours,
            })
    return result


def main(folder):
    names = ["placed.usda", "placed.usdc", "package.usdz"]
    for name in names:
        (folder / name).unlink(missing_ok=True)
    make_placed(str(folder / "placed.usda"))
    # Without the comment that names the source file.
    Usd.Stage.Open(str(folder / "placed.usda")).Export(str(folder / "placed.usdc"), False)
    make_package(str(folder / "package.usdz"))
    found = {name: splats(str(folder / name)) for name in names}
    assert found["placed.usda"] == found["placed.usdc"]
    del found["placed.usdc"]
    rounded = json.loads(json.dumps(found), parse_float=lambda text: float(f"{float(text):.6g}"))
    (folder / "splats.json").write_text(json.dumps(rounded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
