//! Surfaces: the geometry of patches, the ownership of their sides and corners, and their materials.
//!
//! A patch is a map from the unit square to the world. Its corners, counter-clockwise as seen from the front, are (u, v) =
//! (0, 0), (1, 0), (1, 1), (0, 1); side `s` starts at corner `s`. Where patches are adjacent, one of them *owns* the shared
//! side or corner and supplies its positions to all of them. Neighbours therefore agree to the last bit, also with
//! displacement and across texture seams, and there are no cracks.

use std::fmt::Debug;
use std::sync::Arc;

use nalgebra::Vector3;

use super::owners::{Owner, Owners};
use crate::files::{Material, Texture, bounds};
use quadrille_base::math::fit;

/// Parameters of the corners of a patch, in order.
pub const CORNERS: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// Position and normal of a point of a surface.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SurfacePoint {
    /// Position in world units.
    pub position: [f32; 3],
    /// Unit normal, or zero where the surface has none.
    pub normal: [f32; 3],
}

/// Geometry of patches without regard to ownership.
///
/// Parameters `u` and `v` are in 0 to 1, and results depend on the arguments alone.
pub(super) trait Geometry: Debug + Send + Sync {
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.point(patch, u, v).position
    }

    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint;

    fn uv(&self, _patch: usize, u: f32, v: f32) -> [f32; 2] {
        [u, v]
    }

    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2];
}

#[derive(Debug)]
pub(super) struct PatchMaterials {
    pub(super) materials: Vec<Material>,
    pub(super) textures: Vec<Texture>,
    /// Material and draw of each patch; the last entry applies to all further patches. Draws do not decrease.
    pub(super) parts: Vec<[u32; 2]>,
}

impl PatchMaterials {
    pub(super) fn single(material: Material) -> Self {
        Self { materials: vec![material], textures: Vec::new(), parts: vec![[0; 2]] }
    }

    fn part(&self, patch: usize) -> [u32; 2] {
        self.parts.get(patch.min(self.parts.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Surface of quadrilateral patches. Clones share their data.
#[derive(Debug, Clone)]
pub struct Surface {
    pub(super) geometry: Arc<dyn Geometry>,
    owners: Arc<Owners>,
    materials: Arc<PatchMaterials>,
    origin: [f64; 3],
    patches: usize,
    /// Patches of a copy. All copies have the same ownership and materials.
    patches_per_copy: usize,
}

impl Surface {
    pub(super) fn new(
        geometry: impl Geometry + 'static,
        patches: usize,
        owners: Owners,
        materials: PatchMaterials,
    ) -> Self {
        Self {
            geometry: Arc::new(geometry),
            owners: Arc::new(owners),
            materials: Arc::new(materials),
            origin: [0.0; 3],
            patches,
            patches_per_copy: patches.max(1),
        }
    }

    /// Surface of `copies` copies of the patches, with another geometry.
    pub(super) fn with_geometry(self, geometry: impl Geometry + 'static, copies: usize) -> Self {
        Self { geometry: Arc::new(geometry), patches: self.patches * copies, ..self }
    }

    /// The same surface, with positions that are relative to a point of the world.
    #[must_use]
    pub fn with_origin(self, origin: [f64; 3]) -> Self {
        Self { origin, ..self }
    }

    /// Point of the world that positions are relative to.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Number of patches over all copies.
    pub fn patches(&self) -> usize {
        self.patches
    }

    /// Returns the position at `u` and `v` (0 to 1) of a patch relative to the origin, without regard to owners.
    #[inline]
    pub fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.geometry.position(patch, u, v)
    }

    /// Returns the position and the normal of a point of a patch, without regard to owners.
    #[inline]
    pub fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        self.geometry.point(patch, u, v)
    }

    /// Returns the texture coordinates of a point of a patch; v points down.
    pub fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        self.geometry.uv(patch, u, v)
    }

    /// Returns the owner of side `side` (0 to 3) of a patch.
    pub fn side_owner(&self, patch: usize, side: usize) -> Owner {
        self.owner(&self.owners.sides, patch, side)
    }

    /// Returns the owner of corner `corner` (0 to 3) of a patch.
    pub fn corner_owner(&self, patch: usize, corner: usize) -> Owner {
        self.owner(&self.owners.corners, patch, corner)
    }

    fn owner(&self, table: &[[Owner; 4]], patch: usize, part: usize) -> Owner {
        let own = patch % self.patches_per_copy;
        match table.get(own) {
            Some(owners) => {
                Owner { patch: fit::<u32>(patch - own) + owners[part].patch, ..owners[part] }
            }
            None => Owner {
                patch: fit::<u32>(patch),
                part: u8::try_from(part).unwrap_or(0),
                is_reversed: false,
                is_smooth: true,
                is_point: false,
            },
        }
    }

    pub(crate) fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        self.geometry.patch_bounds(patch)
    }

    /// Returns the least and the greatest corner of a box around all patches.
    pub fn bounds(&self) -> [[f32; 3]; 2] {
        bounds((0..self.patches).flat_map(|patch| self.patch_bounds(patch)))
    }

    pub(crate) fn material(&self, patch: usize) -> u32 {
        self.materials.part(patch % self.patches_per_copy)[0]
    }

    pub(crate) fn draw(&self, patch: usize) -> u32 {
        let [_, own] = self.materials.part(patch % self.patches_per_copy);
        let copy = u32::try_from(patch / self.patches_per_copy).unwrap_or(u32::MAX);
        let draws = self.materials.part(self.patches_per_copy - 1)[1] + 1;
        copy.saturating_mul(draws).saturating_add(own)
    }

    pub(crate) fn materials(&self) -> &[Material] {
        &self.materials.materials
    }

    pub(crate) fn textures(&self) -> &[Texture] {
        &self.materials.textures
    }
}

/// Returns the parameters of the point of side `side` at `t` (0 to 1) along it.
pub fn along_side(side: u8, t: f32) -> [f32; 2] {
    match side {
        0 => [t, 0.0],
        1 => [1.0, t],
        2 => [1.0 - t, 1.0],
        _ => [0.0, 1.0 - t],
    }
}

/// Returns the eight corners of an axis-aligned box, given its least and greatest corner.
pub fn box_corners(bounds: [[f32; 3]; 2]) -> impl Iterator<Item = [f32; 3]> {
    (0..8_usize).map(move |c| std::array::from_fn(|axis| bounds[c >> axis & 1][axis]))
}

/// Returns `v` scaled to unit length; zero if its length is almost zero or not finite.
pub(super) fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > f32::MIN_POSITIVE.sqrt() && length.is_finite() {
        v.map(|x| x / length)
    } else {
        [0.0; 3]
    }
}

pub(super) fn add_scaled(a: [f32; 3], b: [f32; 3], times: f32) -> [f32; 3] {
    std::array::from_fn(|axis| a[axis] + times * b[axis])
}

pub(super) fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    Vector3::from(a).cross(&Vector3::from(b)).into()
}
