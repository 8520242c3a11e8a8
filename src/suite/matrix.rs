//! The configurations, seeds and widths that a suite combines.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::configuration::{Configuration, check_count, check_distinct};
use super::value_range;
use quadrille_base::error::{Error, Result};
use quadrille_base::text_file::read_text;
use quadrille_gpu::config::PRESETS;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawConfiguration {
    name: String,
    preset: Option<String>,
    /// Configuration file, relative to the folder of the suite.
    config: Option<PathBuf>,
    #[serde(default)]
    set: toml::Table,
}

#[derive(Debug, Clone)]
struct Named {
    name: String,
    preset: Option<String>,
    /// Name and text of its configuration file.
    file: Option<[String; 2]>,
    /// Assignments `unit.field=value`.
    set: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Matrix {
    named: Vec<Named>,
    presets: Vec<String>,
    /// Assignments `unit.field=value`, one list per field.
    fields: Vec<Vec<String>>,
    /// Seeds of procedural scenes; empty if each scene uses its own seed.
    pub(super) seeds: Vec<u64>,
    /// Picture widths in pixels; empty if each scene uses its own width.
    pub(super) widths: Vec<u32>,
}

impl Matrix {
    pub(super) fn parse(
        path: &Path,
        configurations: Vec<RawConfiguration>,
        table: &toml::Table,
        base: &Configuration,
    ) -> Result<Self> {
        let mut matrix = Self::default();
        for raw in configurations {
            let place = format!("configuration \"{}\"", raw.name);
            let is_wrong = matrix.named.iter().any(|named| named.name == raw.name);
            Error::malformed_if(is_wrong, path, &place, "a name of its own", &raw.name)?;
            let mut set = Vec::new();
            for (unit, fields) in &raw.set {
                let fields = unit_fields(path, &format!("{place}, set"), unit, fields)?;
                set.extend(fields.iter().map(|(f, v)| format!("{unit}.{f}={v}")));
            }
            let file = raw.config.map(|file| {
                let file = path.parent().unwrap_or(Path::new("")).join(file);
                Ok([file.display().to_string(), read_text(&file, "a configuration")?])
            });
            matrix.named.push(Named {
                name: raw.name,
                preset: raw.preset,
                file: file.transpose()?,
                set,
            });
        }
        for (key, value) in table {
            let whole = expanded(path, key, value)?;
            let value = &whole;
            match key.as_str() {
                "preset" => {
                    let name = |v: &toml::Value| v.as_str().map(str::to_owned);
                    matrix.presets = list(path, key, value, "a list of names of presets", name)?;
                }
                "seed" => {
                    let expected = "a list or range of whole numbers from 0";
                    matrix.seeds = list(path, key, value, expected, whole_number)?;
                }
                "width" => {
                    let expected = "a list or range of widths in pixels";
                    matrix.widths = list(path, key, value, expected, whole_number)?;
                }
                unit => {
                    for (field, values) in unit_fields(path, "matrix", unit, value)? {
                        let name = format!("{unit}.{field}");
                        let expected = "a list of values or a range";
                        let values = expanded(path, &name, values)?;
                        let values = list(path, &name, &values, expected, |v| Some(v.to_string()))?;
                        matrix.fields.push(values.iter().map(|v| format!("{name}={v}")).collect());
                    }
                }
            }
        }
        matrix.check(path, base)?;
        Ok(matrix)
    }

    fn check(&self, path: &Path, base: &Configuration) -> Result<()> {
        let also = self.named.iter().find(|named| named.preset.is_some());
        if let Some(named) = also.filter(|_| !self.presets.is_empty()) {
            let place = format!("configuration \"{}\", preset", named.name);
            let expected = "no preset, since the matrix lists presets";
            let found = named.preset.as_deref().unwrap_or_default();
            return Err(Error::malformed(path, place, expected, found));
        }
        // Check names and values now, so that errors appear before anything runs.
        let extended = Configuration {
            config: base.config.extended(PRESETS[0].name)?,
            ..Configuration::default()
        };
        self.configurations(&[extended]).map(drop).map_err(|error| in_matrix(path, error))
    }

    pub(super) fn is_empty(&self) -> bool {
        let has_configurations =
            self.has_presets() || !self.named.is_empty() || !self.fields.is_empty();
        !has_configurations && self.seeds.is_empty() && self.widths.is_empty()
    }

    fn has_presets(&self) -> bool {
        !self.presets.is_empty() || self.named.iter().any(|named| named.preset.is_some())
    }

