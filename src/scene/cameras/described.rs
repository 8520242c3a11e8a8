//! Views that are described by an eye, a target or an orbit instead of a camera file.

use nalgebra::Vector3;

use super::framing::{
    DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX, DEFAULT_UP, FramingTarget, fitting_eye, orbit,
};
use super::picture_size::PictureSize;
use crate::camera::{Camera, Intrinsics};
use crate::splats::Splats;
use quadrille_base::error::Result;

/// Rule for the position of the camera if the description names none.
#[derive(Debug, Clone)]
pub enum EyeRule {
    /// Outside the axes of the world, with the bounding sphere of the subject in view.
    ForSphere,
    /// This position, in world units.
    At(Vector3<f64>),
    /// In this direction from the subject, as close as possible with all points in view.
    ForPoints(Vector3<f64>, Vec<[f32; 3]>),
}

/// The default view of a scene.
#[derive(Debug, Clone)]
pub struct Framing {
    /// Content of the scene that the camera frames.
    pub subject: FramingTarget,
    /// Position of the eye.
    pub eye: EyeRule,
    /// Direction that points up in the picture.
    pub up: [f64; 3],
    /// Vertical field of view.
    pub fov_degrees: f64,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

impl Framing {
    /// The default view of a subject of splats.
    pub fn of_splats(subject: FramingTarget) -> Self {
        Self {
            subject,
            eye: EyeRule::ForSphere,
            up: DEFAULT_UP,
            fov_degrees: DEFAULT_FOV_DEGREES,
            size: DEFAULT_SIDE_PX,
        }
    }

    /// The default view of the main content of a scene.
    pub fn of(splats: &Splats) -> Self {
        Self::of_splats(FramingTarget::of(splats))
    }
}

/// A description of one view or of a circle of views. Omitted fields follow from the framing of the scene.
#[derive(Debug, Clone, Default)]
pub struct DescribedViews {
    /// Position of the camera in world space.
    pub eye: Option<[f64; 3]>,
    /// Point that the camera looks at.
    pub target: Option<[f64; 3]>,
    /// Direction that points up in the picture.
    pub up: Option<[f64; 3]>,
    /// Vertical field of view.
    pub fov_degrees: Option<f64>,
    /// Number of views on the circle through the eye around the target.
    pub orbit: Option<u32>,
    /// Size of the picture.
    pub size: PictureSize,
}

impl DescribedViews {
    /// The cameras: `eye` or `auto`, or `orbit_00` and so on.
    pub fn cameras(&self, framing: &Framing) -> Result<Vec<Camera>> {
        Ok(self.resolved(framing)?.1)
    }

    /// The cameras, and the same description with all that it left out, except for the picture's size.
    pub fn resolved(&self, framing: &Framing) -> Result<(Self, Vec<Camera>)> {
        let intrinsics = self.intrinsics(framing)?;
        let up = Vector3::from(self.up.unwrap_or(framing.up));
        let mut subject = framing.subject;
        if let Some(target) = self.target {
            subject.centre = Vector3::from(target);
        }
        let target = subject.centre;
        let eye = match (self.eye, &framing.eye) {
            (Some(eye), _) => Vector3::from(eye),
            (None, EyeRule::At(eye)) => *eye,
            (None, EyeRule::ForSphere) => subject.default_eye(&intrinsics, up),
            (None, EyeRule::ForPoints(direction, points)) => {
                fitting_eye(&intrinsics, target, *direction, up, points)
            }
        };
        let resolved = Self {
            eye: Some(eye.into()),
            target: Some(target.into()),
            up: Some(up.into()),
            fov_degrees: self.fov_degrees.or(Some(framing.fov_degrees)),
            ..self.clone()
        };
        let cameras = match self.orbit {
            Some(count) => orbit(count, intrinsics, eye, target, up)?,
            None => {
                let name = if self.eye.is_some() { "eye" } else { "auto" };
                vec![Camera::look_at(name, intrinsics, eye, target, up)?]
            }
        };
        Ok((resolved, cameras))
    }

    /// Whether the views follow from the description alone, without the main content of a scene.
    pub fn are_fixed(&self) -> bool {
        self.eye.is_some() && self.target.is_some()
    }

    /// Intrinsics with square pixels.
    pub fn intrinsics(&self, framing: &Framing) -> Result<Intrinsics> {
        let fov = self.fov_degrees.unwrap_or(framing.fov_degrees);
        let [width, height] = self.size.of(framing.size)?;
        let fov = fov.to_radians();
        Ok(Intrinsics::from_vertical_fov(width, height, fov))
    }
}
