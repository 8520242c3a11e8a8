//! Materials of meshes, and their textures.

use quadrille_base::math::narrow;

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
    /// True if the shader has any of these effects.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// Reflection of a surface of microfacets (glTF 2.0, appendix B).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Microfacets {
    /// A dielectric, a metal, or a mixture of both, with the base colour of the material.
    Metallic {
        /// 0 for a dielectric, 1 for a metal.
        metalness: f32,
        /// Perceived roughness, 0 to 1; its square is the width of the distribution of normals.
        roughness: f32,
        /// Index into `Mesh::textures` of factors: roughness in green, metalness in blue.
        texture: Option<u32>,
    },
    /// A surface with separate specular and diffuse colours (`KHR_materials_pbrSpecularGlossiness`).
    Specular {
        /// Linear reflectance along the normal, 0 to 1.
        colour: [f32; 3],
        /// 1 minus the perceived roughness, 0 to 1.
        glossiness: f32,
        /// Index into `Mesh::textures` of factors: the colour in sRGB, glossiness in alpha.
        texture: Option<u32>,
    },
}

impl Microfacets {
    /// Index into `Mesh::textures` of the texture that holds linear data, if there is one.
    pub fn data_texture(self) -> Option<u32> {
        match self {
            Self::Metallic { texture, .. } => texture,
            Self::Specular { .. } => None,
        }
    }
}

/// Material of a surface: microfacets as in glTF, or matt with a Phong highlight.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the file; may be empty.
    pub name: String,
    /// Linear diffuse colour, a factor on the colour texture.
    pub base_colour: [f32; 3],
    /// Index into `Mesh::textures` of the colour texture, in sRGB.
    pub base_texture: Option<u32>,
    /// Index into `Mesh::textures` of the tangent-space normals, with x right and y up as in glTF.
    pub normal_texture: Option<u32>,
    /// Linear emitted colour, a factor on the emission texture.
    pub emission: [f32; 3],
    /// Index into `Mesh::textures` of the emitted colour, in sRGB.
    pub emission_texture: Option<u32>,
    /// Factor on x and y of the normals of `normal_texture`.
    pub normal_scale: f32,
    /// Index into `Mesh::textures` of the share of ambient light that reaches the surface, in red.
    pub occlusion_texture: Option<u32>,
    /// Strength of the occlusion: 0 for none, 1 for the full value of the texture.
    pub occlusion_strength: f32,
    /// Reflection of a microfacet surface, as in glTF; `None` for a matt surface with a Phong highlight.
    pub microfacets: Option<Microfacets>,
    /// True if the surface shows its base colour regardless of light.
    pub is_unlit: bool,
    /// Phong exponent of the highlight; 0 for no highlight.
    pub shininess: f32,
    /// True if back faces are visible.
    pub two_sided: bool,
    /// Alpha below which fragments are discarded, if the material discards any.
    pub alpha_cutoff: Option<f32>,
    /// Opacity of a blended material, 0 to 1, a factor on the alpha of the colour texture; `None` for an opaque
    /// material. A blended material has no alpha test.
    pub opacity: Option<f32>,
    /// Effects of the pixel shader other than its colour.
    pub effects: ShaderEffects,
}

impl Material {
    /// True if the surface is blended with the surfaces behind it.
    pub fn is_blended(&self) -> bool {
        self.opacity.is_some()
    }

    /// True if a texture, of colour or of data, is placed by texture coordinates.
    pub(super) fn has_textures(&self) -> bool {
        let reflection = self.microfacets.and_then(|facets| match facets {
            Microfacets::Metallic { texture, .. } | Microfacets::Specular { texture, .. } => {
                texture
            }
        });
        let textures = [self.base_texture, self.normal_texture, self.emission_texture];
        textures.into_iter().chain([self.occlusion_texture, reflection]).any(|at| at.is_some())
    }

    /// Alpha below which fragments are discarded; `None` if the material discards none.
    pub fn tested_alpha(&self) -> Option<f32> {
        self.alpha_cutoff.filter(|_| !self.is_blended())
    }
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
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            microfacets: None,
            is_unlit: false,
            shininess: 0.0,
            two_sided: false,
            alpha_cutoff: None,
            opacity: None,
            effects: ShaderEffects::default(),
        }
    }
}

