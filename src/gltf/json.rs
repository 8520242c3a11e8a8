//! Members of a glTF document that are read. Other members are skipped.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use quadrille_base::error::{Error, Result};

/// The JSON of a glTF 2.0 file. Fields have the names and meanings of its specification.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GltfDocument {
    pub(crate) asset: Asset,
    /// Names of all extensions in use.
    #[serde(default)]
    pub extensions_used: Vec<String>,
    /// Names of the extensions without which the file cannot be read.
    #[serde(default)]
    pub extensions_required: Vec<String>,
    pub(crate) scene: Option<usize>,
    #[serde(default)]
    pub(crate) scenes: Vec<Scene>,
    /// Nodes, which scenes and parents refer to by index.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// Meshes, which nodes refer to by index.
    #[serde(default)]
    pub meshes: Vec<GltfMesh>,
    #[serde(default)]
    pub(crate) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(crate) buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub(crate) buffers: Vec<Buffer>,
}

/// Deserialises `T` from the JSON of a document. Members that `T` lacks are skipped.
///
/// # Errors
/// [`Error::Malformed`] with the line and column.
pub fn members<'j, T: Deserialize<'j>>(json: &'j [u8], path: &Path) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| {
        let place = format!("JSON, line {}, column {}", error.line(), error.column());
        Error::malformed(path, place, "a glTF document", error)
    })
}

impl GltfDocument {
    /// Reads a document of glTF 2.
    ///
    /// # Errors
    /// [`Error::Malformed`] for JSON of another shape, and for other versions.
    pub fn read(json: &[u8], path: &Path) -> Result<Self> {
        let document: Self = members(json, path)?;
        let Asset { version, min_version } = &document.asset;
        let found = match min_version {
            Some(least) if least != "2.0" => format!("version {version}, which requires {least}"),
            _ if version.starts_with("2.") => return Ok(document),
            _ => format!("version {version}"),
        };
        Err(Error::malformed(path, "asset", "glTF 2.0", found))
    }

    /// Refuses a document that requires an extension for which `is_read` does not hold.
    ///
    /// # Errors
    /// [`Error::Malformed`] names the extension and, where there is one, a remedy.
    pub fn check_required(&self, is_read: impl Fn(&str) -> bool, path: &Path) -> Result<()> {
        let mut required = self.extensions_required.iter();
        let Some(name) = required.find(|name| !is_read(name)) else { return Ok(()) };
        let found = named(name);
        let (place, expected) = ("extensionsRequired", "supported extensions");
        Err(Error::malformed(path, place, expected, found))
    }
}

/// Returns the quoted name of an extension and, where there is one, the remedy for a file that needs it.
pub fn named(extension: &str) -> String {
    let remedy = match extension {
        "KHR_draco_mesh_compression" => " (save the file without Draco compression)",
        "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
            " (save the file without meshopt compression)"
        }
        "KHR_gaussian_splatting_compression_spz"
        | "KHR_spz_gaussian_splats_compression"
        | "KHR_spz_compression" => {
            " (a draft of 2025; write the file by a newer version of its exporter, or export the splats as PLY or SPZ)"
        }
        "CESIUM_RTC" => {
            " (positions relative to a centre; export them with the translation of a node)"
        }
        "KHR_texture_basisu" => " (save KTX2 textures as PNG, JPEG or WebP)",
        _ => "",
    };
    format!("{extension:?}{remedy}")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asset {
    version: String,
    min_version: Option<String>,
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
    #[serde(rename = "KHR_node_visibility")]
    pub(crate) visibility: Visibility,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Visibility {
    pub(crate) visible: bool,
}

impl Default for Visibility {
    fn default() -> Self {
        Self { visible: true }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Instancing {
    pub(crate) attributes: BTreeMap<String, usize>,
}

#[derive(Debug, Deserialize)]
pub struct NodeLight {
    pub light: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct GltfMesh {
    pub primitives: Vec<GltfPrimitive>,
    /// Default weights of the morph targets, for nodes that have none.
    pub weights: Vec<f32>,
}

/// Geometry that is drawn with one material.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct GltfPrimitive {
    /// Accessor of each vertex attribute, by its name.
    pub attributes: BTreeMap<String, usize>,
    /// Accessor of the vertex indices; without one, vertices follow in order.
    pub indices: Option<usize>,
    /// Index of the material; the default material of glTF if absent.
    pub material: Option<usize>,
    /// Code of the topology: triangles (4) if absent.
    pub mode: Option<u32>,
    /// Accessors of the displacements of each morph target, by attribute.
    pub targets: Vec<BTreeMap<String, usize>>,
    /// JSON of each extension, by its name.
    pub extensions: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub(crate) buffer_view: Option<usize>,
    #[serde(default)]
    pub(crate) byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
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
    #[serde(default)]
    pub(crate) extensions: BTreeMap<String, IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buffer {
    pub(crate) uri: Option<String>,
    pub(crate) byte_length: usize,
}
