//! Splats in USD: stages that usd-core wrote (`usd/make.py`), with the splats that it finds in them, and stages in text.

use std::io::Write;
use std::path::{Path, PathBuf};

use quadrille::nalgebra::{Matrix3, Quaternion, UnitQuaternion};
use quadrille::{
    LoadOptions, OutputFormat, Scene, SceneInput, Splat, SplatOrder, load, load_table, write_table,
};
use quadrille_base::math::sh_basis;
use serde_json::Value;

use crate::conversion::{synthetic, table};

/// Directions of the colours in the file of splats, as in `make.py`.
const DIRECTIONS: [[f64; 3]; 2] = [[-0.48, 0.6, 0.64], [0.6, 0.0, -0.8]];

/// Bound on differences from values in six digits.
const DIGITS: f64 = 2e-5;

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/usd").join(name)
}

fn text(text: &str) -> quadrille::Result<Scene> {
    load(SceneInput::bytes(text.as_bytes()).named(Path::new("scene.usda")))
}

fn covariance(splat: &Splat) -> Matrix3<f64> {
    let [w, x, y, z] = splat.rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    let axes = turn.to_rotation_matrix().matrix()
        * Matrix3::from_diagonal(&splat.scale.map(f64::from).into());
    axes * axes.transpose()
}

/// Numbers of a splat in the order of the file of splats.
fn numbers(splat: &Splat, degree: u8) -> Vec<f64> {
    let c = covariance(splat);
    let mut numbers: Vec<f64> = splat.mean.iter().map(|v| f64::from(*v)).collect();
    numbers.extend([c[(0, 0)], c[(0, 1)], c[(0, 2)], c[(1, 1)], c[(1, 2)], c[(2, 2)]]);
    numbers.push(splat.opacity.into());
    for direction in DIRECTIONS {
        let basis: [f64; 25] = sh_basis(degree, direction);
        for channel in 0..3 {
            let terms = splat.sh.iter().zip(basis).map(|(c, b)| f64::from(c[channel]) * b);
            numbers.push(terms.sum());
        }
    }
    numbers
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

#[test]
fn stages_hold_the_splats_that_usd_core_finds() {
    let splats: Value =
        serde_json::from_slice(&std::fs::read(fixture("splats.json")).unwrap()).unwrap();
    for (name, expected) in [
        ("placed.usda", "placed.usda"),
        ("placed.usdc", "placed.usda"),
        ("package.usdz", "package.usdz"),
    ] {
        let scene = load(fixture(name)).unwrap();
        let expected = splats[expected].as_array().unwrap();
        assert_eq!(scene.splats.len(), expected.len(), "{name}");
        // Layers list their prims in any order.
        let mut left: Vec<Vec<f64>> = expected
            .iter()
            .map(|splat| {
                ["mean", "covariance", "opacity", "colours"]
                    .iter()
                    .flat_map(|key| flat(&splat[*key]))
                    .collect()
            })
            .collect();
        for (row, splat) in scene.splats.iter().enumerate() {
            let found = numbers(&splat, scene.splats.sh_degree());
            let differs = |expected: &Vec<f64>| {
                let differences =
                    found.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs().max(1.0));
                differences.fold(0.0, f64::max)
            };
            let nearest = (0..left.len())
                .min_by(|a, b| differs(&left[*a]).total_cmp(&differs(&left[*b])))
                .unwrap();
            let difference = differs(&left[nearest]);
            assert!(
                difference < DIGITS,
                "{name}, row {row}: {difference}\n{found:?}\n{:?}",
                left[nearest]
            );
            left.swap_remove(nearest);
        }
    }
}

