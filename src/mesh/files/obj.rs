//! Wavefront OBJ.
//!
//! A parser of our own: `tobj` gives no line with an error, copies positions model by model and
//! leaves out the tags of subdivision surfaces.
//!
//! Read are `v` (weights and colours left out), `vt`, `vn`, `f`, `o`, `usemtl`, `mtllib` and
//! OpenSubdiv's `t crease` and `t corner`; other lines are skipped. Indices may be relative; they
//! reach only what stands before them.

use std::collections::HashMap;
use std::path::Path;

use super::build::{MeshBuilder, ReadFailure};
use super::mesh::{Corner, Crease, Loaded, Mesh, NONE, Resolve};
use super::mtl;
use super::text::{self, Lines, numbers, words};
use crate::error::{Error, Mismatch, Result};
use crate::scene::formats::ply::quoted;

/// The sharpness from which on an edge never gets smooth, as Pixar's tools have it.
const INFINITE_SHARPNESS: f32 = 10.0;

/// Most material libraries that a file may name.
const MAX_LIBRARIES: usize = 256;

pub(super) fn read(bytes: &[u8], path: &Path, resolve: &mut Resolve<'_>) -> Result<Loaded> {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let place = format!("byte {at}");
        return Err(Error::malformed(path, place, "text", "a zero byte"));
    }
    let mut reader = ObjReader {
        builder: MeshBuilder::new(path),
        positions: Vec::new(),
        uvs: 0,
        normals: Vec::new(),
        libraries: Vec::new(),
        names: MaterialNames::default(),
        material: (String::new(), None),
        drawn: None,
        new_object: false,
        corners: Vec::new(),
        tags: Tags::default(),
    };
    for (number, line) in Lines::new(bytes) {
        let read = reader.line(number, &line);
        read.map_err(|stop| stop.at(path, || format!("line {number}")))?;
    }
    reader
        .tags
        .resolve(reader.builder.mesh(), &reader.positions, path)?;
    if reader.positions.is_empty() {
        return Err(Error::malformed(path, "file", "vertices", "none"));
    }
    let ObjReader {
        mut builder,
        names,
        libraries,
        ..
    } = reader;
    mtl::read(&libraries, &names.list, &mut builder, resolve);
    Ok(builder.finish())
}

/// MaterialNames of materials in the order of their first use by a face.
#[derive(Default)]
struct MaterialNames {
    list: Vec<String>,
    by_name: HashMap<String, u32>,
}

impl MaterialNames {
    fn index(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let at = u32::try_from(self.list.len()).unwrap_or(NONE);
        self.list.push(name.to_owned());
        self.by_name.insert(name.to_owned(), at);
        at
    }
}

struct ObjReader {
    builder: MeshBuilder,
    /// Of each `v`, its index in the mesh.
    positions: Vec<u32>,
    /// Lines `vt` so far.
    uvs: usize,
    /// Of each `vn`, its index in the mesh.
    normals: Vec<u32>,
    libraries: Vec<String>,
    names: MaterialNames,
    /// The name that `usemtl` gave last, and its index once a face has it.
    material: (String, Option<u32>),
    /// The material of the last face.
    drawn: Option<u32>,
    /// Whether an object began after the last face.
    new_object: bool,
    corners: Vec<Corner>,
    tags: Tags,
}

impl ObjReader {
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), ReadFailure> {
        let (keyword, rest) = text::keyword(line);
        let mut words = words(rest);
        match keyword {
            b"v" => {
                let position = self.builder.position(numbers(&mut words)?)?;
                self.positions.push(position);
            }
            b"vt" => {
                let [u] = numbers(&mut words)?;
                let v = words.next().map_or(Ok(0.0), text::number)?;
                // v points down in a mesh, up in the file.
                self.builder.uv([u, 1.0 - v])?;
                self.uvs += 1;
            }
            b"vn" => {
                let normal = self.builder.normal(numbers(&mut words)?)?;
                self.normals.push(normal);
            }
            b"f" => {
                self.corners(rest)?;
                self.face()?;
            }
            b"o" => self.new_object = true,
            b"usemtl" => self.material = (text::name(rest), None),
            b"mtllib" => self.library(rest),
            b"t" => self.tags.line(number, rest, &mut self.builder)?,
            _ => {}
        }
        Ok(())
    }

    fn corners(&mut self, rest: &[u8]) -> Result<(), Mismatch> {
        self.corners.clear();
        for word in words(rest) {
            let mut parts = word.split(|byte| *byte == b'/');
            let position = index(parts.next(), self.positions.len(), word, "a vertex")?;
            let uv = index(parts.next(), self.uvs, word, "a texture coordinate")?;
            let normal = index(parts.next(), self.normals.len(), word, "a normal")?;
            let Some(position) = position.filter(|_| parts.next().is_none()) else {
                return Err(("v, v/vt, v//vn or v/vt/vn".into(), quoted(word)));
            };
            self.corners.push(Corner {
                position: self.positions[position],
                uv: uv.and_then(|uv| u32::try_from(uv).ok()).unwrap_or(NONE),
                normal: normal.map_or(NONE, |normal| self.normals[normal]),
            });
        }
        if self.corners.len() < 3 {
            let found = self.corners.len().to_string();
            return Err(("a face of 3 corners or more".into(), found));
        }
        Ok(())
    }

    fn face(&mut self) -> Result<()> {
        let (name, known) = &mut self.material;
        let material = *known.get_or_insert_with(|| self.names.index(name));
        if self.new_object || self.drawn != Some(material) {
            self.builder.end_draw();
        }
        self.new_object = false;
        self.drawn = Some(material);
        self.builder.face(&self.corners, material)
    }

    fn library(&mut self, rest: &[u8]) {
        let name = text::name(rest);
        if self.libraries.contains(&name) {
            return;
        }
        if self.libraries.len() < MAX_LIBRARIES {
            self.libraries.push(name);
        } else {
            let warning = format!("material libraries after {MAX_LIBRARIES} are left out");
            self.builder.warn(warning);
        }
    }
}

