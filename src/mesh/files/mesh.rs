//! Polygon meshes with materials and textures, as files hold them.
//!
//! Positions, texture coordinates and normals are indexed apart from each other, so that a seam of
//! the texture does not cut the surface: two faces meet where they share positions.

use std::borrow::Borrow;
use std::ops::Range;

use crate::error::Result;

/// In a [`Corner`]: the file gives none.
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
}

/// An edge of a subdivision surface's control cage that is sharper than the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crease {
    /// The positions at its ends.
    pub positions: [u32; 2],
    /// Subdivision steps for which it stays sharp; infinite for ever.
    pub sharpness: f32,
}

/// A mesh.
///
/// Readers guarantee: indices in range, coordinates finite, faces of at least three corners,
/// at least one material.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Positions, in world units.
    pub positions: Vec<[f32; 3]>,
    /// Normals, of length 1.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates; (0, 0) is the top left corner of a texture, v points down.
    pub uvs: Vec<[f32; 2]>,
    /// Corners of all faces, face by face, counter-clockwise seen from the front.
    pub corners: Vec<Corner>,
    /// Where each face's corners begin in `corners`; one more entry than there are faces.
    pub face_starts: Vec<u32>,
    /// Index into `materials`, one per face.
    pub face_materials: Vec<u32>,
    /// Faces of each draw, in order, without gaps.
    pub draws: Vec<Range<u32>>,
    /// Materials, at least one.
    pub materials: Vec<Material>,
    /// TextureReader.
    pub textures: Vec<Texture>,
    /// Sharp edges of a control cage.
    pub creases: Vec<Crease>,
    /// Sharp vertices of a control cage: position and sharpness.
    pub sharp_corners: Vec<(u32, f32)>,
}

impl Mesh {
    /// Faces.
    pub fn faces(&self) -> usize {
        self.face_materials.len()
    }

    /// The corners of a face.
    pub fn face(&self, face: usize) -> &[Corner] {
        &self.corners[self.face_starts[face] as usize..self.face_starts[face + 1] as usize]
    }
}

/// Least and greatest corner of a box around points; the origin twice if there are none.
pub(crate) fn bounds<P: Borrow<[f32; 3]>>(points: impl IntoIterator<Item = P>) -> [[f32; 3]; 2] {
    let boxes = points.into_iter().map(|p| [*p.borrow(); 2]);
    let around = boxes.reduce(|[a, b], [p, q]| {
        let axes = [0, 1, 2];
        [axes.map(|k| a[k].min(p[k])), axes.map(|k| b[k].max(q[k]))]
    });
    around.unwrap_or_default()
}

/// What the pixel shader of a material does beside giving a colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent properties of a shader"
)]
pub struct ShaderEffects {
    /// May discard fragments.
    pub discards: bool,
    /// Writes depth.
    pub writes_depth: bool,
    /// Writes to memory beside the colour buffer (unordered access views).
    pub writes_memory: bool,
    /// Turns alpha into coverage.
    pub alpha_to_coverage: bool,
    /// Reads the primitive's number.
    pub reads_primitive_id: bool,
    /// Reads the coverage.
    pub reads_coverage: bool,
}

impl ShaderEffects {
    /// Whether it has any of them.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// How a surface is coloured.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name in the file; may be empty.
    pub name: String,
    /// Diffuse colour, linear, multiplied with the texture's.
    pub base_colour: [f32; 3],
    /// Index into [`Mesh::textures`]: colour, in sRGB.
    pub base_texture: Option<u32>,
    /// Index into [`Mesh::textures`]: tangent-space normals, x right, y up (as glTF has it).
    pub normal_texture: Option<u32>,
    /// Phong exponent of the highlight; 0 for none.
    pub shininess: f32,
    /// Whether its back faces are seen.
    pub two_sided: bool,
    /// Alpha below which a fragment is discarded, where the material asks for it.
    pub alpha_cutoff: Option<f32>,
    /// What its pixel shader does beside giving a colour.
    pub effects: ShaderEffects,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_colour: [0.8; 3],
            base_texture: None,
            normal_texture: None,
            shininess: 0.0,
            two_sided: false,
            alpha_cutoff: None,
            effects: ShaderEffects::default(),
        }
    }
}

/// A picture that colours a surface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texture {
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// Texels row by row, the top row first: red, green, blue, alpha as stored.
    pub texels: Vec<[u8; 4]>,
}

/// A mesh as read from a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh. Positions with equal coordinates are one, so that faces meet across seams.
    pub mesh: Mesh,
    /// What of the file is left out or drawn otherwise than it asks, a sentence each; at most
    /// about a hundred.
    pub warnings: Vec<String>,
}

/// Gives the content of a file that a mesh names, by the name that stands in the mesh.
pub type Resolve<'a> = dyn FnMut(&str) -> Result<Vec<u8>> + 'a;
