//! Cameras of requests as commands of the program and as files.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::camera_request::CameraRequest;
use super::message::FlagsRequest;
use super::stage::{ListedView, camera_of};
use quadrille_base::error::Result;
use quadrille_scene::Projection;
use quadrille_scene::cameras::write_inria_json;
use quadrille_suite::report::cameras::{look_at_flags, shell_path, shell_quoted};

/// Parts of commands that do not depend on the camera.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Names of the commands that draw and simulate.
    pub names: [&'static str; 2],
    /// Scene and flags that both commands take, as words.
    pub shared: Vec<String>,
    /// Flags of the drawing command only.
    pub render: Vec<String>,
    /// Flags of the simulating command only.
    pub sim: Vec<String>,
    /// Flags `--transform`, `--fov` and `--camera-model` of the listed views.
    pub cameras: Vec<String>,
    /// The file of the listed views, if they have one.
    pub camera_file: Option<PathBuf>,
}

const SAVED_CAMERAS: &str = "cameras.json";

impl Commands {
    pub(crate) fn flags(&self, request: &FlagsRequest, views: &[ListedView]) -> Result<Value> {
        let size = [request.w, request.h];
        let camera = camera_of(&request.cam, size, views)?;
        let lens_flags: Vec<_> = self.cameras.iter().map(|word| shell_quoted(word)).collect();
        let sized = format!("--width {} --height {}", size[0], size[1]);
        let view = match (&request.cam, &self.camera_file) {
            (CameraRequest::Listed(view), Some(file)) => {
                let name = shell_quoted(&views[*view].camera.name);
                let file = format!("--cameras {}", shell_path(file));
                [vec![file], lens_flags, vec![format!("--view {name} {sized}")]].concat().join(" ")
            }
            (CameraRequest::Placed(placed), file)
                if placed.lens.is_none()
                    || file.is_none()
                    || camera.projection == Projection::Orthographic =>
            {
                let points = [placed.eye, placed.target, placed.up];
                let pinhole = look_at_flags(points, placed.fov_degrees, size);
                // Without the lens of a view, the camera is a pinhole.
                let model = lens_flags
                    .iter()
                    .filter(|flag| placed.lens.is_some() && flag.starts_with("--camera-model"));
                let model = model.map(|flag| format!(" {flag}")).collect::<String>();
                format!("{pinhole}{model}")
            }
            // Flags cannot express the lens; a camera file can.
            _ => format!("--cameras {SAVED_CAMERAS} {sized}"),
        };
        let command = |name: &str, own: &[String]| {
            let words = self.shared.iter().chain(own).map(|word| shell_quoted(word));
            let words: Vec<_> = words.collect();
            format!("quadrille {name} {} {view}", words.join(" "))
        };
        let text =
            if camera.projection.is_pinhole() { Some(write_inria_json(&[camera])) } else { None };
        Ok(json!({
            "t": "flags",
            "id": request.id,
            "render": format!("{} -o picture.png", command(self.names[0], &self.render)),
            "sim": command(self.names[1], &self.sim),
            "cameras": text,
        }))
    }
}
