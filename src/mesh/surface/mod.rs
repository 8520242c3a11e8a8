//! Surfaces made of quadrilateral patches, what the tessellator samples.
//!
//! A patch is a map from the unit square to the world. Its corners, counter-clockwise seen from
//! the front, are (u, v) = (0, 0), (1, 0), (1, 1), (0, 1); side `s` runs from corner `s` to corner
//! `s + 1`. Where patches meet, one of them is the *owner* of what they share, and all of them
//! take positions from it: neighbours agree to the last bit, with displacement and across seams
//! of the texture too, so that there are no cracks.

pub mod bezier;
pub mod catmull_clark;
mod cubic;
pub mod displaced;
mod owners;
pub mod procedural;
#[cfg(test)]
pub(crate) mod sample_cages;

use crate::mesh::files::{Material, Texture};

/// Parameters of the corners of a patch, in order.
pub const CORNERS: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// A point of a surface.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SurfacePoint {
    /// In world units.
    pub position: [f32; 3],
    /// Of length 1, or zero where the surface has none.
    pub normal: [f32; 3],
}

/// Who evaluates a side of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideOwner {
    /// The patch of lowest number that has the side.
    pub patch: u32,
    /// Which of its sides it is, 0 to 3.
    pub side: u8,
    /// Whether the owner's side runs the other way.
    pub is_reversed: bool,
    /// Whether the surface is smooth across the side, so that the owner's normals hold too.
    pub is_smooth: bool,
    /// Whether the whole side is one point, that of its corners.
    pub is_point: bool,
}

/// Who evaluates a corner of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CornerOwner {
    /// The patch of lowest number that has the corner.
    pub patch: u32,
    /// Which of its corners it is, 0 to 3.
    pub corner: u8,
    /// Whether the surface is smooth there, so that the owner's normal holds too.
    pub is_smooth: bool,
}

/// A surface made of patches.
///
/// Parameters `u` and `v` are within 0 to 1; every result depends on the arguments alone.
pub trait Surface: Sync {
    /// Patches.
    fn patches(&self) -> usize;

    /// Position of a point of a patch by itself, in world units.
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.point(patch, u, v).position
    }

    /// Position and normal of a point of a patch by itself.
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint;

    /// Texture coordinates of a point of a patch, v down.
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2];

    /// Who evaluates side `side` (0 to 3) of a patch.
    fn side_owner(&self, patch: usize, side: usize) -> SideOwner;

    /// Who evaluates corner `corner` (0 to 3) of a patch.
    fn corner_owner(&self, patch: usize, corner: usize) -> CornerOwner;

    /// A box around a patch: least and greatest corner.
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2];

    /// A box around everything: least and greatest corner.
    fn bounds(&self) -> [[f32; 3]; 2] {
        let all = (0..self.patches()).map(|patch| self.patch_bounds(patch));
        all.reduce(joined).unwrap_or_default()
    }

    /// Index of a patch's material in [`Surface::materials`].
    fn material(&self, patch: usize) -> u32;

    /// The draw that a patch belongs to; does not decrease from patch to patch.
    fn draw(&self, patch: usize) -> u32;

    /// Materials of all patches, at least one.
    fn materials(&self) -> &[Material];

    /// Textures of the materials.
    fn textures(&self) -> &[Texture];
}

/// A pointer to a surface is one.
macro_rules! through_pointers {
    ($($pointer:ty),+) => {$(
        impl<S: Surface + ?Sized> Surface for $pointer {
            fn patches(&self) -> usize {
                (**self).patches()
            }
            fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
                (**self).position(patch, u, v)
            }
            fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
                (**self).point(patch, u, v)
            }
            fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
                (**self).uv(patch, u, v)
            }
            fn side_owner(&self, patch: usize, side: usize) -> SideOwner {
                (**self).side_owner(patch, side)
            }
            fn corner_owner(&self, patch: usize, corner: usize) -> CornerOwner {
                (**self).corner_owner(patch, corner)
            }
            fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
                (**self).patch_bounds(patch)
            }
            fn bounds(&self) -> [[f32; 3]; 2] {
                (**self).bounds()
            }
            fn material(&self, patch: usize) -> u32 {
                (**self).material(patch)
            }
            fn draw(&self, patch: usize) -> u32 {
                (**self).draw(patch)
            }
            fn materials(&self) -> &[Material] {
                (**self).materials()
            }
            fn textures(&self) -> &[Texture] {
                (**self).textures()
            }
        }
    )+};
}
through_pointers!(Box<S>, &S);

/// The parameters of a point of side `side`, `t` (0 to 1) of the way along it.
#[must_use]
pub fn along_side(side: u8, t: f32) -> [f32; 2] {
    match side {
        0 => [t, 0.0],
        1 => [1.0, t],
        2 => [1.0 - t, 1.0],
        _ => [0.0, 1.0 - t],
    }
}

/// The box around two boxes.
fn joined(a: [[f32; 3]; 2], b: [[f32; 3]; 2]) -> [[f32; 3]; 2] {
    let each = |pick: fn(f32, f32) -> f32, of: usize| {
        std::array::from_fn(|axis| pick(a[of][axis], b[of][axis]))
    };
    [each(f32::min, 0), each(f32::max, 1)]
}

/// The box around points; both corners at the origin if there are none.
fn bounds_of(points: impl IntoIterator<Item = [f32; 3]>) -> [[f32; 3]; 2] {
    let points = points.into_iter().map(|point| [point, point]);
    points.reduce(joined).unwrap_or_default()
}

/// Between the texture coordinates of four corners, bilinear: the linear rule for what varies from
/// face to face.
fn bilinear(corners: &[[f32; 2]; 4], u: f32, v: f32) -> [f32; 2] {
    std::array::from_fn(|axis| {
        let c = |corner: usize| corners[corner][axis];
        let low = c(0) * (1.0 - u) + c(1) * u;
        let high = c(3) * (1.0 - u) + c(2) * u;
        low * (1.0 - v) + high * v
    })
}

/// `v` at length 1; zero if it has next to none.
fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > f32::MIN_POSITIVE.sqrt() && length.is_finite() {
        v.map(|x| x / length)
    } else {
        [0.0; 3]
    }
}

/// The cross product.
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
