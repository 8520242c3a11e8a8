//! FROG, a substitute for the scene of that name in the paper: a body and a head with skin displaced at a high
//! frequency, so that triangles of one grid hide each other, and two eyes.

use super::shapes::{BALL_PATCHES, ball_direction, ball_owners};
use crate::files::Material;
use crate::surface::patches::{Geometry, PatchMaterials, Surface, SurfacePoint, add_scaled, unit};

/// Displacement of the skin by noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bumps {
    /// Cells of noise per world unit.
    pub frequency: f32,
    /// Greatest displacement in world units.
    pub height: f32,
}

impl Default for Bumps {
    /// Assumed values: cells of about three pixels from the viewpoint, twice as high as wide, so that the skin folds.
    fn default() -> Self {
        Self { frequency: 120.0, height: 0.02 }
    }
}

/// Centre and radii of an ellipsoid, and the factor on its displacement.
type Part = ([f32; 3], [f32; 3], f32);
const PARTS: [Part; 4] = [
    ([0.0, 0.35, 0.0], [0.85, 1.0, 0.62], 1.0),
    ([0.0, -0.7, 0.25], [0.62, 0.55, 0.45], 1.0),
    ([-0.34, -0.8, 0.62], [0.18, 0.18, 0.18], 0.0),
    ([0.34, -0.8, 0.62], [0.18, 0.18, 0.18], 0.0),
];
/// Distance in cells over which slopes of the noise are measured (assumed).
const SLOPE_REACH: f32 = 0.02;

#[derive(Debug)]
struct Frog {
    bumps: Bumps,
    seed: u64,
}

impl Surface {
    /// Creates FROG with displacement from the noise of `seed`.
    pub fn frog(bumps: Bumps, seed: u64) -> Self {
        let material = Material {
            name: "skin".to_owned(),
            base_colour: [0.16, 0.3, 0.08],
            ..Material::default()
        };
        let frog = Frog { bumps, seed };
        let ball = PatchMaterials::single(material);
        Self::new(Frog { bumps, seed }, BALL_PATCHES, ball_owners(), ball)
            .with_geometry(frog, PARTS.len())
    }
}

impl Frog {
    /// Noise at a point given in cells: 0 to 1, interpolated cubically between random values at integer points.
    fn noise(&self, at: [f32; 3]) -> f32 {
        let cell = at.map(f32::floor);
        let weights: [f32; 3] = std::array::from_fn(|axis| {
            let t = at[axis] - cell[axis];
            t * t * (3.0 - 2.0 * t)
        });
        let corner = |number: usize| {
            let on = |axis: usize| number >> axis & 1 == 1;
            let weight = |axis: usize| if on(axis) { weights[axis] } else { 1.0 - weights[axis] };
            let steps = |axis: usize| cell[axis] + if on(axis) { 1.0 } else { 0.0 };
            self.random([0, 1, 2].map(steps)) * weight(0) * weight(1) * weight(2)
        };
        (0..8).map(corner).sum()
    }

    fn random(&self, point: [f32; 3]) -> f32 {
        // The finaliser of SplitMix64 (Steele, Lea and Flood 2014), chained over the coordinates.
        let hash = point.iter().fold(self.seed, |hash, x| {
            let mut h = (hash ^ u64::from(x.to_bits())).wrapping_add(0x9e37_79b9_7f4a_7c15);
            h = (h ^ h >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            h = (h ^ h >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            h ^ h >> 31
        });
        (hash >> 40) as f32 / (1_u64 << 24) as f32
    }
}

impl Geometry for Frog {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let (centre, radii, share) = PARTS[patch / BALL_PATCHES];
        let away = ball_direction(patch % BALL_PATCHES, [u, v]);
        let base = std::array::from_fn(|axis| centre[axis] + radii[axis] * away[axis]);
        let out = unit(std::array::from_fn(|axis| away[axis] / radii[axis]));
        let cells: [f32; 3] = base.map(|x| x * self.bumps.frequency);
        let height = self.noise(cells);
        let slope: [f32; 3] = std::array::from_fn(|axis| {
            let mut beside = cells;
            beside[axis] += SLOPE_REACH;
            (self.noise(beside) - height) / SLOPE_REACH * self.bumps.frequency
        });
        let by = share * self.bumps.height;
        let outwards: f32 = (0..3).map(|axis| slope[axis] * out[axis]).sum();
        let along = add_scaled(slope, out, -outwards);
        SurfacePoint {
            position: add_scaled(base, out, by * height),
            normal: unit(add_scaled(out, along, -by)),
        }
    }

    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let (centre, radii, _) = PARTS[patch / BALL_PATCHES];
        let reach = |sign: f32| {
            let most = |axis: usize| radii[axis] + self.bumps.height.abs();
            std::array::from_fn(|axis| centre[axis] + sign * most(axis))
        };
        [reach(-1.0), reach(1.0)]
    }
}
