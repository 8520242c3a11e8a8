//! Cameras as tables and JSON.

use serde_json::{Value, json};

use super::views::reproducing;
use quadrille_scene::Camera;
use quadrille_scene::cameras::Views;
use quadrille_suite::report::table::{TextTable, shortened};

/// A camera as JSON: its position, a target at distance 1, and its lens.
pub(super) fn camera_json(camera: &Camera) -> Value {
    let eye = camera.eye();
    let forward = camera.view_from_world.row(2).transpose();
    let up = -camera.view_from_world.row(1).transpose();
    json!({
        "eye": eye.as_slice(),
        "target": (eye + forward).as_slice(),
        "up": up.as_slice(),
        "fov_degrees": fov_degrees(camera),
        "focal_px": camera.focal_px,
        "principal_px": camera.principal_px,
    })
}

/// Vertical field of view.
fn fov_degrees(camera: &Camera) -> f64 {
    camera.fov()[1].to_degrees()
}

/// A table with a line per view.
pub(super) fn view_list(views: &Views) -> String {
    let mut table = TextTable::new(&[
        "view",
        "<name",
        "<name in the file",
        "pixels",
        "<eye",
        "fov",
    ]);
    for (index, camera) in views.cameras.iter().enumerate() {
        let [x, y, z] = camera.eye().into();
        let in_file = views.names_in_file.get(index);
        table.row([
            index.to_string(),
            shortened(&camera.name),
            in_file.map(|name| shortened(name)).unwrap_or_default(),
            format!("{}x{}", camera.width, camera.height),
            format!("{x:.3},{y:.3},{z:.3}"),
            format!("{:.1}", fov_degrees(camera)),
        ]);
    }
    let flags = reproducing(views).map(|flags| format!("flags of this view: {flags}\n"));
    format!("{table}{}", flags.unwrap_or_default())
}

/// The same as a document.
pub(super) fn view_list_json(views: &Views) -> Value {
    let all = views.cameras.iter().enumerate().map(|(index, camera)| {
        json!({
            "name": camera.name,
            "name_in_file": views.names_in_file.get(index),
            "width": camera.width,
            "height": camera.height,
            "camera": camera_json(camera),
        })
    });
    json!({
        "view_flags": reproducing(views),
        "frame_rate": views.frame_rate,
        "views": all.collect::<Vec<_>>(),
    })
}
