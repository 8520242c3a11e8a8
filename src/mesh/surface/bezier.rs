//! Bicubic Bezier patches as files give them: 16 control points each.

use super::cubic::Cubic;
use super::owners::{Owners, PatchNames};
use super::{CornerOwner, SideOwner, Surface, SurfacePoint};
use crate::error::{Error, Result};
use crate::mesh::files::{Material, Texture};

/// Control points of the sides in walking order, as indices into the 16 of a patch.
const SIDES: [[usize; 4]; 4] = [
    [0, 1, 2, 3],
    [3, 7, 11, 15],
    [15, 14, 13, 12],
    [12, 8, 4, 0],
];

/// Bicubic Bezier patches. Two patches meet where the control points of their sides have the same
/// coordinates; sides that are one point (the lid of the Utah teapot) are kept as such.
#[derive(Debug, Clone)]
pub struct BezierPatches {
    patches: Vec<Cubic>,
    owners: Owners,
    materials: Vec<Material>,
}

impl BezierPatches {
    /// Patches of 16 indices into `points` each: rows along u, rows in the order of v;
    /// counter-clockwise seen from the front. Texture coordinates are each patch's parameters.
    ///
    /// # Errors
    /// [`Error::Caller`] when an index is out of range or a point is not finite.
    pub fn new(points: &[[f32; 3]], patches: &[[u32; 16]], material: Material) -> Result<Self> {
        let mut cubics = Vec::with_capacity(patches.len());
        for (number, patch) in patches.iter().enumerate() {
            let mut control = [[0.0; 3]; 16];
            for (slot, &index) in control.iter_mut().zip(patch) {
                let point = points.get(index as usize);
                let finite = point.filter(|p| p.iter().all(|x| x.is_finite()));
                let found = || format!("point {index}: {point:?}");
                *slot = *finite.ok_or_else(|| {
                    let what = format!("Bezier patch {number}");
                    Error::caller(what, "indices of finite control points", found())
                })?;
            }
            cubics.push(Cubic::new(control));
        }
        Ok(Self {
            owners: Owners::new(cubics.iter().map(names)),
            patches: cubics,
            materials: vec![material],
        })
    }
}

/// A point by its coordinates, zero without a sign.
fn bits(point: [f32; 4]) -> [u32; 3] {
    [point[0], point[1], point[2]].map(|x| (x + 0.0).to_bits())
}

fn names(patch: &Cubic) -> PatchNames<[[u32; 3]; 4], [u32; 3]> {
    let point = |i: usize| bits(patch.0[i]);
    let sides = SIDES.map(|side| side.map(point));
    PatchNames {
        sides: sides.map(|there| {
            let mut back = there;
            back.reverse();
            (there.min(back), back < there)
        }),
        // Files do not say where patches meet at an angle: each keeps its own normals.
        smooth_sides: [false; 4],
        point_sides: sides.map(|side| side.iter().all(|p| *p == side[0])),
        corners: [0, 3, 15, 12].map(point),
        smooth_corners: [false; 4],
    }
}

impl Surface for BezierPatches {
    fn patches(&self) -> usize {
        self.patches.len()
    }
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.patches[patch].position(u, v)
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        self.patches[patch].point(u, v)
    }
    fn uv(&self, _patch: usize, u: f32, v: f32) -> [f32; 2] {
        [u, v]
    }
    fn side_owner(&self, patch: usize, side: usize) -> SideOwner {
        self.owners.side(patch, side)
    }
    fn corner_owner(&self, patch: usize, corner: usize) -> CornerOwner {
        self.owners.corner(patch, corner)
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        self.patches[patch].bounds()
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
