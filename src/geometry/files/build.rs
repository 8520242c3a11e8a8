//! Construction of a mesh while a file is read: welding, limits, draws, warnings.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use nalgebra::Vector3;

use super::material::Material;
use super::mesh::{Corner, Loaded, Mesh, NONE};
use super::origin::Middle;
use quadrille_base::error::{Error, Mismatch, Result};
use quadrille_base::image::srgb::decode_srgb;
use quadrille_base::math::narrow;

const MAX_TRIANGLES: u64 = 1 << 26;
pub(super) const MAX_VERTICES: u64 = 1 << 26;
/// Largest channel of colours on a scale of 0 to 1, which brightening may have raised above 1. Files with larger channels
/// have colours on a scale of 0 to 255, on which a mesh without channels above 2 would be black.
pub(super) const LARGEST_UNIT_COLOUR: f32 = 2.0;
const MAX_WARNINGS: usize = 100;

#[derive(Default)]
pub(crate) struct MeshBuilder {
    path: PathBuf,
    pub(super) mesh: Mesh,
    /// Indices of positions by the bits of their coordinates.
    welded: HashMap<[u32; 3], u32>,
    triangles: u64,
    draw_start: u32,
    pub(super) texture_bytes: u64,
    warnings: Warnings,
    /// True if positions differ from the positions of the file by their rounding to f32.
    rounds_positions: bool,
    /// Numbers of parts that are left out, by their names in warnings.
    left_out: BTreeMap<&'static str, usize>,
}

/// Parts that readers leave out, as warnings name them.
pub(super) mod left_out {
    pub(in super::super) const FACES: &str = "faces of fewer than three corners";
    pub(in super::super) const NORMALS: &str = "normals of length 0 or without finite numbers";
    pub(in super::super) const UVS: &str = "texture coordinates without finite numbers";
    pub(in super::super) const COLOURS: &str = "colours of vertices without finite numbers";
    pub(in super::super) const POSITIONS: &str = "unused vertices without finite coordinates";
    pub(in super::super) const ABSENT_UVS: &str =
        "indices of texture coordinates that the file lacks";
    pub(in super::super) const ABSENT_NORMALS: &str = "indices of normals that the file lacks";
}

#[derive(Default)]
pub(super) struct Warnings {
    texts: Vec<String>,
    more: usize,
}

impl Warnings {
    pub(super) fn push(&mut self, text: String) {
        if self.texts.len() >= MAX_WARNINGS {
            self.more += 1;
        } else if !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }

    pub(super) fn into_texts(mut self) -> Vec<String> {
        if self.more > 0 {
            self.texts.push(format!("more warnings, which are not listed: {}", self.more));
        }
        self.texts
    }
}

