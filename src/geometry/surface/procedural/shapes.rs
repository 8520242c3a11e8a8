//! Shapes defined by formulas: height fields over a rectangle (PLANE and SINEWAVE), a ball, and a ball of hairs (FURBALL).

use super::instances::Rng;
use crate::files::{Material, bounds};
use crate::surface::owners::{Owners, PatchKeys};
use crate::surface::patches::{
    CORNERS, Geometry, PatchMaterials, Surface, SurfacePoint, add_scaled, cross, unit,
};
use quadrille_base::choice;

/// Sine wave of heights: `amplitude * sin(along . (x, y) + phase)`.
#[derive(Debug)]
struct Wave {
    amplitude: f32,
    /// Wave vector in radians per world unit.
    along: [f32; 2],
    phase: f32,
}

/// Rectangle of patches around the origin at z = 0, facing up, with heights from waves.
#[derive(Debug)]
struct Sheet {
    counts: [u16; 2],
    lengths: [f32; 2],
    waves: Vec<Wave>,
}

/// PLANE: 24 x 15 patches over 3.2 x 2 world units.
pub(super) fn plane() -> Surface {
    sheet([24, 15], [3.2, 2.0], Vec::new())
}

/// SINEWAVE: 32 x 32 patches over 6 x 6 world units, with crossing waves that occlude each other.
pub(super) fn sine_wave() -> Surface {
    let wave = |length: f32, amplitude: f32, degrees: f32, phase: f32| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let k = std::f32::consts::TAU / length;
        Wave { amplitude, along: [k * cos, k * sin], phase }
    };
    let waves = vec![
        wave(1.0, 0.1, 90.0, 0.0),
        wave(0.7, 0.06, 62.0, 1.1),
        wave(0.45, 0.04, 121.0, 2.3),
        wave(0.25, 0.025, 80.0, 4.0),
    ];
    sheet([32, 32], [6.0, 6.0], waves)
}

fn sheet(counts: [u16; 2], lengths: [f32; 2], waves: Vec<Wave>) -> Surface {
    let [columns, rows] = counts.map(u32::from);
    let keys = |(x, y)| PatchKeys::smooth([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]);
    let patches = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
    let owners = Owners::new(patches.map(keys));
    let patch_materials = PatchMaterials::single(Material {
        name: "sheet".to_owned(),
        two_sided: true,
        ..Material::default()
    });
    let patches = (columns * rows) as usize;
    Surface::new(Sheet { counts, lengths, waves }, patches, owners, patch_materials)
}

impl Geometry for Sheet {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let [s, t] = self.whole(patch, u, v);
        let (x, y) = ((s - 0.5) * self.lengths[0], (t - 0.5) * self.lengths[1]);
        let (mut z, mut slope) = (0.0, [0.0; 2]);
        for wave in &self.waves {
            let angle = wave.along[0] * x + wave.along[1] * y + wave.phase;
            let (sin, cos) = angle.sin_cos();
            z += wave.amplitude * sin;
            slope[0] += wave.amplitude * wave.along[0] * cos;
            slope[1] += wave.amplitude * wave.along[1] * cos;
        }
        SurfacePoint { position: [x, y, z], normal: unit([-slope[0], -slope[1], 1.0]) }
    }
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let [s, t] = self.whole(patch, u, v);
        [s, 1.0 - t]
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let height: f32 = self.waves.iter().map(|wave| wave.amplitude).sum();
        let [low, high] = [0.0, 1.0].map(|t| self.point(patch, t, t).position);
        [[low[0], low[1], -height], [high[0], high[1], height]]
    }
}

impl Sheet {
    fn whole(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let columns = usize::from(self.counts[0]);
        let (column, row) = (patch % columns, patch / columns);
        [
            (column as f32 + u) / f32::from(self.counts[0]),
            (row as f32 + v) / f32::from(self.counts[1]),
        ]
    }
}

/// Axes of u and v of each patch of a ball; the third axis points outwards.
const FRAMES: [[[i8; 3]; 2]; 6] = [
    [[1, 0, 0], [0, 1, 0]],
    [[0, 1, 0], [1, 0, 0]],
    [[0, 1, 0], [0, 0, 1]],
    [[0, 0, 1], [0, 1, 0]],
    [[0, 0, 1], [1, 0, 0]],
    [[1, 0, 0], [0, 0, 1]],
];
pub(super) const BALL_PATCHES: usize = FRAMES.len();

/// Unit ball of six patches, the faces of a cube projected onto a sphere.
#[derive(Debug)]
struct Ball;

pub(super) fn ball_owners() -> Owners {
    let corner = |patch: usize, c: usize| on_cube(patch, CORNERS[c]).map(|x| x > 0.0);
    let corners = |patch: usize| std::array::from_fn(|c| corner(patch, c));
    Owners::new((0..BALL_PATCHES).map(|patch| PatchKeys::smooth(corners(patch))))
}

impl Surface {
    /// Creates a ball of radius 1 around the origin, with one material.
    pub fn ball(material: Material) -> Self {
        Self::new(Ball, BALL_PATCHES, ball_owners(), PatchMaterials::single(material))
    }
}

