use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::checks::{each_once, one_or_more, within};
use quadrille_base::bytes::Bytes;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
#[cfg(feature = "cli")]
use quadrille_base::parse::{number, numbers, whole_number};
use quadrille_geometry::files::ShaderEffects;
use quadrille_geometry::reorder::TriangleOrder;
use quadrille_geometry::surface::catmull_clark::MAX_LEVELS;
use quadrille_geometry::surface::{HairOrder, HeightFilter, MAX_HAIRS};
use quadrille_geometry::tessellate::{AREA_RANGE_PX, GridOrder};
use quadrille_mesh::frame::MEMORY_BYTES;

/// Heading of flags about assumptions, which decide results and which the papers do not state.
#[cfg(feature = "cli")]
const ASSUMPTIONS: &str = "Assumptions";

/// Settings of a mesh: keys of suites, and flags of commands that draw meshes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Mesh"))]
pub struct MeshSettings {
    /// Use the mesh as the control cage of a Catmull-Clark surface, and tessellate it into triangles of about this
    /// area in pixels; 0.5 gives micropolygons [default: 10 for Bezier patches and procedural meshes]
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AREA", value_delimiter = ',', value_parser = number::<f64>))]
    pub tessellate: Vec<f64>,
    /// Displace the tessellated surface along its normals by the alpha of this picture or, without
    /// alpha, by its brightness
    #[cfg_attr(feature = "cli", arg(long, value_name = "PICTURE"))]
    pub displace: Option<PathBuf>,
    /// Displacement of white in world units; black displaces by 0
    #[cfg_attr(feature = "cli", arg(long, value_name = "DISTANCE", allow_hyphen_values = true))]
    pub displace_by: Option<f32>,
    /// Picture with the colours of all materials
    #[cfg_attr(feature = "cli", arg(long, value_name = "PICTURE"))]
    pub texture: Option<PathBuf>,
    /// Picture with the tangent-space normals of all materials
    #[cfg_attr(feature = "cli", arg(long, value_name = "PICTURE"))]
    pub normal_map: Option<PathBuf>,
    /// Phong exponent of the highlight of all materials, 0 for no highlight; replaces metalness and roughness
    #[cfg_attr(feature = "cli", arg(long, value_name = "EXPONENT", value_parser = number::<f32>))]
    pub shininess: Option<f32>,
    /// Largest angle in degrees between faces that share normals where the file has none: 0 for flat faces, 180 for
    /// smooth ones [default: the smoothing groups of the file, else 60]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEGREES", value_parser = number::<f64>))]
    pub crease: Option<f64>,
    /// Treat triangles that share positions as adjacent, even with different vertex indices, so that merging
    /// crosses texture seams and hard edges; a GPU compares vertex indices
    #[cfg_attr(feature = "cli", arg(long))]
    pub weld: bool,
    /// Effects of the pixel shader of all materials, separated by commas; any of them disables the pixel merge unit
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "EFFECT", value_delimiter = ','))]
    pub shader_effects: Vec<ShaderEffect>,
    /// Draw an army: this many columns and rows of the tessellated figure
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLUMNS,ROWS", value_parser = army))]
    pub army: Option<[u16; 2]>,
    /// Uniform subdivision steps of the control cage before it is divided into patches; more steps give
    /// smaller patches that are closer to the limit surface where it is irregular [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole_number::<u32>))]
    pub cage_steps: Option<u32>,
    /// Distance of the near plane in world units [default: a thousandth of the distance to the centre of the mesh]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DISTANCE", value_parser = number::<f64>))]
    pub near: Option<f64>,
    /// Side that the default view shows: an axis, as in -z [default: +z, the front in glTF and most OBJ
    /// and PLY files, or -y if +z is up; without glTF, a mesh that is longer than wide and symmetric is
    /// shown in profile; another side or a higher view where the default would be a sliver]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "AXIS", allow_hyphen_values = true, hide_possible_values = true)
    )]
    pub front: Option<AxisDirection>,
    /// Limit on the memory of the texels of textures, and of a frame's triangles and quads, such as 512M or 4G;
    /// drawing takes about as much again [default: 1G]
    // It changes no result, so that rows do not record it.
    #[serde(skip_serializing)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE"))]
    pub memory: Option<Bytes>,
    /// Order of the triangles inside a tessellated grid
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "ORDER"))]
    pub grid_order: Option<GridOrder>,
    /// Order of the triangles of a mesh that is not tessellated, within each draw and material
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "ORDER"))]
    pub reorder: Option<TriangleOrder>,
    /// Interpolation between the texels of the displacement
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "FILTER"))]
    pub displace_filter: Option<HeightFilter>,
    /// Displacement of the frog: cells of noise per world unit, and their height in world units [default: 120,0.02]
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "CELLS,HEIGHT", value_parser = bumps))]
    pub bumps: Option<[f32; 2]>,
    /// Number of hairs of the furball [default: 6000]
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "N", value_parser = whole_number::<u32>))]
    pub hairs: Option<u32>,
    /// Order of the hairs of the furball
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "ORDER"))]
    pub hair_order: Option<HairOrder>,
    /// Seed of procedural meshes, armies and random orders [default: 1]
    #[cfg_attr(feature = "cli", arg(long, help_heading = ASSUMPTIONS, value_name = "SEED"))]
    pub seed: Option<u64>,
}

