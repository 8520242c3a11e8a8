//! Materials of meshes, and their textures.

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

/// Reflection of a surface of microfacets (glTF 2.0, appendix B).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Microfacets {
    /// A dielectric, a metal, or a mixture of both, whose colour is the material's.
    Metallic {
        /// 0 for a dielectric, 1 for a metal.
        metalness: f32,
        /// Perceived roughness, 0 to 1; its square is the width of the distribution of normals.
        roughness: f32,
        /// Index into `Mesh::textures` of factors: roughness in green, metalness in blue.
        texture: Option<u32>,
    },
    /// A surface with a mirror reflection of its own colour beside its diffuse one (`KHR_materials_pbrSpecularGlossiness`).
    Specular {
        /// Linear reflectance along the normal, 0 to 1.
        colour: [f32; 3],
        /// 1 less the perceived roughness, 0 to 1.
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

/// Material of a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the file; may be empty.
    pub name: String,
    /// Linear diffuse colour, by which the texture's is multiplied.
    pub base_colour: [f32; 3],
    /// Index into `Mesh::textures` of the colour texture, in sRGB.
    pub base_texture: Option<u32>,
    /// Index into `Mesh::textures` of the tangent-space normals, with x right and y up as in glTF.
    pub normal_texture: Option<u32>,
    /// Linear colour that the surface emits, by which the texture's is multiplied.
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
    /// Whether the surface shows its colour as it is, whatever the light.
    pub is_unlit: bool,
    /// Phong exponent of the highlight; 0 for no highlight.
    pub shininess: f32,
    /// Whether back faces are visible.
    pub two_sided: bool,
    /// Alpha below which fragments are discarded, if the material discards any.
    pub alpha_cutoff: Option<f32>,
    /// Opacity of a material that is blended with what lies behind it, 0 to 1; the alpha of the colour
    /// texture multiplies it. `None` for an opaque material. A blended material has no alpha test.
    pub opacity: Option<f32>,
    /// Effects of the pixel shader other than its colour.
    pub effects: ShaderEffects,
}

impl Material {
    /// Whether the surface is blended with what lies behind it.
    pub fn is_blended(&self) -> bool {
        self.opacity.is_some()
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

/// A picture mapped onto surfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texture {
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// Texels row by row from the top: red, green, blue and alpha as stored.
    pub texels: Vec<[u8; 4]>,
    /// Wrapping beyond the edges of the texture, and filtering.
    pub sampler: Sampler,
}

/// Continuation of a texture beyond 0 and 1 along an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texture repeats, every other time mirrored.
    Mirror,
    /// The texels at the edge go on.
    Clamp,
}

/// Choice of a value between neighbouring texels or levels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TextureFilter {
    /// The nearest one.
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
    /// Filter between levels; `None` keeps to the finest one.
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
