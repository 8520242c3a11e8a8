//! Members of a glTF document that meshes alone need, with the names and meanings of the specification.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scenery {
    pub(super) materials: Vec<Material>,
    pub(super) textures: Vec<Texture>,
    pub(super) images: Vec<Image>,
    pub(super) samplers: Vec<Sampler>,
    pub(super) skins: Vec<Skin>,
    pub(super) cameras: Vec<Camera>,
    /// Animations, which are reported but not played.
    pub(super) animations: Vec<IgnoredAny>,
    pub(super) extensions: DocumentExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DocumentExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub(super) lights: Lights,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Lights {
    pub(super) lights: Vec<Light>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Light {
    /// Name of the light; empty if the file gives none.
    pub(super) name: String,
    /// `directional`, `point` or `spot`.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Colour in linear RGB.
    pub(super) color: Option<[f32; 3]>,
    /// Brightness: lux for directional lights, else candela.
    pub(super) intensity: Option<f32>,
    /// Distance in metres beyond which the light has no effect.
    pub(super) range: Option<f64>,
    pub(super) spot: Spot,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Spot {
    pub(super) inner_cone_angle: Option<f64>,
    pub(super) outer_cone_angle: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Camera {
    /// Name of the camera; empty if the file gives none.
    pub(super) name: String,
    /// Perspective projection; `None` for an orthographic camera.
    pub(super) perspective: Option<Perspective>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Perspective {
    pub(super) yfov: f64,
    pub(super) aspect_ratio: Option<f64>,
    pub(super) znear: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) joints: Vec<usize>,
    pub(super) inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Material {
    /// Name of the material; empty if the file gives none.
    pub(super) name: String,
    pub(super) pbr_metallic_roughness: Roughness,
    /// Normals in tangent space.
    pub(super) normal_texture: Option<TextureInfo>,
    /// Ambient occlusion, in the red channel.
    pub(super) occlusion_texture: Option<TextureInfo>,
    /// Emitted light in linear RGB.
    pub(super) emissive_factor: [f32; 3],
    /// Texture that multiplies the emitted light.
    pub(super) emissive_texture: Option<TextureInfo>,
    /// `OPAQUE`, the default, `MASK` or `BLEND`.
    pub(super) alpha_mode: Option<String>,
    /// Least alpha that is drawn in mode `MASK`.
    pub(super) alpha_cutoff: Option<f32>,
    /// True if both sides are drawn.
    pub(super) double_sided: bool,
    pub(super) extensions: MaterialExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub(super) unlit: Option<IgnoredAny>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub(super) emissive_strength: Option<EmissiveStrength>,
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub(super) specular_glossiness: Option<SpecularGlossiness>,
}

/// Colours and gloss of a material, instead of [`Roughness`].
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SpecularGlossiness {
    pub(super) diffuse_factor: Option<[f32; 4]>,
    pub(super) diffuse_texture: Option<TextureInfo>,
    pub(super) specular_factor: Option<[f32; 3]>,
    pub(super) glossiness_factor: Option<f32>,
    pub(super) specular_glossiness_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EmissiveStrength {
    pub(super) emissive_strength: Option<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Roughness {
    pub(super) base_color_factor: Option<[f32; 4]>,
    pub(super) base_color_texture: Option<TextureInfo>,
    pub(super) roughness_factor: Option<f32>,
    pub(super) metallic_factor: Option<f32>,
    pub(super) metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub(super) index: usize,
    #[serde(default)]
    pub(super) tex_coord: usize,
    /// Factor on x and y of the normals in a normal texture.
    pub(super) scale: Option<f32>,
    /// Strength of an occlusion texture.
    pub(super) strength: Option<f32>,
    #[serde(default)]
    pub(super) extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(super) transform: Option<TextureTransform>,
}

/// Transform of texture coordinates: scale, then rotation by an angle in radians, then offset.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TextureTransform {
    pub(super) offset: [f64; 2],
    pub(super) rotation: f64,
    pub(super) scale: [f64; 2],
    /// Set of texture coordinates; overrides the texture's own.
    pub(super) tex_coord: Option<usize>,
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2], tex_coord: None }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Texture {
    pub(super) source: Option<usize>,
    pub(super) sampler: Option<usize>,
    pub(super) extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub(super) webp: ImageSource,
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ImageSource {
    pub(super) source: Option<usize>,
}

/// Filters and wrapping of a texture, by the numbers of OpenGL.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Sampler {
    /// Filter for magnification, as an OpenGL constant.
    pub(super) mag_filter: Option<u32>,
    /// Filter for minification, as an OpenGL constant.
    pub(super) min_filter: Option<u32>,
    /// Wrapping along u, as an OpenGL constant.
    pub(super) wrap_s: Option<u32>,
    /// Wrapping along v, as an OpenGL constant.
    pub(super) wrap_t: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) uri: Option<String>,
    pub(super) buffer_view: Option<usize>,
}
