//! The procedural scenes of the paper on quad-fragment merging (section 4, Figure 10): the paper
//! shows them and says what they are for, but gives no sizes. All sizes here are assumptions, made
//! so that the pictures and their share of fine geometry look like the paper's.

mod hair;
mod instances;
mod shapes;

use nalgebra::Vector3;

use super::patches::Surface;
use crate::error::{Error, Result};
use crate::scene::{Camera, Intrinsics};

pub(crate) use hair::HAIRS;
#[cfg(feature = "cli")]
pub(crate) use hair::MAX_HAIRS;
pub use instances::Instance;

/// Size of the paper's pictures in pixels (section 4).
#[cfg(feature = "cli")]
pub(crate) const PICTURE_PX: [u32; 2] = [1728, 1080];

/// Where to look at a scene from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewpoint {
    /// Where the viewer stands, in world units.
    pub eye: [f64; 3],
    /// What is in the middle of the picture, in world units.
    pub target: [f64; 3],
    /// Towards the top of the picture.
    pub up: [f64; 3],
    /// Field of view from top to bottom, in radians.
    pub vertical_fov: f64,
}

impl Viewpoint {
    /// The camera for a picture of `width` by `height` pixels.
    ///
    /// # Errors
    /// [`Error::Argument`] when the size is out of range or the viewpoint looks nowhere.
    pub fn camera(&self, name: &str, width: u32, height: u32) -> Result<Camera> {
        let lens = Intrinsics::from_vertical_fov(width, height, self.vertical_fov);
        let [eye, target, up] = [self.eye, self.target, self.up].map(Vector3::from);
        Camera::look_at(name, lens, eye, target, up)
    }
}

/// A scene made by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProceduralScene {
    /// A tilted plane that nearly fills the picture: how merging behaves at its simplest.
    Plane,
    /// A field of waves seen at a grazing angle: many grazing triangles.
    SineWave,
    /// A cloud of small balls: fine geometry, complex occlusion.
    PtCloud,
    /// A ball of long hairs: long and skinny grids.
    FurBall,
}

impl ProceduralScene {
    /// All of them with their names on the command line.
    pub const ALL: [(&'static str, Self); 4] = [
        ("plane", Self::Plane),
        ("sinewave", Self::SineWave),
        ("ptcloud", Self::PtCloud),
        ("furball", Self::FurBall),
    ];

    /// The scene of a name, whatever its case.
    ///
    /// # Errors
    /// [`Error::Argument`] when no scene has the name.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, scene)| *scene).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            Error::argument("procedural scene", names, name)
        })
    }

    /// The scene as random numbers of `seed` make it.
    pub fn surface(self, seed: u64) -> Surface {
        match self {
            Self::Plane => shapes::plane(),
            Self::SineWave => shapes::sine_wave(),
            Self::PtCloud => instances::point_cloud(seed),
            Self::FurBall => Surface::fur_ball(seed, HAIRS),
        }
    }

    /// Where to look at it from, for a picture of `PICTURE_PX`.
    pub fn viewpoint(self) -> Viewpoint {
        let (eye, target) = match self {
            Self::Plane => ([0.0, -0.9, 3.0], [0.0, 0.0, 0.0]),
            Self::SineWave => ([0.0, -4.2, 0.75], [0.0, 0.0, -0.2]),
            Self::PtCloud => ([0.6, -3.4, 0.8], [0.0, 0.0, 0.0]),
            Self::FurBall => ([0.5, -5.0, 1.0], [0.0, 0.0, 0.0]),
        };
        let up = match self {
            Self::Plane => [0.0, 1.0, 0.0],
            _ => [0.0, 0.0, 1.0],
        };
        Viewpoint {
            eye,
            target,
            up,
            vertical_fov: 40.0_f64.to_radians(),
        }
    }
}
