//! Polygons of a PLY file, which may precede its vertices.

use std::path::Path;

use super::super::build::{MeshBuilder, left_out};
use super::super::mesh::{Corner, NONE};
use super::vertices::ColourColumns;
use quadrille_base::error::{Error, Mismatch, Result};
use quadrille_base::math::narrow;
use quadrille_scene::formats::ply::{Element, PlyRow, PropertyKind, to_count};

/// Index that separates strips of triangles in a list.
const STRIP_END: f64 = -1.0;

#[derive(Default)]
pub(super) struct FaceColumns {
    vertices: usize,
    uvs: Option<usize>,
    texture: Option<usize>,
    colour: Option<ColourColumns>,
}

impl FaceColumns {
    pub(super) fn of(element: &Element, path: &Path) -> Result<Self> {
        let list = |name: &str| {
            let mut properties = element.properties.iter();
            properties.position(|p| p.name == name && matches!(p.kind, PropertyKind::List { .. }))
        };
        let scalar = |name: &str| {
            let mut properties = element.properties.iter();
            properties.position(|p| p.name == name && matches!(p.kind, PropertyKind::Scalar(_)))
        };
        Ok(Self {
            vertices: vertex_list(element, path)?,
            uvs: list("texcoord"),
            texture: scalar("texnumber"),
            colour: ColourColumns::of(element),
        })
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        let colour = self.colour.iter().flat_map(ColourColumns::columns);
        [self.vertices].into_iter().chain(self.uvs.into_iter().chain(self.texture).chain(colour))
    }
}

pub(super) fn vertex_list(element: &Element, path: &Path) -> Result<usize> {
    let is_list = |name: &str, kind| {
        matches!(kind, PropertyKind::List { .. })
            && ["vertex_indices", "vertex_index"].contains(&name)
    };
    let mut properties = element.properties.iter();
    properties.position(|property| is_list(&property.name, property.kind)).ok_or_else(|| {
        let place = format!("element {:?}", element.name);
        Error::malformed(path, place, "a list \"vertex_indices\" or \"vertex_index\"", "none")
    })
}

#[derive(Default)]
pub(super) struct Polygons {
    corners: Vec<(u32, u32)>,
    polygons: Vec<Polygon>,
}

struct Polygon {
    end: usize,
    texture: u32,
    colour: u32,
}

impl Polygons {
    pub(super) fn read(
        &mut self,
        columns: &FaceColumns,
        row: &PlyRow,
        count: u64,
        builder: &mut MeshBuilder,
    ) -> Result<Result<(), Mismatch>> {
        let start = self.corners.len();
        if let Err(mismatch) = self.vertices(row.property(columns.vertices), count) {
            return Ok(Err(mismatch));
        }
        if self.corners.len() < start + 3 {
            self.corners.truncate(start);
            builder.leave_out(left_out::FACES);
            return Ok(Ok(()));
        }
        let uvs = columns.uvs.map_or(&[][..], |at| row.property(at));
        let corners = &mut self.corners[start..];
        if !uvs.is_empty() && uvs.len() != 2 * corners.len() {
            let expected = format!("{} texture coordinates", 2 * corners.len());
            return Ok(Err((expected, uvs.len().to_string())));
        }
        for (corner, uv) in corners.iter_mut().zip(uvs.as_chunks::<2>().0) {
            // v points down in a mesh and up in the file.
            let [u, v] = uv.map(narrow);
            corner.1 = builder.uv([u, 1.0 - v])?;
        }
        let colour = columns.colour.map(|of| of.value(row));
        let colour = colour.map_or(Ok(NONE), |colour| builder.colour(colour))?;
        let of_face = |at: usize| row.property(at).first().copied();
        let texture = columns.texture.map_or(Some(0.0), of_face);
        let texture = texture.and_then(to_count).map(u32::try_from);
        self.polygons.push(Polygon {
            end: self.corners.len(),
            texture: texture.and_then(Result::ok).unwrap_or(NONE),
            colour,
        });
        Ok(Ok(()))
    }

    fn vertices(&mut self, indices: &[f64], count: u64) -> Result<(), Mismatch> {
        for &index in indices {
            self.corners.push((vertex(index, count)?, NONE));
        }
        Ok(())
    }

    /// For each of `count` vertices, whether a face has it.
    pub(super) fn used(&self, count: usize) -> Vec<bool> {
        let mut used = vec![false; count];
        for (vertex, _) in &self.corners {
            used[*vertex as usize] = true;
        }
        used
    }

    /// Reads a row of strips, separated by -1: each vertex after two ends a triangle, of alternating orientation.
    pub(super) fn strips(&mut self, indices: &[f64], count: u64) -> Result<(), Mismatch> {
        for strip in indices.split(|index| *index == STRIP_END) {
            let mut vertices = Vec::with_capacity(strip.len());
            for &index in strip {
                vertices.push(vertex(index, count)?);
            }
            for (at, &[a, b, c]) in vertices.array_windows().enumerate() {
                // Triangles without area join strips.
                if a == b || b == c || c == a {
                    continue;
                }
                let triangle = if at % 2 == 0 { [a, b, c] } else { [b, a, c] };
                self.corners.extend(triangle.map(|vertex| (vertex, NONE)));
                self.polygons.push(Polygon { end: self.corners.len(), texture: 0, colour: NONE });
            }
        }
        Ok(())
    }

    /// Adds the faces, each with the material of its texture. Returns true if there are faces without a texture; their
    /// material has the index `textures`, after the materials of textures.
    pub(super) fn add(
        &self,
        vertices: &[Corner],
        textures: usize,
        builder: &mut MeshBuilder,
    ) -> Result<bool> {
        let (mut start, mut corners) = (0, Vec::new());
        let (mut last, mut untextured) = (None, false);
        for polygon in &self.polygons {
            let texture = polygon.texture as usize;
            untextured |= texture >= textures;
            let material = texture.min(textures);
            if last.replace(material).is_some_and(|last| last != material) {
                builder.end_draw();
            }
            corners.clear();
            corners.extend(self.corners[start..polygon.end].iter().map(|&(vertex, uv)| {
                let corner = vertices[vertex as usize];
                let or = |own: u32, other: u32| if own == NONE { other } else { own };
                Corner {
                    uv: or(uv, corner.uv),
                    colour: or(corner.colour, polygon.colour),
                    ..corner
                }
            }));
            builder.face(&corners, u32::try_from(material).unwrap_or(NONE))?;
            start = polygon.end;
        }
        Ok(untextured)
    }
}

fn vertex(index: f64, count: u64) -> Result<u32, Mismatch> {
    let vertex = to_count(index).filter(|vertex| (*vertex as u64) < count);
    let vertex = vertex.and_then(|vertex| u32::try_from(vertex).ok());
    vertex.ok_or_else(|| (format!("a vertex index from 0 to below {count}"), index.to_string()))
}
