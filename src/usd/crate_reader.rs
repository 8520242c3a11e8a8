//! Binary layers ("crate" files) of versions 0.4 to 0.13. Older ones are from before 2018, and splats from 2026.
//!
//! A table of contents names the sections: tokens, strings, fields (a name and a value), sets of fields, paths, and specs (a
//! path with its set of fields). A value is a word with its type and, inside or by its offset, its content.

use std::cell::Cell;
use std::collections::HashMap;

use crate::BINARY_MARK;
use crate::bytes::Bytes;
use crate::compression::unpack;
use crate::crate_types::{TIME_SAMPLES, kind_of};
use crate::crate_values::CrateTables;
use crate::layer::{Attribute, Fault, Layer, Prim, Specifier};

/// Versions of the format that are read. OpenUSD 26.11 writes 0.8 to 0.13, by the types of values.
const VERSIONS: std::ops::RangeInclusive<[u8; 2]> = [0, 4]..=[0, 13];

/// Starts of the names of attributes that affect splats.
const ATTRIBUTES: [&str; 12] = [
    "colorSpace:name",
    "omni:nurec:",
    "opacities",
    "orientations",
    "positions",
    "projectionModeHint",
    "purpose",
    "radiance:",
    "scales",
    "sortingModeHint",
    "visibility",
    "xformOp",
];

/// Metadata of prims and layers that affect splats.
const METADATA: [&str; 11] = [
    "active",
    "apiSchemas",
    "defaultPrim",
    "inheritPaths",
    "metersPerUnit",
    "payload",
    "references",
    "specializes",
    "subLayers",
    "upAxis",
    "variantSetNames",
];

/// Reads a binary layer.
pub(crate) fn read(bytes: &[u8]) -> Result<Layer<'_>, Fault> {
    let mut head = Bytes::at(bytes, 0);
    if head.take(8)? != BINARY_MARK {
        return Err(Fault::new("byte 0", "PXR-USDC", "other bytes"));
    }
    let [major, minor, ..] = head.array::<8>()?;
    let version = [major, minor];
    if !VERSIONS.contains(&version) {
        return Err(Fault::new(
            "byte 8",
            "version 0.4 to 0.13 of the format",
            format!("{major}.{minor}"),
        ));
    }
    let contents = head.u64()?;
    let mut contents = Bytes::at(bytes, contents);
    let mut sections = HashMap::new();
    for _ in 0..contents.count(bytes.len() / 32)? {
        let name: [u8; 16] = contents.array()?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        let (start, size) = (contents.u64()?, contents.u64()?);
        let mut section = Bytes::at(bytes, start);
        section.take(usize::try_from(size).unwrap_or(usize::MAX))?;
        sections.insert(name, start);
    }
    let section = |name: &str| {
        let start = sections.get(name.as_bytes()).copied();
        let start =
            start.ok_or_else(|| Fault::new("sections", format!("a section {name}"), "none"));
        Ok(Bytes::at(bytes, start?))
    };
    let mut layer = CrateTables {
        bytes,
        version,
        tokens: Vec::new(),
        strings: Vec::new(),
        fields: Vec::new(),
        field_sets: Vec::new(),
        paths: Vec::new(),
        decoded: Cell::new(0),
    };
    layer.tokens = layer.read_tokens(section("TOKENS")?)?;
    let mut strings = section("STRINGS")?;
    layer.strings = layer.plain(&mut strings)?;
    layer.fields = layer.read_fields(section("FIELDS")?)?;
    let mut sets = section("FIELDSETS")?;
    let count = sets.count(layer.most())?;
    layer.field_sets = layer.integers(&mut sets, count)?;
    layer.read_paths(section("PATHS")?)?;
    let specs = layer.read_specs(section("SPECS")?)?;
    layer.prims(&specs)
}

impl<'a> CrateTables<'a> {
    fn read_tokens(&self, mut bytes: Bytes<'_>) -> Result<Vec<String>, Fault> {
        let count = bytes.count(self.most())?;
        let most = usize::try_from(bytes.u64()?).unwrap_or(usize::MAX);
        let unpacked = unpack(self.packed(&mut bytes)?, most)?;
        let tokens: Vec<String> = unpacked
            .split(|byte| *byte == 0)
            .take(count)
            .map(|token| String::from_utf8_lossy(token).into_owned())
            .collect();
        match tokens.len() == count {
            true => Ok(tokens),
            false => Err(Fault::new("TOKENS", format!("{count} tokens"), tokens.len())),
        }
    }

    fn read_fields(&self, mut bytes: Bytes<'_>) -> Result<Vec<(u32, u64)>, Fault> {
        let count = bytes.count(self.most())?;
        let tokens = self.integers(&mut bytes, count)?;
        let values = unpack(self.packed(&mut bytes)?, 8 * count)?;
        let mut values = Bytes::at(&values, 0);
        tokens.into_iter().map(|token| Ok((token, values.u64()?))).collect()
    }

