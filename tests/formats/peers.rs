//! Files of splat-transform: its output for each format is the scene that it was made from, and it reads what is
//! written here.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::path::{Path, PathBuf};
use std::process::Command;

use quadrille::convert::{AttributeErrors, attribute_errors};
use quadrille::{LoadOptions, OutputFormat, SceneInput, SplatTable, Task, load_table, write_table};

use crate::conversion::table;
use crate::support::skipped;

/// Largest errors of the position, the logarithm of scales, the rotation in degrees, the opacity, the colour and the
/// higher coefficients.
type Bounds = [f64; 6];

/// Bounds of formats without loss: roundings to single precision, for example of logarithms of linear scales.
const PLAIN: Bounds = [0.0, 1e-6, 1e-4, 1e-6, 0.0, 0.0];

/// Half a step of a value with 8 bits between 0 and 1.
const BYTE: f64 = 0.5 / 255.0;

/// Largest angle, in degrees, between a rotation and its quaternion with three components in steps of `step`. The fourth
/// one, which follows from them, at most doubles the length of their error; the angle is twice the angle of quaternions.
fn rotation(step: f64) -> f64 {
    (2.0 * 2.0 * 3_f64.sqrt() * step / 2.0).to_degrees()
}

/// Half a step of compressed PLY in the ranges of the scene, which contain the ranges of the chunks: 10 or 11 bits of
/// positions and scales, 8 bits of colours, opacities and, from -4 to 4, coefficients, 10 bits of quaternions, whose
/// largest component is left out.
fn compressed_ply(extent: f64, log_extent: f64, colour: f64) -> Bounds {
    let (position, scale) = (extent / 1023.0 / 2.0, log_extent / 1023.0 / 2.0);
    [position, scale, rotation(SQRT_2 / 1023.0), BYTE, colour * BYTE, 8.0 * BYTE]
}

/// Half a step of SPZ: 1/4096 of positions, 1/16 of logarithms, 8 bits of opacities and of coefficients times 0.15,
/// 9 bits of quaternions, and 4 bits of the higher coefficients, which that program rounds twice.
fn spz() -> Bounds {
    let colour = BYTE / 0.15 * quadrille_base::math::SH_C0;
    [0.5 / 4096.0, 1.0 / 32.0, rotation(FRAC_1_SQRT_2 / 511.0), BYTE, colour, 8.5 / 128.0]
}

/// SOG: 16 bits of the logarithms of positions up to `reach`, 8 bits of quaternions and of opacities, which that program
/// rounds down, and codebooks of 256 entries, as good as an even division of the ranges.
fn sog(reach: f64, log_extent: f64, colour: f64) -> Bounds {
    let position = 2.0 * (1.0 + reach).ln() / 65_535.0 / 2.0 * (1.0 + reach);
    [position, log_extent / 256.0, rotation(SQRT_2 / 255.0), 2.0 * BYTE, colour / 256.0, 0.0]
}

/// The largest errors by attribute.
fn largest(errors: &AttributeErrors) -> Bounds {
    let sh_rest = errors.sh_rest;
    [
        errors.position,
        errors.log_scale,
        errors.rotation_degrees,
        errors.opacity,
        errors.colour,
        sh_rest,
    ]
    .map(|error| error.max)
}

/// Largest difference between two values of the columns.
fn extent(table: &SplatTable, names: &[&str]) -> f64 {
    let values = names.iter().flat_map(|name| table.column(name).unwrap().into_owned());
    let (low, high) = values.fold((f32::MAX, f32::MIN), |(low, high), v| (low.min(v), high.max(v)));
    f64::from(high - low)
}

/// The rows of `source` in the order of `other`, which has its splats in any order: each is the nearest one by
/// position, scales and colour.
fn order(source: &SplatTable, other: &SplatTable) -> Vec<u32> {
    let keys = |table: &SplatTable| -> Vec<[f64; 9]> {
        let names = ["x", "y", "z", "scale_0", "scale_1", "scale_2", "f_dc_0", "f_dc_1", "f_dc_2"];
        let columns = names.map(|name| table.values(name).unwrap());
        (0..table.rows()).map(|row| columns.map(|column| column.get(row))).collect()
    };
    let sources = keys(source);
    let nearest = |key: &[f64; 9]| {
        let distance = |at: &usize| -> f64 {
            let pairs = sources[*at].iter().zip(key);
            pairs.map(|(a, b)| (a - b).powi(2)).sum()
        };
        let rows = 0..sources.len();
        rows.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
    };
    let order: Vec<u32> = keys(other).iter().map(|key| nearest(key) as u32).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..source.rows() as u32), "no row is another's");
    order
}

