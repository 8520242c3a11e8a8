//! Members of a glTF document that are read. Other members are skipped.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use quadrille_base::error::{Error, Result};

/// The JSON of a glTF 2.0 file. Fields have the names and meanings of its specification.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Metadata.
    pub asset: Asset,
    /// Names of all extensions in use.
    #[serde(default)]
    pub extensions_used: Vec<String>,
    /// Names of the extensions without which the file cannot be read.
    #[serde(default)]
    pub extensions_required: Vec<String>,
    pub(crate) scene: Option<usize>,
    #[serde(default)]
    pub(crate) scenes: Vec<Scene>,
    /// All nodes.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// All meshes.
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub(crate) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(crate) buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub(crate) buffers: Vec<Buffer>,
    /// All materials.
    #[serde(default)]
    pub materials: Vec<Material>,
    /// All textures.
    #[serde(default)]
    pub textures: Vec<Texture>,
    /// All images.
    #[serde(default)]
    pub images: Vec<Image>,
    /// All samplers of textures.
    #[serde(default)]
    pub samplers: Vec<Sampler>,
    /// All skins.
    #[serde(default)]
    pub skins: Vec<Skin>,
    /// All cameras.
    #[serde(default)]
    pub cameras: Vec<Camera>,
    /// Animations, which are counted but not played.
    #[serde(default)]
    pub animations: Vec<serde::de::IgnoredAny>,
    /// Extensions of the document.
    #[serde(default)]
    pub extensions: DocumentExtensions,
}

