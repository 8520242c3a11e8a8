//! Polygons in PLY files.
//!
//! The element `vertex` supplies positions, normals, texture coordinates and colours; the first list
//! `vertex_indices` or `vertex_index` of `face` supplies the polygons. Everything else is skipped. The
//! parser is that of splat files, so that both are equally strict.

use std::path::Path;

use super::build::{MeshBuilder, finite};
use super::mesh::{Corner, Loaded, NONE};
use super::sides::mark_two_sided;
use crate::error::{Error, Mismatch, Result};
use crate::image::srgb::decode_srgb;
use crate::math::narrow;
use crate::scene::formats::ply::{Body, Element, Header, Kind, Row, Scalar, whole};

/// Names of texture coordinates, in order of preference.
const UVS: [[&str; 2]; 3] = [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]];
/// Names of colours, in order of preference, and of alpha.
const COLOURS: [[&str; 3]; 2] = [
    ["red", "green", "blue"],
    ["diffuse_red", "diffuse_green", "diffuse_blue"],
];
const ALPHA: &str = "alpha";

pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Loaded> {
    let header = Header::parse(bytes, path)?;
    let element = |name: &str| header.elements.iter().position(|e| e.name == name);
    let wrong = |expected, found| Err(Error::malformed(path, "header", expected, found));
    let Some(vertices) = element("vertex") else {
        return wrong("an element \"vertex\"", "none");
    };
    let faces = element("face");
    let properties = &header.elements[vertices].properties;
    let has = |name| properties.iter().any(|p| p.name == name);
    if faces.is_none() && has("f_dc_0") && has("opacity") {
        let found = "splats (draw them with `quadrille render`)";
        return wrong("an element \"face\"", found);
    }
    if faces.is_none() && element("tristrips").is_some() {
        let found = "strips of triangles, which are not read (save polygons instead)";
        return wrong("an element \"face\"", found);
    }
    let mut reader = PlyReader {
        columns: Columns::of(&header.elements[vertices], path)?,
        list: faces
            .map(|at| list(&header.elements[at], path))
            .transpose()?,
        builder: MeshBuilder::new(path),
        vertices: Vec::new(),
        polygons: Vec::new(),
        ends: Vec::new(),
    };
    let mut values = Body::new(&header, bytes, path);
    for (at, element) in header.elements.iter().enumerate() {
        if at == vertices {
            values.rows(element, |row| match reader.columns.values(row) {
                Ok(values) => reader.vertex(values).map(Ok),
                Err(mismatch) => Ok(Err(mismatch)),
            })?;
        } else if Some(at) == faces {
            let count = header.elements[vertices].count;
            values.rows(element, |row| Ok(reader.polygon(row, count)))?;
        } else {
            values.skip(element)?;
        }
    }
    reader.finish()
}

/// Columns of the element `vertex`.
struct Columns {
    position: [usize; 3],
    normal: Option<[usize; 3]>,
    uv: Option<[usize; 2]>,
    colour: Option<ColourColumns>,
}

/// Columns of a colour, and the factors that bring each into 0 to 1.
#[derive(Clone, Copy)]
struct ColourColumns {
    channels: [(usize, f32); 3],
    alpha: Option<(usize, f32)>,
}

impl ColourColumns {
    fn of(element: &Element) -> Option<Self> {
        let column = |name: &str| {
            let at = element.properties.iter().position(|p| p.name == name)?;
            let Kind::Scalar(scalar) = element.properties[at].kind else {
                return None;
            };
            let most = match scalar {
                Scalar::U8 => f32::from(u8::MAX),
                Scalar::U16 => f32::from(u16::MAX),
                _ => 1.0,
            };
            Some((at, 1.0 / most))
        };
        let of = |names: &[&str; 3]| {
            let [red, green, blue] = names.map(column);
            Some([red?, green?, blue?])
        };
        Some(Self {
            channels: COLOURS.iter().find_map(of)?,
            alpha: column(ALPHA),
        })
    }

    /// The colour of a vertex in linear light. The file holds sRGB, as scanners and editors write.
    fn value(&self, row: &Row) -> Result<[f32; 4], Mismatch> {
        let stored = numbers(row, self.channels.map(|(at, _)| at))?;
        let [r, g, b] = [0, 1, 2].map(|k| (stored[k] * self.channels[k].1).clamp(0.0, 1.0));
        let alpha = match self.alpha {
            Some((at, scale)) => numbers(row, [at])?.map(|a| (a * scale).clamp(0.0, 1.0)),
            None => [1.0],
        };
        let [r, g, b] = decode_srgb([r, g, b]);
        Ok([r, g, b, alpha[0]])
    }
}

