//! Height fields over a rectangle: PLANE and SINEWAVE.

use crate::mesh::files::{Material, Texture};
use crate::mesh::surface::{
    CornerOwner, SideOwner, Surface, SurfacePoint,
    owners::{Owners, PatchNames, side_name},
    unit,
};

/// One wave of a height field: `amplitude * sin(along . (x, y) + phase)`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wave {
    /// In world units.
    amplitude: f32,
    /// Radians per world unit, along x and y.
    along: [f32; 2],
    /// Radians.
    phase: f32,
}

/// A rectangle of patches around the origin at z = 0, facing up, with waves on it.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Patches along x and y.
    counts: [u16; 2],
    /// Lengths along x and y.
    lengths: [f32; 2],
    waves: Vec<Wave>,
    owners: Owners,
    materials: Vec<Material>,
}

impl Sheet {
    /// PLANE: 24 by 15 patches over 3.2 by 2 world units.
    #[must_use]
    pub fn plane() -> Self {
        Self::new([24, 15], [3.2, 2.0], Vec::new())
    }

    /// SINEWAVE: 32 by 32 patches over 6 by 6 world units, with crossing waves, the shortest 0.25
    /// long and 0.025 high, steep enough to hide one another.
    #[must_use]
    pub fn sine_wave() -> Self {
        let wave = |length: f32, height: f32, degrees: f32, phase: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let k = std::f32::consts::TAU / length;
            Wave {
                amplitude: height,
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
        Self::new([32, 32], [6.0, 6.0], waves)
    }

    fn new(counts: [u16; 2], lengths: [f32; 2], waves: Vec<Wave>) -> Self {
        let rows = u32::from(counts[1]);
        let columns = u32::from(counts[0]);
        let patches = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
        let owners = Owners::new(patches.map(|(x, y)| {
            let corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)];
            PatchNames {
                sides: std::array::from_fn(|s| side_name(corners[s], corners[(s + 1) % 4])),
                smooth_sides: [true; 4],
                point_sides: [false; 4],
                corners,
                smooth_corners: [true; 4],
            }
        }));
        Self {
            counts,
            lengths,
            waves,
            owners,
            materials: vec![Material {
                name: "sheet".to_owned(),
                two_sided: true,
                ..Material::default()
            }],
        }
    }

    /// Where a point lies in the whole rectangle, each axis 0 to 1.
    fn place(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let columns = usize::from(self.counts[0]);
        let (column, row) = (patch % columns, patch / columns);
        [
            (column as f32 + u) / f32::from(self.counts[0]),
            (row as f32 + v) / f32::from(self.counts[1]),
        ]
    }
}

impl Surface for Sheet {
    fn patches(&self) -> usize {
        usize::from(self.counts[0]) * usize::from(self.counts[1])
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let [s, t] = self.place(patch, u, v);
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
        let [s, t] = self.place(patch, u, v);
        [s, 1.0 - t]
    }
    fn side_owner(&self, patch: usize, side: usize) -> SideOwner {
        self.owners.side(patch, side)
    }
    fn corner_owner(&self, patch: usize, corner: usize) -> CornerOwner {
        self.owners.corner(patch, corner)
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let height: f32 = self.waves.iter().map(|wave| wave.amplitude).sum();
        let [low, high] = [0.0, 1.0].map(|t| self.point(patch, t, t).position);
        [[low[0], low[1], -height], [high[0], high[1], height]]
    }
    fn material(&self, _patch: usize) -> u32 {
        0
    }
    fn draw(&self, _patch: usize) -> u32 {
        0
    }
    fn materials(&self) -> &[Material] {
        &self.materials
    }
    fn textures(&self) -> &[Texture] {
        &[]
    }
}
