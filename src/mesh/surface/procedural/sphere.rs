//! A ball as six patches: the faces of a cube blown up.

use crate::mesh::files::{Material, Texture};
use crate::mesh::surface::{
    CORNERS, CornerOwner, SideOwner, Surface, SurfacePoint, cross,
    owners::{Owners, PatchNames, side_name},
    unit,
};

/// For each patch the axes along which u and v grow; the third axis points outwards.
const FRAMES: [[[i8; 3]; 2]; 6] = [
    [[1, 0, 0], [0, 1, 0]],
    [[0, 1, 0], [1, 0, 0]],
    [[0, 1, 0], [0, 0, 1]],
    [[0, 0, 1], [0, 1, 0]],
    [[0, 0, 1], [1, 0, 0]],
    [[1, 0, 0], [0, 0, 1]],
];

/// A ball of radius 1 around the origin.
#[derive(Debug, Clone)]
pub struct Sphere {
    owners: Owners,
    materials: Vec<Material>,
}

impl Sphere {
    /// A ball of one material.
    #[must_use]
    pub fn new(material: Material) -> Self {
        let corner = |patch: usize, c: usize| {
            let at = on_cube(patch, CORNERS[c % 4]);
            at.map(|x| x > 0.0)
        };
        Self {
            owners: Owners::new((0..6).map(|patch| PatchNames {
                sides: std::array::from_fn(|s| side_name(corner(patch, s), corner(patch, s + 1))),
                smooth_sides: [true; 4],
                point_sides: [false; 4],
                corners: std::array::from_fn(|c| corner(patch, c)),
                smooth_corners: [true; 4],
            })),
            materials: vec![material],
        }
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

impl Surface for Sphere {
    fn patches(&self) -> usize {
        FRAMES.len()
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let normal = unit(on_cube(patch, [u, v]));
        SurfacePoint {
            position: normal,
            normal,
        }
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
    fn patch_bounds(&self, _patch: usize) -> [[f32; 3]; 2] {
        [[-1.0; 3], [1.0; 3]]
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
