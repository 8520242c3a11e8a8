//! Copies of a surface: ARMY and PTCLOUD.

use super::chance::Dice;
use super::sphere::Sphere;
use crate::error::{Error, Result};
use crate::mesh::files::{Material, Texture};
use crate::mesh::surface::{CornerOwner, SideOwner, Surface, SurfacePoint, bounds_of, cross, unit};

/// Balls of PTCLOUD.
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

/// Copies of a surface. Each is drawn by itself.
#[derive(Debug, Clone)]
pub struct Instances<S> {
    base: S,
    copies: Vec<Instance>,
    /// Draws of the surface.
    draws: u32,
}

impl<S: Surface> Instances<S> {
    /// The copies of `base` in order.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are more than 2^32 patches in all.
    pub fn new(base: S, copies: Vec<Instance>) -> Result<Self> {
        let found = (base.patches() as u64).saturating_mul(copies.len() as u64);
        if found > u64::from(u32::MAX) {
            return Err(Error::Limit {
                what: "patches of all copies of a surface".to_owned(),
                limit: u64::from(u32::MAX),
                found,
            });
        }
        Ok(Self::unchecked(base, copies))
    }

    fn unchecked(base: S, copies: Vec<Instance>) -> Self {
        let last = base.patches().checked_sub(1);
        let draws = last.map_or(1, |patch| base.draw(patch) + 1);
        Self {
            base,
            copies,
            draws,
        }
    }

    /// The copy that a patch is of, its number, and the patch of the base.
    fn at(&self, patch: usize) -> (&Instance, usize, usize) {
        let patches = self.base.patches().max(1);
        let copy = patch / patches;
        (&self.copies[copy], copy, patch % patches)
    }

    /// The number of patch `own` of the copy that `patch` is of.
    fn beside(&self, patch: usize, own: u32) -> u32 {
        let (_, copy, _) = self.at(patch);
        u32::try_from(copy * self.base.patches()).unwrap_or(u32::MAX) + own
    }
}

impl<S: Surface> Surface for Instances<S> {
    fn patches(&self) -> usize {
        self.base.patches() * self.copies.len()
    }
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        let (copy, _, own) = self.at(patch);
        copy.placed(self.base.position(own, u, v))
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let (copy, _, own) = self.at(patch);
        let point = self.base.point(own, u, v);
        SurfacePoint {
            position: copy.placed(point.position),
            normal: copy.turned(point.normal),
        }
    }
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        self.base.uv(self.at(patch).2, u, v)
    }
    fn side_owner(&self, patch: usize, side: usize) -> SideOwner {
        let owner = self.base.side_owner(self.at(patch).2, side);
        SideOwner {
            patch: self.beside(patch, owner.patch),
            ..owner
        }
    }
    fn corner_owner(&self, patch: usize, corner: usize) -> CornerOwner {
        let owner = self.base.corner_owner(self.at(patch).2, corner);
        CornerOwner {
            patch: self.beside(patch, owner.patch),
            ..owner
        }
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let (copy, _, own) = self.at(patch);
        let bounds = self.base.patch_bounds(own);
        let corner =
            |c: usize| copy.placed(std::array::from_fn(|axis| bounds[c >> axis & 1][axis]));
        bounds_of((0..8).map(corner))
    }
    fn material(&self, patch: usize) -> u32 {
        self.base.material(self.at(patch).2)
    }
    fn draw(&self, patch: usize) -> u32 {
        let (_, copy, own) = self.at(patch);
        u32::try_from(copy)
            .unwrap_or(u32::MAX)
            .saturating_mul(self.draws)
            + self.base.draw(own)
    }
    fn materials(&self) -> &[Material] {
        self.base.materials()
    }
    fn textures(&self) -> &[Texture] {
        self.base.textures()
    }
}

/// ARMY: `rows` ranks of `columns` copies of a figure that stands along +y, on a field in x and z,
/// each a little off its place and turned a little. They are drawn in an order left to chance: from
/// no side is it the best or the worst for hiding what lies behind.
///
/// # Errors
/// [`Error::Limit`] when there are too many patches.
pub fn army<S: Surface>(figure: S, [columns, rows]: [u16; 2], seed: u64) -> Result<Instances<S>> {
    let [least, greatest] = figure.bounds();
    let width = |axis: usize| greatest[axis] - least[axis];
    let spacing = ARMY_SPACING * width(0).max(width(2));
    let middle = |count: u16| (f32::from(count) - 1.0) / 2.0;
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    let copies = (0..).zip(places).map(|(number, (column, row))| {
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
    Instances::new(figure, copies.into_iter().map(|(_, copy)| copy).collect())
}

/// PTCLOUD: small balls within the unit ball, denser towards the middle, thinned by waves that
/// leave streaks.
#[must_use]
pub fn point_cloud(seed: u64) -> Instances<Sphere> {
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
    Instances::unchecked(Sphere::new(material), (0..CLOUD_BALLS).map(ball).collect())
}
