//! Tests of actions.

use nalgebra::Matrix3;
use quadrille_scene::{Intrinsics, SceneInput, load_table};

use super::*;

#[test]
fn cameras_follow_splats() {
    let lens = Intrinsics::from_vertical_fov(64, 48, 1.0);
    let (eye, target) = (Vector3::new(3.0, -1.0, 2.0), Vector3::new(0.5, 0.25, -0.5));
    let camera = Camera::look_at("a", lens, eye, target, Vector3::y()).unwrap();
    let in_view =
        |camera: &Camera, p: Vector3<f64>| camera.view_from_world * p + camera.translation_in_view;
    let axes = |text: &str| Action::Axes(text.parse().unwrap());
    let turn = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
    let similarity =
        Similarity { rotation: turn, scale: 1.5, translation: Vector3::new(1.0, 2.0, -3.0) };
    for (action, scale) in [
        (Action::Transform(similarity), 1.5),
        (Action::Translate([1.0, 2.0, -3.0]), 1.0),
        (Action::Rotate([30.0, -70.0, 110.0]), 1.0),
        (Action::Scale(0.25), 0.25),
        (axes("RUB"), 1.0),
        (axes("RFU"), 1.0),
        (Action::LimitSh(0), 1.0),
    ] {
        let moved = action.moved(&camera, 0.2).unwrap();
        let off = moved.view_from_world * moved.view_from_world.transpose() - Matrix3::identity();
        assert!(off.norm() < 1e-12);
        let mut raw = RawColumns::zeroed(1, 0);
        raw.rotation[0][0] = 1.0;
        for axis in 0..3 {
            raw.mean[axis][0] = [0.75, -0.5, 1.25][axis];
        }
        let before = in_view(&camera, Vector3::new(0.75, -0.5, 1.25));
        match &action {
            Action::Axes(axes) => raw.flip_axes(*axes, &Task::NEVER).unwrap(),
            _ => raw.transform(&action.similarity().unwrap(), &Task::NEVER).unwrap(),
        }
        let after = [0, 1, 2].map(|axis| raw.mean[axis][0]);
        let after = in_view(&moved, Vector3::from(after));
        assert!((after - before * scale).norm() < 1e-6, "{action:?}: {after} {before}");
    }
    assert!(axes("RUF").moved(&camera, 0.2).is_none() && axes("LDB").moved(&camera, 0.2).is_some());
}

/// Normals and motions turn with the splats; motions are lengths too, and time scales are neither.
#[test]
fn directions_in_further_columns_follow_splats() {
    let names = "x y z nx ny nz motion_0 motion_1 motion_2 scale_t omega_0 opacity scale_0 scale_1 scale_2 rot_0 \
                 rot_1 rot_2 rot_3 f_dc_0 f_dc_1 f_dc_2";
    let properties: String =
        names.split(' ').map(|name| format!("property double {name}\n")).collect();
    let row = "1 2 3 1 2 3 1 2 3 5 6 0 0 0 0 1 0 0 0 0 0 0";
    let ply = format!("ply\nformat ascii 1.0\nelement vertex 1\n{properties}end_header\n{row}\n");
    let table = load_table(SceneInput::bytes(ply.as_bytes())).unwrap();
    assert!(table.names_not_turned().eq(["omega_0"]));
    let applied = |action: &Action| {
        let mut table = table.clone();
        action.apply(&mut table, Path::new("a.ply"), &Task::NEVER).unwrap();
        move |names: [&str; 3]| names.map(|name| table.values(name).unwrap().get(0).round())
    };
    let (means, normals) = (["x", "y", "z"], ["nx", "ny", "nz"]);
    let motions = ["motion_0", "motion_1", "motion_2"];
    for (action, means_after, normals_after, motions_after) in [
        (Action::Rotate([0.0, 0.0, 90.0]), [-2.0, 1.0, 3.0], [-2.0, 1.0, 3.0], [-2.0, 1.0, 3.0]),
        (
            Action::Axes("LUF".parse().unwrap()),
            [-1.0, -2.0, 3.0],
            [-1.0, -2.0, 3.0],
            [-1.0, -2.0, 3.0],
        ),
        (
            Action::Axes("RUF".parse().unwrap()),
            [1.0, -2.0, 3.0],
            [1.0, -2.0, 3.0],
            [1.0, -2.0, 3.0],
        ),
        (Action::Scale(2.0), [2.0, 4.0, 6.0], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]),
        (Action::Translate([1.0; 3]), [2.0, 3.0, 4.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    ] {
        let values = applied(&action);
        assert_eq!(values(means), means_after, "{action:?}");
        assert_eq!(values(normals), normals_after, "{action:?}");
        assert_eq!(values(motions), motions_after, "{action:?}");
        assert_eq!(values(["scale_t", "omega_0", "opacity"]), [5.0, 6.0, 0.0], "{action:?}");
    }
    let mut still = table.clone();
    for axis in ["x", "y", "z"] {
        let column = still.columns.iter_mut().find(|column| column.name == axis).unwrap();
        column.values = quadrille_scene::table::ColumnValues::F32(vec![0.0]);
    }
    for (table, action, column) in [
        (&table, Action::Translate([0.0, 1e39, 0.0]), "y"),
        (&table, Action::Scale(2e38), "y"),
        (&still, Action::Scale(2e38), "motion_1"),
    ] {
        let mut table = table.clone();
        let error = action.apply(&mut table, Path::new("a.ply"), &Task::NEVER).unwrap_err();
        assert!(error.to_string().contains(&format!("found {column} = ")), "{error}");
    }
}
