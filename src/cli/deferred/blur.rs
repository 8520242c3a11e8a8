//! The flags of `deferred` about motion and lens.

use std::path::PathBuf;

use crate::cli::usage::number;
use quadrille_base::parse::numbers;
use quadrille_suite::deferred_runs::BlurSettings;

/// Flags about blur.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Blur")]
pub(super) struct BlurFlags {
    /// Move the camera this share of the way to the next view while the shutter is open
    #[arg(long, value_name = "SHARE", value_parser = number::<f64>)]
    shutter: Option<f64>,
    /// Move the camera to the right, down and forward, in world units
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    camera_move: Option<[f64; 3]>,
    /// Turn the camera to the right, up, and clockwise about its view axis, in degrees
    #[arg(long, value_name = "YAW,PITCH,ROLL", allow_hyphen_values = true, value_parser = vector)]
    camera_turn: Option<[f64; 3]>,
    /// Move the mesh, in world units
    #[arg(long = "move", value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    displacement: Option<[f64; 3]>,
    /// Turn the mesh by DEG degrees about the axis X,Y,Z through the centre of its bounding box
    #[arg(long, value_name = "X,Y,Z,DEG", allow_hyphen_values = true, value_parser = spin)]
    spin: Option<[f64; 4]>,
    /// JSON file with the motion of the camera and of ranges of draws, each draw turning about the centre of
    /// the mesh; other flags about motion add to the motion of the camera
    #[arg(long, value_name = "FILE.json")]
    motion: Option<PathBuf>,
    /// Radius of the aperture in world units
    #[arg(long, value_name = "RADIUS", value_parser = number::<f64>)]
    aperture: Option<f64>,
    /// Diameter in pixels of the circle of confusion of points infinitely far away, instead of --aperture
    #[arg(long, value_name = "PIXELS", value_parser = number::<f64>)]
    coc_px: Option<f64>,
    /// Distance in focus, along the view axis, in world units [default: the distance of the centre of the mesh]
    #[arg(long, value_name = "DISTANCE", value_parser = number::<f64>)]
    focus: Option<f64>,
    /// Point in focus
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    focus_at: Option<[f64; 3]>,
}

impl BlurFlags {
    pub(super) fn settings(&self) -> BlurSettings {
        BlurSettings {
            shutter: self.shutter,
            camera_move: self.camera_move,
            camera_turn: self.camera_turn,
            displacement: self.displacement,
            spin: self.spin,
            motion: self.motion.clone(),
            aperture: self.aperture,
            coc_px: self.coc_px,
            focus: self.focus,
            focus_at: self.focus_at,
        }
    }
}

fn vector(text: &str) -> Result<[f64; 3], String> {
    numbers(text).ok_or_else(|| "expected three numbers such as 1,-2,0.5".to_owned())
}

fn spin(text: &str) -> Result<[f64; 4], String> {
    numbers(text).ok_or_else(|| "expected an axis and degrees such as 0,1,0,15".to_owned())
}
