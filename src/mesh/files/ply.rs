//! Polygons in PLY files.
//!
//! The element `vertex` supplies positions, normals, texture coordinates and colours; the first list
//! `vertex_indices` or `vertex_index` of `face` supplies the polygons, which may have texture coordinates
//! per corner, textures and colours as MeshLab and OpenMVS write them. Everything else is skipped with a
//! warning. The parser is that of splat files, so that both are equally strict.

use std::path::Path;

use super::build::{MeshBuilder, finite};
use super::material::Material;
use super::mesh::{Corner, Loaded, NONE};
use super::ply_faces::{FaceColumns, Polygons};
use super::sides::mark_two_sided;
use super::texture::TextureReader;
use crate::error::{Error, Mismatch, Result};
use crate::image::srgb::decode_srgb;
use crate::math::narrow;
use crate::scene::formats::gltf::Resolve;
use crate::scene::formats::ply::{Body, Element, Header, Kind, Row, Scalar};

/// Names of texture coordinates, in order of preference.
const UVS: [[&str; 2]; 3] = [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]];
/// Names of colours, in order of preference, and of alpha.
const COLOURS: [[&str; 3]; 2] = [
    ["red", "green", "blue"],
    ["diffuse_red", "diffuse_green", "diffuse_blue"],
];
const ALPHA: &str = "alpha";
/// First word of the comments that name the pictures of textures.
const TEXTURE_COMMENT: &str = "TextureFile";
/// Number of properties that a warning names.
const MAX_NAMED: usize = 8;

pub(super) fn read(bytes: &[u8], path: &Path, resolve: &mut Resolve<'_>) -> Result<Loaded> {
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
        columns: Columns::of(&header.elements[vertices], path)?,
        face_columns: face_columns.transpose()?.unwrap_or_default(),
        builder: MeshBuilder::new(path),
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
    reader.finish(&textures.collect::<Vec<_>>(), resolve)
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
pub(super) struct ColourColumns {
    channels: [(usize, f32); 3],
    alpha: Option<(usize, f32)>,
}

impl ColourColumns {
    pub(super) fn of(element: &Element) -> Option<Self> {
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

    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.channels
            .into_iter()
            .chain(self.alpha)
            .map(|(at, _)| at)
    }

    /// The colour of a vertex or a face in linear light. The file holds sRGB, as scanners and editors write.
    pub(super) fn value(&self, row: &Row) -> Result<[f32; 4], Mismatch> {
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

    fn columns(&self) -> impl Iterator<Item = usize> {
        let [normal, uv] = [
            self.normal.as_ref().map(|n| &n[..]),
            self.uv.as_ref().map(|uv| &uv[..]),
        ];
        let numbers = [Some(&self.position[..]), normal, uv];
        let colour = self.colour.iter().flat_map(ColourColumns::columns);
        numbers
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .chain(colour)
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

struct PlyReader {
    columns: Columns,
    face_columns: FaceColumns,
    builder: MeshBuilder,
    vertices: Vec<Corner>,
    /// They may precede the vertices in the file.
    polygons: Polygons,
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

pub(super) fn numbers<const N: usize>(row: &Row, at: [usize; N]) -> Result<[f32; N], Mismatch> {
    finite(at.map(|at| row.property(at).first().map_or(0.0, |value| narrow(*value))))
}
