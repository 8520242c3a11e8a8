//! Wavefront MTL: the materials of OBJ files.
//!
//! Materials only colour a mesh, so statements that cannot be read are left out with a warning. A black `Kd`
//! beside a `map_Kd` is ignored, since some exporters write it for a material with only a texture.

use std::collections::HashMap;

use super::build::MeshBuilder;
use super::folder::ReadFirst;
use super::material::{Material, Microfacets, Sampler, UvMap, Wrap};
use super::text::{self, Lines, numbers, words};
use super::texture::{TextureReader, TextureUse};
use quadrille_base::error::{Mismatch, Result};
use quadrille_scene::formats::ply::quoted;

const MAX_SHININESS: f32 = 10_000.0;
/// Alpha cutoff of materials with `map_d`, a texture of opacity.
const ALPHA_CUTOFF: f32 = 0.5;
/// Roughness of materials with a metalness alone (assumed).
const DEFAULT_ROUGHNESS: f32 = 0.5;

#[derive(Clone, Default)]
struct MtlMaterial {
    folder: String,
    diffuse: Option<[f32; 3]>,
    specular: bool,
    exponent: f32,
    opacity: Option<f32>,
    /// 1 minus the opacity, in files without one.
    transparency: f32,
    roughness: Option<f32>,
    metalness: Option<f32>,
    base: Option<TextureMap>,
    normal: Option<TextureMap>,
    alpha: Option<TextureMap>,
    emission: [f32; 3],
    emission_texture: Option<TextureMap>,
}

/// File of a texture, and the options of its use.
#[derive(Debug, Clone, PartialEq)]
struct TextureMap {
    name: String,
    /// Factors on u and v, and what is added then.
    scale: [f32; 2],
    offset: [f32; 2],
    is_clamped: bool,
    /// Value of black, and what white adds to it.
    range: [f32; 2],
    /// Factor on the slopes of normals.
    bump: Option<f32>,
}

/// Adds the materials `names` in order. `libraries` are the arguments of the lines `mtllib`.
pub(super) fn read(
    libraries: &[String],
    names: &[String],
    builder: &mut MeshBuilder,
    read: &mut ReadFirst<'_>,
) -> Result<()> {
    let names_and_plain = names.iter().flat_map(|name| [name.as_str(), plain(name)]);
    let mut described: HashMap<&str, Option<MtlMaterial>> =
        names_and_plain.map(|name| (name, None)).collect();
    for library in libraries {
        for (file, bytes) in files(library, builder, read) {
            parse(&file, &bytes, &mut described, builder);
        }
    }
    let mut textures = TextureReader::default();
    for name in names {
        let of = |name: &str| described.get(name).cloned().flatten();
        let found = of(name).or_else(|| of(plain(name)));
        if found.is_none() && !name.is_empty() {
            builder
                .warn(format!("material {name:?} has no description: a plain material is drawn"));
        }
        let placed = found.as_ref().and_then(MtlMaterial::placed_uvs);
        let found = found.map(|found| found.material(&mut textures, builder, read));
        let material = builder.material(Material {
            name: name.clone(),
            ..found.unwrap_or_else(|| builder.undescribed())
        });
        if let Some(placed) = placed {
            builder.place_uvs(material, |uv| placed.point(uv))?;
        }
    }
    Ok(())
}

/// Name of a material without quotes and without a comment, as some exporters write it around a name. Names that are
/// described as they are may contain both.
fn plain(name: &str) -> &str {
    unquoted(name.split_once(" #").map_or(name, |(name, _)| name).trim())
}

fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

/// Reads the files of a line `mtllib`: one file whose name may contain spaces, or else several.
fn files(
    library: &str,
    builder: &mut MeshBuilder,
    read: &mut ReadFirst<'_>,
) -> Vec<(String, Vec<u8>)> {
    let mut try_file = |name: &str| read(&[name]).map(|bytes| (name.to_owned(), bytes));
    let mut whole = try_file(library);
    if whole.is_err() && plain(library) != library {
        whole = try_file(plain(library)).or(whole);
    }
    if whole.is_err() && library.contains(char::is_whitespace) {
        let parts: Vec<_> = library.split_whitespace().map(&mut try_file).collect();
        if parts.iter().any(Result::is_ok) {
            return parts.into_iter().flatten().collect();
        }
    }
    if let Err(error) = &whole {
        builder.warn(format!("materials are left out: {error}"));
    }
    whole.into_iter().collect()
}

