//! Lists of views: tables, JSON, and camera files.

use std::path::Path;

use serde_json::{Value, json};

use super::console::{Exit, print, print_json};
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_bytes;
use quadrille_base::shading::Profile;
use quadrille_scene::Camera;
use quadrille_scene::cameras::{Views, write_inria_json};
use quadrille_suite::report::cameras::{camera_json, reproducing_flags};
use quadrille_suite::report::table::{TextTable, shortened};

pub(super) fn print_views(views: &Views, profile: &Profile, is_json: bool) -> Result<Exit> {
    match is_json {
        true => print_json(view_list_json(views, profile))?,
        false => print(view_list(views, profile))?,
    }
    Ok(Exit::Done)
}

fn view_list(views: &Views, profile: &Profile) -> String {
    let mut table =
        TextTable::new(&["view", "<name", "<name in the file", "pixels", "<eye", "fov"]);
    for (index, camera) in views.cameras.iter().enumerate() {
        let [x, y, z] = camera.eye().into();
        table.row([
            index.to_string(),
            shortened(&camera.name),
            views.names_in_file.get(index).map(|name| shortened(name)).unwrap_or_default(),
            format!("{}x{}", camera.width, camera.height),
            format!("{x:.3},{y:.3},{z:.3}"),
            format!("{:.1}", camera.fov()[1].to_degrees()),
        ]);
    }
    let flags = reproducing_flags(views, profile);
    let flags = flags.map(|flags| format!("flags of this view: {flags}\n"));
    format!("{table}{}", flags.unwrap_or_default())
}

fn view_list_json(views: &Views, profile: &Profile) -> Value {
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
        "view_flags": reproducing_flags(views, profile),
        "frame_rate": views.frame_rate,
        "views": all.collect::<Vec<_>>(),
    })
}

/// Name, size and camera of a view.
pub(super) fn view_json(camera: &Camera) -> Value {
    json!({
        "name": camera.name,
        "width": camera.width,
        "height": camera.height,
        "camera": camera_json(camera),
    })
}

/// Refuses cameras that `--cameras-out` cannot write.
pub(super) fn check_pinholes(cameras: &[Camera]) -> Result<()> {
    let is_other = !cameras.iter().all(|camera| camera.projection.is_pinhole());
    let expected = "pinholes, the only projection of a cameras.json";
    Error::refuse_if(is_other, "--cameras-out", expected, "other projections")
}

pub(super) fn write_cameras(path: &Path, cameras: &[Camera]) -> Result<()> {
    check_pinholes(cameras)?;
    write_bytes(path, write_inria_json(cameras))
}
