//! Seeded scenes and cameras that are difficult to render.

use nalgebra::Vector3;
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::Splat;
use quadrille::Splats;
use quadrille_scene::rest_coefficients;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Near planes of the profiles; some splats are placed near them.
const NEAR_PLANES: [f64; 2] = [0.2, 0.01];

/// A seeded random number generator.
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Uniform in [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// Nearly normal: mean 0, standard deviation 1, at most 6. The sum of twelve uniform numbers does not
    /// depend on a mathematics library.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.0.random::<f64>()).sum::<f64>() - 6.0
    }

    /// True once in `n`.
    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.0.random_range(0..n) == 0
    }

    /// One of `values`.
    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.0.random_range(0..values.len())]
    }

    fn point(&mut self, half_side: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-half_side, half_side))
    }
}

/// A random camera whose principal point is not centred.
pub(crate) fn camera(random: &mut Random, width: u32, height: u32) -> Camera {
    let mut lens = Intrinsics::from_vertical_fov(width, height, random.between(0.4, 1.8));
    lens.focal_px[0] *= random.between(0.8, 1.25);
    lens.principal_px[0] += random.between(-0.2, 0.2) * f64::from(width);
    lens.principal_px[1] += random.between(-0.2, 0.2) * f64::from(height);
    let (eye, target) = (random.point(4.0), random.point(1.0));
    let up = Vector3::new(random.between(-0.3, 0.3), -1.0, 0.2);
    Camera::look_at("random", lens, eye, target, up).unwrap()
}

/// `len` splats around `camera`: most in view, others behind it, at a near plane or far off screen;
/// opacities near 0 and near 1; scales log-normal, needles and flakes of 1:1000, some huge, some
/// tiny; spherical harmonics of degree `sh_degree`.
pub(crate) fn splats(random: &mut Random, camera: &Camera, len: usize, sh_degree: u8) -> Splats {
    Splats::from_splats(sh_degree, (0..len).map(|_| splat(random, camera, sh_degree)))
}

fn splat(random: &mut Random, camera: &Camera, sh_degree: u8) -> Splat {
    let in_view = position_in_view(random, camera);
    let mean = camera.view_from_world.transpose() * (in_view - camera.translation_in_view);
    let rotation: [f64; 4] = std::array::from_fn(|_| random.normal());
    let norm = rotation.iter().map(|q| q * q).sum::<f64>().sqrt().max(1e-9);
    let mut sh = [[0.0; 3]; 25];
    sh[0] = std::array::from_fn(|_| (random.normal() * 1.2) as f32);
    for rgb in &mut sh[1..=rest_coefficients(sh_degree)] {
        *rgb = std::array::from_fn(|_| (random.normal() * 0.15) as f32);
    }
    Splat {
        mean: std::array::from_fn(|i| mean[i] as f32),
        scale: scale(random, in_view.z.abs().max(0.05)),
        rotation: rotation.map(|q| (q / norm) as f32),
        opacity: opacity(random) as f32,
        sh,
    }
}

fn position_in_view(random: &mut Random, camera: &Camera) -> Vector3<f64> {
    let depth = 0.3 * 40_f64.powf(random.between(0.0, 1.0));
    let [tan_x, tan_y] = camera.half_fov_tangents();
    let mut at = |z: f64, spread: f64| {
        let x = random.between(-spread, spread) * tan_x * z;
        Vector3::new(x, random.between(-spread, spread) * tan_y * z, z)
    };
    let inside = at(depth, 1.2);
    let (behind, off_screen) = (at(-depth, 2.0), at(depth, 60.0));
    let near = random.one_of(&NEAR_PLANES) + random.normal() * 1e-3;
    let nearby =
        Vector3::new(random.between(-1.0, 1.0) * near, random.between(-1.0, 1.0) * near, near);
    match random.between(0.0, 1.0) {
        u if u < 0.75 => inside,
        u if u < 0.83 => behind,
        u if u < 0.91 => off_screen,
        _ => nearby,
    }
}

fn scale(random: &mut Random, depth: f64) -> [f32; 3] {
    let typical = depth * 0.02 * (random.normal() * 0.8).exp();
    let typical = match random.between(0.0, 1.0) {
        u if u < 0.02 => typical * 300.0,
        u if u < 0.10 => typical * 1e-4,
        _ => typical,
    };
    // Half of the splats are needles or flakes.
    let spread = if random.one_in(2) { 2.3 } else { 0.4 };
    std::array::from_fn(|_| (typical * (random.normal() * spread).clamp(-4.6, 2.3).exp()) as f32)
}

fn opacity(random: &mut Random) -> f64 {
    match random.between(0.0, 1.0) {
        u if u < 0.45 => random.between(0.9, 1.0),
        u if u < 0.85 => random.between(0.0, 0.15),
        u if u < 0.88 => random.one_of(&[0.0, 1.0, 1.0 / 255.0]),
        _ => random.between(0.0, 1.0),
    }
}
