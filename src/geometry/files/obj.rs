//! Reader of Wavefront OBJ.
//!
//! The crate `tobj` does not suffice: its errors name no lines, it copies positions per model and omits subdivision tags.
//!
//! The statements `v` (with colours, without weights), ZBrush's colours in comments (`#MRGB`), `vt`, `vn`, `f`, `o`, `s`, `usemtl`, `mtllib` and
//! OpenSubdiv's `t crease` and `t corner` are read; other lines are skipped, points (`p`), lines (`l`) and
//! free-form geometry (`cstype`) with a warning. Indices may be relative. Vertices precede their faces; normals and
//! texture coordinates that a face names may follow it, as some programs write them.

use std::collections::HashMap;
use std::path::Path;

use super::build::{MeshBuilder, finite, left_out};
use super::folder::ReadFirst;
use super::mesh::{Corner, Crease, DEFAULT_CREASE, Loaded, Mesh, NONE, Smoothing};
use super::mtl;
use super::sides::mark_two_sided;
use super::text::{self, Lines, any_numbers, words};
use quadrille_base::error::{Error, Mismatch, Result};
use quadrille_base::math::narrow;
use quadrille_scene::formats::ply::quoted;

const INFINITE_SHARPNESS: f32 = 10.0;
const MAX_LIBRARIES: usize = 256;

pub(super) fn read(
    bytes: &[u8],
    path: &Path,
    texture_bytes: u64,
    files: &mut ReadFirst<'_>,
) -> Result<Loaded> {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(Error::malformed(path, format!("byte {at}"), "text", "a zero byte"));
    }
    let mut reader =
        ObjReader { builder: MeshBuilder::new(path, texture_bytes), ..ObjReader::default() };
    for (number, line) in Lines::new(bytes) {
        let malformed = |(expected, found): Mismatch| {
            Error::malformed(path, format!("line {number}"), expected, found)
        };
        reader.line(number, &line, malformed)?;
    }
    reader.resolve(path)?;
    let ObjReader { mut builder, groups, .. } = reader;
    builder.decode_colours(0);
    builder.mesh.smoothing = match groups.is_empty() {
        true => Smoothing::Crease(DEFAULT_CREASE),
        false => Smoothing::Groups { groups, crease: DEFAULT_CREASE },
    };
    mtl::read(&reader.libraries, &reader.names, &mut builder, files)?;
    let mut loaded = builder.finish();
    mark_two_sided(&mut loaded.mesh);
    Ok(loaded)
}

#[derive(Default)]
struct ObjReader {
    builder: MeshBuilder,
    /// Position of each `v`. The corners of the mesh are indices of this list, and of the next two, until the whole file is
    /// read.
    positions: Vec<[f64; 3]>,
    /// Line of each `v` without finite coordinates, and the fault.
    broken: HashMap<u32, (usize, Mismatch)>,
    /// Index in the mesh of each `vt`.
    uvs: Vec<u32>,
    /// Index in the mesh of each `vn`.
    normals: Vec<u32>,
    libraries: Vec<String>,
    names: Vec<String>,
    by_name: HashMap<String, u32>,
    /// Name in the last `usemtl`, and the index of this material once a face uses it.
    material: (String, Option<u32>),
    drawn: Option<u32>,
    /// True if an object began after the last face.
    new_object: bool,
    /// Index in the mesh of the colour of each `v`; empty before the first `v` with a colour.
    colours: Vec<u32>,
    /// Mask, red, green and blue of ZBrush of each `v`, which follow the vertices in the file.
    brushed: Vec<u32>,
    corners: Vec<Corner>,
    group: Option<u32>,
    /// Smoothing group of each face; empty before the first face that an `s` precedes.
    groups: Vec<u32>,
    tags: Tags,
}

