//! Scenes in coordinates of maps, millions of units from the origin.

use std::path::Path;

use quadrille::convert::{Action, Condition, attribute_errors};
use quadrille::nalgebra::Vector3;
use quadrille::{
    Camera, Frame, OutputFormat, Protocol, Recipe, RenderSettings, Renderer, SplatTable, Splats,
    Synthetic, Task, compare, default_camera, load, load_cameras, load_table, render_reference,
    write_table,
};
use quadrille_scene::formats::ply::Scalar;
use quadrille_scene::table::ColumnValues;

use crate::support::shared;

/// Offset of the test scenes: a place on a map, in metres.
const OFFSET: [f64; 3] = [500_000.0, 4_600_000.0, 0.0];

/// Moves a table by [`OFFSET`], in columns of doubles.
fn moved(table: &SplatTable) -> SplatTable {
    let mut table = table.clone();
    for (name, offset) in ["x", "y", "z"].into_iter().zip(OFFSET) {
        let column = table.columns.iter_mut().find(|column| column.name == name);
        let column = column.unwrap();
        let values = (0..column.values.len()).map(|row| column.values.get(row) + offset);
        column.values = ColumnValues::Other(Scalar::F64, values.collect());
    }
    table
}

fn moved_camera(camera: &Camera) -> Camera {
    let mut camera = camera.clone();
    camera.translation_in_view -= camera.view_from_world * Vector3::from(OFFSET);
    camera
}

/// Writes a table as PLY and loads it as a scene.
fn through_a_file(table: &SplatTable, folder: &Path) -> Splats {
    let path = folder.join("far.ply");
    write_table(&path, table, OutputFormat::Ply).unwrap();
    let scene = load(&path).unwrap();
    assert!(scene.encoding.warnings.is_empty(), "{:?}", scene.encoding.warnings);
    scene.splats
}

fn draw(splats: &Splats, camera: &Camera) -> Frame {
    Renderer::default().render(splats, camera, &RenderSettings::default()).0
}

fn assert_alike(far: &Frame, near: &Frame, least_db: f64) {
    let psnr = compare(far, near, Protocol::default()).unwrap().psnr_db;
    assert!(psnr.is_none_or(|psnr| psnr >= least_db), "{psnr:?} dB");
}

#[test]
fn a_synthetic_scene_on_a_map_looks_as_at_the_origin() {
    let folder = tempfile::tempdir().unwrap();
    let world = Synthetic::new(Recipe::World, 1, 3000, 1).unwrap();
    let near = world.splats();
    let table = SplatTable::from_slices(&near.to_arrays().as_slices()).unwrap();
    let far = through_a_file(&moved(&table), folder.path());
    assert_ne!(far.origin(), [0.0; 3]);
    let camera = world.cameras()[0].resized(160, 120).unwrap();
    let (expected, away) = (draw(&near, &camera), moved_camera(&camera));
    assert_alike(&draw(&far, &away), &expected, 80.0);
    let settings = RenderSettings::default();
    assert_alike(&render_reference(&far, &away, &settings).0, &expected, 80.0);
    // The camera that is chosen for it is the same one, moved.
    let [one, other] =
        [&near, &far].map(|splats| default_camera(splats, &quadrille::Task::NEVER).unwrap());
    let apart = other.eye() - one.eye() - Vector3::from(OFFSET);
    assert!(apart.norm() < 1e-3, "{apart}");
}

#[test]
fn a_trained_scene_on_a_map_looks_as_at_the_origin() {
    let names = ["scenes/udon.ply", "scenes/udon.cameras.json"];
    let [Some(scene), Some(cameras)] = names.map(shared::path) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let table = load_table(&scene).unwrap();
    let far = through_a_file(&moved(&table), folder.path());
    let near = load(&scene).unwrap().splats;
    let text = std::fs::read(&cameras).unwrap();
    let mut poses: serde_json::Value = serde_json::from_slice(&text).unwrap();
    for pose in poses.as_array_mut().unwrap() {
        for (axis, offset) in OFFSET.into_iter().enumerate() {
            let coordinate = &mut pose["position"][axis];
            *coordinate = (coordinate.as_f64().unwrap() + offset).into();
        }
    }
    let path = folder.path().join("cameras.json");
    std::fs::write(&path, poses.to_string()).unwrap();
    let [here, there] = [&cameras, &path].map(|path| load_cameras(path).unwrap().cameras);
    for (here, there) in here.iter().zip(&there) {
        let [here, there] = [here, there].map(|camera| camera.resized(400, 225).unwrap());
        assert_alike(&draw(&far, &there), &draw(&near, &here), 80.0);
    }
}