fn on_cube(patch: usize, [u, v]: [f32; 2]) -> [f32; 3] {
    let [along_u, along_v] = FRAMES[patch].map(|axis| axis.map(f32::from));
    let out = cross(along_u, along_v);
    // Tangents of equal angles give more uniform patches than equal steps on the cube.
    let [s, t] = [u, v].map(|x| ((x - 0.5) * std::f32::consts::FRAC_PI_2).tan());
    std::array::from_fn(|axis| out[axis] + s * along_u[axis] + t * along_v[axis])
}

pub(super) fn ball_direction(patch: usize, uv: [f32; 2]) -> [f32; 3] {
    unit(on_cube(patch, uv))
}

impl Geometry for Ball {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let normal = ball_direction(patch, [u, v]);
        SurfacePoint { position: normal, normal }
    }
    fn patch_bounds(&self, _patch: usize) -> [[f32; 3]; 2] {
        [[-1.0; 3], [1.0; 3]]
    }
}

pub(super) const FUR_EYE: [f64; 3] = [0.5, -5.0, 1.0];
/// Default number of hairs (assumed). It affects results, since denser fur occludes more of each hair.
pub const HAIRS: u32 = 6000;
/// Maximum number of hairs, which limits the memory of their patches.
pub const MAX_HAIRS: u32 = 1 << 22;
/// Least and greatest length of hairs, in radii of the ball.
const LENGTHS: [f32; 2] = [0.5, 0.8];
/// Width of hairs at the root, in radii of the ball: about 3 pixels from the viewpoint.
const ROOT_WIDTH: f32 = 0.01;
/// Width of hairs at the tip: about 1 pixel from the viewpoint.
const TIP_WIDTH: f32 = 0.0035;

#[derive(Debug, Clone, Copy)]
struct Hair {
    curve: [[f32; 3]; 4],
    across: [f32; 3],
}

choice! {
    /// Order in which the hairs of FURBALL are submitted. Hairs that are hidden when they are submitted are
    /// culled before shading.
    #[derive(Default)]
    pub enum HairOrder {
        /// Random order
        #[default]
        Random = "random",
        /// Nearest to the scene's own viewpoint first
        FrontToBack = "front-to-back",
        /// Farthest from the scene's own viewpoint first
        BackToFront = "back-to-front",
    }
}

/// Unit ball with hairs. A hair is a ribbon of one patch, with u across and v from root to tip.
#[derive(Debug)]
struct FurBall(Vec<Hair>);

impl Surface {
    /// Creates FURBALL: a ball of radius 1 with `hairs` hairs, at most 2^22.
    pub fn fur_ball(seed: u64, hairs: u32, order: HairOrder) -> Self {
        let hairs = u64::from(hairs.min(MAX_HAIRS));
        let material = |name: &str, base_colour, two_sided| Material {
            name: name.to_owned(),
            base_colour,
            two_sided,
            ..Material::default()
        };
        // The ball is the first draw, and all hairs are the second.
        let mut parts = vec![[0; 2]; BALL_PATCHES];
        if hairs > 0 {
            parts.push([1; 2]);
        }
        let patch_materials = PatchMaterials {
            materials: vec![
                material("skin", [0.25, 0.15, 0.1], false),
                material("hair", [0.6, 0.4, 0.25], true),
            ],
            textures: Vec::new(),
            parts,
        };
        let mut hairs: Vec<Hair> = (0..hairs).map(|number| hair(seed, number)).collect();
        match order {
            HairOrder::Random => {}
            HairOrder::FrontToBack => hairs.sort_by(|a, b| a.distance().total_cmp(&b.distance())),
            HairOrder::BackToFront => hairs.sort_by(|a, b| b.distance().total_cmp(&a.distance())),
        }
        let patches = BALL_PATCHES + hairs.len();
        Self::new(FurBall(hairs), patches, ball_owners(), patch_materials)
    }
}

impl FurBall {
    fn hair(&self, patch: usize) -> Option<&Hair> {
        self.0.get(patch.checked_sub(BALL_PATCHES)?)
    }
}

/// Creates a hair that leaves along the normal, then bends sideways and sags along -z.
fn hair(seed: u64, number: u64) -> Hair {
    let mut rng = Rng::new(seed, number);
    let (root, aside) = (rng.direction(), rng.direction());
    let third = rng.range(LENGTHS[0], LENGTHS[1]) / 3.0;
    let bent = |by: f32, sag: f32| {
        let leaning = add_scaled(root, aside, by);
        unit(add_scaled(leaning, [0.0, 0.0, -1.0], sag))
    };
    let first = add_scaled(root, root, third);
    let second = add_scaled(first, bent(0.4, 0.3), third);
    let tip = add_scaled(second, bent(0.8, 0.9), third);
    let across = match unit(cross(root, aside)) {
        [0.0, 0.0, 0.0] => [1.0, 0.0, 0.0],
        across => across,
    };
    Hair { curve: [root, first, second, tip], across }
}

impl Hair {
    fn distance(&self) -> f64 {
        let middle = self.point(0.5, 0.5).position;
        let across = |axis: usize| f64::from(middle[axis]) - FUR_EYE[axis];
        (0..3).map(|axis| across(axis).powi(2)).sum()
    }

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
        SurfacePoint { position: add_scaled(middle, self.across, (u - 0.5) * width), normal }
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
        let Some(hair) = self.hair(patch) else { return Ball.patch_bounds(patch) };
        let [least, greatest] = bounds(hair.curve);
        [least.map(|x| x - ROOT_WIDTH), greatest.map(|x| x + ROOT_WIDTH)]
    }
}