/// Reads the materials that are keys of `described`; the first description of a name counts.
fn parse(
    file: &str,
    bytes: &[u8],
    described: &mut HashMap<&str, Option<MtlMaterial>>,
    builder: &mut MeshBuilder,
) {
    let mut current: Option<&mut MtlMaterial> = None;
    for (number, line) in Lines::new(bytes) {
        let (keyword, rest) = text::keyword(&line);
        if keyword == b"newmtl" {
            let name = text::name(rest);
            let name = if described.contains_key(name.as_str()) { &name } else { unquoted(&name) };
            current = described.get_mut(name).filter(|found| found.is_none()).map(|found| {
                let folder = file.rsplit_once(['/', '\\']).map_or("", |(folder, _)| folder);
                found.insert(MtlMaterial { folder: folder.to_owned(), ..MtlMaterial::default() })
            });
        } else if let Some(material) = &mut current {
            match material.line(&keyword.to_ascii_lowercase(), rest) {
                Ok(None) => {}
                Ok(Some(warning)) => builder.warn(warning),
                Err((expected, found)) => builder.warn(format!(
                    "{file}: line {number} is left out: expected {expected}, found {found}"
                )),
            }
        }
    }
}

impl MtlMaterial {
    fn line(&mut self, keyword: &[u8], rest: &[u8]) -> Result<Option<String>, Mismatch> {
        let texture = match keyword {
            b"map_kd" => &mut self.base,
            b"map_ke" => &mut self.emission_texture,
            b"map_d" => &mut self.alpha,
            b"norm" => &mut self.normal,
            _ => return self.value(keyword, rest).map(|warning| warning.map(str::to_owned)),
        };
        let (map, unused) = TextureMap::parse(rest)?;
        *texture = Some(map);
        let warning = || format!("options of textures are left out: {}", unused.join(", "));
        Ok((!unused.is_empty()).then(warning))
    }