#[test]
fn positions_rounded_to_single_precision_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let world = Synthetic::new(Recipe::World, 1, 500, 0).unwrap();
    let table = SplatTable::from_slices(&world.splats().to_arrays().as_slices()).unwrap();
    let mut rounded = moved(&table);
    for column in &mut rounded.columns {
        let values = (0..column.values.len()).map(|row| column.values.get(row) as f32);
        column.values = ColumnValues::F32(values.collect());
    }
    let path = folder.path().join("rounded.ply");
    write_table(&path, &rounded, OutputFormat::Ply).unwrap();
    // The step of f32 at 4,600,000.
    let warned = |warnings: &[String]| warnings.iter().any(|w| w.contains("steps of 5.00e-1"));
    assert!(warned(&load(&path).unwrap().encoding.warnings));
    let table = load_table(&path).unwrap();
    assert!(warned(&table.encoding.warnings));
    // A conversion that rounds says so.
    let lost = OutputFormat::Spz4.losses(&moved(&table));
    assert!(lost.iter().any(|loss| loss.contains("single precision")), "{lost:?}");
}

/// Right values by numpy, in double precision.
#[test]
fn actions_keep_double_precision() {
    let Some(folder) = shared::path("cases/splats/13-geo") else {
        return;
    };
    let [double, local] =
        ["double.ply", "local.ply"].map(|name| load_table(folder.join(name)).unwrap());
    let after = |actions: &[Action]| {
        let mut table = double.clone();
        for action in actions {
            action.apply(&mut table, Path::new("double.ply"), &quadrille::Task::NEVER).unwrap();
        }
        table
    };
    let home = after(&[Action::Translate([-512_345.25, -4_654_321.5, -312.0])]);
    for name in ["x", "y", "z"] {
        let [found, expected] = [&home, &local].map(|table| table.values(name).unwrap());
        assert!(matches!(found, ColumnValues::Other(Scalar::F64, _)), "{name}");
        for row in 0..home.rows() {
            let off = (found.get(row) - expected.get(row)).abs();
            assert!(off <= 3e-8, "{name}, row {row}: {off:e}");
        }
    }
    // Columns that the move leaves alone keep their type.
    for column in &double.columns[3..] {
        assert_eq!(home.values(&column.name), Some(&column.values));
    }
    let low = [512_345.25, 4_654_321.5, 311.0];
    let kept = after(&[Action::KeepBox(low, [512_347.0, 4_654_323.0, 314.0])]);
    assert_eq!(kept.rows(), 45);
    let condition = Condition::parse("x > 512345.26").unwrap();
    assert_eq!(after(&[Action::Where(condition)]).rows(), 94);
    // Actions that depend on distances alone give the same rows as at the origin.
    for action in [
        Action::DropFloaters(2.0),
        Action::Decimate(quadrille::convert::Amount::Splats(50)),
        Action::Rotate([0.0, 0.0, 0.0]),
    ] {
        let mut at_home = home.clone();
        action.apply(&mut at_home, Path::new("home.ply"), &quadrille::Task::NEVER).unwrap();
        let moved = after(std::slice::from_ref(&action));
        assert_eq!(moved.rows(), at_home.rows(), "{action:?}");
        let x = moved.values("x").unwrap();
        assert!(matches!(x, ColumnValues::Other(Scalar::F64, _)), "{action:?}");
    }
}

/// The positions of SOG are 65,536 steps between logarithms in double precision, wherever these are. Here the steps of
/// single precision are 1/2, and the scene is a few units large.
#[test]
fn sog_on_a_map_is_as_exact_as_at_the_origin() {
    let folder = tempfile::tempdir().unwrap();
    let object = Synthetic::new(Recipe::Object, 1, 300, 0).unwrap().splats();
    let table = moved(&SplatTable::from_slices(&object.to_arrays().as_slices()).unwrap());
    // Half a step of a column, where it is largest.
    let half_step = |name: &str| {
        let values = (0..table.rows()).map(|row| table.values(name).unwrap().get(row));
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let log = |v: f64| v.abs().ln_1p().copysign(v);
        (log(high) - log(low)) * (1.0 + low.abs().max(high.abs())) / 65_535.0 / 2.0
    };
    let half_steps = ["x", "y", "z"].map(half_step);
    let bound = half_steps.into_iter().fold(0.0, f64::max) + 1e-8;
    let path = folder.path().join("far.sog");
    assert!(OutputFormat::Sog.losses(&table).is_empty());
    write_table(&path, &table, OutputFormat::Sog).unwrap();
    let read = load_table(&path).unwrap();
    let errors = attribute_errors(&table, &read, OutputFormat::Sog, &path, &Task::NEVER);
    let position = errors.unwrap().unwrap().position.max;
    assert!(position <= bound && bound < 1e-3, "{position} of {bound}");
    let scene = load(&path).unwrap();
    assert!(scene.encoding.warnings.is_empty() && scene.splats.origin() != [0.0; 3]);
}