impl Columns {
    fn of(element: &Element, path: &Path) -> Result<Self> {
        let scalar = |name: &str| {
            let at = element.properties.iter().position(|p| p.name == name)?;
            matches!(element.properties[at].kind, Kind::Scalar(_)).then_some(at)
        };
        let mut position = [0; 3];
        for (at, name) in position.iter_mut().zip(["x", "y", "z"]) {
            *at = scalar(name).ok_or_else(|| {
                let expected = format!("a property \"{name}\" of one number");
                Error::malformed(path, "element \"vertex\"", expected, "none")
            })?;
        }
        Ok(Self {
            position,
            normal: all(["nx", "ny", "nz"].map(scalar)),
            uv: UVS.iter().find_map(|names| all(names.map(scalar))),
            colour: ColourColumns::of(element),
        })
    }

    fn values(&self, row: &Row) -> Result<VertexValues, Mismatch> {
        let position = numbers(row, self.position)?;
        let normal = self.normal.map(|at| numbers(row, at)).transpose()?;
        let uv = self.uv.map(|at| numbers(row, at)).transpose()?;
        let colour = self.colour.map(|of| of.value(row)).transpose()?;
        Ok((position, normal, uv, colour))
    }
}

/// Position, normal, texture coordinates and colour of a vertex.
type VertexValues = (
    [f32; 3],
    Option<[f32; 3]>,
    Option<[f32; 2]>,
    Option<[f32; 4]>,
);

/// Returns the columns if all of them exist.
fn all<const N: usize>(columns: [Option<usize>; N]) -> Option<[usize; N]> {
    let mut found = [0; N];
    for (slot, column) in found.iter_mut().zip(columns) {
        *slot = column?;
    }
    Some(found)
}

/// Returns the column of the vertices of each polygon.
fn list(element: &Element, path: &Path) -> Result<usize> {
    let is_list = |at: &usize| {
        let property = &element.properties[*at];
        matches!(property.name.as_str(), "vertex_indices" | "vertex_index")
            && matches!(property.kind, Kind::List { .. })
    };
    let mut columns = 0..element.properties.len();
    columns.find(is_list).ok_or_else(|| {
        let expected = "a list \"vertex_indices\" or \"vertex_index\"";
        Error::malformed(path, "element \"face\"", expected, "none")
    })
}

struct PlyReader {
    columns: Columns,
    list: Option<usize>,
    builder: MeshBuilder,
    vertices: Vec<Corner>,
    /// Vertex indices of all polygons, which may precede the vertices in the file.
    polygons: Vec<u32>,
    /// End of each polygon in `polygons`.
    ends: Vec<usize>,
}

impl PlyReader {
    fn vertex(&mut self, (position, normal, uv, colour): VertexValues) -> Result<()> {
        let builder = &mut self.builder;
        let position = builder.position(position)?;
        let normal = normal.map_or(Ok(NONE), |normal| builder.normal(normal))?;
        let uv = uv.map_or(Ok(NONE), |[u, v]| builder.uv([u, 1.0 - v]))?;
        let colour = colour.map_or(Ok(NONE), |colour| builder.colour(colour))?;
        self.vertices.push(Corner {
            position,
            uv,
            normal,
            colour,
        });
        Ok(())
    }

    fn polygon(&mut self, row: &Row, count: u64) -> Result<(), Mismatch> {
        let indices = self.list.map_or(&[][..], |list| row.property(list));
        if indices.len() < 3 {
            let found = indices.len().to_string();
            return Err(("a face of 3 vertices or more".into(), found));
        }
        for &index in indices {
            let vertex = whole(index).filter(|vertex| (*vertex as u64) < count);
            let vertex = vertex.and_then(|vertex| u32::try_from(vertex).ok());
            self.polygons.push(vertex.ok_or_else(|| {
                let expected = format!("a vertex of {count}, numbered from 0");
                (expected, index.to_string())
            })?);
        }
        self.ends.push(self.polygons.len());
        Ok(())
    }

    fn finish(mut self) -> Result<Loaded> {
        let (mut start, mut corners) = (0, Vec::new());
        for &end in &self.ends {
            corners.clear();
            let indices = &self.polygons[start..end];
            corners.extend(indices.iter().map(|at| self.vertices[*at as usize]));
            self.builder.face(&corners, 0)?;
            start = end;
        }
        let mut loaded = self.builder.finish();
        mark_two_sided(&mut loaded.mesh);
        Ok(loaded)
    }
}

fn numbers<const N: usize>(row: &Row, at: [usize; N]) -> Result<[f32; N], Mismatch> {
    finite(at.map(|at| row.property(at).first().map_or(0.0, |value| narrow(*value))))
}