/// Affine map of texture coordinates: rows of the matrix that is multiplied by (u, v, 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UvMap(pub [[f64; 3]; 2]);

impl UvMap {
    /// Map that changes nothing.
    pub const IDENTITY: Self = Self([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);

    /// Maps a point.
    pub fn point(&self, uv: [f32; 2]) -> [f32; 2] {
        let [u, v] = uv.map(f64::from);
        self.0.map(|[a, b, c]| narrow(a * u + b * v + c))
    }

    /// Maps a difference of points.
    pub fn difference(&self, uv: [f32; 2]) -> [f32; 2] {
        let [u, v] = uv.map(f64::from);
        self.0.map(|[a, b, _]| narrow(a * u + b * v))
    }

    /// The map of points that `other` has mapped; `None` if `other` is another map and has no inverse.
    pub(super) fn after_inverse_of(&self, other: &Self) -> Option<Self> {
        if self == other {
            return Some(Self::IDENTITY);
        }
        let [[a, b, c], [d, e, f]] = other.0;
        let determinant = a * e - b * d;
        let inverse = [
            [e, -b, b * f - c * e].map(|v| v / determinant),
            [-d, a, c * d - a * f].map(|v| v / determinant),
        ];
        let rows = self.0.map(|[p, q, r]| {
            let [u, v, w] = [0, 1, 2].map(|k| p * inverse[0][k] + q * inverse[1][k]);
            [u, v, w + r]
        });
        rows.as_flattened().iter().all(|v| v.is_finite()).then_some(Self(rows))
    }
}

impl Default for UvMap {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// Image that is mapped onto surfaces, with its sampler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Texture {
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// Texels row by row from the top: red, green, blue and alpha as stored.
    pub texels: Vec<[u8; 4]>,
    /// Wrapping beyond the edges of the texture, and filtering.
    pub sampler: Sampler,
    /// Map from the texture coordinates of the mesh to the coordinates of the texture.
    pub uv_map: UvMap,
    /// True if these are the coordinates of the mesh's second set.
    pub has_second_uvs: bool,
}

/// Wrapping of texture coordinates outside 0 to 1 along an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texture repeats, and every second copy is mirrored.
    Mirror,
    /// The texels at the edge continue.
    Clamp,
}

/// Filter between neighbouring texels or mip levels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TextureFilter {
    /// The nearest texel or level.
    Nearest,
    /// Linear interpolation.
    #[default]
    Linear,
}

/// Wrapping and filters of a texture. The default repeats with trilinear filtering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Wrapping along u and v.
    pub wrap: [Wrap; 2],
    /// Filter between texels where a texel is larger than a pixel.
    pub magnify: TextureFilter,
    /// Filter between texels where a texel is smaller than a pixel.
    pub minify: TextureFilter,
    /// Filter between mip levels; `None` uses the finest level only.
    pub levels: Option<TextureFilter>,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            wrap: [Wrap::Repeat; 2],
            magnify: TextureFilter::Linear,
            minify: TextureFilter::Linear,
            levels: Some(TextureFilter::Linear),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_relative_to_each_other() {
        let first = UvMap([[2.0, 0.0, 0.25], [0.0, 4.0, -1.0]]);
        let second = UvMap([[0.0, 3.0, 1.0], [-1.0, 0.0, 2.0]]);
        let relative = second.after_inverse_of(&first).unwrap();
        let uv = [0.75, -0.5];
        assert_eq!(relative.point(first.point(uv)), second.point(uv));
        assert_eq!(first.after_inverse_of(&first), Some(UvMap::IDENTITY));
        let flat = UvMap([[0.0; 3], [0.0, 1.0, 0.0]]);
        assert_eq!(second.after_inverse_of(&flat), None);
        assert_eq!(flat.after_inverse_of(&flat), Some(UvMap::IDENTITY));
        assert_eq!(second.difference([1.0, 1.0]), [3.0, -1.0]);
    }
}