#[cfg(feature = "cli")]
fn army(text: &str) -> std::result::Result<[u16; 2], String> {
    numbers(text).ok_or_else(|| "expected two numbers as in 6,5".to_owned())
}

#[cfg(feature = "cli")]
fn bumps(text: &str) -> std::result::Result<[f32; 2], String> {
    numbers(text).ok_or_else(|| "expected two numbers as in 120,0.02".to_owned())
}

impl MeshSettings {
    /// The limit on the memory, by default [`MEMORY_BYTES`].
    pub fn memory(&self) -> Bytes {
        self.memory.unwrap_or(Bytes(MEMORY_BYTES))
    }
}

choice! {
    /// Direction along a coordinate axis.
    pub enum AxisDirection {
        /// Positive x.
        X = "+x" | "x",
        /// Negative x.
        NegativeX = "-x",
        /// Positive y.
        Y = "+y" | "y",
        /// Negative y.
        NegativeY = "-y",
        /// Positive z.
        Z = "+z" | "z",
        /// Negative z.
        NegativeZ = "-z",
    }
}

impl AxisDirection {
    /// The direction as a unit vector.
    pub fn vector(self) -> Vector3<f64> {
        match self {
            Self::X => Vector3::x(),
            Self::NegativeX => -Vector3::x(),
            Self::Y => Vector3::y(),
            Self::NegativeY => -Vector3::y(),
            Self::Z => Vector3::z(),
            Self::NegativeZ => -Vector3::z(),
        }
    }
}

choice! {
    /// Effect of a pixel shader besides the output of a colour.
    pub enum ShaderEffect {
        /// Discards fragments
        Discard = "discard",
        /// Writes depth
        Depth = "depth",
        /// Writes to memory besides the colour buffer
        Memory = "memory",
        /// Turns alpha into coverage
        AlphaToCoverage = "alpha-to-coverage",
        /// Reads the primitive id
        PrimitiveId = "primitive-id",
        /// Reads the coverage mask
        Coverage = "coverage",
    }
}

impl ShaderEffect {
    pub(super) fn set(self, effects: &mut ShaderEffects) {
        *match self {
            Self::Discard => &mut effects.discards,
            Self::Depth => &mut effects.writes_depth,
            Self::Memory => &mut effects.writes_memory,
            Self::AlphaToCoverage => &mut effects.alpha_to_coverage,
            Self::PrimitiveId => &mut effects.reads_primitive_id,
            Self::Coverage => &mut effects.reads_coverage,
        } = true;
    }
}

impl MeshSettings {
    /// All files that are read beside the mesh.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let pictures = [&self.displace, &self.texture, &self.normal_map];
        pictures.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Mutable paths of [`Self::files`], which suites resolve against their folder.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        [&mut self.displace, &mut self.texture, &mut self.normal_map].into_iter().flatten()
    }

    /// Checks all values.
    pub fn check(&self) -> Result<()> {
        let (least, most) = AREA_RANGE_PX;
        for area in &self.tessellate {
            let expected = format!("an area from {least} to {most} pixels");
            within("tessellate", Some(*area), least..=most, &expected)?;
        }
        each_once("tessellate", &self.tessellate)?;
        let expected = "a number from 0 to 10000";
        within("shininess", self.shininess, 0.0..=10_000.0, expected)?;
        if let Some([columns, rows]) = self.army.filter(|army| army.contains(&0)) {
            let found = format!("{columns},{rows}");
            return Err(Error::argument("army", "two numbers as in 6,5", found));
        }
        let expected = format!("a number from 0 to {MAX_LEVELS}");
        within("cage_steps", self.cage_steps, 0..=MAX_LEVELS, &expected)?;
        let expected = "an angle from 0 to 180 degrees";
        within("crease", self.crease, 0.0..=180.0, expected)?;
        within("near", self.near, f64::MIN_POSITIVE..=f64::MAX, "a number above 0")?;
        let [cells, height] = self.bumps.map_or([None; 2], |bumps| bumps.map(Some));
        let expected = "0 to 10000 cells and a height from 0 to 10";
        within("bumps", cells, 0.0..=1e4, expected)?;
        within("bumps", height, 0.0..=10.0, expected)?;
        within("hairs", self.hairs, 0..=MAX_HAIRS, &format!("a number from 0 to {MAX_HAIRS}"))?;
        let needs_map = [
            ("displace_by", self.displace_by.is_some()),
            ("displace_filter", self.displace_filter.is_some()),
        ];
        match needs_map.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) if self.displace.is_none() => Err(Error::needs(name, "displace")),
            _ if self.displace.is_some() && self.displace_by.is_none() => {
                Err(Error::needs("displace", "displace_by"))
            }
            _ => Ok(()),
        }
    }
}
