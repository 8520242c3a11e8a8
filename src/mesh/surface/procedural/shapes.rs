//! Shapes given by formulas: height fields over a rectangle (PLANE and SINEWAVE), and a ball.

use crate::mesh::files::Material;
use crate::mesh::surface::owners::{Owners, PatchKeys};
use crate::mesh::surface::patches::{CORNERS, Geometry, Look, Surface, SurfacePoint, cross, unit};

/// One wave of a height field: `amplitude * sin(along . (x, y) + phase)`.
#[derive(Debug)]
struct Wave {
    /// In world units.
    amplitude: f32,
    /// Radians per world unit, along x and y.
    along: [f32; 2],
    /// Radians.
    phase: f32,
}

/// A rectangle of patches around the origin at z = 0, facing up, with waves on it.
#[derive(Debug)]
struct Sheet {
    /// Patches along x and y.
    counts: [u16; 2],
    /// Lengths along x and y, in world units.
    lengths: [f32; 2],
    waves: Vec<Wave>,
}

/// PLANE: 24 by 15 patches over 3.2 by 2 world units.
pub(super) fn plane() -> Surface {
    sheet([24, 15], [3.2, 2.0], Vec::new())
}

/// SINEWAVE: 32 by 32 patches over 6 by 6 world units, with crossing waves, the shortest 0.25
/// long and 0.025 high, steep enough to hide one another.
pub(super) fn sine_wave() -> Surface {
    let wave = |length: f32, amplitude: f32, degrees: f32, phase: f32| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let k = std::f32::consts::TAU / length;
        Wave {
            amplitude,
            along: [k * cos, k * sin],
            phase,
        }
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
    let patches = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
    let owners = Owners::new(
        patches.map(|(x, y)| PatchKeys::smooth([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)])),
    );
    let look = Look::plain(Material {
        name: "sheet".to_owned(),
        two_sided: true,
        ..Material::default()
    });
    let sheet = Sheet {
        counts,
        lengths,
        waves,
    };
    Surface::new(sheet, (columns * rows) as usize, owners, look)
}

impl Geometry for Sheet {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let [s, t] = self.share(patch, u, v);
        let (x, y) = ((s - 0.5) * self.lengths[0], (t - 0.5) * self.lengths[1]);
        let (mut z, mut slope) = (0.0, [0.0; 2]);
        for wave in &self.waves {
            let angle = wave.along[0] * x + wave.along[1] * y + wave.phase;
            let (sin, cos) = angle.sin_cos();
            z += wave.amplitude * sin;
            slope[0] += wave.amplitude * wave.along[0] * cos;
            slope[1] += wave.amplitude * wave.along[1] * cos;
        }
        SurfacePoint {
            position: [x, y, z],
            normal: unit([-slope[0], -slope[1], 1.0]),
        }
    }
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let [s, t] = self.share(patch, u, v);
        [s, 1.0 - t]
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let height: f32 = self.waves.iter().map(|wave| wave.amplitude).sum();
        let [low, high] = [0.0, 1.0].map(|t| self.point(patch, t, t).position);
        [[low[0], low[1], -height], [high[0], high[1], height]]
    }
}

impl Sheet {
    /// Position of a point in the whole rectangle, each axis from 0 to 1.
    fn share(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let columns = usize::from(self.counts[0]);
        let (column, row) = (patch % columns, patch / columns);
        [
            (column as f32 + u) / f32::from(self.counts[0]),
            (row as f32 + v) / f32::from(self.counts[1]),
        ]
    }
}

/// For each patch of a ball the axes along which u and v grow; the third axis points outwards.
const FRAMES: [[[i8; 3]; 2]; 6] = [
    [[1, 0, 0], [0, 1, 0]],
    [[0, 1, 0], [1, 0, 0]],
    [[0, 1, 0], [0, 0, 1]],
    [[0, 0, 1], [0, 1, 0]],
    [[0, 0, 1], [1, 0, 0]],
    [[1, 0, 0], [0, 0, 1]],
];
/// Patches of a ball.
pub(super) const BALL_PATCHES: usize = FRAMES.len();

/// The ball of radius 1 around the origin: six patches, the faces of a cube blown up.
#[derive(Debug)]
pub(super) struct Ball;

/// The owners among the patches of a ball.
pub(super) fn ball_owners() -> Owners {
    let corner = |patch: usize, c: usize| on_cube(patch, CORNERS[c]).map(|x| x > 0.0);
    let corners = |patch: usize| std::array::from_fn(|c| corner(patch, c));
    Owners::new((0..BALL_PATCHES).map(|patch| PatchKeys::smooth(corners(patch))))
}

impl Surface {
    /// A ball of radius 1 around the origin, of one material.
    pub fn ball(material: Material) -> Self {
        Self::new(Ball, BALL_PATCHES, ball_owners(), Look::plain(material))
    }
}

/// The point of the cube of side 2 that a point of the ball comes from.
fn on_cube(patch: usize, [u, v]: [f32; 2]) -> [f32; 3] {
    let [along_u, along_v] = FRAMES[patch].map(|axis| axis.map(f32::from));
    let out = cross(along_u, along_v);
    // Tangents of even angles make patches more even than even steps on the cube.
    let [s, t] = [u, v].map(|x| ((x - 0.5) * std::f32::consts::FRAC_PI_2).tan());
    std::array::from_fn(|axis| out[axis] + s * along_u[axis] + t * along_v[axis])
}

impl Geometry for Ball {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let normal = unit(on_cube(patch, [u, v]));
        SurfacePoint {
            position: normal,
            normal,
        }
    }
    fn patch_bounds(&self, _patch: usize) -> [[f32; 3]; 2] {
        [[-1.0; 3], [1.0; 3]]
    }
}