    /// The configurations of the suite, each based on one of `bases`: its preset unless the suite chooses one, then the
    /// suite's fields, then the fields that differ from the preset of the base. The last field changes fastest.
    pub(super) fn configurations(&self, bases: &[Configuration]) -> Result<Vec<Configuration>> {
        let fields = self.fields.iter().map(Vec::len);
        let lists = [self.named.len(), self.presets.len()].map(|n| n.max(1));
        check_count(lists.into_iter().chain(fields).fold(bases.len(), usize::saturating_mul))?;
        let mut all = Vec::new();
        for base in bases {
            if self.has_presets() && base.preset != PRESETS[0].name {
                let expected = "no preset, since the suite chooses presets";
                return Err(Error::argument("preset", expected, base.preset.as_str()));
            }
            if self.named.is_empty() {
                self.add_presets(base, None, &mut all)?;
            }
            for named in &self.named {
                self.add_presets(base, Some(named), &mut all)?;
            }
        }
        check_distinct(&all)?;
        Ok(all)
    }

    fn add_presets(
        &self,
        base: &Configuration,
        named: Option<&Named>,
        all: &mut Vec<Configuration>,
    ) -> Result<()> {
        let own = named.and_then(|named| named.preset.as_ref());
        let presets = match self.presets.as_slice() {
            [] => vec![own.unwrap_or(&base.preset)],
            some => some.iter().collect(),
        };
        for preset in presets {
            let mut config = base.config.extended(preset)?;
            if let Some([name, text]) = named.and_then(|named| named.file.as_ref()) {
                config = config.overlaid(text, name)?;
            }
            let mut first = Configuration::new(preset, config)?;
            first.name = named.map(|named| named.name.clone());
            for assignment in named.iter().flat_map(|named| &named.set) {
                first = first.with(assignment)?;
            }
            let mut configurations = vec![first];
            for values in &self.fields {
                let pairs = configurations
                    .iter()
                    .flat_map(|c| values.iter().map(move |value| c.with(value)));
                configurations = pairs.collect::<Result<_>>()?;
            }
            for mut configuration in configurations {
                for (field, value) in &base.changed {
                    configuration = configuration.with(&format!("{field}={value}"))?;
                }
                all.push(configuration);
            }
        }
        Ok(())
    }
}

fn unit_fields<'a>(
    path: &Path,
    place: &str,
    unit: &str,
    value: &'a toml::Value,
) -> Result<&'a toml::Table> {
    value.as_table().ok_or_else(|| {
        Error::malformed(path, format!("{place}, {unit}"), "fields of a unit, as in tc.bins", value)
    })
}

/// Expands the ranges of a value of the matrix, such as `"8..64*2"`, to lists.
fn expanded(path: &Path, key: &str, value: &toml::Value) -> Result<toml::Value> {
    let typed = |text: String| {
        let integer = text.parse().map(toml::Value::Integer);
        let float = || text.parse().map(toml::Value::Float);
        integer.or_else(|_| float()).unwrap_or(toml::Value::String(text.clone()))
    };
    let of = |text: &str| {
        let range = value_range::values(text)
            .map_err(|expected| Error::malformed(path, format!("matrix, {key}"), expected, text))?;
        Ok(range.map(|texts| texts.into_iter().map(typed).collect::<Vec<_>>()))
    };
    match value {
        toml::Value::String(text) => Ok(of(text)?.map_or(value.clone(), toml::Value::Array)),
        toml::Value::Array(items) => {
            let mut all = Vec::new();
            for item in items {
                let range = item.as_str().map(of).transpose()?.flatten();
                all.extend(range.unwrap_or_else(|| vec![item.clone()]));
            }
            Ok(toml::Value::Array(all))
        }
        _ => Ok(value.clone()),
    }
}

/// Reads a list of the matrix; refuses an empty list and repeated values.
fn list<T: PartialEq>(
    path: &Path,
    key: &str,
    value: &toml::Value,
    expected: &str,
    parse: impl Fn(&toml::Value) -> Option<T>,
) -> Result<Vec<T>> {
    let malformed = |found: String| {
        Error::malformed(path, format!("matrix, {key}"), format!("{expected}, each once"), found)
    };
    let items = value.as_array().filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| malformed(value.to_string()))?;
    let mut values = Vec::new();
    for item in items {
        let parsed = parse(item).ok_or_else(|| malformed(item.to_string()))?;
        if values.contains(&parsed) {
            return Err(malformed(format!("{item} twice")));
        }
        values.push(parsed);
    }
    Ok(values)
}

fn whole_number<T: TryFrom<i64>>(value: &toml::Value) -> Option<T> {
    value.as_integer()?.try_into().ok()
}