/// The index, from 0, that `part` of the corner `word` means among `count`; none where it is empty.
fn index(
    part: Option<&[u8]>,
    count: usize,
    word: &[u8],
    what: &str,
) -> Result<Option<usize>, Mismatch> {
    let Some(part) = part.filter(|part| !part.is_empty()) else {
        return Ok(None);
    };
    let parsed = std::str::from_utf8(part).ok().and_then(|p| p.parse().ok());
    let number: i64 = parsed.ok_or_else(|| (format!("the index of {what}"), quoted(word)))?;
    let before = i64::try_from(count).unwrap_or(i64::MAX);
    let index = match number {
        1.. => number - 1,
        0 => -1,
        // Numbers below zero count back from the last; the sum cannot overflow.
        _ => before + number,
    };
    let index = usize::try_from(index).ok().filter(|index| *index < count);
    index.map(Some).ok_or_else(|| {
        let range = format!("1 to {count} or -{count} to -1");
        let range = if count == 0 {
            "but there is none"
        } else {
            &range
        };
        let expected = format!("the index of {what}, {range}");
        (expected, quoted(word))
    })
}

/// Sharp edges (two vertices) and vertices (one), each with its line and sharpness. Vertices are
/// indices of `v` from 0, which may stand after the tag.
#[derive(Default)]
struct Tags(Vec<(usize, Vec<u32>, f32)>);

impl Tags {
    /// Reads the tag `NAME INTS/FLOATS/STRINGS VALUE...` in the line `number`.
    fn line(
        &mut self,
        number: usize,
        rest: &[u8],
        builder: &mut MeshBuilder,
    ) -> Result<(), Mismatch> {
        let mut words = words(rest);
        let (Some(kind), Some(counts)) = (words.next(), words.next()) else {
            return Ok(());
        };
        // Vertices of one sharpness each.
        let step = match kind {
            b"crease" => 2,
            b"corner" => 1,
            _ => {
                let warning = format!("subdivision tags {} are left out", quoted(kind));
                builder.warn(warning);
                return Ok(());
            }
        };
        let values: Vec<&[u8]> = words.collect();
        let mut counts = counts.split(|byte| *byte == b'/').map(text::whole);
        let mut count = || counts.next().unwrap_or(Ok(0)).map(|count| count as usize);
        let (ints, floats) = (count()?, count()?);
        if values.len() < ints.saturating_add(floats) || floats == 0 {
            let expected = format!("{ints} whole numbers and {} sharpness", floats.max(1));
            return Err((expected, format!("{} words", values.len())));
        }
        let (ints, floats) = values[..ints + floats].split_at(ints);
        for (at, vertices) in ints.chunks_exact(step).enumerate() {
            let sharpness = text::number(floats.get(at).unwrap_or(&floats[0]))?.max(0.0);
            let is_infinite = sharpness >= INFINITE_SHARPNESS;
            let sharpness = if is_infinite {
                f32::INFINITY
            } else {
                sharpness
            };
            let vertices = vertices.iter().map(|word| text::whole(word));
            let vertices = vertices.collect::<Result<Vec<u32>, _>>()?;
            self.0.push((number, vertices, sharpness));
        }
        Ok(())
    }

    fn resolve(&self, mesh: &mut Mesh, positions: &[u32], path: &Path) -> Result<()> {
        for (number, vertices, sharpness) in &self.0 {
            let find = |vertex: &u32| {
                positions.get(*vertex as usize).copied().ok_or_else(|| {
                    let expected = format!("a vertex of {}, numbered from 0", positions.len());
                    Error::malformed(path, format!("line {number}"), expected, vertex.to_string())
                })
            };
            let found = vertices.iter().map(find).collect::<Result<Vec<u32>>>()?;
            let sharpness = *sharpness;
            match found[..] {
                [a, b] => mesh.creases.push(Crease {
                    positions: [a, b],
                    sharpness,
                }),
                [vertex] => mesh.sharp_corners.push((vertex, sharpness)),
                _ => {}
            }
        }
        Ok(())
    }
}
