//! Scenes made of copies of a surface: ARMY and PTCLOUD.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::files::{Material, bounds};
use crate::surface::patches::{Geometry, Surface, SurfacePoint, box_corners, cross, unit};
use quadrille_base::error::{Error, Result};

const CLOUD_BALLS: u64 = 20_000;
/// Least and greatest radius of balls in world units: 2 to 6 pixels from the viewpoint of the scene.
const CLOUD_RADII: [f32; 2] = [0.005, 0.015];
/// Distance between figures, in widths of a figure.
const ARMY_SPACING: f32 = 1.15;

/// Placement of a copy of a surface: a rotation, then a scale, then a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Rows of the rotation matrix.
    pub rotation: [[f32; 3]; 3],
    /// Scale factor, above zero.
    pub scale: f32,
    /// Translation in world units.
    pub translation: [f32; 3],
}

impl Instance {
    fn rotated(&self, v: [f32; 3]) -> [f32; 3] {
        self.rotation.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
    }

    fn placed(&self, position: [f32; 3]) -> [f32; 3] {
        let rotated = self.rotated(position);
        std::array::from_fn(|axis| self.scale * rotated[axis] + self.translation[axis])
    }
}

#[derive(Debug)]
struct Instances {
    base: Surface,
    copies: Vec<Instance>,
}

impl Instances {
    fn of(surface: Surface, copies: Vec<Instance>) -> Surface {
        let count = copies.len();
        let base = surface.clone();
        surface.with_geometry(Self { base, copies }, count)
    }

    fn at(&self, patch: usize) -> (&Instance, usize) {
        let patches = self.base.patches().max(1);
        (&self.copies[patch / patches], patch % patches)
    }
}

impl Geometry for Instances {
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        let (copy, own) = self.at(patch);
        copy.placed(self.base.position(own, u, v))
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let (copy, own) = self.at(patch);
        let point = self.base.point(own, u, v);
        SurfacePoint { position: copy.placed(point.position), normal: copy.rotated(point.normal) }
    }
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        self.base.uv(self.at(patch).1, u, v)
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let (copy, own) = self.at(patch);
        bounds(box_corners(self.base.patch_bounds(own)).map(|corner| copy.placed(corner)))
    }
}

impl Surface {
    /// Creates ARMY: `rows` x `columns` copies of a figure that stands along +y, on a field in x and z. They are slightly
    /// displaced and rotated, and in random order, so that occlusion is neither best nor worst from any viewpoint.
    ///
    /// # Errors
    /// [`Error::Limit`] when the copies have more than 2^32 patches.
    pub fn army(self, [columns, rows]: [u16; 2], seed: u64) -> Result<Self> {
        let found = (self.patches() as u64)
            .saturating_mul(u64::from(columns))
            .saturating_mul(u64::from(rows));
        Error::check_limit("patches of all copies of a surface", u32::MAX.into(), found)?;
        let [least, greatest] = self.bounds();
        let width = |axis: usize| greatest[axis] - least[axis];
        let spacing = ARMY_SPACING * width(0).max(width(2));
        let middle = |count: u16| (f32::from(count) - 1.0) / 2.0;
        let positions = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let copies = (0..).zip(positions).map(|(number, (column, row))| {
            let mut rng = Rng::new(seed, number);
            let (sin, cos) = rng.range(-0.5, 0.5).sin_cos();
            let mut off = || rng.range(-0.1, 0.1) * spacing;
            let x = (f32::from(column) - middle(columns)) * spacing + off();
            let z = (f32::from(row) - middle(rows)) * spacing + off();
            let copy = Instance {
                rotation: [[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]],
                scale: 1.0,
                translation: [x, 0.0, z],
            };
            (rng.range(0.0, 1.0), copy)
        });
        let mut copies: Vec<(f32, Instance)> = copies.collect();
        copies.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Instances::of(self, copies.into_iter().map(|(_, copy)| copy).collect()))
    }
}

/// Creates PTCLOUD: small balls in the unit ball, denser towards its centre, with streaks of waves.
pub(super) fn point_cloud(seed: u64) -> Surface {
    let ball = |number: u64| {
        let mut rng = Rng::new(seed, number);
        let away = rng.direction();
        let distance = rng.range(0.0, 1.0).powf(0.6);
        let wave = 0.12 * (7.0 * away[2] + 5.0 * distance).sin();
        let x_axis = rng.direction();
        let y_axis = unit(cross(x_axis, away));
        let z_axis = cross(x_axis, y_axis);
        Instance {
            rotation: match y_axis {
                [0.0, 0.0, 0.0] => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                _ => [x_axis, y_axis, z_axis],
            },
            scale: rng.range(CLOUD_RADII[0], CLOUD_RADII[1]),
            translation: away.map(|x| x * (distance + wave)),
        }
    };
    let material = Material { name: "ball".to_owned(), ..Material::default() };
    Instances::of(Surface::ball(material), (0..CLOUD_BALLS).map(ball).collect())
}

/// Random numbers that depend only on a seed and the index of an item, so that scenes do not depend on threads.
pub(super) struct Rng(Pcg32);

impl Rng {
    pub(super) fn new(seed: u64, index: u64) -> Self {
        // As in SplitMix64, a Weyl sequence of the golden ratio separates the items.
        let apart = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Pcg32::seed_from_u64(seed ^ apart))
    }

    pub(super) fn range(&mut self, low: f32, high: f32) -> f32 {
        let t: f32 = self.0.random();
        low + (high - low) * t
    }

    pub(super) fn direction(&mut self) -> [f32; 3] {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.range(0.0, std::f32::consts::TAU).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        [r * cos, r * sin, z]
    }
}
