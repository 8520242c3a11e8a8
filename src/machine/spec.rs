//! Specifications of units: sizes, rates and latencies, one line per field with default, bounds and
//! source.

use std::fmt::Debug;
use std::ops::{Bound, RangeBounds};

use quadrille_base::error::{Error, Result};

/// Origin of a default value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Stated by a publication.
    Published(&'static str),
    /// Not published; the text gives the reason for the value.
    Assumed(&'static str),
    /// Not published. The value is calibrated to reproduce a published result, which the text names; that
    /// result is therefore no independent check of the model.
    Calibrated(&'static str),
}

/// Part of a machine that only some runs have. Other runs do not read its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionalPart {
    /// Identifier, unique among the parts of a machine.
    pub id: &'static str,
    /// Description, for messages.
    pub name: &'static str,
}

/// Description of a field of a specification.
#[derive(Debug, Clone)]
pub struct Field {
    /// `unit.field`.
    pub name: String,
    /// Value as TOML.
    pub value: String,
    /// Meaning of the field, with its unit.
    pub meaning: &'static str,
    /// Origin of the default value.
    pub source: Source,
    /// The part that reads the field; `None` if every run does.
    pub only_if: Option<OptionalPart>,
}

/// Specification of a unit, which [`spec!`](crate::spec!) implements.
pub trait Specification: Default + serde::Serialize + serde::de::DeserializeOwned {
    /// The unit's name in configurations.
    const UNIT: &'static str;

    /// Checks every field against its bounds.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the field, its bounds and its value.
    fn validate(&self) -> Result<()>;

    /// Every field with its value, meaning and source.
    fn fields(&self) -> Vec<Field>;
}

/// Checks a field against its bounds.
///
/// # Errors
/// [`Error::Argument`] naming field, bounds and value.
pub fn check<T: PartialOrd + Debug>(
    unit: &str,
    field: &str,
    value: &T,
    bounds: &impl RangeBounds<T>,
) -> Result<()> {
    if bounds.contains(value) {
        return Ok(());
    }
    let end = |bound: Bound<&T>| match bound {
        Bound::Included(b) | Bound::Excluded(b) => format!("{b:?}"),
        Bound::Unbounded => "any".to_owned(),
    };
    Err(Error::argument(
        format!("{unit}.{field}"),
        format!(
            "a value from {} to {}",
            end(bounds.start_bound()),
            end(bounds.end_bound())
        ),
        format!("{value:?}"),
    ))
}

/// Declares the specification of a unit: a plain struct with its `Default`, `validate` and `fields`.
///
/// `, only_if PART` behind the source of a field names the [`OptionalPart`](crate::spec::OptionalPart) that
/// reads it.
#[macro_export]
macro_rules! spec {
    (
        $(#[doc = $unit_doc:literal])+
        $name:ident in $unit:literal {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr, $bounds:expr, $source:ident $why:literal $(, only_if $part:expr)?;)+
        }
    ) => {
        $(#[doc = $unit_doc])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $doc])+ #[doc = concat!("\n", stringify!($source), ": ", $why, ".")] pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $name {
            /// The unit's name in configurations.
            pub const UNIT: &'static str = $unit;

            /// Checks every field against its bounds.
            ///
            /// # Errors
            /// A caller's error naming the field, its bounds and its value.
            pub fn validate(&self) -> $crate::Result<()> {
                $($crate::spec::check($unit, stringify!($field), &self.$field, &$bounds)?;)+
                Ok(())
            }

            /// Every field with its value, meaning and source.
            pub fn fields(&self) -> Vec<$crate::spec::Field> {
                vec![$($crate::spec::Field {
                    name: concat!($unit, ".", stringify!($field)).to_owned(),
                    value: $crate::spec::toml_value(&self.$field),
                    meaning: concat!($($doc),+).trim(),
                    source: $crate::spec::Source::$source($why),
                    only_if: <[$crate::spec::OptionalPart]>::first(&[$($part)?]).copied(),
                },)+]
            }
        }

        impl $crate::spec::Specification for $name {
            const UNIT: &'static str = $unit;

            fn validate(&self) -> $crate::Result<()> {
                Self::validate(self)
            }

            fn fields(&self) -> Vec<$crate::spec::Field> {
                Self::fields(self)
            }
        }
    };
}
pub use spec;

/// A value as TOML writes it.
pub fn toml_value(value: &impl serde::Serialize) -> String {
    toml::Value::try_from(value).map_or_else(|e| e.to_string(), |v| v.to_string())
}
