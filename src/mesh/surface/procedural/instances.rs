//! Copies of a surface: ARMY and PTCLOUD.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::error::{Error, Result};
use crate::mesh::files::{Material, bounds};
use crate::mesh::surface::patches::{Geometry, Surface, SurfacePoint, box_corners, cross, unit};

const CLOUD_BALLS: u64 = 20_000;
/// Their radii in world units, least and greatest: 2 to 6 pixels as seen from its viewpoint.
const CLOUD_RADII: [f32; 2] = [0.005, 0.015];
/// Distance between the members of an army, in widths of one.
const ARMY_SPACING: f32 = 1.15;

/// A copy: turned, made larger, then moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Rows of a rotation.
    pub rotation: [[f32; 3]; 3],
    /// Factor above zero.
    pub scale: f32,
    /// In world units.
    pub translation: [f32; 3],
}

impl Instance {
    fn turned(&self, v: [f32; 3]) -> [f32; 3] {
        self.rotation
            .map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
    }

    fn placed(&self, position: [f32; 3]) -> [f32; 3] {
        let turned = self.turned(position);
        std::array::from_fn(|axis| self.scale * turned[axis] + self.translation[axis])
    }
}

/// Copies of a surface. Each is a draw, or several, of its own.
#[derive(Debug)]
struct Instances {
    base: Surface,
    copies: Vec<Instance>,
}

impl Surface {
    /// Copies of the surface, in order.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are more than 2^32 patches in all.
    pub(crate) fn instances(self, copies: Vec<Instance>) -> Result<Self> {
        let found = (self.patches() as u64).saturating_mul(copies.len() as u64);
        if found > u64::from(u32::MAX) {
            return Err(Error::Limit {
                what: "patches of all copies of a surface".to_owned(),
                limit: u64::from(u32::MAX),
                found,
            });
        }
        Ok(self.repeated(copies))
    }

    fn repeated(self, copies: Vec<Instance>) -> Self {
        let count = copies.len();
        let base = self.clone();
        self.with_geometry(Instances { base, copies }, count)
    }
}

impl Instances {
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
        SurfacePoint {
            position: copy.placed(point.position),
            normal: copy.turned(point.normal),
        }
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
    /// ARMY: `rows` ranks of `columns` copies of a figure that stands along +y, on a field in x and
    /// z, each a little off its grid position and turned a little. They are drawn in random order:
    /// from no side is it the best or the worst for hiding what lies behind.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are more than 2^32 patches in all.
    pub fn army(self, [columns, rows]: [u16; 2], seed: u64) -> Result<Self> {
        let [least, greatest] = self.bounds();
        let width = |axis: usize| greatest[axis] - least[axis];
        let spacing = ARMY_SPACING * width(0).max(width(2));
        let middle = |count: u16| (f32::from(count) - 1.0) / 2.0;
        let positions = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let copies = (0..).zip(positions).map(|(number, (column, row))| {
            let mut dice = Dice::new(seed, number);
            let (sin, cos) = dice.range(-0.5, 0.5).sin_cos();
            let mut off = || dice.range(-0.1, 0.1) * spacing;
            let x = (f32::from(column) - middle(columns)) * spacing + off();
            let z = (f32::from(row) - middle(rows)) * spacing + off();
            let copy = Instance {
                rotation: [[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]],
                scale: 1.0,
                translation: [x, 0.0, z],
            };
            (dice.range(0.0, 1.0), copy)
        });
        let mut copies: Vec<(f32, Instance)> = copies.collect();
        copies.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.instances(copies.into_iter().map(|(_, copy)| copy).collect())
    }
}

/// PTCLOUD: small balls within the unit ball, denser towards the middle, thinned by waves that
/// leave streaks.
pub(super) fn point_cloud(seed: u64) -> Surface {
    let ball = |number: u64| {
        let mut dice = Dice::new(seed, number);
        let away = dice.direction();
        let distance = dice.range(0.0, 1.0).powf(0.6);
        let wave = 0.12 * (7.0 * away[2] + 5.0 * distance).sin();
        let x_axis = dice.direction();
        let y_axis = unit(cross(x_axis, away));
        let z_axis = cross(x_axis, y_axis);
        let is_frame = y_axis != [0.0; 3];
        Instance {
            rotation: if is_frame {
                [x_axis, y_axis, z_axis]
            } else {
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            },
            scale: dice.range(CLOUD_RADII[0], CLOUD_RADII[1]),
            translation: away.map(|x| x * (distance + wave)),
        }
    };
    let material = Material {
        name: "ball".to_owned(),
        ..Material::default()
    };
    Surface::ball(material).repeated((0..CLOUD_BALLS).map(ball).collect())
}

/// Random numbers that depend on a seed and an item's number only, so that scenes are the same on
/// any thread.
pub(super) struct Dice(Pcg32);

impl Dice {
    pub(super) fn new(seed: u64, index: u64) -> Self {
        // Weyl's sequence by the golden ratio keeps items apart, as SplitMix64 does.
        let apart = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Pcg32::seed_from_u64(seed ^ apart))
    }

    /// Uniform from `low` to `high`.
    pub(super) fn range(&mut self, low: f32, high: f32) -> f32 {
        let t: f32 = self.0.random();
        low + (high - low) * t
    }

    /// A direction, uniform over the sphere.
    pub(super) fn direction(&mut self) -> [f32; 3] {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.range(0.0, std::f32::consts::TAU).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        [r * cos, r * sin, z]
    }
}
