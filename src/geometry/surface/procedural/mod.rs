//! Procedural scenes. PLANE, SINEWAVE, FROG, PTCLOUD and FURBALL come from the paper on quad-fragment merging (section
//! 4, Figure 10), which states their purpose but no sizes. The sizes are assumed such that pictures and shares of fine
//! geometry resemble the paper. ARCADE replaces the indoor scenes of the paper on sort-based deferred shading.

mod arcade;
mod frog;
mod instances;
mod shapes;

use nalgebra::Vector3;

use super::patches::Surface;
use quadrille_base::choice;
use quadrille_base::error::Result;
use quadrille_scene::{Camera, Intrinsics};

pub use frog::Bumps;
pub use instances::Instance;
pub use shapes::HAIRS;
pub use shapes::HairOrder;
pub use shapes::MAX_HAIRS;

/// Width and height in pixels of the pictures of the paper (section 4).
pub const PICTURE_PX: [u32; 2] = [1728, 1080];

/// Viewpoint of a scene: a pinhole camera without a picture size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewpoint {
    /// Position of the viewer in world units.
    pub eye: [f64; 3],
    /// Point that the camera looks at, in world units.
    pub target: [f64; 3],
    /// Direction that points up in the picture.
    pub up: [f64; 3],
    /// Vertical field of view in radians.
    pub vertical_fov: f64,
}

impl Viewpoint {
    /// Creates the camera for a picture of `width` x `height` pixels.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) when the size is out of range or the viewpoint has no direction.
    pub fn camera(&self, name: &str, width: u32, height: u32) -> Result<Camera> {
        let lens = Intrinsics::from_vertical_fov(width, height, self.vertical_fov);
        let [eye, target, up] = [self.eye, self.target, self.up].map(Vector3::from);
        Camera::look_at(name, lens, eye, target, up)
    }
}

choice! {
    /// A procedural scene.
    pub enum ProceduralScene {
        /// A tilted plane that nearly fills the picture, the simplest case of merging.
        Plane = "plane",
        /// A field of waves, with many triangles seen at grazing angles.
        SineWave = "sinewave",
        /// A frog with high-frequency displacement, whose triangles hide others of the same grid.
        Frog = "frog",
        /// A cloud of small balls, with fine geometry and complex occlusion.
        PtCloud = "ptcloud",
        /// A ball of long hairs, with long and narrow grids.
        FurBall = "furball",
        /// A vaulted hall with columns and balls, which fills the picture with three to five layers.
        Arcade = "arcade",
    }
}

impl ProceduralScene {
    /// Returns the scene of a name, in any letter case.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) when no scene has the name.
    pub fn from_name(name: &str) -> Result<Self> {
        let scene: Result<Self> = name.to_ascii_lowercase().parse();
        scene.map_err(|error| error.about("procedural scene"))
    }

    /// Creates the surface of the scene, with random numbers from `seed`.
    pub fn surface(self, seed: u64) -> Surface {
        match self {
            Self::Plane => shapes::plane(),
            Self::SineWave => shapes::sine_wave(),
            Self::Frog => Surface::frog(Bumps::default(), seed),
            Self::PtCloud => instances::point_cloud(seed),
            Self::FurBall => Surface::fur_ball(seed, HAIRS, HairOrder::Random),
            Self::Arcade => arcade::arcade(seed),
        }
    }

    /// Returns the viewpoint of the scene, for a picture of 1728 x 1080 pixels.
    pub fn viewpoint(self) -> Viewpoint {
        let (origin, z) = ([0.0; 3], [0.0, 0.0, 1.0]);
        let (eye, target, up) = match self {
            Self::Plane => ([0.0, -0.9, 3.0], origin, [0.0, 1.0, 0.0]),
            Self::SineWave => ([0.0, -4.2, 0.75], [0.0, 0.0, -0.2], z),
            Self::Frog => ([1.6, -3.6, 1.5], [0.0, -0.1, 0.05], z),
            Self::PtCloud => ([0.6, -3.4, 0.8], origin, z),
            Self::FurBall => (shapes::FUR_EYE, origin, z),
            Self::Arcade => ([1.2, 1.5, 1.8], [-0.4, 25.0, 2.1], z),
        };
        let degrees: f64 = match self {
            Self::Arcade => 55.0,
            _ => 40.0,
        };
        Viewpoint { eye, target, up, vertical_fov: degrees.to_radians() }
    }
}
