//! Members of a glTF document that are read. Other members are skipped.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) asset: Asset,
    #[serde(default)]
    pub(crate) extensions_used: Vec<String>,
    #[serde(default)]
    pub(crate) extensions_required: Vec<String>,
    pub(crate) scene: Option<usize>,
    #[serde(default)]
    pub(crate) scenes: Vec<Scene>,
    #[serde(default)]
    pub(crate) nodes: Vec<Node>,
    #[serde(default)]
    pub(crate) meshes: Vec<Mesh>,
    #[serde(default)]
    pub(crate) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(crate) buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub(crate) buffers: Vec<Buffer>,
    #[serde(default)]
    pub(crate) materials: Vec<Material>,
    #[serde(default)]
    pub(crate) textures: Vec<Texture>,
    #[serde(default)]
    pub(crate) images: Vec<Image>,
    #[serde(default)]
    pub(crate) samplers: Vec<Sampler>,
    #[serde(default)]
    pub(crate) skins: Vec<Skin>,
    #[serde(default)]
    pub(crate) cameras: Vec<Camera>,
    #[serde(default)]
    pub(crate) animations: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    pub(crate) extensions: DocumentExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DocumentExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub(crate) lights: Lights,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Lights {
    pub(crate) lights: Vec<Light>,
}

/// A light of `KHR_lights_punctual`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Light {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) color: Option<[f32; 3]>,
    pub(crate) intensity: Option<f32>,
    pub(crate) range: Option<f64>,
    pub(crate) spot: Spot,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Spot {
    pub(crate) inner_cone_angle: Option<f64>,
    pub(crate) outer_cone_angle: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Camera {
    pub(crate) name: String,
    pub(crate) perspective: Option<Perspective>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Perspective {
    pub(crate) yfov: f64,
    pub(crate) aspect_ratio: Option<f64>,
    pub(crate) znear: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asset {
    pub(crate) version: String,
    pub(crate) min_version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scene {
    pub(crate) nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Node {
    pub(crate) children: Vec<usize>,
    pub(crate) mesh: Option<usize>,
    pub(crate) skin: Option<usize>,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) matrix: Option<[f64; 16]>,
    pub(crate) translation: Option<[f64; 3]>,
    pub(crate) rotation: Option<[f64; 4]>,
    pub(crate) scale: Option<[f64; 3]>,
    pub(crate) name: String,
    pub(crate) camera: Option<usize>,
    pub(crate) extensions: NodeExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub(crate) light: Option<NodeLight>,
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub(crate) instancing: Option<Instancing>,
}

/// Accessors of the translations, rotations and scales of a node's meshes, by name.
#[derive(Debug, Deserialize)]
pub(crate) struct Instancing {
    pub(crate) attributes: BTreeMap<String, usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeLight {
    pub(crate) light: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Skin {
    pub(crate) joints: Vec<usize>,
    pub(crate) inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Mesh {
    pub(crate) primitives: Vec<Primitive>,
    /// Weights of the morph targets, of nodes that have none.
    pub(crate) weights: Vec<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Primitive {
    pub(crate) attributes: BTreeMap<String, usize>,
    pub(crate) indices: Option<usize>,
    pub(crate) material: Option<usize>,
    pub(crate) mode: Option<u32>,
    /// Accessors of the displacements of each morph target, by attribute.
    pub(crate) targets: Vec<BTreeMap<String, usize>>,
    pub(crate) extensions: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accessor {
    pub(crate) buffer_view: Option<usize>,
    #[serde(default)]
    pub(crate) byte_offset: usize,
    pub(crate) component_type: u32,
    #[serde(default)]
    pub(crate) normalized: bool,
    pub(crate) count: usize,
    #[serde(rename = "type")]
    pub(crate) shape: String,
    pub(crate) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sparse {
    pub(crate) count: usize,
    pub(crate) indices: SparseIndices,
    pub(crate) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseIndices {
    pub(crate) buffer_view: usize,
    #[serde(default)]
    pub(crate) byte_offset: usize,
    pub(crate) component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseValues {
    pub(crate) buffer_view: usize,
    #[serde(default)]
    pub(crate) byte_offset: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BufferView {
    pub(crate) buffer: usize,
    #[serde(default)]
    pub(crate) byte_offset: usize,
    pub(crate) byte_length: usize,
    pub(crate) byte_stride: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buffer {
    pub(crate) uri: Option<String>,
    pub(crate) byte_length: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Material {
    pub(crate) name: String,
    pub(crate) pbr_metallic_roughness: Roughness,
    pub(crate) normal_texture: Option<TextureInfo>,
    pub(crate) occlusion_texture: Option<TextureInfo>,
    pub(crate) emissive_factor: [f32; 3],
    pub(crate) emissive_texture: Option<TextureInfo>,
    pub(crate) alpha_mode: Option<String>,
    pub(crate) alpha_cutoff: Option<f32>,
    pub(crate) double_sided: bool,
    pub(crate) extensions: MaterialExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub(crate) unlit: Option<serde::de::IgnoredAny>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub(crate) emissive_strength: Option<EmissiveStrength>,
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub(crate) specular_glossiness: Option<SpecularGlossiness>,
}

/// Colours and gloss of a material, instead of [`Roughness`].
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SpecularGlossiness {
    pub(crate) diffuse_factor: Option<[f32; 4]>,
    pub(crate) diffuse_texture: Option<TextureInfo>,
    pub(crate) specular_factor: Option<[f32; 3]>,
    pub(crate) glossiness_factor: Option<f32>,
    pub(crate) specular_glossiness_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmissiveStrength {
    pub(crate) emissive_strength: Option<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Roughness {
    pub(crate) base_color_factor: Option<[f32; 4]>,
    pub(crate) base_color_texture: Option<TextureInfo>,
    pub(crate) roughness_factor: Option<f32>,
    pub(crate) metallic_factor: Option<f32>,
    pub(crate) metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextureInfo {
    pub(crate) index: usize,
    #[serde(default)]
    pub(crate) tex_coord: usize,
    /// Factor of a normal texture.
    pub(crate) scale: Option<f32>,
    /// Strength of an occlusion texture.
    pub(crate) strength: Option<f32>,
    #[serde(default)]
    pub(crate) extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(crate) transform: Option<TextureTransform>,
}

/// A transform of texture coordinates: scaled, then rotated by an angle in radians, then offset.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct TextureTransform {
    pub(crate) offset: [f64; 2],
    pub(crate) rotation: f64,
    pub(crate) scale: [f64; 2],
    /// Set of texture coordinates, instead of that of the texture.
    pub(crate) tex_coord: Option<usize>,
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self {
            offset: [0.0; 2],
            rotation: 0.0,
            scale: [1.0; 2],
            tex_coord: None,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Texture {
    pub(crate) source: Option<usize>,
    pub(crate) sampler: Option<usize>,
    pub(crate) extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub(crate) webp: ImageSource,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ImageSource {
    pub(crate) source: Option<usize>,
}

/// Filters and wrapping of a texture, by the numbers of OpenGL.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Sampler {
    pub(crate) mag_filter: Option<u32>,
    pub(crate) min_filter: Option<u32>,
    pub(crate) wrap_s: Option<u32>,
    pub(crate) wrap_t: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Image {
    pub(crate) uri: Option<String>,
    pub(crate) buffer_view: Option<usize>,
}