/// Checks that `other` holds the splats of `source` in any order.
fn assert_within(name: &str, source: &SplatTable, other: &SplatTable, bounds: Bounds) {
    assert_eq!(source.rows(), other.rows(), "{name}");
    let mut source = source.clone();
    source.select(&order(&source, other), &Task::NEVER).unwrap();
    let errors = attribute_errors(&source, other, OutputFormat::Ply, Path::new(name), &Task::NEVER);
    let errors = largest(&errors.unwrap().unwrap());
    println!("{name}: {errors:?} of {bounds:?}");
    let fits = errors.iter().zip(bounds).all(|(error, bound)| *error <= bound);
    assert!(fits, "{name}: {errors:?}, expected at most {bounds:?}");
}

/// A file that splat-transform wrote.
fn peer_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/peers").join(name)
}

/// The scenes that the files were made from, by the commands in the README beside them: a part of the island, and
/// flowers with spherical harmonics.
fn sources(folder: &Path) -> [SplatTable; 2] {
    let [shore, flowers] = ["shore.ply", "flowers.ply"].map(|name| folder.join(name));
    let run = |arguments: &[&str], output: &Path| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_quadrille"));
        let output = program.args(arguments).arg("-o").arg(output).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let island = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.ply");
    run(&["convert", island, "--keep-box=10,-3,10,18,0,18"], &shore);
    run(&["synth", "object", "--splats", "24", "--seed", "1"], &flowers);
    [table(&shore), table(&flowers)]
}

#[test]
fn each_file_of_the_peer_is_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let [shore, flowers] = sources(folder.path());
    for (stem, source, extensions) in [
        ("flowers", &flowers, &["ply", "glb", "compressed.ply", "spz", "v3.spz"][..]),
        ("shore", &shore, &["compressed.ply", "spz", "sog", "ssog"]),
    ] {
        let size = extent(source, &["x"]).max(extent(source, &["z"])).max(extent(source, &["y"]));
        let logs = extent(source, &["scale_0", "scale_1", "scale_2"]);
        let colour = quadrille_base::math::SH_C0 * extent(source, &["f_dc_0", "f_dc_1", "f_dc_2"]);
        let reach = ["x", "y", "z"].map(|name| source.column(name).unwrap().into_owned());
        let reach = reach.iter().flatten().fold(0.0_f32, |most, v| most.max(v.abs()));
        for extension in extensions {
            let bounds = match *extension {
                "ply" | "glb" => PLAIN,
                "compressed.ply" => compressed_ply(size, logs, colour),
                "sog" | "ssog" => sog(f64::from(reach), logs, colour),
                _ => spz(),
            };
            let name = format!("{stem}.{extension}");
            assert_within(&name, source, &table(&peer_file(&name)), bounds);
        }
    }
    let mut options = LoadOptions::default();
    options.lod = 1;
    let coarse = load_table(SceneInput::file(&peer_file("shore.ssog")).options(options)).unwrap();
    assert_eq!(coarse.rows(), 148, "half of the splats");
}

/// The program splat-transform: the one that `SPLAT_TRANSFORM` names, or the one in the path.
fn peer() -> Option<PathBuf> {
    let named = std::env::var_os("SPLAT_TRANSFORM").map(PathBuf::from);
    let program = named.unwrap_or_else(|| "splat-transform".into());
    let found = Command::new(&program).arg("--version").output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    skipped::note("no splat-transform is in the path, and SPLAT_TRANSFORM names none");
    None
}

#[test]
fn the_peer_reads_each_format_alike() {
    let Some(peer) = peer() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let scenes = sources(folder.path());
    for format in OutputFormat::all() {
        // It reads neither glTF, USD nor streamed SOG.
        if matches!(
            format,
            OutputFormat::Glb | OutputFormat::Usda | OutputFormat::Usdc | OutputFormat::Usdz
        ) || format.has_levels()
        {
            continue;
        }
        for scene in &scenes {
            let ours = match format.is_folder() {
                true => path("folder").join("meta.json"),
                false => path(&format!("ours{}", format.extension())),
            };
            write_table(&ours, scene, format).unwrap();
            let read = path("theirs.ply");
            let status =
                Command::new(&peer).args(["-q", "-w", "-g", "cpu"]).args([&ours, &read]).status();
            assert!(status.unwrap().success(), "{}", format.name());
            let ours = load_table(&ours).unwrap();
            let theirs = table(&read);
            // Up to rounding, since both read the same file. Of a byte v of a quaternion in `.splat`, it makes v/255*2 - 1,
            // where the viewers of that format have (v - 128)/128.
            let turn = match format {
                OutputFormat::DotSplat => rotation(1.0 / 128.0),
                _ => 1e-4,
            };
            assert_within(format.name(), &ours, &theirs, [1e-6, 1e-6, turn, 1e-5, 1e-6, 1e-6]);
        }
    }
}
