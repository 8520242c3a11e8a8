//! Polygon meshes with materials and textures, as files hold them.
//!
//! Positions, texture coordinates and normals have separate indices, so that a seam of the texture
//! does not cut the surface: faces are adjacent where they share positions.

use std::borrow::Borrow;
use std::ops::Range;
use std::path::PathBuf;

use super::camera::FileCamera;
use super::light::PunctualLight;
use super::material::{Material, Texture};

/// Index in a [`Corner`] for an attribute that the file does not give.
pub const NONE: u32 = u32::MAX;

/// A corner of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    /// Index into [`Mesh::positions`].
    pub position: u32,
    /// Index into [`Mesh::uvs`], or [`NONE`].
    pub uv: u32,
    /// Index into [`Mesh::normals`], or [`NONE`].
    pub normal: u32,
    /// Index into [`Mesh::colours`], or [`NONE`] for white.
    pub colour: u32,
}

/// An edge of a subdivision surface's control cage that is sharper than the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crease {
    /// Indices of the positions at its ends.
    pub positions: [u32; 2],
    /// Number of subdivision steps for which the edge stays sharp; may be infinite.
    pub sharpness: f32,
}

/// A polygon mesh.
///
/// Readers guarantee valid indices, finite coordinates, at least three corners per face, and at least one material.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Origin of the positions in the world: zero, unless they lie far from it. Cameras and lights are in the world.
    pub origin: [f64; 3],
    /// Positions relative to the origin, in world units.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates; (0, 0) is the top left corner of a texture, and v points down.
    pub uvs: Vec<[f32; 2]>,
    /// Linear vertex colours with alpha, each 0 or more. They multiply the colour of the material.
    pub colours: Vec<[f32; 4]>,
    /// Corners of all faces, face by face, counter-clockwise as seen from the front.
    pub corners: Vec<Corner>,
    /// Index of each face's first corner in `corners`; one more entry ends the last face.
    pub face_starts: Vec<u32>,
    /// Index into `materials` of each face.
    pub face_materials: Vec<u32>,
    /// Faces of each draw, in order and without gaps.
    pub draws: Vec<Range<u32>>,
    /// Materials, at least one.
    pub materials: Vec<Material>,
    /// Textures.
    pub textures: Vec<Texture>,
    /// Sharp edges of a control cage.
    pub creases: Vec<Crease>,
    /// Sharp vertices of a control cage: index of the position, and sharpness.
    pub sharp_corners: Vec<(u32, f32)>,
    /// Lights that the file places in the scene.
    pub lights: Vec<PunctualLight>,
    /// Faces that share normals where corners have none.
    pub smoothing: Smoothing,
}

/// Largest angle between faces that share normals in files without normals and smoothing groups, in degrees: an assumption.
pub const DEFAULT_CREASE: f64 = 60.0;

/// Faces that share normals where corners have none. Faces share them at a position only, and there with all faces
/// that they reach across smooth edges; where no edge is hard, all faces around a position share one.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Smoothing {
    /// All faces.
    #[default]
    Everywhere,
    /// Faces on both sides of an edge at which the surface turns by at most this angle, in degrees.
    Crease(f64),
    /// Faces of the same smoothing group.
    Groups {
        /// Group of each face: 0 for a flat face, [`NONE`] where the file states none.
        groups: Vec<u32>,
        /// Largest angle between smooth faces without a statement, in degrees.
        crease: f64,
    },
}

impl Mesh {
    /// Number of faces.
    pub fn faces(&self) -> usize {
        self.face_materials.len()
    }

    /// Returns the corners of a face.
    pub fn face(&self, face: usize) -> &[Corner] {
        &self.corners[self.face_starts[face] as usize..self.face_starts[face + 1] as usize]
    }
}

/// Returns the least and the greatest corner of the box around `points`, both the origin if there are none.
pub fn bounds<P: Borrow<[f32; 3]>>(points: impl IntoIterator<Item = P>) -> [[f32; 3]; 2] {
    let around = points.into_iter().map(|p| [*p.borrow(); 2]).reduce(|[a, b], [p, q]| {
        let axes = [0, 1, 2];
        [axes.map(|k| a[k].min(p[k])), axes.map(|k| b[k].max(q[k]))]
    });
    around.unwrap_or_default()
}

/// A mesh read from a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh. Equal positions are merged, so that faces are adjacent across seams.
    pub mesh: Mesh,
    /// Cameras that the file places in the scene.
    pub cameras: Vec<FileCamera>,
    /// Whether the format states that +y is up and +z the front, as glTF does; OBJ and PLY leave it open.
    pub has_stated_axes: bool,
    /// Parts of the file that are left out or drawn differently, one sentence each; at most about a hundred.
    pub warnings: Vec<String>,
    /// Files that the mesh names and that were looked for, such as materials, textures and buffers. A file
    /// that could not be read is one of them, since its appearance changes the mesh.
    pub files: Vec<PathBuf>,
}
