//! The flags of `deferred` about motion and lens.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;

use crate::cli::console::Verbosity;
use crate::cli::mesh::input::MeshInput;
use crate::cli::outputs::parse_numbers;
use crate::cli::usage::positive;
use crate::cli::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::motion::{CameraMotion, RigidMotion, SceneMotion};
use quadrille_deferred::camera::motion_file::MotionFile;
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_scene::Camera;

/// Turn from which on the chords of vertices are far from their arcs, in radians.
const LARGE_TURN: f64 = std::f64::consts::FRAC_PI_2;

/// Flags about blur.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Blur")]
pub(super) struct BlurFlags {
    /// Move the camera this share of the way to the next view while the shutter is open
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    shutter: Option<f64>,
    /// Move the camera to the right, down and forward, in world units
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_vector)]
    camera_move: Option<[f64; 3]>,
    /// Turn the camera to the right, up, and clockwise about its view axis, in degrees
    #[arg(long, value_name = "YAW,PITCH,ROLL", allow_hyphen_values = true, value_parser = parse_vector)]
    camera_turn: Option<[f64; 3]>,
    /// Move the mesh, in world units
    #[arg(long = "move", value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_vector)]
    displacement: Option<[f64; 3]>,
    /// Turn the mesh by DEG degrees about the axis X,Y,Z through the centre of its bounding box
    #[arg(long, value_name = "X,Y,Z,DEG", allow_hyphen_values = true, value_parser = parse_spin)]
    spin: Option<[f64; 4]>,
    /// JSON file with the motion of the camera and of ranges of draws, each draw turning about the centre of
    /// the mesh; other flags about motion add to that of the camera
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["displacement", "spin"])]
    motion: Option<PathBuf>,
    /// Radius of the aperture in world units
    #[arg(long, value_name = "RADIUS", value_parser = parse_radius, conflicts_with = "coc_px")]
    aperture: Option<f64>,
    /// Diameter in pixels of the circle of confusion of points infinitely far away, instead of --aperture
    #[arg(long, value_name = "PIXELS", value_parser = parse_radius)]
    coc_px: Option<f64>,
    /// Distance in focus, along the view axis, in world units [default: that of the centre of the mesh]
    #[arg(long, value_name = "DISTANCE", value_parser = positive, conflicts_with = "focus_at")]
    focus: Option<f64>,
    /// Point in focus
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_vector)]
    focus_at: Option<[f64; 3]>,
}

impl BlurFlags {
    /// All files that are read.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.motion.as_deref().into_iter()
    }

    /// The views with their motion and lens.
    pub(super) fn views(
        &self,
        cameras: &[Camera],
        input: &MeshInput,
        views: &ViewArgs,
        verbosity: Verbosity,
    ) -> Result<Vec<(Camera, ShutterView)>> {
        let following = match self.shutter {
            None => Vec::new(),
            Some(_) => {
                // The choice of the up axis is reported once, when the cameras are chosen.
                let quiet = Verbosity {
                    quiet: true,
                    ..verbosity
                };
                views.following(cameras, || input.framing(views.up(), quiet))?
            }
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
                let way = CameraMotion::towards(camera, next, share);
                motion.camera = way.and(&motion.camera);
            }
            if let Some(file) = &file {
                motion.camera = file.camera_motion(camera).and(&motion.camera);
                motion.draws = file.draw_motions(input.centre());
            }
            if let Some(mesh) = self.mesh_motion(input) {
                motion.draws.push((0..u32::MAX, mesh));
            }
            if motion.largest_turn() > LARGE_TURN {
                verbosity.warn(
                    "the camera or the mesh turns by more than 90 degrees: vertices move along straight \
                     lines, which are far from arcs",
                );
            }
            let lens = self.lens(camera, input)?;
            let view = ShutterView::new(camera, input.near(camera), lens, motion)?;
            Ok((camera.clone(), view))
        });
        views.collect()
    }

    fn mesh_motion(&self, input: &MeshInput) -> Option<RigidMotion> {
        if self.displacement.is_none() && self.spin.is_none() {
            return None;
        }
        let rotation = self.spin.map(|[x, y, z, degrees]| {
            let axis = Vector3::new(x, y, z).try_normalize(0.0).unwrap_or_default();
            axis * degrees.to_radians()
        });
        Some(RigidMotion {
            displacement: self.displacement.unwrap_or_default().into(),
            rotation: rotation.unwrap_or_default(),
            centre: input.centre(),
        })
    }

    fn lens(&self, camera: &Camera, input: &MeshInput) -> Result<Lens> {
        let mut sizes = [self.aperture, self.coc_px].into_iter().flatten();
        let is_pinhole = sizes.all(|size| size == 0.0);
        let distance =
            |point: Vector3<f64>| (camera.view_from_world * point + camera.translation_in_view).z;
        let focus = match (self.focus, self.focus_at) {
            (Some(focus), _) => focus,
            (None, Some(point)) => {
                let focus = distance(point.into());
                if focus <= 0.0 {
                    let found = format!("a point {} units behind it", -focus);
                    return Err(Error::argument(
                        "--focus-at",
                        "a point in front of the camera",
                        found,
                    ));
                }
                focus
            }
            (None, None) if is_pinhole => return Ok(Lens::PINHOLE),
            (None, None) => {
                let focus = distance(input.centre());
                if focus <= 0.0 {
                    let expected = "a distance, since the centre of the mesh is behind the camera";
                    return Err(Error::argument("--focus", expected, "none"));
                }
                focus
            }
        };
        match (self.aperture, self.coc_px) {
            (_, Some(px)) => Lens::from_blur_at_infinity(px, camera.focal_px[0], focus),
            (radius, None) => Lens::new(radius.unwrap_or(0.0), focus),
        }
    }
}

fn finite<const N: usize>(text: &str) -> Option<[f64; N]> {
    parse_numbers(text).filter(|numbers: &[f64; N]| numbers.iter().all(|n| n.is_finite()))
}

fn parse_vector(text: &str) -> std::result::Result<[f64; 3], String> {
    finite(text).ok_or_else(|| "expected three finite numbers such as 1,-2,0.5".to_owned())
}

fn parse_spin(text: &str) -> std::result::Result<[f64; 4], String> {
    let spin = finite(text).filter(|[x, y, z, _]| [x, y, z].into_iter().any(|v| *v != 0.0));
    spin.ok_or_else(|| "expected an axis and degrees such as 0,1,0,15".to_owned())
}

fn parse_share(text: &str) -> std::result::Result<f64, String> {
    let share = text.parse().ok().filter(|s| (0.0..=1.0).contains(s));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

fn parse_radius(text: &str) -> std::result::Result<f64, String> {
    let radius = text
        .parse()
        .ok()
        .filter(|r: &f64| *r >= 0.0 && r.is_finite());
    radius.ok_or_else(|| "expected a finite number of at least 0".to_owned())
}