    fn value(&mut self, keyword: &[u8], rest: &[u8]) -> Result<Option<&'static str>, Mismatch> {
        match keyword {
            b"kd" => self.diffuse = Some(colour(rest)?),
            b"ks" => self.specular = colour(rest)? != [0.0; 3],
            b"ns" => {
                let [exponent] = numbers::<f32, 1>(&mut words(rest))?;
                self.exponent = exponent.clamp(0.0, MAX_SHININESS);
            }
            b"d" => self.opacity = Some(words(rest).last().map_or(Ok(1.0), text::number)?),
            b"tr" => [self.transparency] = numbers(&mut words(rest))?,
            b"pr" => [self.roughness] = numbers(&mut words(rest))?.map(Some),
            b"pm" => [self.metalness] = numbers(&mut words(rest))?.map(Some),
            b"ke" => self.emission = colour(rest)?,
            b"bump" | b"map_bump" => return Ok(Some("bump maps are left out (norm is read)")),
            b"map_ks" | b"map_ns" | b"refl" => {
                return Ok(Some("textures of highlights and reflections are left out"));
            }
            b"disp" => return Ok(Some("displacement is left out (see --displace)")),
            b"map_pm" | b"map_pr" => {
                return Ok(Some("textures of metalness and roughness are left out"));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Map of the texture coordinates by the options of the first texture; `None` without such options.
    fn placed_uvs(&self) -> Option<UvMap> {
        Some(self.first_map()).filter(|map| *map != UvMap::IDENTITY)
    }

    fn first_map(&self) -> UvMap {
        let all = [&self.base, &self.normal, &self.emission_texture];
        all.into_iter().flatten().next().map(TextureMap::uv_map).unwrap_or_default()
    }

    fn material(
        self,
        textures: &mut TextureReader,
        builder: &mut MeshBuilder,
        read: &mut ReadFirst<'_>,
    ) -> Material {
        let mut material = Material::default();
        match self.diffuse.filter(|diffuse| self.base.is_none() || *diffuse != [0.0; 3]) {
            Some(diffuse) => material.base_colour = diffuse,
            None if self.base.is_some() => material.base_colour = [1.0; 3],
            None => {}
        }
        if self.specular {
            material.shininess = self.exponent;
        }
        // A transparency of 1 is an opacity in the files of some exporters: nothing would be visible otherwise.
        let transparency = if self.transparency < 1.0 { self.transparency } else { 0.0 };
        let opacity = self.opacity.unwrap_or(1.0 - transparency).clamp(0.0, 1.0);
        material.opacity = (opacity < 1.0).then_some(opacity);
        if self.roughness.or(self.metalness).is_some() {
            material.microfacets = Some(Microfacets::Metallic {
                metalness: self.metalness.unwrap_or(0.0).clamp(0.0, 1.0),
                roughness: self.roughness.unwrap_or(DEFAULT_ROUGHNESS).clamp(0.0, 1.0),
                texture: None,
            });
        }
        let folder = &self.folder;
        let first = self.first_map();
        let mut load = |map: &TextureMap| {
            let Some(uv_map) = map.uv_map().after_inverse_of(&first) else {
                builder.warn(format!(
                    "texture {:?} is left out: the scale of the first texture of its material has no inverse",
                    map.name
                ));
                return None;
            };
            let of = TextureUse {
                sampler: map.sampler(),
                range: map.range,
                uv_map,
                ..TextureUse::default()
            };
            // The format places textures beside the library; several exporters write them beside the mesh.
            let beside = joined(folder, &map.name);
            textures.get(&beside, of, builder, || {
                read(&[&beside, &map.name]).map_err(|error| error.to_string())
            })
        };
        material.base_texture = self.base.as_ref().and_then(&mut load);
        material.normal_texture = self.normal.as_ref().and_then(&mut load);
        material.emission_texture = self.emission_texture.as_ref().and_then(&mut load);
        material.normal_scale = self.normal.as_ref().and_then(|map| map.bump).unwrap_or(1.0);
        // As with Kd, a black Ke beside a texture is the exporter's default.
        let is_textured = material.emission_texture.is_some() && self.emission == [0.0; 3];
        material.emission = if is_textured { [1.0; 3] } else { self.emission };
        if self.alpha.is_some() {
            material.alpha_cutoff = Some(ALPHA_CUTOFF);
            material.effects.discards = true;
            let name = |map: &Option<TextureMap>| map.as_ref().map(|map| map.name.clone());
            if name(&self.alpha) != name(&self.base) {
                builder.warn("alpha is read from map_Kd, not from map_d");
            }
        }
        material
    }
}

/// Path of the file `name` that a file in `folder` names, without `..`. Paths that leave the folder of the mesh stay
/// unchanged; absolute paths are put below `folder`, where their last part is searched.
fn joined(folder: &str, name: &str) -> String {
    let parts = folder.split('/').filter(|part| !matches!(*part, "" | "."));
    let mut parts: Vec<&str> = parts.collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." if parts.pop().is_none() => return name.to_owned(),
            ".." => {}
            "" if parts.is_empty() || name.is_empty() => return name.to_owned(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn colour(rest: &[u8]) -> Result<[f32; 3], Mismatch> {
    let mut words = words(rest);
    let [red] = numbers(&mut words)?;
    let Some(green) = words.next() else {
        return Ok([red; 3]);
    };
    let [blue] = numbers(&mut words)?;
    Ok([red, text::number(green)?, blue].map(|value| value.max(0.0)))
}

/// Numbers after an option: `least` at once, and more as long as they are numbers before the name.
fn arguments(mut rest: &[u8], least: usize, most: usize) -> (Vec<&[u8]>, &[u8]) {
    let mut values = Vec::new();
    for at in 0..most {
        let (value, after) = text::keyword(rest);
        // Optional arguments are numbers, and file names seldom are.
        if at >= least && (text::number::<f32>(value).is_err() || after.is_empty()) {
            break;
        }
        values.push(value);
        rest = after;
    }
    (values, rest)
}

impl TextureMap {
    /// Reads options and the file name. Returns the options that have no effect too.
    fn parse(rest: &[u8]) -> Result<(Self, Vec<String>), Mismatch> {
        let mut map = Self::default();
        let (mut rest, mut unused) = (rest, Vec::new());
        loop {
            let (option, after) = text::keyword(rest);
            let (least, most) = match option {
                b"-mm" => (2, 2),
                b"-o" | b"-s" | b"-t" => (1, 3),
                b"-blendu" | b"-blendv" | b"-boost" | b"-bm" | b"-cc" | b"-clamp"
                | b"-colorspace" | b"-imfchan" | b"-texres" | b"-type" => (1, 1),
                _ => break,
            };
            let (values, after) = arguments(after, least, most);
            rest = after;
            let mut numbers = values.iter().map(|word| text::number::<f32>(word));
            let mut number = |default: f32| numbers.next().unwrap_or(Ok(default));
            match option {
                b"-s" => map.scale = [number(1.0)?, number(1.0)?],
                b"-o" => map.offset = [number(0.0)?, number(0.0)?],
                b"-mm" => map.range = [number(0.0)?, number(1.0)?],
                b"-bm" => map.bump = Some(number(1.0)?),
                b"-clamp" => map.is_clamped = values == [b"on"],
                b"-blendu" | b"-blendv" if values == [b"on"] => {}
                _ => unused.push(text::name(option)),
            }
        }
        if rest.is_empty() {
            return Err(("a file name".into(), quoted(rest)));
        }
        map.name = text::name(rest);
        Ok((map, unused))
    }

    /// Map of texture coordinates of a mesh, where v points down; in the file v points up.
    fn uv_map(&self) -> UvMap {
        let [[su, sv], [ou, ov]] = [self.scale, self.offset].map(|of| of.map(f64::from));
        UvMap([[su, 0.0, ou], [0.0, sv, 1.0 - sv - ov]])
    }

    fn sampler(&self) -> Sampler {
        let wrap = if self.is_clamped { Wrap::Clamp } else { Wrap::Repeat };
        Sampler { wrap: [wrap; 2], ..Sampler::default() }
    }
}

impl Default for TextureMap {
    fn default() -> Self {
        Self {
            name: String::new(),
            scale: [1.0; 2],
            offset: [0.0; 2],
            is_clamped: false,
            range: [0.0, 1.0],
            bump: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_relative_to_their_library() {
        for (folder, name, path) in [
            ("", "a.png", "a.png"),
            ("materials", "images/a.png", "materials/images/a.png"),
            ("./sub/materials", "../images/./a.png", "sub/images/a.png"),
            ("sub", "../../a.png", "../../a.png"),
            ("sub", "/a.png", "sub//a.png"),
            ("", "/a.png", "/a.png"),
            ("sub", "", ""),
        ] {
            assert_eq!(joined(folder, name), path, "{name:?} in {folder:?}");
        }
    }

    #[test]
    fn options_of_textures() {
        let parsed = |rest: &str| TextureMap::parse(rest.as_bytes()).unwrap();
        let name = |rest: &str| parsed(rest).0.name;
        assert_eq!(name("a b.png"), "a b.png");
        assert_eq!(name("-s 1 1 1 -bm 0.5 sub\\a.png"), "sub\\a.png");
        assert_eq!(name("-o 1 2 -clamp on -mm 0 1 a.png"), "a.png");
        assert_eq!(name("-s 1 12"), "12");
        assert!(TextureMap::parse(b"-clamp on").is_err());
        let (map, unused) =
            parsed("-s 3 2 1 -o 0.25 -clamp on -mm 0.5 0.25 -bm 2 -imfchan r -blendu on a.png");
        assert_eq!(unused, ["-imfchan"]);
        assert_eq!((map.scale, map.offset), ([3.0, 2.0], [0.25, 0.0]));
        assert_eq!((map.range, map.bump, map.is_clamped), ([0.5, 0.25], Some(2.0), true));
        // The point 0.25 above the lower edge is placed 0.5 above it.
        assert_eq!(map.uv_map().point([0.5, 0.75]), [1.75, 0.5]);
    }
}
