//! Random numbers that depend only on seeds and positions: a generator per splat, low-discrepancy sequences, value noise.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

pub(crate) type Vec3 = nalgebra::Vector3<f32>;

/// Steps of the two-dimensional golden-ratio sequence, as fractions of 2^64: the inverse and the inverse square of the
/// plastic number (the real root of x^3 = x + 1). M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences".
const EVEN_STEPS: [u64; 2] = [0xc13f_a9a9_02a6_328f, 0x91e1_0da5_c79e_7b1d];

#[derive(Debug)]
pub(crate) struct Rng(Pcg32);

impl Rng {
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        Self(Pcg32::seed_from_u64(mixed(seed ^ mixed(index))))
    }

    /// Random number, uniform in 0 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        self.0.random()
    }

    pub(crate) fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Random number, nearly normal with mean 0 and standard deviation 1, within 3.5 (a sum of four uniform numbers). Rare
    /// outliers of a true normal distribution would be splats that cover half the scene.
    pub(crate) fn normal(&mut self) -> f32 {
        let sum: f32 = (0..4).map(|_| self.unit()).sum();
        (sum - 2.0) * 3f32.sqrt()
    }

    /// `exp` of a normal number with standard deviation `sigma`.
    pub(crate) fn log_normal(&mut self, sigma: f32) -> f32 {
        (self.normal() * sigma).exp()
    }

    pub(crate) fn direction(&mut self) -> Vec3 {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.range(0.0, std::f32::consts::TAU).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        Vec3::new(r * cos, r * sin, z)
    }
}

/// Returns item `number` of a sequence whose every prefix covers the unit square evenly.
pub(crate) fn even_pair(number: u64, seed: u64) -> [f32; 2] {
    let offset = mixed(seed);
    let at = |step: u64, offset: u64| fraction(number.wrapping_mul(step).wrapping_add(offset));
    [at(EVEN_STEPS[0], offset), at(EVEN_STEPS[1], mixed(offset))]
}

/// Returns item `number` of `count` along a Z-order curve through the unit square, so that consecutive items are close to
/// each other. Each item has a random position in its own 1/`count` of the curve, which is 1/`count` of the area.
pub(crate) fn pair_along_curve(number: u64, count: u64, seed: u64) -> [f32; 2] {
    let within = mixed(seed ^ mixed(number));
    let along = (u128::from(number) << 64 | u128::from(within)) / u128::from(count.max(1));
    // The curve's parameter as 64 bits; its even and odd bits are the two coordinates.
    #[allow(clippy::cast_possible_truncation, reason = "number < count, so it is below 2^64")]
    let along = along as u64;
    [along, along << 1].map(|bits| fraction(every_other_bit(bits) << 32))
}

/// Packs bits 63, 61, 59, ... into the low 32.
fn every_other_bit(bits: u64) -> u64 {
    let mut v = bits >> 1 & 0x5555_5555_5555_5555;
    for (shift, mask) in [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ] {
        v = (v | v >> shift) & mask;
    }
    v
}

/// Upper 24 bits as a number in 0 to 1 (excluded).
fn fraction(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1_u64 << 24) as f32
}

/// Mixes 64 bits bijectively; a changed bit changes about half of them (SplitMix64's finaliser).
fn mixed(value: u64) -> u64 {
    let v = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let v = (v ^ (v >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ (v >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ (v >> 31)
}

/// Value noise in -1 to 1 with features of one unit.
pub(crate) fn noise(p: Vec3, salt: u64) -> f32 {
    let cell = p.map(f32::floor);
    let f = (p - cell).map(|t| t * t * (3.0 - 2.0 * t));
    let corner = |dx: f32, dy: f32, dz: f32| {
        let bits = |v: f32| u64::from(v.to_bits());
        let h = bits(cell.x + dx + 0.5)
            ^ (bits(cell.y + dy + 0.5) << 21)
            ^ (bits(cell.z + dz + 0.5) << 32).rotate_left(11);
        fraction(mixed(h ^ salt.wrapping_mul(0x2545_f491_4f6c_dd1d))) * 2.0 - 1.0
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let edge = |dy, dz| mix(corner(0.0, dy, dz), corner(1.0, dy, dz), f.x);
    let face = |dz| mix(edge(0.0, dz), edge(1.0, dz), f.y);
    mix(face(0.0), face(1.0), f.z)
}

/// Sum of `octaves` of noise, each at half the size and strength of the previous; about -1 to 1.
pub(crate) fn fractal(p: Vec3, octaves: u32, salt: u64) -> f32 {
    let (mut sum, mut size, mut strength) = (0.0, 1.0, 0.5);
    for octave in 0..octaves {
        sum += strength * noise(p * size, salt + u64::from(octave));
        size *= 2.03;
        strength *= 0.5;
    }
    sum
}

/// Smooth step from 0 at `low` to 1 at `high`; `low` may be above `high`.
pub(crate) fn step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
