//! Chance that depends on seeds and numbers only, so that scenes are the same on any thread.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

/// Random numbers of one thing of a scene.
pub(super) struct Dice(Pcg32);

impl Dice {
    /// The dice of item `index` under `seed`.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        // Weyl's sequence by the golden ratio keeps items apart, as SplitMix64 does.
        let apart = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Pcg32::seed_from_u64(seed ^ apart))
    }

    /// Even in `low` to `high`.
    pub(super) fn range(&mut self, low: f32, high: f32) -> f32 {
        let t: f32 = self.0.random();
        low + (high - low) * t
    }

    /// A direction, even over the sphere.
    pub(super) fn direction(&mut self) -> [f32; 3] {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.range(0.0, std::f32::consts::TAU).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        [r * cos, r * sin, z]
    }
}
