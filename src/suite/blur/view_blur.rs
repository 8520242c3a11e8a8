use std::f64::consts::TAU;

use quadrille_base::error::{Error, Result};
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::motion::CameraMotion;
use quadrille_scene::Camera;

/// Pictures per blurred picture (assumed): single pictures are hardly seen up to circles of confusion of 30 pixels.
pub const DEFAULT_SAMPLES: u32 = 64;
/// Largest number of pictures per blurred picture (assumed).
const MAX_SAMPLES: u32 = 4096;

/// Golden ratio.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// Motion and lens of the camera of a view, and the number of pictures that sample them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ViewBlur {
    motion: CameraMotion,
    lens: Lens,
    samples: u32,
}

impl ViewBlur {
    /// Creates the blur of `camera`.
    ///
    /// # Errors
    /// [`Error::Argument`] for no samples or more than 4096, and for an aperture before a camera that is no pinhole.
    pub fn new(camera: &Camera, motion: CameraMotion, lens: Lens, samples: u32) -> Result<Self> {
        let expected = format!("a whole number from 1 to {MAX_SAMPLES}");
        Error::refuse_if(!(1..=MAX_SAMPLES).contains(&samples), "blur_samples", expected, samples)?;
        if lens.radius() > 0.0 && !camera.projection.is_pinhole() {
            let found = format!("view \"{}\" with another lens", camera.name);
            return Err(Error::argument("aperture", "a pinhole camera without distortion", found));
        }
        Ok(Self { motion, lens, samples })
    }

    /// Cameras whose pictures have equal shares in the picture of `camera`, in the order of time. They are at the middles of
    /// equal intervals while the shutter is open, and at points that cover the aperture evenly: a spiral with the golden
    /// angle (Vogel, "A better way to construct the sunflower head", 1979). A step of about the golden section of the samples
    /// leads from one interval to the next, so that times and radii cover their square evenly too.
    pub fn cameras(&self, camera: &Camera) -> Vec<Camera> {
        let count = f64::from(self.samples);
        let step = step_of(self.samples);
        let sample = |number: u32| {
            let time = (f64::from(number) + 0.5) / count;
            let at = u64::from(number) * u64::from(step) % u64::from(self.samples);
            // Exact, since there are at most 4096 samples.
            let at = at as f64;
            let radius = ((at + 0.5) / count).sqrt();
            let (sin, cos) = (TAU * (at / GOLDEN).fract()).sin_cos();
            let moved = self.motion.camera_at(camera, time);
            through(&self.lens, moved, [radius * cos, radius * sin])
        };
        (0..self.samples).map(sample).collect()
    }
}

/// The number nearest to the golden section of `samples` from above that has no divisor in common with it.
fn step_of(samples: u32) -> u32 {
    fn greatest_common_divisor(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { greatest_common_divisor(b, a % b) }
    }
    let is_coprime = |step: &u32| greatest_common_divisor(samples, *step) == 1;
    let golden = f64::from(samples) / GOLDEN;
    (1..=samples).filter(|step| f64::from(*step) >= golden).find(is_coprime).unwrap_or(1)
}

/// The camera at a point of the unit disc of the lens: moved along its axes, with its picture shifted such that points at the
/// distance in focus stay in place.
fn through(lens: &Lens, camera: Camera, disc: [f64; 2]) -> Camera {
    let [x, y] = disc.map(|v| v * lens.radius());
    let mut moved = camera;
    moved.translation_in_view.x -= x;
    moved.translation_in_view.y -= y;
    moved.principal_px[0] += moved.focal_px[0] * x / lens.focus();
    moved.principal_px[1] += moved.focal_px[1] * y / lens.focus();
    moved
}

#[cfg(test)]
#[path = "tests/view_blur.rs"]
mod tests;
