//! Seeded scenes in memory, for benches.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "benches")]

use nalgebra::{Matrix3, Vector3};
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::Splat;
use quadrille::Splats;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A cloud of splats that fills a camera's view, in random order of depth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cloud {
    /// Number of splats.
    pub(crate) splats: usize,
    /// Width in pixels of the picture for which `sigma_px` holds.
    pub(crate) width: u32,
    /// Height in pixels of the same picture.
    pub(crate) height: u32,
    /// Typical standard deviation of a splat in that picture, in pixels.
    pub(crate) sigma_px: f64,
    /// Degree of the spherical harmonics.
    pub(crate) sh_degree: u8,
}

impl Cloud {
    /// Camera at the origin that looks along z, with a vertical field of view of 50 degrees.
    pub(crate) fn camera(&self) -> Camera {
        let lens = Intrinsics::from_vertical_fov(self.width, self.height, 0.873);
        Camera::new("bench", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
    }

    /// Builds the splats, which are the same on every run.
    pub(crate) fn build(&self) -> Splats {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let camera = self.camera();
        Splats::from_splats(
            self.sh_degree,
            (0..self.splats).map(|_| self.splat(&mut random, &camera)),
        )
    }

    fn splat(&self, random: &mut Pcg64Mcg, camera: &Camera) -> Splat {
        let mut within = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        let depth = within(2.0, 8.0);
        let [tan_x, tan_y] = camera.half_fov_tangents();
        let mean = [within(-1.0, 1.0) * tan_x * depth, within(-1.0, 1.0) * tan_y * depth, depth];
        // The splats are flat: one of three axes is short.
        let typical = self.sigma_px * depth / camera.focal_px[0];
        let scale = [1.0, 1.0, 0.1].map(|axis| (typical * axis * within(0.4, 1.6)) as f32);
        let turned: [f64; 4] = std::array::from_fn(|_| within(-1.0, 1.0));
        let norm = turned.iter().map(|q| q * q).sum::<f64>().sqrt();
        // Half of the splats are nearly opaque, as in trained scenes.
        let opacity = if within(0.0, 1.0) < 0.5 { within(0.7, 1.0) } else { within(0.01, 0.3) };
        Splat {
            mean: mean.map(|m| m as f32),
            scale,
            rotation: turned.map(|q| (q / norm) as f32),
            opacity: opacity as f32,
            sh: std::array::from_fn(|_| std::array::from_fn(|_| within(-0.3, 0.5) as f32)),
        }
    }
}