impl ObjReader {
    fn line(
        &mut self,
        number: usize,
        line: &[u8],
        malformed: impl Fn(Mismatch) -> Error,
    ) -> Result<()> {
        let (keyword, rest) = text::keyword(line);
        let mut words = words(rest);
        match keyword {
            b"#MRGB" => self.brushed(rest),
            b"v" => {
                let at = self.builder.index(self.positions.len(), "vertices")?;
                let position: [f64; 3] = any_numbers(&mut words).map_err(&malformed)?;
                if let Err(mismatch) = finite(position.map(narrow)) {
                    self.broken.insert(at, (number, mismatch));
                }
                // Three more numbers are a colour in sRGB, one is a weight.
                let more = [words.next(), words.next(), words.next()];
                if let [Some(red), Some(green), Some(blue)] = more {
                    let colour = any_numbers(&mut [red, green, blue].into_iter());
                    self.colour(colour.map_err(malformed)?)?;
                }
                self.positions.push(position);
            }
            b"vt" => {
                let [u] = any_numbers(&mut words).map_err(&malformed)?;
                let v = words.next().map_or(Ok(0.0), text::any_number).map_err(malformed)?;
                // v points down in a mesh and up in the file.
                self.uvs.push(self.builder.uv([u, 1.0 - v])?);
            }
            b"vn" => {
                let normal = any_numbers(&mut words).map_err(malformed)?;
                self.normals.push(self.builder.normal(normal)?);
            }
            b"f" => {
                self.corners(rest).map_err(malformed)?;
                self.face()?;
            }
            b"l" | b"p" => self.builder.warn("points and lines are left out"),
            b"cstype" => self.builder.warn("free-form curves and surfaces are left out"),
            b"s" => {
                // Anything but a number turns smoothing off, as the word `off` does.
                let group = words.next().and_then(text::parsed);
                self.group = Some(group.filter(|group| *group != NONE).unwrap_or(0));
            }
            b"o" => self.new_object = true,
            b"usemtl" => self.material = (text::name(rest), None),
            b"mtllib" => self.library(rest),
            b"t" => {
                self.tags.line(number, rest, &mut self.builder).map_err(malformed)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn colour(&mut self, [r, g, b]: [f32; 3]) -> Result<()> {
        let colour = self.builder.colour([r, g, b, 1.0])?;
        self.colours.resize(self.positions.len(), NONE);
        self.colours.push(colour);
        Ok(())
    }

    /// Reads colours of ZBrush for the next vertices: a mask and sRGB, of two hexadecimal digits each. Other comments with
    /// this word have no colours.
    fn brushed(&mut self, rest: &[u8]) {
        let value = |digits: &[u8]| {
            let text = std::str::from_utf8(digits).ok().filter(|text| text.len() == 8)?;
            u32::from_str_radix(text, 16).ok()
        };
        let values: Option<Vec<u32>> = rest.chunks(8).map(value).collect();
        self.brushed.extend(values.unwrap_or_default());
    }

    fn corners(&mut self, rest: &[u8]) -> Result<(), Mismatch> {
        self.corners.clear();
        for word in words(rest) {
            let mut parts = word.split(|byte| *byte == b'/');
            let position = index(parts.next(), self.positions.len(), word, "a vertex")?;
            let uv = index(parts.next(), self.uvs.len(), word, "a texture coordinate")?;
            let normal = index(parts.next(), self.normals.len(), word, "a normal")?;
            let Some(position) = position.filter(|_| parts.next().is_none()) else {
                return Err(("v, v/vt, v//vn or v/vt/vn".into(), quoted(word)));
            };
            let position = usize::try_from(position).ok().filter(|at| *at < self.positions.len());
            let Some(position) = position else {
                let range = match self.positions.len() {
                    0 => "of which there is none before this line".to_owned(),
                    count => format!("1 to {count} or -{count} to -1"),
                };
                return Err((format!("the index of a vertex, {range}"), quoted(word)));
            };
            // Whether the file has these is known at its end. No element has the index before `NONE`.
            let optional = |at: Option<i64>| {
                at.map_or(NONE, |at| u32::try_from(at).map_or(NONE - 1, |at| at.min(NONE - 1)))
            };
            self.corners.push(Corner {
                position: u32::try_from(position).unwrap_or(NONE),
                uv: optional(uv),
                normal: optional(normal),
                colour: self.colours.get(position).copied().unwrap_or(NONE),
            });
        }
        Ok(())
    }

    /// Replaces the indices of lines in corners and tags by indices of the mesh.
    fn resolve(&mut self, path: &Path) -> Result<()> {
        let broken = |position: u32| self.broken.get(&position);
        let all_broken = self.broken.len() == self.positions.len();
        Error::malformed_if(all_broken, path, "file", "vertices with finite coordinates", "none")?;
        let mut is_used = vec![self.builder.mesh.corners.is_empty(); self.positions.len()];
        for corner in &self.builder.mesh.corners {
            is_used[corner.position as usize] = true;
            if let Some((line, (expected, found))) = broken(corner.position) {
                return Err(Error::malformed(path, format!("line {line}"), expected, found));
            }
        }
        let used = self.positions.iter().zip(0..).zip(is_used);
        let used = used.filter(|((_, at), is_used)| *is_used && broken(*at).is_none());
        let used: Vec<[f64; 3]> = used.map(|((position, _), _)| *position).collect();
        let builder = &mut self.builder;
        builder.set_origin(&used, &[]);
        let mut positions = Vec::with_capacity(self.positions.len());
        for (position, at) in self.positions.iter().zip(0..) {
            positions.push(match self.broken.contains_key(&at) {
                false => builder.position(*position)?,
                true => builder.leave_out(left_out::POSITIONS),
            });
        }
        let mut brushed = Vec::new();
        for colour in self.brushed.drain(..).take(self.positions.len()) {
            let [_, red, green, blue] = colour.to_be_bytes();
            let [red, green, blue] = [red, green, blue].map(|c| f32::from(c) / f32::from(u8::MAX));
            brushed.push(builder.colour([red, green, blue, 1.0])?);
        }
        let mut corners = std::mem::take(&mut builder.mesh.corners);
        for corner in &mut corners {
            if corner.colour == NONE {
                corner.colour = brushed.get(corner.position as usize).copied().unwrap_or(NONE);
            }
            corner.position = positions[corner.position as usize];
            for (index, found, absent) in [
                (&mut corner.uv, &self.uvs, left_out::ABSENT_UVS),
                (&mut corner.normal, &self.normals, left_out::ABSENT_NORMALS),
            ] {
                if *index != NONE {
                    let found = found.get(*index as usize).copied();
                    *index = found.unwrap_or_else(|| builder.leave_out(absent));
                }
            }
        }
        builder.mesh.corners = corners;
        self.tags.resolve(&mut builder.mesh, &positions, path)
    }

    fn face(&mut self) -> Result<()> {
        if self.corners.len() < 3 {
            self.builder.leave_out(left_out::FACES);
            return Ok(());
        }
        let (name, known) = &mut self.material;
        let material = *known.get_or_insert_with(|| {
            *self.by_name.entry(name.clone()).or_insert_with(|| {
                self.names.push(name.clone());
                u32::try_from(self.names.len() - 1).unwrap_or(NONE)
            })
        });
        if self.new_object || self.drawn != Some(material) {
            self.builder.end_draw();
        }
        self.new_object = false;
        self.drawn = Some(material);
        if let Some(group) = self.group {
            self.groups.resize(self.builder.mesh.faces(), NONE);
            self.groups.push(group);
        }
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
            let builder = &mut self.builder;
            builder
                .warn(format!("material libraries after the first {MAX_LIBRARIES} are left out"));
        }
    }
}

/// Parses `part` of the corner `word` as an index after `count` elements, counted from 0; `None` for an empty part. There may
/// be no element with this index.
fn index(
    part: Option<&[u8]>,
    count: usize,
    word: &[u8],
    what: &str,
) -> Result<Option<i64>, Mismatch> {
    let Some(part) = part.filter(|part| !part.is_empty()) else { return Ok(None) };
    let number: i64 =
        text::parsed(part).ok_or_else(|| (format!("the index of {what}"), quoted(word)))?;
    let before = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(Some(match number {
        1.. => number - 1,
        0 => -1,
        // Negative numbers count back from the last; the sum cannot overflow.
        _ => before + number,
    }))
}

/// Tags of sharp edges (two vertices) and sharp vertices (one): line, indices of `v`, and sharpness. A tag may precede its
/// `v`, so the indices are resolved at the end of the file.
#[derive(Default)]
struct Tags(Vec<(usize, Vec<u32>, f32)>);

impl Tags {
    /// Reads the tag `NAME INTS/FLOATS/STRINGS VALUE...` in line `number`.
    fn line(
        &mut self,
        number: usize,
        rest: &[u8],
        builder: &mut MeshBuilder,
    ) -> Result<(), Mismatch> {
        let mut words = words(rest);
        let (Some(kind), Some(counts)) = (words.next(), words.next()) else { return Ok(()) };
        // Number of vertices per sharp edge or sharp vertex.
        let step = match kind {
            b"crease" => 2,
            b"corner" => 1,
            _ => {
                builder.warn(format!("subdivision tags {} are left out", quoted(kind)));
                return Ok(());
            }
        };
        let values: Vec<&[u8]> = words.collect();
        let mut counts = counts.split(|byte| *byte == b'/').map(text::whole_number);
        let mut count = || counts.next().unwrap_or(Ok(0)).map(|count| count as usize);
        let (ints, floats) = (count()?, count()?);
        if values.len() < ints.saturating_add(floats) || floats == 0 {
            let expected =
                format!("whole numbers ({ints}) and sharpness values ({})", floats.max(1));
            return Err((expected, format!("{} words", values.len())));
        }
        let (ints, floats) = values[..ints + floats].split_at(ints);
        for (at, vertices) in ints.chunks_exact(step).enumerate() {
            let mut sharpness = text::number::<f32>(floats.get(at).unwrap_or(&floats[0]))?.max(0.0);
            if sharpness >= INFINITE_SHARPNESS {
                sharpness = f32::INFINITY;
            }
            let vertices = vertices.iter().map(|word| text::whole_number(word));
            self.0.push((number, vertices.collect::<Result<_, _>>()?, sharpness));
        }
        Ok(())
    }

    fn resolve(&self, mesh: &mut Mesh, positions: &[u32], path: &Path) -> Result<()> {
        for &(number, ref vertices, sharpness) in &self.0 {
            let find = |vertex: &u32| {
                positions.get(*vertex as usize).copied().ok_or_else(|| {
                    let expected = format!("a vertex index from 0 to below {}", positions.len());
                    Error::malformed(path, format!("line {number}"), expected, vertex)
                })
            };
            match vertices.iter().map(find).collect::<Result<Vec<u32>>>()?[..] {
                // A vertex that is left out has no edge.
                [NONE, _] | [_, NONE] | [NONE] => {}
                [a, b] => {
                    mesh.creases.push(Crease { positions: [a, b], sharpness });
                }
                [vertex] => mesh.sharp_corners.push((vertex, sharpness)),
                _ => {}
            }
        }
        Ok(())
    }
}
