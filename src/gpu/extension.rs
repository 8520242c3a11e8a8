//! Units of other crates: their fields in the configuration, and their position in the pipeline.
//!
//! An extension, made by [`extension`](crate::wiring::extension), joins a configuration with
//! [`Config::with_extension`](crate::config::Config::with_extension). Its fields are then available by name in assignments,
//! configuration files and suites, and its wiring defines every run of the graphics pipeline. Reports, rows, CSV and traces
//! contain its cycles and counters, since they list all units that declare them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::variant::Variant;
use quadrille_base::error::{Error, Result};
use quadrille_machine::overlay::put;
use quadrille_machine::spec::{Field, Specification};

/// Method of another crate on the graphics pipeline: the additions of a variant, in a pipeline of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnMethod {
    name: &'static str,
    variant: Variant,
}

impl OwnMethod {
    /// Variant of the pipeline whose additions the method has.
    pub fn variant(self) -> Variant {
        self.variant
    }
}

impl fmt::Display for OwnMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Unit of another crate: its specification with values, and the wiring of the pipeline that contains it.
#[derive(Debug, Clone)]
pub struct Extension {
    unit: &'static str,
    values: toml::Table,
    default: fn() -> toml::Table,
    fields: fn(&toml::Table) -> Result<Vec<Field>>,
    /// Wiring, type-erased because wirings are built from configurations, which hold extensions.
    wiring: Option<Arc<dyn Any + Send + Sync>>,
    /// The only method that has the wiring; `None` for all methods on the pipeline.
    method: Option<OwnMethod>,
}

impl Extension {
    /// Creates a unit with the defaults of its specification `S`, connected by the wiring of another extension.
    #[must_use]
    pub fn new<S: Specification>() -> Self {
        Self {
            unit: S::UNIT,
            values: default_values::<S>(),
            default: default_values::<S>,
            fields: |values| parsed::<S>(values).map(|spec| spec.fields()),
            wiring: None,
            method: None,
        }
    }

    /// Makes the wiring a method called `name`, with the additions of `variant`, instead of the pipeline of all methods.
    #[must_use]
    pub fn as_method(self, name: &'static str, variant: Variant) -> Self {
        Self { method: Some(OwnMethod { name, variant }), ..self }
    }

    pub(crate) fn wired(self, wiring: impl Any + Send + Sync) -> Self {
        Self { wiring: Some(Arc::new(wiring)), ..self }
    }

    pub(crate) fn check_name(&self, own: &toml::Table) -> Result<()> {
        if !own.contains_key(self.unit) {
            return Ok(());
        }
        Err(Error::argument("extension", "a name that no unit of the emulated GPU has", self.unit))
    }
}

fn default_values<S: Specification>() -> toml::Table {
    toml::Table::try_from(S::default()).unwrap_or_default()
}

fn parsed<S: Specification>(values: &toml::Table) -> Result<S> {
    let spec: S = values.clone().try_into().map_err(|e: toml::de::Error| {
        Error::argument(S::UNIT, "valid fields of the unit", e.message().to_owned())
    })?;
    spec.validate()?;
    Ok(spec)
}

/// Extensions of a configuration, at most one per unit.
#[derive(Debug, Clone, Default)]
pub struct Extensions(Vec<Extension>);

impl Extensions {
    /// Whether the configuration has no extensions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, extension: Extension) {
        self.0.retain(|other| other.unit != extension.unit);
        self.0.push(extension);
    }

    #[must_use]
    pub(crate) fn spec<S: Specification>(&self) -> S {
        let own = self.0.iter().find(|extension| extension.unit == S::UNIT);
        own.and_then(|extension| parsed(&extension.values).ok()).unwrap_or_default()
    }

    /// Wiring of `method`; of methods of this crate, the wiring of the last extension that is no method.
    pub(crate) fn wiring<W: Any>(&self, method: Option<OwnMethod>) -> Option<&W> {
        let own = self.0.iter().rev().filter(|extension| extension.method == method);
        own.filter_map(|extension| extension.wiring.as_ref()?.downcast_ref()).next()
    }

    /// The methods that extensions add.
    pub(crate) fn methods(&self) -> impl Iterator<Item = OwnMethod> {
        self.0.iter().filter_map(|extension| extension.method)
    }

    pub(crate) fn at_default(&self) -> Self {
        let all = self
            .0
            .iter()
            .map(|extension| Extension { values: (extension.default)(), ..extension.clone() });
        Self(all.collect())
    }

    pub(crate) fn fields(&self) -> Vec<Field> {
        self.0.iter().map(|e| (e.fields)(&e.values)).flat_map(Result::unwrap_or_default).collect()
    }

    pub(crate) fn validate(&self) -> Result<()> {
        self.0.iter().try_for_each(|e| (e.fields)(&e.values).map(drop))
    }

    /// Removes the tables of the added units from `overlay` and applies them. `from` names the source of `overlay` in
    /// errors.
    pub(crate) fn overlay(&mut self, overlay: &mut toml::Table, from: &str) -> Result<()> {
        for extension in &mut self.0 {
            let Some(fields) = overlay.remove(extension.unit) else { continue };
            let toml::Value::Table(fields) = fields else {
                return Err(Error::argument(from, format!("a table [{}]", extension.unit), fields));
            };
            for (field, value) in fields {
                put(&mut extension.values, extension.unit, &field, value, from)?;
            }
        }
        self.validate()
    }
}

impl PartialEq for Extensions {
    fn eq(&self, other: &Self) -> bool {
        let values =
            |all: &Self| all.0.iter().map(|e| (e.unit, e.values.clone())).collect::<Vec<_>>();
        values(self) == values(other)
    }
}

impl Serialize for Extensions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|e| (e.unit, &e.values)))
    }
}