    fn read_paths(&mut self, mut bytes: Bytes<'_>) -> Result<(), Fault> {
        let count = bytes.count(self.most())?;
        self.paths = vec![None; count];
        let count = bytes.count(count)?;
        let indices = self.integers(&mut bytes, count)?;
        let tokens = self.integers(&mut bytes, count)?;
        let jumps = self.integers(&mut bytes, count)?;
        let mut open = vec![(0_usize, u32::MAX)];
        let mut left = count;
        while let Some((at, parent)) = open.pop().filter(|_| count > 0) {
            let wrong = |found: &str| Fault::new("PATHS", "a tree of paths", found);
            left = left.checked_sub(1).ok_or_else(|| wrong("a cycle"))?;
            let index = *indices.get(at).ok_or_else(|| wrong("an index beyond the table"))?;
            let (token, jump) = (tokens[at].cast_signed(), jumps[at].cast_signed());
            self.set_path(index, (parent, token.unsigned_abs(), token < 0))?;
            // 0: a sibling follows; -1: a child follows; -2: neither; else a child follows, and the sibling after a jump.
            if jump >= 0 {
                open.push((at + (jump.unsigned_abs() as usize).max(1), parent));
            }
            if jump > 0 || jump == -1 {
                open.push((at + 1, index));
            }
        }
        Ok(())
    }

    fn set_path(&mut self, index: u32, path: (u32, u32, bool)) -> Result<(), Fault> {
        let place = self.paths.get_mut(index as usize).filter(|place| place.is_none());
        let wrong =
            || Fault::new("PATHS", "an index of each path", format!("{index} again or beyond"));
        *place.ok_or_else(wrong)? = Some(path);
        Ok(())
    }

    /// Set of fields by path.
    fn read_specs(&self, mut bytes: Bytes<'_>) -> Result<HashMap<u32, u32>, Fault> {
        let count = bytes.count(self.most())?;
        let paths = self.integers(&mut bytes, count)?;
        Ok(paths.into_iter().zip(self.integers(&mut bytes, count)?).collect())
    }

    /// Prims from the root on, by the lists of children that prims state.
    fn prims(&self, specs: &HashMap<u32, u32>) -> Result<Layer<'a>, Fault> {
        let mut below: HashMap<(u32, &str, bool), u32> = HashMap::new();
        let mut root = None;
        for (index, path) in (0_u32..).zip(&self.paths) {
            match path {
                Some((u32::MAX, ..)) => root = Some(index),
                Some((parent, token, is_property)) => {
                    below.insert((*parent, self.token(*token)?, *is_property), index);
                }
                None => {}
            }
        }
        let root = root.ok_or_else(|| Fault::new("PATHS", "a root", "none"))?;
        let mut prims = vec![Prim::default()];
        let mut open = vec![(0, root)];
        while let Some((at, path)) = open.pop() {
            let mut children = Vec::new();
            let Some(set) = specs.get(&path) else { continue };
            for field in self.fields_of(*set) {
                let (name, value) = field?;
                match name {
                    "specifier" => {
                        let codes = [Specifier::Def, Specifier::Over, Specifier::Class];
                        let code = codes.get(usize::from(value.to_le_bytes()[0]));
                        prims[at].specifier = code.copied().unwrap_or_default();
                    }
                    "typeName" => prims[at].type_name = self.owned(self.text(value)?)?,
                    "primChildren" => children = self.names(value)?,
                    "properties" => {
                        let names = self.names(value)?.into_iter();
                        let is_read =
                            |name: &&str| ATTRIBUTES.iter().any(|own| name.starts_with(own));
                        for name in names.filter(is_read) {
                            let spec = below.remove(&(path, name, true));
                            if let Some(set) = spec.and_then(|path| specs.get(&path)) {
                                let attribute = self.attribute(*set)?;
                                prims[at].attributes.insert(name.to_owned(), attribute);
                            }
                        }
                    }
                    _ if METADATA.contains(&name) => {
                        prims[at].metadata.insert(name.to_owned(), self.value(value)?);
                    }
                    _ => {}
                }
            }
            for name in children {
                // A path that is listed twice is below the first of its parents.
                let Some(path) = below.remove(&(path, name, false)) else { continue };
                let child = prims.len();
                prims.push(Prim { name: name.to_owned(), ..Prim::default() });
                prims[at].children.push(child);
                open.push((child, path));
            }
        }
        Ok(Layer { prims })
    }

    fn attribute(&self, set: u32) -> Result<Attribute<'a>, Fault> {
        let mut attribute = Attribute::default();
        for field in self.fields_of(set) {
            match field? {
                ("default", value) => attribute.default = Some(self.value(value)?),
                ("timeSamples", value) if kind_of(value) == TIME_SAMPLES => {
                    self.read_samples(value, &mut attribute)?;
                }
                _ => {}
            }
        }
        Ok(attribute)
    }
}