impl MeshBuilder {
    pub(super) fn new(path: &Path, texture_bytes: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            texture_bytes,
            mesh: Mesh { face_starts: vec![0], ..Mesh::default() },
            ..Self::default()
        }
    }

    /// Chooses the origin for these positions, before any is added. `single` are the positions that the file has
    /// in single precision; if that is too coarse for them, a warning is added.
    pub(super) fn set_origin(&mut self, positions: &[[f64; 3]], single: &[[f64; 3]]) {
        self.mesh.origin = Middle::origin_of(positions);
        self.rounds_positions = single != positions || self.mesh.origin != [0.0; 3];
        let warning = Middle::of(single).and_then(|middle| middle.warning());
        warning.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Adds a world position, rounded to f32 relative to the origin. Equal positions share an index.
    pub(super) fn position(&mut self, position: [f64; 3]) -> Result<u32> {
        let origin = self.mesh.origin;
        // Adding zero turns -0 into 0.
        let position = [0, 1, 2].map(|k| narrow(position[k] - origin[k]) + 0.0);
        let bits = position.map(f32::to_bits);
        if let Some(&at) = self.welded.get(&bits) {
            return Ok(at);
        }
        let at = self.index(self.mesh.positions.len(), "positions")?;
        self.welded.insert(bits, at);
        self.mesh.positions.push(position);
        Ok(at)
    }

    /// Adds texture coordinates. Returns their index, or [`NONE`] for numbers that are not finite.
    pub(super) fn uv(&mut self, uv: [f32; 2]) -> Result<u32> {
        if finite(uv).is_err() {
            return Ok(self.leave_out(left_out::UVS));
        }
        let at = self.index(self.mesh.uvs.len(), "texture coordinates")?;
        self.mesh.uvs.push(uv);
        Ok(at)
    }

    /// Adds texture coordinates with their second set. Pairs whose numbers are not finite are left out.
    pub(super) fn uv_sets(&mut self, uv: [f32; 2], second: [f32; 2]) -> Result<u32> {
        if finite(second).is_err() {
            return Ok(self.leave_out(left_out::UVS));
        }
        let at = self.uv(uv)?;
        if at != NONE {
            // Coordinates without a second set have zeros there, as they have for the first set where they lack it.
            self.mesh.second_uvs.resize(at as usize, [0.0; 2]);
            self.mesh.second_uvs.push(second);
        }
        Ok(at)
    }

    /// Replaces the texture coordinates at corners of faces with this material.
    pub(super) fn place_uvs(
        &mut self,
        material: u32,
        place: impl Fn([f32; 2]) -> [f32; 2],
    ) -> Result<()> {
        let mut placed = HashMap::new();
        let mut corners = std::mem::take(&mut self.mesh.corners);
        for (face, range) in self.mesh.face_starts.clone().array_windows().enumerate() {
            if self.mesh.face_materials[face] != material {
                continue;
            }
            let [start, end] = range.map(|at| at as usize);
            for corner in corners[start..end].iter_mut().filter(|corner| corner.uv != NONE) {
                corner.uv = match placed.get(&corner.uv) {
                    Some(known) => *known,
                    None => {
                        let new = self.uv(place(self.mesh.uvs[corner.uv as usize]))?;
                        *placed.entry(corner.uv).or_insert(new)
                    }
                };
            }
        }
        self.mesh.corners = corners;
        Ok(())
    }

    /// Adds a colour. Returns its index, or [`NONE`] for numbers that are not finite.
    pub(super) fn colour(&mut self, colour: [f32; 4]) -> Result<u32> {
        if finite(colour).is_err() {
            return Ok(self.leave_out(left_out::COLOURS));
        }
        let at = self.index(self.mesh.colours.len(), "colours of vertices")?;
        self.mesh.colours.push(colour.map(|c| c.max(0.0)));
        Ok(at)
    }

    /// Decodes the colours from index `first` on from sRGB, on a scale of 0 to 1 or, by some exporters, 0 to 255.
    pub(super) fn decode_colours(&mut self, first: usize) {
        let colours = &self.mesh.colours[first..];
        let largest = colours.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).fold(0.0, f32::max);
        let alphas = colours.iter().map(|[_, _, _, alpha]| *alpha);
        let divisors = [largest, alphas.fold(0.0, f32::max)].map(|largest| match largest {
            ..=LARGEST_UNIT_COLOUR => 1.0,
            _ => f32::from(u8::MAX),
        });
        if largest > LARGEST_UNIT_COLOUR {
            self.warn(format!(
                "colours of vertices reach {largest}: they are read as 0 to 255 instead of 0 to 1"
            ));
        }
        for colour in &mut self.mesh.colours[first..] {
            let [r, g, b, alpha] = *colour;
            let [r, g, b] = decode_srgb([r, g, b].map(|c| (c / divisors[0]).clamp(0.0, 1.0)));
            *colour = [r, g, b, (alpha / divisors[1]).clamp(0.0, 1.0)];
        }
    }

    /// Normalises and adds a normal. Returns its index, or [`NONE`] for a normal of length 0 or of numbers that are not finite.
    pub(super) fn normal(&mut self, normal: [f32; 3]) -> Result<u32> {
        let normal = Vector3::from(normal.map(f64::from));
        let length = normal.norm();
        if length == 0.0 || !length.is_finite() {
            return Ok(self.leave_out(left_out::NORMALS));
        }
        let at = self.index(self.mesh.normals.len(), "normals")?;
        self.mesh.normals.push(normal.map(|c| narrow(c / length)).into());
        Ok(at)
    }

    pub(super) fn flat_normal(&mut self, triangle: [Corner; 3]) -> Result<u32> {
        let position = |corner: Corner| self.mesh.positions[corner.position as usize];
        let [a, b, c] = triangle.map(|corner| Vector3::from(position(corner).map(f64::from)));
        let unit = (b - a).cross(&(c - a)).try_normalize(0.0);
        unit.map_or(Ok(NONE), |unit| self.normal(unit.map(narrow).into()))
    }

    /// Index of an element that `count` elements precede, or an error if there are too many.
    pub(super) fn index(&self, count: usize, what: &str) -> Result<u32> {
        let next = u32::try_from(count).ok();
        let is_free = |next: &u32| u64::from(*next) < MAX_VERTICES;
        next.filter(is_free).ok_or_else(|| Error::Limit {
            what: format!("{}: {what}", self.path.display()),
            limit: MAX_VERTICES,
            found: count as u64 + 1,
        })
    }

    pub(super) fn expect(&self, vertices: u64, triangles: u64) -> Result<()> {
        let what = format!("{}: vertices of all instances", self.path.display());
        Error::check_limit(what, MAX_VERTICES, vertices)?;
        self.check_triangles(triangles)
    }

    fn check_triangles(&self, more: u64) -> Result<()> {
        let found = self.triangles.saturating_add(more);
        if found <= MAX_TRIANGLES {
            return Ok(());
        }
        let what = format!("{}: triangles", self.path.display());
        Err(Error::Limit { what, limit: MAX_TRIANGLES, found })
    }

    /// Adds a face of at least three corners, whose indices come from this builder.
    pub(super) fn face(&mut self, corners: &[Corner], material: u32) -> Result<()> {
        let triangles = (corners.len() as u64).saturating_sub(2);
        self.check_triangles(triangles)?;
        self.triangles += triangles;
        self.mesh.corners.extend_from_slice(corners);
        // There are at most three times as many corners as triangles, so the count fits 32 bits.
        self.mesh.face_starts.push(u32::try_from(self.mesh.corners.len()).unwrap_or(NONE));
        self.mesh.face_materials.push(material);
        Ok(())
    }

    pub(super) fn end_draw(&mut self) {
        let end = u32::try_from(self.mesh.face_materials.len()).unwrap_or(NONE);
        if end > self.draw_start {
            self.mesh.draws.push(self.draw_start..end);
            self.draw_start = end;
        }
    }

    pub(super) fn material(&mut self, material: Material) -> u32 {
        self.mesh.materials.push(material);
        u32::try_from(self.mesh.materials.len() - 1).unwrap_or(NONE)
    }

    /// Counts a part that is left out, for one warning about all such parts; returns [`NONE`], its index.
    pub(super) fn leave_out(&mut self, what: &'static str) -> u32 {
        *self.left_out.entry(what).or_default() += 1;
        NONE
    }

    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Material of faces without one: white beneath vertex colours, grey without them.
    pub(super) fn undescribed(&self) -> Material {
        let mut material = Material::default();
        if !self.mesh.colours.is_empty() {
            material.base_colour = [1.0; 3];
        }
        material
    }

    pub(super) fn finish(mut self) -> Loaded {
        self.end_draw();
        if self.mesh.materials.is_empty() {
            let material = self.undescribed();
            self.material(material);
        }
        if self.mesh.face_materials.is_empty() {
            self.warn("the mesh has no faces");
        }
        if !self.mesh.second_uvs.is_empty() {
            self.mesh.second_uvs.resize(self.mesh.uvs.len(), [0.0; 2]);
        }
        for (what, count) in std::mem::take(&mut self.left_out) {
            self.warn(format!("{what} are left out: {count}"));
        }
        let unplaced = self.mesh.faces_without_texture_coordinates();
        if unplaced > 0 {
            self.warn(format!(
                "faces without texture coordinates have the colour of their texture's corner: {unplaced}"
            ));
        }
        if self.rounds_positions {
            let warning = self.mesh.coarse_faces().map(|coarse| coarse.warning());
            warning.into_iter().for_each(|warning| self.warn(warning));
        }
        let unused_positions = self.mesh.drop_unused_positions();
        let Self { mesh, warnings, .. } = self;
        Loaded {
            mesh,
            cameras: Vec::new(),
            has_stated_axes: false,
            unused_positions,
            warnings: warnings.into_texts(),
            files: Vec::new(),
        }
    }
}

pub(crate) fn finite<const N: usize>(values: [f32; N]) -> Result<[f32; N], Mismatch> {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(values),
        Some(value) => Err(("finite numbers".into(), value.to_string())),
    }
}
