//! Configurations that a suite or a sweep compares.

use std::collections::BTreeMap;

use super::value_range::{self, MAX_CONFIGURATIONS};
use quadrille_base::error::{Error, Result};
use quadrille_gpu::config::{Config, PRESETS};
use quadrille_gpu::method::Method;
use quadrille_gpu::unused_fields::UnusedField;

/// A configuration of the emulated GPU and how it differs from its preset.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Name in the suite file, if any.
    pub name: Option<String>,
    /// Preset whose fields the configuration changes.
    pub preset: String,
    /// Complete configuration: the preset with the changes applied.
    pub config: Config,
    /// Fields whose values differ from the preset, as TOML.
    pub changed: BTreeMap<String, String>,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            name: None,
            preset: PRESETS[0].name.to_owned(),
            config: Config::default(),
            changed: BTreeMap::new(),
        }
    }
}

impl Configuration {
    /// Creates a configuration without a name that is based on `preset`; [`Error::Argument`] if there is no such preset.
    pub fn new(preset: &str, config: Config) -> Result<Self> {
        Ok(Self {
            name: None,
            preset: preset.to_owned(),
            changed: config.changes_from(preset)?,
            config,
        })
    }

    /// Returns the configuration with one assignment `unit.field=value`.
    pub fn with(&self, assignment: &str) -> Result<Self> {
        let changed = Self::new(&self.preset, self.config.with(assignment)?)?;
        Ok(Self { name: self.name.clone(), ..changed })
    }

    /// Returns the name or, without one, the preset followed by the changes.
    pub fn label(&self) -> String {
        label(self.name.as_deref(), &self.preset, &self.changed)
    }

    /// Refuses a method that needs a graphics pipeline, which some presets do not have.
    ///
    /// # Errors
    /// [`Error::Combination`] of the configuration and the method.
    pub fn check_methods(&self, methods: &[Method]) -> Result<()> {
        let of_pipeline = methods.iter().find(|method| method.is_pipeline());
        match of_pipeline.filter(|_| !self.config.gpu.graphics) {
            Some(method) => Err(Error::conflict(
                format!("preset {}", self.label()),
                format!(
                    "method {method}, which needs a graphics pipeline; the preset describes shader cores alone, for \
                     method compute (gpu.graphics=true takes all other units from vr-pipe)"
                ),
            )),
            None => Ok(()),
        }
    }
}

