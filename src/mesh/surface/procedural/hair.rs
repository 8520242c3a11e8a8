//! FURBALL: a ball of hairs.

use super::chance::Dice;
use super::sphere::Sphere;
use crate::mesh::files::{Material, Texture};
use crate::mesh::surface::{CornerOwner, SideOwner, Surface, SurfacePoint, cross, unit};

/// Hairs where nothing else is said. An assumption, and one that counts: the denser the fur, the
/// more of a visible hair is hidden.
pub const HAIRS: u32 = 6000;
/// Most hairs: their patches are held in memory.
pub const MAX_HAIRS: u32 = 1 << 22;
/// Lengths of hairs, least and greatest, in radii of the ball.
const LENGTHS: [f32; 2] = [0.5, 0.8];
/// Width of a hair at its root, in radii of the ball: about 3 pixels as seen from the viewpoint.
const ROOT_WIDTH: f32 = 0.01;
/// Width at its tip, about 1 pixel.
const TIP_WIDTH: f32 = 0.0035;

/// A hair: a ribbon along a cubic curve.
#[derive(Debug, Clone, Copy)]
struct Hair {
    /// Bezier points of the middle.
    curve: [[f32; 3]; 4],
    /// Across the ribbon at the root, of length 1.
    across: [f32; 3],
}

/// A ball of radius 1 with hairs, each a ribbon of one patch: u across, v from root to tip.
#[derive(Debug, Clone)]
pub struct FurBall {
    ball: Sphere,
    hairs: Vec<Hair>,
    materials: [Material; 2],
}

impl FurBall {
    /// The ball as chance with `seed` makes it, with so many hairs, at most [`MAX_HAIRS`].
    #[must_use]
    pub fn new(seed: u64, hairs: u32) -> Self {
        let hairs = u64::from(hairs.min(MAX_HAIRS));
        let named = |name: &str, colour, two_sided| Material {
            name: name.to_owned(),
            base_colour: colour,
            two_sided,
            ..Material::default()
        };
        let skin = named("skin", [0.25, 0.15, 0.1], false);
        Self {
            ball: Sphere::new(skin.clone()),
            hairs: (0..hairs).map(|number| hair(seed, number)).collect(),
            materials: [skin, named("hair", [0.6, 0.4, 0.25], true)],
        }
    }

    /// The hair that a patch is, if it is one.
    fn hair(&self, patch: usize) -> Option<&Hair> {
        self.hairs.get(patch.checked_sub(self.ball.patches())?)
    }
}

fn plus(a: [f32; 3], b: [f32; 3], times: f32) -> [f32; 3] {
    std::array::from_fn(|axis| a[axis] + times * b[axis])
}

/// A hair that leaves the ball upright, then bends aside and sags along -z.
fn hair(seed: u64, number: u64) -> Hair {
    let mut dice = Dice::new(seed, number);
    let (root, aside) = (dice.direction(), dice.direction());
    let third = dice.range(LENGTHS[0], LENGTHS[1]) / 3.0;
    let bent = |by: f32, sag: f32| {
        let leaning = plus(root, aside, by);
        unit(plus(leaning, [0.0, 0.0, -1.0], sag))
    };
    let first = plus(root, root, third);
    let second = plus(first, bent(0.4, 0.3), third);
    let tip = plus(second, bent(0.8, 0.9), third);
    let across = unit(cross(root, aside));
    Hair {
        curve: [root, first, second, tip],
        across: if across == [0.0; 3] {
            [1.0, 0.0, 0.0]
        } else {
            across
        },
    }
}

impl Hair {
    fn point(&self, u: f32, v: f32) -> SurfacePoint {
        let s = 1.0 - v;
        let weigh = |weights: [f32; 4]| -> [f32; 3] {
            let term = |axis: usize, k: usize| weights[k] * self.curve[k][axis];
            std::array::from_fn(|axis| (0..4).map(|k| term(axis, k)).sum())
        };
        let middle = weigh([s * s * s, 3.0 * s * s * v, 3.0 * s * v * v, v * v * v]);
        let along = weigh([-s * s, s * (s - 2.0 * v), v * (2.0 * s - v), v * v]);
        let normal = unit(cross(self.across, along));
        let width = ROOT_WIDTH + (TIP_WIDTH - ROOT_WIDTH) * v;
        SurfacePoint {
            position: plus(middle, self.across, (u - 0.5) * width),
            normal,
        }
    }
}

impl Surface for FurBall {
    fn patches(&self) -> usize {
        self.ball.patches() + self.hairs.len()
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        match self.hair(patch) {
            Some(hair) => hair.point(u, v),
            None => self.ball.point(patch, u, v),
        }
    }
    fn uv(&self, _patch: usize, u: f32, v: f32) -> [f32; 2] {
        [u, v]
    }
    fn side_owner(&self, patch: usize, side: usize) -> SideOwner {
        if self.hair(patch).is_none() {
            return self.ball.side_owner(patch, side);
        }
        SideOwner {
            patch: u32::try_from(patch).unwrap_or(u32::MAX),
            side: u8::try_from(side).unwrap_or(0),
            is_reversed: false,
            is_smooth: true,
            is_point: false,
        }
    }
    fn corner_owner(&self, patch: usize, corner: usize) -> CornerOwner {
        if self.hair(patch).is_none() {
            return self.ball.corner_owner(patch, corner);
        }
        CornerOwner {
            patch: u32::try_from(patch).unwrap_or(u32::MAX),
            corner: u8::try_from(corner).unwrap_or(0),
            is_smooth: true,
        }
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let Some(hair) = self.hair(patch) else {
            return self.ball.patch_bounds(patch);
        };
        let [least, greatest] = crate::mesh::surface::bounds_of(hair.curve);
        [
            least.map(|x| x - ROOT_WIDTH),
            greatest.map(|x| x + ROOT_WIDTH),
        ]
    }
    fn material(&self, patch: usize) -> u32 {
        u32::from(self.hair(patch).is_some())
    }
    fn draw(&self, patch: usize) -> u32 {
        self.material(patch)
    }
    fn materials(&self) -> &[Material] {
        &self.materials
    }
    fn textures(&self) -> &[Texture] {
        &[]
    }
}
