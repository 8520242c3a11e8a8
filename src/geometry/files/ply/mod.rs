//! Polygons in PLY files.
//!
//! The element `vertex` supplies positions, normals, texture coordinates and colours; the first list
//! `vertex_indices` or `vertex_index` of `face` supplies the polygons, which may have texture coordinates per
//! corner, textures and colours as MeshLab and OpenMVS write them. Everything else is skipped with a warning.
//! Splat files use the same parser, so both are equally strict.

mod faces;
mod vertices;

use std::path::Path;

use super::build::MeshBuilder;
use super::material::Material;
use super::mesh::{Corner, Loaded, NONE};
use super::sides::mark_two_sided;
use super::texture::TextureReader;
use faces::{FaceColumns, Polygons};
use quadrille_base::error::{Error, Result};
use quadrille_scene::formats::gltf::Resolve;
use quadrille_scene::formats::ply::{Body, Header};
use vertices::{VertexColumns, VertexValues};

/// First word of the comments that name the pictures of textures.
const TEXTURE_COMMENT: &str = "TextureFile";
/// Number of properties that a warning names.
const MAX_NAMED: usize = 8;

pub(super) fn read(
    bytes: &[u8],
    (path, texture_bytes): (&Path, u64),
    resolve: &mut Resolve<'_>,
) -> Result<Loaded> {
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
    let face_columns = faces.map(|at| FaceColumns::of(&header.elements[at], path));
    let mut reader = PlyReader {
        columns: VertexColumns::of(&header.elements[vertices], path)?,
        face_columns: face_columns.transpose()?.unwrap_or_default(),
        builder: MeshBuilder::new(path, texture_bytes),
        positions: Vec::new(),
        vertices: Vec::new(),
        polygons: Polygons::default(),
    };
    reader.warn_of_unused(&header, vertices, faces);
    let mut values = Body::new(&header, bytes, path);
    for (at, element) in header.elements.iter().enumerate() {
        if at == vertices {
            values.rows(element, |row| match reader.columns.values(row) {
                Ok(values) => reader.vertex(values).map(Ok),
                Err(mismatch) => Ok(Err(mismatch)),
            })?;
        } else if Some(at) == faces {
            let count = header.elements[vertices].count;
            values.rows(element, |row| {
                let (columns, builder) = (&reader.face_columns, &mut reader.builder);
                reader.polygons.read(columns, row, count, builder)
            })?;
        } else {
            values.skip(element)?;
        }
    }
    let textures = header.comments.iter().filter_map(|comment| {
        let (word, name) = comment.trim().split_once(char::is_whitespace)?;
        (word == TEXTURE_COMMENT).then(|| name.trim())
    });
    let is_single = reader
        .columns
        .has_single_positions(&header.elements[vertices]);
    reader.place(is_single)?;
    reader.finish(&textures.collect::<Vec<_>>(), resolve)
}

struct PlyReader {
    columns: VertexColumns,
    face_columns: FaceColumns,
    builder: MeshBuilder,
    positions: Vec<[f64; 3]>,
    /// The vertices; their positions follow when all are known.
    vertices: Vec<Corner>,
    /// They may precede the vertices in the file.
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
        self.vertices.push(Corner {
            position: NONE,
            uv,
            normal,
            colour,
        });
        Ok(())
    }

    fn place(&mut self, is_single: bool) -> Result<()> {
        let single = if is_single { &self.positions[..] } else { &[] };
        self.builder.set_origin(&self.positions, single);
        for (corner, position) in self.vertices.iter_mut().zip(&self.positions) {
            corner.position = self.builder.position(*position)?;
        }
        Ok(())
    }

    /// Names the elements and properties that are skipped.
    fn warn_of_unused(&mut self, header: &Header, vertices: usize, faces: Option<usize>) {
        for (at, element) in header.elements.iter().enumerate() {
            let used: Vec<usize> = if at == vertices {
                self.columns.columns().collect()
            } else if Some(at) == faces {
                self.face_columns.columns().collect()
            } else {
                let name = &element.name;
                self.builder.warn(format!("element {name:?} is left out"));
                continue;
            };
            let unused = element.properties.iter().enumerate();
            let unused = unused.filter(|(at, _)| !used.contains(at));
            let mut names: Vec<_> = unused.map(|(_, p)| format!("{:?}", p.name)).collect();
            if names.len() > MAX_NAMED {
                let more = names.split_off(MAX_NAMED).len();
                names.push(format!("{more} more"));
            }
            if !names.is_empty() {
                let (element, names) = (&element.name, names.join(", "));
                let warning = format!("properties of element {element:?} are left out: {names}");
                self.builder.warn(warning);
            }
        }
    }

    fn finish(mut self, textures: &[&str], resolve: &mut Resolve<'_>) -> Result<Loaded> {
        let untextured = self
            .polygons
            .add(&self.vertices, textures.len(), &mut self.builder)?;
        let mut reader = TextureReader::default();
        for name in textures {
            let bytes = || resolve(name).map_err(|error| error.to_string());
            let base_texture = reader.get(name, &mut self.builder, bytes);
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
        let mut loaded = self.builder.finish();
        mark_two_sided(&mut loaded.mesh);
        Ok(loaded)
    }
}
