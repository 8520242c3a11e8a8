//! Bicubic Bezier patches as files give them: 16 control points each.

use super::cubic::Cubic;
use super::owners::{Owners, PatchKeys};
use super::patches::{Geometry, Look, Surface, SurfacePoint};
use crate::error::{Error, Result};
use crate::mesh::files::Material;

/// Control points of the sides in walking order, as indices into the 16 of a patch.
const SIDES: [[usize; 4]; 4] = [
    [0, 1, 2, 3],
    [3, 7, 11, 15],
    [15, 14, 13, 12],
    [12, 8, 4, 0],
];

impl Surface {
    /// Bicubic Bezier patches of 16 indices into `points` each: rows along u, in the order of v;
    /// counter-clockwise seen from the front. Texture coordinates are each patch's parameters.
    ///
    /// Two patches meet where the control points of their sides have the same coordinates; sides
    /// that are one point (the lid of the Utah teapot) are kept as such.
    ///
    /// # Errors
    /// [`Error::Argument`] when an index is out of range or a point is not finite.
    pub fn bezier(points: &[[f32; 3]], patches: &[[u32; 16]], material: Material) -> Result<Self> {
        let mut cubics = Vec::with_capacity(patches.len());
        for (number, patch) in patches.iter().enumerate() {
            let mut control = [[0.0; 3]; 16];
            for (slot, &index) in control.iter_mut().zip(patch) {
                let point = points.get(index as usize);
                let finite = point.filter(|p| p.iter().all(|x| x.is_finite()));
                *slot = *finite.ok_or_else(|| {
                    let what = format!("Bezier patch {number}");
                    let found = format!("point {index}: {point:?}");
                    Error::argument(what, "indices of finite control points", found)
                })?;
            }
            cubics.push(Cubic::new(control));
        }
        let owners = Owners::new(cubics.iter().map(keys));
        let look = Look::plain(material);
        Ok(Self::new(Cubics(cubics), patches.len(), owners, look))
    }
}

#[derive(Debug)]
struct Cubics(Vec<Cubic>);

impl Geometry for Cubics {
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.0[patch].position(u, v)
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        self.0[patch].point(u, v)
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        self.0[patch].bounds()
    }
}

/// Key of a point: the bits of its coordinates, zero without a sign.
fn bits(point: [f32; 4]) -> [u32; 3] {
    [point[0], point[1], point[2]].map(|x| (x + 0.0).to_bits())
}

fn keys(patch: &Cubic) -> PatchKeys<[[u32; 3]; 4], [u32; 3]> {
    let point = |i: usize| bits(patch.0[i]);
    let sides = SIDES.map(|side| side.map(point));
    PatchKeys {
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