fn in_matrix(path: &Path, error: Error) -> Error {
    error.in_file(path, |what| format!("configurations, {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_gpu::config::Config;

    fn parse(text: &str) -> Result<Matrix> {
        #[derive(Deserialize)]
        struct Raw {
            #[serde(default)]
            configuration: Vec<RawConfiguration>,
            #[serde(default)]
            matrix: toml::Table,
        }
        let raw: Raw = toml::from_str(text).unwrap();
        Matrix::parse(
            Path::new("suite.toml"),
            raw.configuration,
            &raw.matrix,
            &Configuration::default(),
        )
    }

    fn labels(text: &str, bases: &[Configuration]) -> Vec<String> {
        let all = parse(text).unwrap().configurations(bases).unwrap();
        all.iter().map(Configuration::label).collect()
    }

    #[test]
    fn presets_and_fields_are_combined() {
        let base = [Configuration::default()];
        assert_eq!(labels("", &base), ["vr-pipe"]);
        let text = "[matrix]\npreset = ['vr-pipe', 'orin']\ntc.bins = [8, 16]";
        assert_eq!(
            labels(text, &base),
            ["vr-pipe tc.bins=8", "vr-pipe tc.bins=16", "orin tc.bins=8", "orin tc.bins=16"]
        );
        let set = [base[0].with("l2.bytes=1048576").unwrap()];
        let found = labels("[matrix]\ncrop.format = ['rgba8', 'rgba16f']", &set);
        assert_eq!(
            found,
            ["vr-pipe crop.format=\"rgba8\" l2.bytes=1048576", "vr-pipe l2.bytes=1048576"]
        );
    }

    #[test]
    fn ranges_and_sizes_are_values() {
        let base = [Configuration::default()];
        let text = "[matrix]\ntc.bins = [4, '8..16*2']\nl2.bytes = '1MB..2MB*2'";
        assert_eq!(
            labels(text, &base),
            [
                "vr-pipe l2.bytes=1048576 tc.bins=4",
                "vr-pipe l2.bytes=1048576 tc.bins=8",
                "vr-pipe l2.bytes=1048576 tc.bins=16",
                "vr-pipe l2.bytes=2097152 tc.bins=4",
                "vr-pipe l2.bytes=2097152 tc.bins=8",
                "vr-pipe l2.bytes=2097152 tc.bins=16",
            ]
        );
        assert_eq!(parse("[matrix]\nseed = '0..3'").unwrap().seeds, [0, 1, 2, 3]);
    }

    #[test]
    fn named_configurations_stand_side_by_side() {
        let text = "[[configuration]]\nname = 'a'\nset.tc.bins = 8\n\
                    [[configuration]]\nname = 'b'\npreset = 'orin'\nset = { gpu.gpcs = 1 }";
        let all = parse(text).unwrap();
        let all = all.configurations(&[Configuration::default()]).unwrap();
        assert_eq!(all[0].config.tc.bins, 8);
        assert_eq!((all[1].preset.as_str(), all[1].config.gpu.gpcs), ("orin", 1));
        assert_eq!(all[1].label(), "b");
        let orin = [Configuration::new("orin", Config::preset("orin").unwrap()).unwrap()];
        let error = parse(text).unwrap().configurations(&orin).unwrap_err();
        assert!(error.to_string().contains("orin"), "{error}");
    }

    #[test]
    fn wrong_matrices_are_refused_by_key() {
        for (text, words) in [
            ("[matrix]\npreset = 'orin'", ["matrix, preset", "list"]),
            ("[matrix]\npreset = ['fast']", ["fast", "vr-pipe"]),
            ("[matrix]\nseed = [1, -1]", ["matrix, seed", "-1"]),
            ("[matrix]\nseed = []", ["matrix, seed", "[]"]),
            ("[matrix]\nwidth = [8, 8]", ["matrix, width", "8 twice"]),
            ("[matrix]\ntc.bins = 8", ["matrix, tc.bins", "list"]),
            ("[matrix]\ntc.bins = '8..60*2'", ["matrix, tc.bins", "32 and 64"]),
            ("[matrix]\ntc.bins = ['8KB']", ["configurations", "not a size in bytes"]),
            ("[matrix]\nhet.threshold = [0.5]", ["configurations", "zrop.threshold"]),
            ("[[configuration]]\nname = 'a'\nconfig = 'none.toml'", ["none.toml", "read"]),
            ("[matrix]\ntc.bins = [8, 8]", ["matrix, tc.bins", "8 twice"]),
            ("[matrix]\ntc.bins = [0]", ["configurations, tc.bins", "0"]),
            ("[matrix]\ntc.bin = [8]", ["configurations", "bin"]),
            ("[matrix]\ntc = 8", ["matrix, tc", "unit"]),
            ("[matrix]\nclock.mhz = [8]", ["configurations", "clock"]),
            (
                "[[configuration]]\nname = 'a'\n[[configuration]]\nname = 'a'",
                ["configuration \"a\"", "its own"],
            ),
            (
                "[matrix]\npreset = ['orin']\n[[configuration]]\nname = 'a'\npreset = 'orin'",
                ["configuration \"a\", preset", "matrix"],
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            let is_of_file = error.starts_with("suite.toml: ") || text.contains("none.toml");
            assert!(is_of_file, "{error}");
            assert!(words.iter().all(|w| error.contains(w)), "{text}: {error}");
        }
        let list: Vec<_> = (1..=100).map(|n| n.to_string()).collect();
        let list = list.join(", ");
        let text = format!("[matrix]\ntc.bins = [{list}]\ntgc.bins = [{list}]");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("10000"), "{error}");
    }
}
