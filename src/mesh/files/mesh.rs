//! Polygon meshes with materials and textures, as files hold them.
//!
//! Positions, texture coordinates and normals have separate indices, so that a seam of the texture
//! does not cut the surface: faces are adjacent where they share positions.

use std::borrow::Borrow;
use std::ops::Range;

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
/// Readers guarantee that indices are in range, coordinates finite, that faces have at least three
/// corners, and that there is at least one material.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Positions, in world units.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates; (0, 0) is the top left corner of a texture, and v points down.
    pub uvs: Vec<[f32; 2]>,
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

/// Returns the least and the greatest corner of the box around `points`, both the origin if there are
/// none.
pub(crate) fn bounds<P: Borrow<[f32; 3]>>(points: impl IntoIterator<Item = P>) -> [[f32; 3]; 2] {
    let boxes = points.into_iter().map(|p| [*p.borrow(); 2]);
    let around = boxes.reduce(|[a, b], [p, q]| {
        let axes = [0, 1, 2];
        [axes.map(|k| a[k].min(p[k])), axes.map(|k| b[k].max(q[k]))]
    });
    around.unwrap_or_default()
}

/// Effects of a material's pixel shader other than its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties")]
pub struct ShaderEffects {
    /// The shader may discard fragments.
    pub discards: bool,
    /// The shader writes depth.
    pub writes_depth: bool,
    /// The shader writes to memory other than the colour buffer (unordered access views).
    pub writes_memory: bool,
    /// Alpha is converted to coverage.
    pub alpha_to_coverage: bool,
    /// The shader reads the primitive id.
    pub reads_primitive_id: bool,
    /// The shader reads the coverage mask.
    pub reads_coverage: bool,
}

impl ShaderEffects {
    /// Whether the shader has any of these effects.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// Material of a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the file; may be empty.
    pub name: String,
    /// Linear diffuse colour, by which the texture's is multiplied.
    pub base_colour: [f32; 3],
    /// Index into [`Mesh::textures`] of the colour texture, in sRGB.
    pub base_texture: Option<u32>,
    /// Index into [`Mesh::textures`] of the tangent-space normals, with x right and y up as in glTF.
    pub normal_texture: Option<u32>,
    /// Linear colour that the surface emits, by which the texture's is multiplied.
    pub emission: [f32; 3],
    /// Index into [`Mesh::textures`] of the emitted colour, in sRGB.
    pub emission_texture: Option<u32>,
    /// Phong exponent of the highlight; 0 for no highlight.
    pub shininess: f32,
    /// Whether back faces are visible.
    pub two_sided: bool,
    /// Alpha below which fragments are discarded, if the material discards any.
    pub alpha_cutoff: Option<f32>,
    /// Opacity of a material that is blended with what lies behind it, 0 to 1; the alpha of the colour
    /// texture multiplies it. `None` for an opaque material. The frames of [`crate::mesh`] draw blended
    /// materials opaque.
    pub opacity: Option<f32>,
    /// Effects of the pixel shader other than its colour.
    pub effects: ShaderEffects,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_colour: [0.8; 3],
            base_texture: None,
            normal_texture: None,
            emission: [0.0; 3],
            emission_texture: None,
            shininess: 0.0,
            two_sided: false,
            alpha_cutoff: None,
            opacity: None,
            effects: ShaderEffects::default(),
        }
    }
}

/// A picture mapped onto surfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texture {
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// Texels row by row from the top: red, green, blue and alpha as stored.
    pub texels: Vec<[u8; 4]>,
}

/// A mesh read from a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh. Equal positions are merged, so that faces are adjacent across seams.
    pub mesh: Mesh,
    /// Whether the format states that +y is up, as glTF does; OBJ and PLY leave it open.
    pub y_is_up: bool,
    /// Parts of the file that are left out or drawn differently, one sentence each; at most about a
    /// hundred.
    pub warnings: Vec<String>,
}
