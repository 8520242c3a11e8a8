use std::path::PathBuf;

use nalgebra::Vector3;
use serde::Deserialize;

use crate::checks::finite;
use crate::mesh_input::MeshInput;
use quadrille_base::error::{Error, Result};
#[cfg(feature = "cli")]
use quadrille_base::parse::{numbers, point};
use quadrille_deferred::camera::motion::{CameraMotion, RigidMotion, SceneMotion};
use quadrille_deferred::camera::motion_file::MotionFile;
use quadrille_scene::Camera;

/// Settings of the motion of a mesh: keys of suites, and flags of `deferred`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Blur"))]
pub struct MeshMotionSettings {
    /// Move the mesh, in world units
    #[serde(rename = "move")]
    #[cfg_attr(feature = "cli", arg(long = "move", value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub displacement: Option<[f64; 3]>,
    /// Turn the mesh by DEG degrees about the axis X,Y,Z through the centre of its bounding box
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z,DEG", allow_hyphen_values = true, value_parser = spin))]
    pub spin: Option<[f64; 4]>,
    /// JSON file with the motion of the camera and of ranges of draws, which turn about the centre of the
    /// mesh; other settings of motion add to the motion of the camera
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE.json"))]
    pub motion: Option<PathBuf>,
}

#[cfg(feature = "cli")]
fn spin(text: &str) -> std::result::Result<[f64; 4], String> {
    numbers(text).ok_or_else(|| "expected an axis and degrees such as 0,1,0,15".to_owned())
}

impl MeshMotionSettings {
    /// Checks all values.
    pub fn check(&self) -> Result<()> {
        if let Some([0.0, 0.0, 0.0, degrees]) = self.spin {
            let expected = "an axis and degrees such as 0,1,0,15";
            return Err(Error::argument("spin", expected, format!("0,0,0,{degrees}")));
        }
        finite("move", self.displacement.as_ref().map_or(&[], |numbers| numbers))?;
        finite("spin", self.spin.as_ref().map_or(&[], |spin| spin))?;
        let both = [
            ("motion", self.motion.is_some() && self.displacement.is_some(), "move"),
            ("motion", self.motion.is_some() && self.spin.is_some(), "spin"),
        ];
        let given = both.into_iter().find(|(_, are_given, _)| *are_given);
        given.map_or(Ok(()), |(setting, _, other)| Err(Error::conflict(setting, other)))
    }

    /// The file of motion, if there is one.
    pub(super) fn file(&self) -> Result<Option<MotionFile>> {
        self.motion.as_deref().map(MotionFile::load).transpose()
    }

    /// The motion of a view of the mesh: of the file, of these settings, and of the camera.
    pub(super) fn of_view(
        &self,
        camera: &Camera,
        camera_motion: CameraMotion,
        file: Option<&MotionFile>,
        input: &MeshInput,
    ) -> SceneMotion {
        let mut motion = SceneMotion { camera: camera_motion, draws: Vec::new() };
        if let Some(file) = file {
            motion.camera = file.camera_motion(camera).and(&motion.camera);
            motion.draws = file.draw_motions(input.centre());
        }
        if let Some(mesh) = self.mesh_motion(input) {
            motion.draws.push((0..u32::MAX, mesh));
        }
        motion
    }

    fn mesh_motion(&self, input: &MeshInput) -> Option<RigidMotion> {
        if self.displacement.is_none() && self.spin.is_none() {
            return None;
        }
        let rotation = self.spin.map(|[x, y, z, degrees]| {
            Vector3::new(x, y, z).try_normalize(0.0).unwrap_or_default() * degrees.to_radians()
        });
        Some(RigidMotion {
            displacement: self.displacement.unwrap_or_default().into(),
            rotation: rotation.unwrap_or_default(),
            centre: input.centre(),
        })
    }
}
