//! Reader of polygons in PLY files.
//!
//! The element `vertex` supplies positions, normals, texture coordinates and colours; the first list `vertex_indices` or
//! `vertex_index` of `face` supplies the polygons, which may have texture coordinates per corner, textures and colours as
//! MeshLab and OpenMVS write them; such a list of `tristrips` supplies strips of triangles. Everything else is skipped with
//! a warning. Splat files use the same parser, so both are equally strict.

mod faces;
mod vertices;

use std::path::Path;

use super::build::{MeshBuilder, finite, left_out};
use super::folder::ReadFirst;
use super::material::Material;
use super::mesh::{Corner, DEFAULT_CREASE, Loaded, NONE, Smoothing};
use super::sides::mark_two_sided;
use super::texture::{TextureReader, TextureUse};
use faces::{FaceColumns, Polygons, vertex_list};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;
use quadrille_scene::formats::ply::{Body, Element, Header};
use vertices::{VertexColumns, VertexValues};

/// First word of comments that name pictures of textures.
const TEXTURE_COMMENT: &str = "TextureFile";
const MAX_NAMED: usize = 8;

pub(super) fn read(
    bytes: &[u8],
    path: &Path,
    texture_bytes: u64,
    files: &mut ReadFirst<'_>,
) -> Result<Loaded> {
    let header = Header::parse(bytes, path)?;
    let element = |name: &str| header.elements.iter().position(|e| e.name == name);
    let wrong = |expected, found| Err(Error::malformed(path, "header", expected, found));
    let Some(vertices) = element("vertex") else { return wrong("an element \"vertex\"", "none") };
    let faces = element("face");
    let properties = &header.elements[vertices].properties;
    let has = |name| properties.iter().any(|p| p.name == name);
    if faces.is_none() && has("f_dc_0") && has("opacity") {
        return wrong("an element \"face\"", "splats (draw them with `quadrille render`)");
    }
    let strips = element("tristrips");
    let strip_column = strips.map(|at| vertex_list(&header.elements[at], path)).transpose()?;
    let face_columns = faces.map(|at| FaceColumns::of(&header.elements[at], path));
    let mut reader = PlyReader {
        columns: VertexColumns::of(&header.elements[vertices], path)?,
        face_columns: face_columns.transpose()?.unwrap_or_default(),
        builder: MeshBuilder::new(path, texture_bytes),
        positions: Vec::new(),
        vertices: Vec::new(),
        polygons: Polygons::default(),
    };
    for (at, element) in header.elements.iter().enumerate() {
        let used: Vec<usize> = if at == vertices {
            reader.columns.columns().collect()
        } else if Some(at) == faces {
            reader.face_columns.columns().collect()
        } else if Some(at) == strips {
            strip_column.into_iter().collect()
        } else {
            Vec::new()
        };
        reader.warn_of_unused(element, &used);
    }
    let mut values = Body::new(&header, bytes, path).take_longer_rows();
    for (at, element) in header.elements.iter().enumerate() {
        let colours = reader.builder.mesh.colours.len();
        if at == vertices {
            values.rows(element, |row| reader.vertex(reader.columns.values(row)).map(Ok))?;
        } else if Some(at) == faces {
            let count = header.elements[vertices].count;
            values.rows(element, |row| {
                let (columns, builder) = (&reader.face_columns, &mut reader.builder);
                reader.polygons.read(columns, row, count, builder)
            })?;
        } else if let Some(column) = strip_column.filter(|_| Some(at) == strips) {
            let count = header.elements[vertices].count;
            values.rows(element, |row| Ok(reader.polygons.strips(row.property(column), count)))?;
        } else {
            values.skip(element)?;
        }
        reader.builder.decode_colours(colours);
    }
    if values.longer_rows() > 0 {
        let rows = values.longer_rows();
        reader.builder.warn(format!(
            "rows with more values than the header states: {rows}; values after the last property are left out, and values \
             before it may belong to others"
        ));
    }
    let textures = header.comments.iter().filter_map(|comment| {
        let (word, name) = comment.trim().split_once(char::is_whitespace)?;
        (word == TEXTURE_COMMENT).then(|| name.trim())
    });
    reader.place(reader.columns.has_single_positions(&header.elements[vertices]), path)?;
    reader.finish(&textures.collect::<Vec<_>>(), files)
}