#[test]
fn prims_that_are_not_drawn_and_hints_are_named() {
    for name in ["placed.usda", "placed.usdc"] {
        let scene = load(fixture(name)).unwrap();
        let (notes, warnings) =
            (scene.encoding.notes.join("; "), scene.encoding.warnings.join("; "));
        for word in ["invisible: 1", "of purpose guide: 1", "cameraDistance", "0.01 metres"] {
            assert!(notes.contains(word), "{name}, {word}: {notes}");
        }
        // A flattened stage has no inactive prims.
        let is_flattened = name.ends_with("usdc");
        assert_eq!(notes.contains("inactive: 1"), !is_flattened, "{name}: {notes}");
        assert!(
            warnings.contains("values over time, of which the earliest ones are drawn: 1"),
            "{warnings}"
        );
        assert_eq!(scene.encoding.order, Some(SplatOrder::Distance));
        assert_eq!(scene.encoding.axes.to_string(), "RFU");
    }
    let warnings = load(fixture("package.usdz")).unwrap().encoding.warnings.join("; ");
    for word in [
        "/World/gaussians/again has 1 scales in place of 2: its default is drawn",
        "has 3 opacities in place of 2",
    ] {
        assert!(warnings.contains(word), "{word}: {warnings}");
    }
    assert_eq!(load(fixture("package.usdz")).unwrap().encoding.order, Some(SplatOrder::Depth));
}

/// Defaults of the schema, comments, and statements that splats do not need.
#[test]
fn texts_of_every_form_are_read() {
    let scene = text(
        "#usda 1.0\n( \"\"\"a ( \"comment\" \"\"\" customLayerData = { string a = \"}\" } )\n# def Nothing \"x\" {\n\
         over \"skipped\" { }\ndef Xform \"a\" ( kind = \"group\"; variants = { string v = 'x' } ) {\n\
         rel material:binding = </b>\n  float x.connect = </b.y>; reorder nameChildren = [\"g\"]\n\
         def ParticleField3DGaussianSplat \"g\" {\n point3f[] positions = [(1, -2e1, inf), (.5,2,3),]\n\
         uniform token sortingModeHint = \"rayHitDistance\" ( doc = ')' )\n custom asset b = @@@x@y@@@\n\
         uniform token projectionModeHint = \"tangential\"\n string s = 'it\\'s'\n } }",
    )
    .unwrap();
    assert_eq!((scene.splats.len(), scene.dropped.total()), (1, 1));
    let splat = scene.splats.splat(0);
    assert_eq!((splat.mean, splat.opacity, splat.scale), ([0.5, -2.0, -3.0], 1.0, [1.0; 3]));
    assert_eq!((scene.splats.sh_degree(), splat.sh[0]), (0, [0.0; 3]));
    assert_eq!(scene.encoding.order, Some(SplatOrder::Distance));
    assert!(scene.encoding.warnings.iter().any(|warning| warning.contains("tangential")));
}

