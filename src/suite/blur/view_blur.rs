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
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn camera() -> Camera {
        let [eye, target, up] = [[1.0, 0.5, -4.0], [0.0; 3], [0.0, -1.0, 0.0]].map(Vector3::from);
        let intrinsics = quadrille_scene::Intrinsics::from_vertical_fov(640, 480, 0.8);
        Camera::look_at("a", intrinsics, eye, target, up).unwrap()
    }

    fn project(camera: &Camera, point: Vector3<f64>) -> [f64; 2] {
        let p = camera.view_from_world * point + camera.translation_in_view;
        [0, 1].map(|k| camera.focal_px[k] * p[k] / p.z + camera.principal_px[k])
    }

    #[test]
    fn points_in_focus_stay_and_others_fill_their_circle() {
        let (camera, lens) = (camera(), Lens::new(0.2, 3.0).unwrap());
        let blur = ViewBlur::new(&camera, CameraMotion::NONE, lens, 64).unwrap();
        let at = |depth: f64| {
            let view = Vector3::new(0.3, -0.2, depth) - camera.translation_in_view;
            let point = camera.view_from_world.transpose() * view;
            let middle = project(&camera, point);
            let offsets = blur.cameras(&camera).into_iter().map(move |sample| {
                let [x, y] = project(&sample, point);
                [x - middle[0], y - middle[1]]
            });
            offsets.collect::<Vec<_>>()
        };
        assert!(at(3.0).iter().flatten().all(|offset| offset.abs() < 1e-9));
        let radius = lens.shear(camera.focal_px).coc_px(6.0) / 2.0;
        let offsets = at(6.0);
        let farthest = offsets.iter().map(|[x, y]| x.hypot(*y)).fold(0.0, f64::max);
        assert!(farthest < radius + 1e-3 && farthest > 0.98 * radius, "{farthest} of {radius}");
        let mean = [0, 1].map(|k| offsets.iter().map(|o| o[k]).sum::<f64>() / 64.0);
        assert!(mean[0].hypot(mean[1]) < 0.03 * radius, "{mean:?} of {radius}");
        // A quarter of the samples lies within half of the radius.
        let inner = offsets.iter().filter(|[x, y]| x.hypot(*y) < radius / 2.0).count();
        assert_eq!(inner, 16);
    }

    #[test]
    fn samples_cover_the_time_and_time_and_radius_together() {
        let camera = camera();
        let motion = CameraMotion::in_view(&camera, [1.0, 0.0, 0.0], [0.0; 3]);
        let lens = Lens::new(0.1, f64::INFINITY).unwrap();
        for samples in [1_u32, 2, 7, 16, 64, 100] {
            let still = ViewBlur::new(&camera, motion, Lens::PINHOLE, samples).unwrap();
            for (at, sample) in still.cameras(&camera).iter().enumerate() {
                let moved = (sample.eye() - camera.eye()).norm();
                let expected = (at as f64 + 0.5) / f64::from(samples);
                assert!((moved - expected).abs() < 1e-9, "{samples}, {at}: {moved}");
            }
        }
        let blur = ViewBlur::new(&camera, CameraMotion::NONE, lens, 64).unwrap();
        let radii =
            blur.cameras(&camera).into_iter().map(|sample| (sample.eye() - camera.eye()).norm());
        let early = radii.take(32).filter(|radius| *radius < 0.1 * 0.5_f64.sqrt()).count();
        assert!(
            (14..=18).contains(&early),
            "{early} of the first 32 samples are in the inner half"
        );
        for bad in [0, 4097] {
            assert!(ViewBlur::new(&camera, motion, lens, bad).is_err());
        }
        let fisheye = camera.clone().through_fisheye(2.0);
        assert!(ViewBlur::new(&fisheye, motion, lens, 4).is_err());
        assert!(ViewBlur::new(&fisheye, motion, Lens::PINHOLE, 4).is_ok());
    }
}
