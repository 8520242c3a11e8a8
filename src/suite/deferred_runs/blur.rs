use std::path::PathBuf;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::checks::{finite, within};
use crate::mesh_input::{MeshInput, following};
use crate::messages::Messages;
use quadrille_base::error::{Error, Result};
#[cfg(feature = "cli")]
use quadrille_base::parse::{number, numbers, point};
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::motion::{CameraMotion, RigidMotion, SceneMotion};
use quadrille_deferred::camera::motion_file::MotionFile;
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_scene::Camera;

/// Rotation in radians above which linear vertex motion is a poor approximation.
const LARGE_TURN: f64 = std::f64::consts::FRAC_PI_2;

/// Settings of motion and lens: keys of suites, and flags of `deferred`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Blur"))]
pub struct BlurSettings {
    /// Move the camera this share of the way to the next view while the shutter is open
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", value_parser = number::<f64>))]
    pub shutter: Option<f64>,
    /// Move the camera to the right, down and forward, in world units
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub camera_move: Option<[f64; 3]>,
    /// Turn the camera to the right, up, and clockwise about its view axis, in degrees
    #[cfg_attr(feature = "cli", arg(long, value_name = "YAW,PITCH,ROLL", allow_hyphen_values = true, value_parser = point))]
    pub camera_turn: Option<[f64; 3]>,
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
    /// Radius of the aperture in world units
    #[cfg_attr(feature = "cli", arg(long, value_name = "RADIUS", value_parser = number::<f64>))]
    pub aperture: Option<f64>,
    /// Diameter in pixels of the circle of confusion of points infinitely far away, instead of an aperture
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", value_parser = number::<f64>))]
    pub coc_px: Option<f64>,
    /// Distance in focus, along the view axis, in world units [default: the distance of the centre of the mesh]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DISTANCE", value_parser = number::<f64>))]
    pub focus: Option<f64>,
    /// Point in focus, in the world of the mesh
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub focus_at: Option<[f64; 3]>,
}

#[cfg(feature = "cli")]
fn spin(text: &str) -> std::result::Result<[f64; 4], String> {
    numbers(text).ok_or_else(|| "expected an axis and degrees such as 0,1,0,15".to_owned())
}

impl BlurSettings {
    /// Checks all values.
    pub fn check(&self) -> Result<()> {
        within("shutter", self.shutter, 0.0..=1.0, "a number from 0 to 1")?;
        let positive = f64::MIN_POSITIVE..=f64::MAX;
        if let Some([0.0, 0.0, 0.0, degrees]) = self.spin {
            let expected = "an axis and degrees such as 0,1,0,15";
            return Err(Error::argument("spin", expected, format!("0,0,0,{degrees}")));
        }
        for (setting, numbers) in [
            ("camera_move", self.camera_move),
            ("camera_turn", self.camera_turn),
            ("move", self.displacement),
            ("focus_at", self.focus_at),
        ] {
            finite(setting, numbers.as_ref().map_or(&[], |numbers| numbers))?;
        }
        finite("spin", self.spin.as_ref().map_or(&[], |spin| spin))?;
        let radius = "a finite number of at least 0";
        within("aperture", self.aperture, 0.0..=f64::MAX, radius)?;
        within("coc_px", self.coc_px, 0.0..=f64::MAX, radius)?;
        within("focus", self.focus, positive, "a number above 0")?;
        let both = [
            ("aperture", self.aperture.is_some() && self.coc_px.is_some(), "coc_px"),
            ("focus", self.focus.is_some() && self.focus_at.is_some(), "focus_at"),
            ("motion", self.motion.is_some() && self.displacement.is_some(), "move"),
            ("motion", self.motion.is_some() && self.spin.is_some(), "spin"),
        ];
        let given = both.into_iter().find(|(_, are_given, _)| *are_given);
        given.map_or(Ok(()), |(setting, _, other)| Err(Error::conflict(setting, other)))
    }

    /// Returns the views with their motion and lens. With `shutter`, a camera moves towards its successor in the list that
    /// `all` returns.
    ///
    /// # Errors
    /// As [`Self::check`], errors of `all` and of reading the motion, and [`Error::Argument`] for a focus behind the
    /// camera.
    pub fn views(
        &self,
        cameras: &[Camera],
        all: impl FnOnce() -> Result<Vec<Camera>>,
        input: &MeshInput,
        messages: &dyn Messages,
    ) -> Result<Vec<(Camera, ShutterView)>> {
        self.check()?;
        let following = match self.shutter {
            None => Vec::new(),
            Some(_) => following(cameras, &all()?)?,
        };
        let file = self.motion.as_deref().map(MotionFile::load).transpose()?;
        let views = cameras.iter().enumerate().map(|(at, camera)| {
            let mut motion = SceneMotion {
                camera: CameraMotion::in_view(
                    camera,
                    self.camera_move.unwrap_or_default(),
                    self.camera_turn.unwrap_or_default(),
                ),
                draws: Vec::new(),
            };
            if let (Some(share), Some((next, is_behind))) = (self.shutter, following.get(at)) {
                let share = if *is_behind { -share } else { share };
                motion.camera = CameraMotion::towards(camera, next, share).and(&motion.camera);
            }
            if let Some(file) = &file {
                motion.camera = file.camera_motion(camera).and(&motion.camera);
                motion.draws = file.draw_motions(input.centre());
            }
            if let Some(mesh) = self.mesh_motion(input) {
                motion.draws.push((0..u32::MAX, mesh));
            }
            if motion.largest_turn() > LARGE_TURN {
                messages.warn(
                    "the camera or the mesh turns by more than 90 degrees: vertices move along straight \
                     lines, which are far from arcs",
                );
            }
            let lens = self.lens(camera, input)?;
            let view = ShutterView::new(camera, input.near(camera), lens, motion)?;
            Ok((camera.clone(), view.relative_to(input.origin())))
        });
        views.collect()
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

    fn lens(&self, camera: &Camera, input: &MeshInput) -> Result<Lens> {
        let is_pinhole = [self.aperture, self.coc_px].into_iter().flatten().all(|size| size == 0.0);
        let distance =
            |point: Vector3<f64>| (camera.view_from_world * point + camera.translation_in_view).z;
        let focus = match (self.focus, self.focus_at) {
            (Some(focus), _) => focus,
            (None, Some(point)) => {
                let focus = distance(point.into());
                let found = format!("a point {} units behind it", -focus);
                let expected = "a point in front of the camera";
                Error::refuse_if(focus <= 0.0, "focus_at", expected, found)?;
                focus
            }
            (None, None) if is_pinhole => return Ok(Lens::PINHOLE),
            (None, None) => {
                let focus = distance(input.centre());
                let expected = "a distance, since the centre of the mesh is behind the camera";
                Error::refuse_if(focus <= 0.0, "focus", expected, "none")?;
                focus
            }
        };
        match (self.aperture, self.coc_px) {
            (_, Some(px)) => Lens::from_blur_at_infinity(px, camera.focal_px[0], focus),
            (radius, None) => Lens::new(radius.unwrap_or(0.0), focus),
        }
    }
}