/// Leaves out the configurations that cannot run `methods`, unless none can. `warn` receives a sentence about each.
///
/// # Errors
/// As [`Configuration::check_methods`], of the first configuration if no configuration can run the methods.
pub fn runnable(
    mut configurations: Vec<Configuration>,
    methods: &[Method],
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Configuration>> {
    let is_runnable = |one: &Configuration| one.check_methods(methods).is_ok();
    if !configurations.iter().any(is_runnable) {
        configurations.iter().try_for_each(|one| one.check_methods(methods))?;
    }
    configurations.retain(|one| match one.check_methods(methods) {
        Ok(()) => true,
        Err(error) => {
            warn(format!("{error}: the preset is left out"));
            false
        }
    });
    Ok(configurations)
}

/// Formats the warning that a field was changed from its preset but is read by no run.
pub fn unused_warning(field: &UnusedField) -> String {
    let UnusedField { name, lacks } = field;
    format!("{name} has no effect: no run has {lacks}, which reads it")
}

pub(super) fn label(
    name: Option<&str>,
    preset: &str,
    changed: &BTreeMap<String, String>,
) -> String {
    if let Some(name) = name {
        return name.to_owned();
    }
    let changes = changed.iter().map(|(field, value)| format!("{field}={value}"));
    [preset.to_owned()].into_iter().chain(changes).collect::<Vec<_>>().join(" ")
}

/// Applies an assignment `unit.field=value` to every configuration. Values separated by commas
/// (`unit.field=8,16,32`) and ranges (`unit.field=8..64*2`) give one configuration per value; those of one
/// input configuration are adjacent.
///
/// A range includes both ends: `8..64` takes each whole number, `8..64*2` doubles, and `0..1+0.25` adds 0.25.
///
/// A value that is valid TOML, such as a string in quotes or an array, is one value. Outside of those,
/// no value of any field contains a comma.
///
/// # Errors
/// [`Error::Argument`] naming the unit, field or value that does not fit, or the number of
/// configurations if it exceeds [`MAX_CONFIGURATIONS`].
pub fn swept(configurations: &[Configuration], assignment: &str) -> Result<Vec<Configuration>> {
    let assignments = alternatives(assignment)?;
    check_count(configurations.len().saturating_mul(assignments.len()))?;
    let pairs = configurations
        .iter()
        .flat_map(|configuration| assignments.iter().map(move |a| configuration.with(a)));
    pairs.collect()
}

pub(super) fn check_count(count: usize) -> Result<()> {
    let (what, expected) = ("number of configurations", format!("at most {MAX_CONFIGURATIONS}"));
    Error::refuse_if(count > MAX_CONFIGURATIONS, what, expected, count)
}

/// Refuses two configurations with the same name, preset and changes.
pub fn check_distinct(configurations: &[Configuration]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for one in configurations {
        if seen.insert((&one.name, &one.preset, &one.changed), ()).is_some() {
            let found = format!("\"{}\" twice", one.label());
            return Err(Error::argument("configurations", "configurations that differ", found));
        }
    }
    Ok(())
}

fn alternatives(assignment: &str) -> Result<Vec<String>> {
    let one = || vec![assignment.to_owned()];
    let Some((path, text)) = assignment.split_once('=') else { return Ok(one()) };
    if toml::from_str::<toml::Table>(&format!("v = {}", text.trim())).is_ok() {
        return Ok(one());
    }
    let listed = split_at_commas(text);
    if listed.len() > 1 && listed.iter().any(|value| value.trim().is_empty()) {
        let expected = "a value, or values separated by commas as in 8,16,32";
        return Err(Error::argument(path.trim(), expected, text));
    }
    let mut assignments = Vec::new();
    for value in listed {
        let range = value_range::values(value);
        let range = range.map_err(|expected| Error::argument(path.trim(), expected, value))?;
        let values = range.unwrap_or_else(|| vec![value.to_owned()]);
        assignments.extend(values.iter().map(|value| format!("{path}={value}")));
    }
    Ok(assignments)
}

fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(assignment: &str) -> Vec<String> {
        let found = alternatives(assignment).unwrap();
        let value = |a: &String| a.split_once('=').unwrap().1.to_owned();
        found.iter().map(value).collect()
    }

    #[test]
    fn commas_separate_values_outside_of_quotes_and_brackets() {
        assert_eq!(values("tc.bins=8"), ["8"]);
        assert_eq!(values("tc.bins=8,16, 32"), ["8", "16", " 32"]);
        assert_eq!(values("crop.format=rgba8,rgba16f"), ["rgba8", "rgba16f"]);
        assert_eq!(values("a.b=1/3,1/2"), ["1/3", "1/2"]);
        for one in ["\"x,y\"", "'x,y'", "[1, 2]", "{ a = 1, b = 2 }", "1_000", "rgba8"] {
            assert_eq!(values(&format!("a.b={one}")), [one]);
        }
        assert_eq!(values("a.b=[1,2],\"x,y\""), ["[1,2]", "\"x,y\""]);
        assert_eq!(values("a.b=4,8..32*2"), ["4", "8", "16", "32"]);
        assert_eq!(values("a.b=\"8..32\""), ["\"8..32\""]);
        assert_eq!(alternatives("no assignment").unwrap(), ["no assignment"]);
        for wrong in ["tc.bins=8,", "tc.bins=,8", "tc.bins=8,,16"] {
            let error = alternatives(wrong).unwrap_err().to_string();
            assert!(error.contains("tc.bins"), "{error}");
        }
    }

    #[test]
    fn sweeps_multiply_and_the_first_field_changes_slowest() {
        let one = [Configuration::default()];
        let bins = swept(&one, "tc.bins=8,16").unwrap();
        let all = swept(&bins, "crop.format=rgba8,rgba16f").unwrap();
        let labels: Vec<_> = all.iter().map(Configuration::label).collect();
        assert_eq!(
            labels,
            [
                "vr-pipe crop.format=\"rgba8\" tc.bins=8",
                "vr-pipe tc.bins=8",
                "vr-pipe crop.format=\"rgba8\" tc.bins=16",
                "vr-pipe tc.bins=16",
            ]
        );
        check_distinct(&all).unwrap();
        let same = swept(&all, "tc.bins=4").unwrap();
        let error = check_distinct(&same).unwrap_err().to_string();
        assert!(error.contains("tc.bins=4"), "{error}");
    }

    #[test]
    fn too_many_configurations_are_refused_before_they_are_made() {
        let list: Vec<_> = (1..=100).map(|n| n.to_string()).collect();
        let assignment = format!("tc.bins={}", list.join(","));
        let hundred = swept(&[Configuration::default()], &assignment).unwrap();
        assert_eq!(hundred.len(), 100);
        let assignment = assignment.replace("tc.bins", "tgc.bins");
        let error = swept(&hundred, &assignment).unwrap_err().to_string();
        assert!(error.contains("4096") && error.contains("10000"), "{error}");
    }
}