#[test]
fn stages_without_splats_name_what_they_hold() {
    let prim = "def ParticleField3DGaussianSplat \"g\"";
    let deep = format!("#usda 1.0\n{}", "def \"a\" {".repeat(300));
    for (stage, expected) in [
        ("#usda 1.0\ndef Mesh \"m\" {}".to_owned(), "prims of other types: Mesh"),
        (
            "#usda 1.0\ndef Volume \"m\" { custom bool omni:nurec:isNuRecVolume = 1 }".to_owned(),
            "--format standard",
        ),
        (
            format!("#usda 1.0\n{prim} (active = false) {{ point3f[] positions = [] }}"),
            "1 that are inactive",
        ),
        (format!("#usda 1.0\n{prim} (variantSets = \"v\") {{}}"), "variants are not read"),
        (
            "#usda 1.0\ndef \"a\" (references = @other.usda@) {}".to_owned(),
            "other.usda, which is missing",
        ),
        (
            "#usda 1.0\ndef \"a\" (references = </b/c>) {}".to_owned(),
            "the prim \"/b/c\" of scene.usda, which is missing",
        ),
        (
            "#usda 1.0\ndef \"a\" (references = @../a.usda@) {}".to_owned(),
            "../a.usda, which is outside",
        ),
        (
            format!("#usda 1.0\n\n{prim} {{ point3f[] positions = [(1, 2)] }}"),
            "line 3: expected an element of 3 numbers",
        ),
        (
            format!("#usda 1.0\n{prim} {{ point3f[] positions = [(1, 2, x)] }}"),
            "expected a number, found \"x)] }\"",
        ),
        (
            format!(
                "#usda 1.0\n{prim} {{ uniform token[] xformOpOrder = [\"xformOp:warp\"] float xformOp:warp = 1 }}"
            ),
            "xformOp:warp",
        ),
        (
            "#usda 1.0\ndef \"a\" (references = </a>) { def \"b\" (references = </a>) {} }"
                .to_owned(),
            "inside each other",
        ),
        (deep, "100 prims inside each other"),
    ] {
        let error = text(&stage).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let mut old = std::fs::read(fixture("placed.usdc")).unwrap();
    old[9] = 3;
    let error = load(SceneInput::bytes(&old).named(Path::new("a.usdc"))).unwrap_err().to_string();
    assert!(
        error.contains("byte 8: expected version 0.4 to 0.13 of the format, found 0.3"),
        "{error}"
    );
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.usda", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"#usda 1.0").unwrap();
    let packed = zip.finish().unwrap().into_inner();
    let error =
        load(SceneInput::bytes(&packed).named(Path::new("a.usdz"))).unwrap_err().to_string();
    assert!(error.contains("files without compression"), "{error}");
}

/// Layers beside the file: a sublayer, and a stronger statement of the root.
#[test]
fn layers_beside_the_file_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_table(
        &path("splats.usdc"),
        &table(&synthetic(folder.path(), 50)),
        OutputFormat::named("usdc").unwrap(),
    )
    .unwrap();
    let root = "#usda 1.0\n( upAxis = \"Y\"\n subLayers = [ @./below.usda@ ] )\ndef \"a\" ( payload = @splats.usdc@ ) {\n\
        uniform token sortingModeHint = \"cameraDistance\" }";
    let below = "#usda 1.0\nover \"a\" { float3 xformOp:scale = (2, 2, 2)\n\
        uniform token[] xformOpOrder = [\"xformOp:scale\"] }";
    std::fs::write(path("root.usda"), root).unwrap();
    std::fs::write(path("below.usda"), below).unwrap();
    let [plain, scene] = ["splats.usdc", "root.usda"].map(|name| load(path(name)).unwrap());
    assert_eq!(scene.encoding.order, Some(SplatOrder::Distance));
    // The scale replaces the transform of the payload, which turns y and z.
    let (a, b) = (plain.splats.splat(7), scene.splats.splat(7));
    let turned = [2.0 * a.mean[0], -2.0 * a.mean[1], -2.0 * a.mean[2]];
    assert!(b.mean.iter().zip(turned).all(|(v, expected)| (v - expected).abs() < 1e-6), "{b:?}");
}

/// Positions, rotations and harmonics come back bit by bit, and axes and order are stated.
#[test]
fn written_stages_keep_the_numbers_of_a_ply() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = table(&synthetic(folder.path(), 500));
    for (extension, order) in [("usda", None), ("usdc", Some(SplatOrder::Distance)), ("usdz", None)]
    {
        let path = folder.path().join("scene").with_extension(extension);
        scene.encoding.order = order;
        write_table(&path, &scene, OutputFormat::of_name(&path).unwrap()).unwrap();
        let again = load_table(&path).unwrap();
        let names = ["x", "y", "z", "f_dc_0", "f_rest_44", "f_rest_7"];
        for name in names {
            assert!(
                again.column(name).unwrap() == scene.column(name).unwrap(),
                "{extension}, {name}"
            );
        }
        let expected = order.unwrap_or(SplatOrder::Depth);
        assert_eq!(
            (again.encoding.order, again.encoding.axes.to_string()),
            (Some(expected), "RUB".to_owned())
        );
        assert!(again.encoding.warnings.is_empty(), "{:?}", again.encoding.warnings);
        let flipped = LoadOptions::new(Some("RDF".parse().unwrap()), 0);
        let flipped = load_table(SceneInput::file(&path).options(flipped)).unwrap();
        let y = |table: &quadrille::SplatTable| table.column("y").unwrap()[9];
        assert!((y(&flipped) + y(&scene)).abs() == 0.0, "--axes");
    }
}