struct PlyReader {
    columns: VertexColumns,
    face_columns: FaceColumns,
    builder: MeshBuilder,
    positions: Vec<[f64; 3]>,
    /// Corner of each vertex. Its position is set once all positions are known.
    vertices: Vec<Corner>,
    /// Polygons may precede the vertices in the file.
    polygons: Polygons,
}

impl PlyReader {
    fn vertex(&mut self, (position, normal, uv, colour): VertexValues) -> Result<()> {
        let builder = &mut self.builder;
        builder.index(self.positions.len(), "vertices")?;
        self.positions.push(position);
        let normal = normal.map_or(Ok(NONE), |normal| builder.normal(normal))?;
        let uv = uv.map_or(Ok(NONE), |[u, v]| builder.uv([u, 1.0 - v]))?;
        let colour = colour.map_or(Ok(NONE), |colour| builder.colour(colour))?;
        self.vertices.push(Corner { position: NONE, uv, normal, colour });
        Ok(())
    }

    /// Adds the positions. Vertices without finite coordinates are left out, unless a face has them.
    fn place(&mut self, is_single: bool, path: &Path) -> Result<()> {
        let is_used = self.polygons.used(self.positions.len());
        let has_faces = is_used.contains(&true);
        let mut placed = Vec::new();
        for (number, (position, is_used)) in self.positions.iter().zip(is_used).enumerate() {
            match finite(position.map(narrow)) {
                Ok(_) if is_used || !has_faces => placed.push(*position),
                Err((expected, found)) if is_used => {
                    let place = format!("element \"vertex\", row {number}");
                    return Err(Error::malformed(path, place, expected, found));
                }
                _ => {}
            }
        }
        self.builder.set_origin(&placed, if is_single { &placed[..] } else { &[] });
        for (corner, position) in self.vertices.iter_mut().zip(&self.positions) {
            corner.position = match finite(position.map(narrow)) {
                Ok(_) => self.builder.position(*position)?,
                Err(_) => self.builder.leave_out(left_out::POSITIONS),
            };
        }
        Ok(())
    }

    /// Warns of the properties of an element that are not used, or of the element if no property is.
    fn warn_of_unused(&mut self, element: &Element, used: &[usize]) {
        if used.is_empty() {
            let name = &element.name;
            return self.builder.warn(format!("element {name:?} is left out"));
        }
        let unused = element.properties.iter().enumerate().filter(|(at, _)| !used.contains(at));
        let mut names: Vec<_> = unused.map(|(_, p)| format!("{:?}", p.name)).collect();
        if names.len() > MAX_NAMED {
            let more = names.split_off(MAX_NAMED).len();
            names.push(format!("{more} more"));
        }
        if !names.is_empty() {
            let (element, names) = (&element.name, names.join(", "));
            self.builder.warn(format!("properties of element {element:?} are left out: {names}"));
        }
    }

    fn finish(mut self, textures: &[&str], files: &mut ReadFirst<'_>) -> Result<Loaded> {
        let untextured = self.polygons.add(&self.vertices, textures.len(), &mut self.builder)?;
        let mut reader = TextureReader::default();
        for name in textures {
            let bytes = || files(&[name]).map_err(|error| error.to_string());
            let base_texture = reader.get(name, TextureUse::default(), &mut self.builder, bytes);
            let material = self.builder.undescribed();
            self.builder.material(Material {
                name: (*name).to_owned(),
                base_colour: base_texture.map_or(material.base_colour, |_| [1.0; 3]),
                base_texture,
                ..material
            });
        }
        if untextured {
            let material = self.builder.undescribed();
            self.builder.material(material);
        }
        self.builder.mesh.smoothing = Smoothing::Crease(DEFAULT_CREASE);
        let mut loaded = self.builder.finish();
        mark_two_sided(&mut loaded.mesh);
        Ok(loaded)
    }
}
