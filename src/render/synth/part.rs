//! Parts of a recipe, and the scene that is built from them.

use nalgebra::Vector3;

use super::light::{Light, Material};
use super::random::Rng;
use super::surface::{SampledSurface, SurfaceSample};
use quadrille_scene::{Camera, Intrinsics};

pub(crate) type Paint = Box<dyn Fn(&SurfaceSample, &mut Rng) -> Material + Send + Sync>;

pub(crate) struct Part {
    pub(crate) surface: Box<dyn SampledSurface>,
    pub(crate) paint: Paint,
    /// Splats per area relative to the scene's mean; above zero.
    pub(crate) density: f32,
}

impl Part {
    pub(crate) fn new(
        surface: impl SampledSurface + 'static,
        density: f32,
        paint: impl Fn(&SurfaceSample, &mut Rng) -> Material + Send + Sync + 'static,
    ) -> Self {
        Self { surface: Box::new(surface), paint: Box::new(paint), density }
    }

    /// Relative number of splats: area times density.
    pub(crate) fn load(&self) -> f64 {
        f64::from(self.surface.area() * self.density)
    }
}

pub(crate) struct BuiltScene {
    pub(crate) parts: Vec<Part>,
    pub(crate) light: Light,
    pub(crate) cameras: Vec<Camera>,
}

/// Creates cameras of 1280 x 720 pixels and `fov` degrees. Eyes and targets have y up; cameras have y down, like scenes.
pub(crate) fn cameras(fov: f64, views: &[(&str, [f64; 3], [f64; 3])]) -> Vec<Camera> {
    let lens = Intrinsics::from_vertical_fov(1280, 720, fov.to_radians());
    let saved = |p: [f64; 3]| Vector3::new(p[0], -p[1], -p[2]);
    views
        .iter()
        .filter_map(|(name, eye, target)| {
            Camera::look_at(*name, lens, saved(*eye), saved(*target), -Vector3::y()).ok()
        })
        .collect()
}