impl Document {
    /// Refuses a document that requires an extension for which `is_read` does not hold.
    ///
    /// # Errors
    /// [`Error::Malformed`] names the extension and, where there is one, a remedy.
    pub fn check_required(&self, is_read: impl Fn(&str) -> bool, path: &Path) -> Result<()> {
        let mut required = self.extensions_required.iter();
        let Some(name) = required.find(|name| !is_read(name)) else {
            return Ok(());
        };
        let remedy = match name.as_str() {
            "KHR_draco_mesh_compression" => " (save the file without Draco compression)",
            "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
                " (save the file without meshopt compression)"
            }
            "KHR_texture_basisu" => " (save KTX2 textures as PNG, JPEG or WebP)",
            _ => "",
        };
        let found = format!("{name:?}{remedy}");
        let (place, expected) = ("extensionsRequired", "extensions that are read");
        Err(Error::malformed(path, place, expected, found))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DocumentExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub lights: Lights,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lights {
    pub lights: Vec<Light>,
}

/// A light of `KHR_lights_punctual`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Light {
    /// Name; empty if it has none.
    pub name: String,
    /// `directional`, `point` or `spot`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Colour in linear RGB.
    pub color: Option<[f32; 3]>,
    /// Brightness: lux for directional lights, else candela.
    pub intensity: Option<f32>,
    /// Distance in metres beyond which the light has no effect.
    pub range: Option<f64>,
    /// Cone of a spot light.
    pub spot: Spot,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spot {
    pub inner_cone_angle: Option<f64>,
    pub outer_cone_angle: Option<f64>,
}

/// A camera.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Camera {
    /// Name; empty if it has none.
    pub name: String,
    /// The projection, if it is a perspective.
    pub perspective: Option<Perspective>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Perspective {
    pub yfov: f64,
    pub aspect_ratio: Option<f64>,
    pub znear: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    pub version: String,
    pub min_version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scene {
    pub(crate) nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node {
    pub(crate) children: Vec<usize>,
    pub(crate) mesh: Option<usize>,
    pub skin: Option<usize>,
    pub weights: Option<Vec<f32>>,
    pub(crate) matrix: Option<[f64; 16]>,
    pub(crate) translation: Option<[f64; 3]>,
    pub(crate) rotation: Option<[f64; 4]>,
    pub(crate) scale: Option<[f64; 3]>,
    pub name: String,
    pub camera: Option<usize>,
    pub extensions: NodeExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub light: Option<NodeLight>,
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub(crate) instancing: Option<Instancing>,
}

/// Accessors of the translations, rotations and scales of a node's meshes, by name.
#[derive(Debug, Deserialize)]
pub(crate) struct Instancing {
    pub(crate) attributes: BTreeMap<String, usize>,
}

#[derive(Debug, Deserialize)]
pub struct NodeLight {
    pub light: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Mesh {
    pub primitives: Vec<Primitive>,
    /// Weights of the morph targets, of nodes that have none.
    pub weights: Vec<f32>,
}

/// Geometry that is drawn with one material.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Primitive {
    /// Accessor of each vertex attribute, by its name.
    pub attributes: BTreeMap<String, usize>,
    /// Accessor of the indices of vertices.
    pub indices: Option<usize>,
    /// Index of the material.
    pub material: Option<usize>,
    /// Topology: 4 for triangles, the default.
    pub mode: Option<u32>,
    /// Accessors of the displacements of each morph target, by attribute.
    pub targets: Vec<BTreeMap<String, usize>>,
    pub(crate) extensions: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub(crate) buffer_view: Option<usize>,
    #[serde(default)]
    pub(crate) byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub(crate) normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub shape: String,
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

/// A material with metallic-roughness shading.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Material {
    /// Name; empty if it has none.
    pub name: String,
    /// Base colour, metalness and roughness.
    pub pbr_metallic_roughness: Roughness,
    /// Normals in tangent space.
    pub normal_texture: Option<TextureInfo>,
    /// Ambient occlusion, in the red channel.
    pub occlusion_texture: Option<TextureInfo>,
    /// Emitted light in linear RGB.
    pub emissive_factor: [f32; 3],
    /// Texture that multiplies the emitted light.
    pub emissive_texture: Option<TextureInfo>,
    /// `OPAQUE`, the default, `MASK` or `BLEND`.
    pub alpha_mode: Option<String>,
    /// Least alpha that is drawn in mode `MASK`.
    pub alpha_cutoff: Option<f32>,
    /// Whether both sides are drawn.
    pub double_sided: bool,
    /// Extensions of the material.
    pub extensions: MaterialExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub unlit: Option<serde::de::IgnoredAny>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub emissive_strength: Option<EmissiveStrength>,
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub specular_glossiness: Option<SpecularGlossiness>,
}

/// Colours and gloss of a material, instead of [`Roughness`].
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SpecularGlossiness {
    pub diffuse_factor: Option<[f32; 4]>,
    pub diffuse_texture: Option<TextureInfo>,
    pub specular_factor: Option<[f32; 3]>,
    pub glossiness_factor: Option<f32>,
    pub specular_glossiness_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmissiveStrength {
    pub emissive_strength: Option<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Roughness {
    pub base_color_factor: Option<[f32; 4]>,
    pub base_color_texture: Option<TextureInfo>,
    pub roughness_factor: Option<f32>,
    pub metallic_factor: Option<f32>,
    pub metallic_roughness_texture: Option<TextureInfo>,
}

/// Use of a texture by a material.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureInfo {
    /// Index of the texture.
    pub index: usize,
    /// Set of texture coordinates.
    #[serde(default)]
    pub tex_coord: usize,
    /// Factor of a normal texture.
    pub scale: Option<f32>,
    /// Strength of an occlusion texture.
    pub strength: Option<f32>,
    /// Extensions of the use.
    #[serde(default)]
    pub extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

/// A transform of texture coordinates: scaled, then rotated by an angle in radians, then offset.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TextureTransform {
    pub offset: [f64; 2],
    pub rotation: f64,
    pub scale: [f64; 2],
    /// Set of texture coordinates; overrides the texture's own.
    pub tex_coord: Option<usize>,
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
pub struct Texture {
    pub source: Option<usize>,
    pub sampler: Option<usize>,
    pub extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub webp: ImageSource,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ImageSource {
    pub source: Option<usize>,
}

/// Filters and wrapping of a texture, by the numbers of OpenGL.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Sampler {
    /// Filter for magnification, as an OpenGL constant.
    pub mag_filter: Option<u32>,
    /// Filter for minification, as an OpenGL constant.
    pub min_filter: Option<u32>,
    /// Wrapping along u, as an OpenGL constant.
    pub wrap_s: Option<u32>,
    /// Wrapping along v, as an OpenGL constant.
    pub wrap_t: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub uri: Option<String>,
    pub buffer_view: Option<usize>,
}
