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

pub use hair::{HAIRS, MAX_HAIRS};
pub use instances::Instance;

/// Size of the paper's pictures in pixels (section 4).
pub const PICTURE_PX: [u32; 2] = [1728, 1080];

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
    /// [`Error::Caller`] when the size is out of range or the viewpoint looks nowhere.
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
    /// [`Error::Caller`] when no scene has the name.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, scene)| *scene).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            Error::caller("procedural scene", names, name)
        })
    }

    /// The scene as random numbers of `seed` make it.
    #[must_use]
    pub fn surface(self, seed: u64) -> Surface {
        match self {
            Self::Plane => shapes::plane(),
            Self::SineWave => shapes::sine_wave(),
            Self::PtCloud => instances::point_cloud(seed),
            Self::FurBall => Surface::fur_ball(seed, HAIRS),
        }
    }

    /// Where to look at it from, for a picture of [`PICTURE_PX`].
    #[must_use]
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::mesh::surface::patches::{cross, unit};

    #[test]
    fn names_lead_to_scenes() {
        assert_eq!(
            ProceduralScene::from_name("FurBall").unwrap(),
            ProceduralScene::FurBall
        );
        assert!(ProceduralScene::from_name("frog").is_err());
    }

    #[test]
    fn normals_are_those_of_the_surface() {
        for (name, scene) in ProceduralScene::ALL {
            let surface = scene.surface(7);
            let last = surface.patches() - 1;
            for patch in [0, 3, last / 2, last] {
                let at = |u: f32, v: f32| Vector3::from(surface.position(patch, u, v));
                let du = at(0.31, 0.6) - at(0.29, 0.6);
                let dv = at(0.3, 0.61) - at(0.3, 0.59);
                let expected = Vector3::from(unit(cross(du.into(), dv.into())));
                let normal = Vector3::from(surface.point(patch, 0.3, 0.6).normal);
                assert!(normal.dot(&expected) > 0.99, "{name} {patch}");
            }
        }
    }

    #[test]
    fn seeds_make_scenes() {
        let point = |seed| {
            let surface = ProceduralScene::PtCloud.surface(seed);
            surface.position(100, 0.2, 0.7)
        };
        assert_eq!(point(1), point(1));
        assert_ne!(point(1), point(2));
    }

    #[test]
    fn all_of_a_scene_is_in_the_middle_of_its_picture() {
        for (name, scene) in ProceduralScene::ALL {
            let camera = scene.viewpoint().camera(name, PICTURE_PX[0], PICTURE_PX[1]);
            let camera = camera.unwrap();
            let [least, greatest] = scene.surface(0).bounds();
            let middle = Vector3::from(least) + Vector3::from(greatest);
            let middle = middle.map(|x| f64::from(x) / 2.0);
            let seen = camera.view_from_world * middle + camera.translation_in_view;
            assert!(seen.z > 0.0 && seen.x.abs() < 0.2 * seen.z, "{name}");
        }
    }
}
