//! FURBALL: a ball of hairs.

use super::instances::Dice;
use super::shapes::{BALL_PATCHES, Ball, ball_owners};
use crate::mesh::files::{Material, bounds};
use crate::mesh::surface::patches::{Geometry, Look, Surface, SurfacePoint, cross, plus, unit};

/// Hairs where nothing else is said. An assumption, and one that counts: the denser the fur, the
/// more of a visible hair is hidden.
pub(crate) const HAIRS: u32 = 6000;
/// Most hairs: their patches are held in memory.
pub(crate) const MAX_HAIRS: u32 = 1 << 22;
/// Lengths of hairs, least and greatest, in radii of the ball.
const LENGTHS: [f32; 2] = [0.5, 0.8];
/// Width of a hair at its root, in radii of the ball: about 3 pixels as seen from the viewpoint.
const ROOT_WIDTH: f32 = 0.01;
/// Width at its tip, about 1 pixel.
const TIP_WIDTH: f32 = 0.0035;

#[derive(Debug, Clone, Copy)]
struct Hair {
    /// Bezier points of the middle.
    curve: [[f32; 3]; 4],
    /// Across the ribbon at the root, of length 1.
    across: [f32; 3],
}

/// A ball of radius 1 with hairs, each a ribbon of one patch: u across, v from root to tip.
#[derive(Debug)]
struct FurBall(Vec<Hair>);

impl Surface {
    /// A ball of radius 1 with `hairs` hairs, at most [`MAX_HAIRS`].
    pub(crate) fn fur_ball(seed: u64, hairs: u32) -> Self {
        let hairs = u64::from(hairs.min(MAX_HAIRS));
        let named = |name: &str, colour, two_sided| Material {
            name: name.to_owned(),
            base_colour: colour,
            two_sided,
            ..Material::default()
        };
        let materials = vec![
            named("skin", [0.25, 0.15, 0.1], false),
            named("hair", [0.6, 0.4, 0.25], true),
        ];
        // The ball is the first draw, all hairs are the second.
        let mut parts = vec![[0; 2]; BALL_PATCHES];
        if hairs > 0 {
            parts.push([1; 2]);
        }
        let look = Look {
            materials,
            textures: Vec::new(),
            parts,
        };
        let hairs: Vec<Hair> = (0..hairs).map(|number| hair(seed, number)).collect();
        let patches = BALL_PATCHES + hairs.len();
        Self::new(FurBall(hairs), patches, ball_owners(), look)
    }
}

impl FurBall {
    /// The hair that a patch is; `None` for a patch of the ball.
    fn hair(&self, patch: usize) -> Option<&Hair> {
        self.0.get(patch.checked_sub(BALL_PATCHES)?)
    }
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

impl Geometry for FurBall {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        match self.hair(patch) {
            Some(hair) => hair.point(u, v),
            None => Ball.point(patch, u, v),
        }
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let Some(hair) = self.hair(patch) else {
            return Ball.patch_bounds(patch);
        };
        let [least, greatest] = bounds(hair.curve);
        [
            least.map(|x| x - ROOT_WIDTH),
            greatest.map(|x| x + ROOT_WIDTH),
        ]
    }
}
