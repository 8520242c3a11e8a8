//! Flags of commands that draw meshes, about the mesh and its light.

use std::path::PathBuf;

use crate::cli::usage::number;
use quadrille_base::bytes::Bytes;
use quadrille_base::parse::{numbers, whole_number};
use quadrille_geometry::reorder::TriangleOrder;
use quadrille_geometry::surface::{HairOrder, HeightFilter};
use quadrille_geometry::tessellate::GridOrder;
use quadrille_mesh::frame::MEMORY_BYTES;
use quadrille_suite::mesh_input::{
    AxisDirection, LightChoice, LookSettings, MeshSettings, ShaderEffect,
};

/// Flags about the mesh.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Mesh")]
pub(in crate::cli) struct MeshInputFlags {
    /// Take the mesh as the control cage of a Catmull-Clark surface, and tessellate it into triangles of
    /// about this area in pixels; 0.5 gives micropolygons [default: 10 for Bezier patches and
    /// procedural meshes]
    #[arg(long = "tessellate", value_name = "AREA", value_delimiter = ',', value_parser = number::<f64>)]
    pub(super) areas: Vec<f64>,
    /// Displace the tessellated surface along its normals by the alpha of this picture or, without
    /// alpha, by its brightness
    #[arg(long, value_name = "PICTURE")]
    displace: Option<PathBuf>,
    /// Displacement of white in world units; black displaces by 0
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true)]
    displace_by: Option<f32>,
    /// Picture with the colours of all materials
    #[arg(long, value_name = "PICTURE")]
    texture: Option<PathBuf>,
    /// Picture with the tangent-space normals of all materials
    #[arg(long, value_name = "PICTURE")]
    normal_map: Option<PathBuf>,
    /// Phong exponent of the highlight of all materials, 0 for none; it replaces metalness and roughness
    #[arg(long, value_name = "EXPONENT", value_parser = number::<f32>)]
    shininess: Option<f32>,
    /// Largest angle in degrees between faces that share normals where the file has none: 0 for flat faces, 180 for
    /// smooth ones [default: the smoothing groups of the file, else 60]
    #[arg(long, value_name = "DEGREES", value_parser = number::<f64>)]
    crease: Option<f64>,
    /// Take triangles for adjacent that share positions alone, so that merging crosses seams of the
    /// texture and hard edges; a GPU compares indices of the index buffer
    #[arg(long)]
    weld: bool,
    /// Effects of the pixel shader of all materials, separated by commas; any of them disables the
    /// pixel merge unit
    #[arg(long, value_name = "EFFECT", value_delimiter = ',')]
    shader_effects: Vec<ShaderEffect>,
    /// Draw an army: this many columns and rows of the tessellated figure
    #[arg(long, value_name = "COLUMNS,ROWS", value_parser = army)]
    army: Option<[u16; 2]>,
    /// Uniform subdivision steps of the control cage before it is divided into patches; more steps give
    /// smaller patches that are closer to the limit surface where it is irregular [default: 1]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>)]
    cage_steps: Option<u32>,
    /// Distance of the near plane in world units [default: a thousandth of the distance to the centre
    /// of the mesh]
    #[arg(long, value_name = "DISTANCE", value_parser = number::<f64>)]
    near: Option<f64>,
    /// Side that the default view shows: an axis, as in -z [default: +z, the front in glTF and most OBJ
    /// and PLY files, or -y if +z is up; without glTF, a mesh that is longer than wide and symmetric is
    /// shown in profile; another side or a higher view where the default would be a sliver]
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true, hide_possible_values = true)]
    front: Option<AxisDirection>,
    /// Limit on the memory of the texels of textures, and of a frame's triangles and quads, such as 512M or 4G;
    /// drawing takes about as much again
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(MEMORY_BYTES))]
    memory: Bytes,
    #[command(flatten)]
    assumptions: AssumptionFlags,
}

/// Assumptions that decide results and that the papers do not state.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Assumptions")]
struct AssumptionFlags {
    /// Order of the triangles inside a tessellated grid
    #[arg(long, value_name = "ORDER")]
    grid_order: Option<GridOrder>,
    /// Order of the triangles of a mesh that is drawn as it is, within each draw and material
    #[arg(long, value_name = "ORDER")]
    reorder: Option<TriangleOrder>,
    /// Interpolation between the texels of --displace
    #[arg(long, value_name = "FILTER")]
    displace_filter: Option<HeightFilter>,
    /// Displacement of the frog: cells of noise per world unit, and their height in world units
    /// [default: 120,0.02]
    #[arg(long, value_name = "CELLS,HEIGHT", value_parser = bumps)]
    bumps: Option<[f32; 2]>,
    /// Number of hairs of the furball [default: 6000]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>)]
    hairs: Option<u32>,
    /// Order of the hairs of the furball
    #[arg(long, value_name = "ORDER")]
    hair_order: Option<HairOrder>,
    /// Seed of procedural meshes, armies and random orders [default: 1]
    #[arg(long)]
    seed: Option<u64>,
}

impl MeshInputFlags {
    pub(in crate::cli) fn settings(&self) -> MeshSettings {
        let assumptions = self.assumptions.clone();
        MeshSettings {
            tessellate: self.areas.clone(),
            displace: self.displace.clone(),
            displace_by: self.displace_by,
            texture: self.texture.clone(),
            normal_map: self.normal_map.clone(),
            shininess: self.shininess,
            crease: self.crease,
            weld: self.weld,
            shader_effects: self.shader_effects.clone(),
            army: self.army,
            cage_steps: self.cage_steps,
            near: self.near,
            front: self.front,
            grid_order: assumptions.grid_order,
            reorder: assumptions.reorder,
            displace_filter: assumptions.displace_filter,
            bumps: assumptions.bumps,
            hairs: assumptions.hairs,
            hair_order: assumptions.hair_order,
            seed: assumptions.seed,
            memory: Some(self.memory),
        }
    }
}

/// Flags about light.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Light")]
pub(in crate::cli) struct LookFlags {
    /// Light of the scene
    #[arg(long, value_name = "LIGHT", default_value = "auto")]
    light: LightChoice,
    /// Brighten by this many stops, each a factor of 2; negative ones darken [default: 0, or what lights of the file
    /// need that are far brighter or darker]. A white surface that faces a light of pi lux is white at 0
    #[arg(long, value_name = "STOPS", allow_hyphen_values = true, value_parser = number::<f32>)]
    exposure: Option<f32>,
    /// Colour surfaces without a texture with a checkerboard of this many checks per unit of texture
    /// space
    #[arg(long, value_name = "CHECKS", value_parser = number::<f32>)]
    checker: Option<f32>,
}

impl LookFlags {
    pub(in crate::cli) fn settings(&self) -> LookSettings {
        LookSettings { light: self.light, exposure: self.exposure, checker: self.checker }
    }
}

fn army(text: &str) -> Result<[u16; 2], String> {
    numbers(text).ok_or_else(|| "expected two numbers as in 6,5".to_owned())
}

fn bumps(text: &str) -> Result<[f32; 2], String> {
    numbers(text).ok_or_else(|| "expected two numbers as in 120,0.02".to_owned())
}
