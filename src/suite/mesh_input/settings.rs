use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::checks::{each_once, one_or_more, within};
use quadrille_base::bytes::Bytes;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_geometry::files::ShaderEffects;
use quadrille_geometry::reorder::TriangleOrder;
use quadrille_geometry::surface::catmull_clark::MAX_LEVELS;
use quadrille_geometry::surface::{HairOrder, HeightFilter, MAX_HAIRS};
use quadrille_geometry::tessellate::{AREA_RANGE_PX, GridOrder};
use quadrille_mesh::frame::MEMORY_BYTES;

/// Settings of a mesh: keys of suites, and flags of `mesh` and `deferred`, which describe them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeshSettings {
    /// Target areas in pixels of tessellated triangles; none for polygons as they are.
    #[serde(deserialize_with = "one_or_more")]
    pub tessellate: Vec<f64>,
    /// Picture with displacements of the tessellated surface.
    pub displace: Option<PathBuf>,
    /// Displacement of white in world units.
    pub displace_by: Option<f32>,
    /// Picture with the colours of all materials.
    pub texture: Option<PathBuf>,
    /// Picture with the tangent-space normals of all materials.
    pub normal_map: Option<PathBuf>,
    /// Phong exponent of all materials, from 0 to 10,000.
    pub shininess: Option<f32>,
    /// Largest angle in degrees between faces that share normals where the file has none; replaces its smoothing
    /// groups.
    pub crease: Option<f64>,
    /// Whether triangles that share positions alone are adjacent.
    pub weld: bool,
    /// Effects of the pixel shader of all materials.
    #[serde(deserialize_with = "one_or_more")]
    pub shader_effects: Vec<ShaderEffect>,
    /// Columns and rows of an army of the tessellated figure.
    pub army: Option<[u16; 2]>,
    /// Uniform subdivision steps of a control cage before it is divided into patches.
    pub cage_steps: Option<u32>,
    /// Distance of the near plane in world units.
    pub near: Option<f64>,
    /// Side that the default view shows.
    pub front: Option<AxisDirection>,
    /// Order of the triangles inside a tessellated grid.
    pub grid_order: Option<GridOrder>,
    /// Order of the triangles of polygons as they are, within each draw and material.
    pub reorder: Option<TriangleOrder>,
    /// Interpolation between the texels of the displacement.
    pub displace_filter: Option<HeightFilter>,
    /// Displacement of the frog: cells of noise per world unit, and their height in world units.
    pub bumps: Option<[f32; 2]>,
    /// Number of hairs of the furball.
    pub hairs: Option<u32>,
    /// Order of the hairs of the furball.
    pub hair_order: Option<HairOrder>,
    /// Seed of procedural meshes, armies and random orders; by default 1.
    pub seed: Option<u64>,
    /// Limit on the memory of the texels of textures, and of a frame's triangles and quads; drawing takes about as
    /// much again. It changes no result, so that rows do not record it.
    #[serde(skip_serializing)]
    pub memory: Option<Bytes>,
}

impl MeshSettings {
    /// The limit on the memory, by default [`MEMORY_BYTES`].
    pub fn memory(&self) -> Bytes {
        self.memory.unwrap_or(Bytes(MEMORY_BYTES))
    }
}

choice! {
    /// A direction along an axis.
    pub enum AxisDirection {
        /// Right.
        X = "+x" | "x",
        /// Left.
        NegativeX = "-x",
        /// Along y.
        Y = "+y" | "y",
        /// Against y.
        NegativeY = "-y",
        /// Along z.
        Z = "+z" | "z",
        /// Against z.
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
    /// An effect of a pixel shader beside its colour.
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

    /// The same, to change their paths.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let pictures = [&mut self.displace, &mut self.texture, &mut self.normal_map];
        pictures.into_iter().flatten()
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
        let positive = f64::MIN_POSITIVE..=f64::MAX;
        within("near", self.near, positive, "a number above 0")?;
        let [cells, height] = self.bumps.map_or([None; 2], |bumps| bumps.map(Some));
        let expected = "0 to 10000 cells and a height from 0 to 10";
        within("bumps", cells, 0.0..=1e4, expected)?;
        within("bumps", height, 0.0..=10.0, expected)?;
        let expected = format!("a number from 0 to {MAX_HAIRS}");
        within("hairs", self.hairs, 0..=MAX_HAIRS, &expected)?;
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
