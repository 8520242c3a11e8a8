//! Specifications of units: sizes, rates and latencies, one line per field with default, bounds and source.

use std::fmt::Debug;
use std::ops::{Bound, RangeBounds};

use quadrille_base::bytes::Bytes;
use quadrille_base::error::{Error, Result};
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

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
    /// Identifier, unique within a machine.
    pub id: &'static str,
    /// Description that messages print.
    pub name: &'static str,
}

/// Description of a field of a specification.
#[derive(Debug, Clone)]
pub struct Field {
    /// Full name, `unit.field`.
    pub name: String,
    /// Current value in TOML syntax.
    pub value: String,
    /// Names that the field accepts as its value; empty unless it is an enumeration.
    pub names: &'static [&'static str],
    /// Meaning of the field, with its unit of measure.
    pub meaning: &'static str,
    /// Origin of the default value.
    pub source: Source,
    /// Part of the machine that reads the field; `None` if every run reads it.
    pub only_if: Option<OptionalPart>,
}

/// Specification of a unit; [`spec!`](crate::spec!) implements it.
pub trait Specification: Default + serde::Serialize + serde::de::DeserializeOwned {
    /// Name of the unit in configurations.
    const UNIT: &'static str;

    /// Checks every field against its bounds; the error names the field, its bounds and its value.
    fn validate(&self) -> Result<()>;

    /// Every field with its value, meaning and source.
    fn fields(&self) -> Vec<Field>;
}

/// Checks a field against its bounds.
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
        format!("a value from {} to {}", end(bounds.start_bound()), end(bounds.end_bound())),
        format!("{value:?}"),
    ))
}

/// Declares the specification of a unit: a plain struct with its `Default`, `validate` and `fields`.
///
/// `, only_if PART` behind the source of a field names the [`OptionalPart`](crate::spec::OptionalPart) that reads it.
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
            /// An argument error that names the field, its bounds and its value.
            pub fn validate(&self) -> $crate::Result<()> {
                $($crate::spec::check($unit, stringify!($field), &self.$field, &$bounds)?;)+
                Ok(())
            }

            /// Every field with its value, meaning and source.
            pub fn fields(&self) -> Vec<$crate::spec::Field> {
                vec![$($crate::spec::Field {
                    name: concat!($unit, ".", stringify!($field)).to_owned(),
                    value: $crate::spec::toml_value(&self.$field),
                    names: $crate::spec::names_of::<$type>(),
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

/// Whether a field is a size in bytes, by its name: `bytes`, `cache_bytes`, `bytes_per_splat`, not `bytes_per_cycle`.
pub(crate) fn is_in_bytes(field: &str) -> bool {
    field.split(['.', '_']).any(|word| word == "bytes") && !field.ends_with("per_cycle")
}

/// Value of a field that is a size, with its unit: `16 KiB` or `96 B` for bytes, `640 px` for `width` and `height`;
/// `None` for other fields and for values that are not numbers.
pub fn shown_size(field: &str, value: &str) -> Option<String> {
    let bytes: Bytes = value.parse().ok()?;
    if ["width", "height"].contains(&field) {
        return Some(format!("{value} px"));
    }
    (is_in_bytes(field) && bytes.0 > 0).then(|| bytes.to_string())
}

/// Formats a value in TOML syntax.
pub fn toml_value(value: &impl serde::Serialize) -> String {
    toml::Value::try_from(value).map_or_else(|e| e.to_string(), |v| v.to_string())
}

/// Names of the values of an enumeration, as configurations spell them; empty for other types.
pub fn names_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // Fails by design, after the type has passed its names to the deserializer.
    let _ = T::deserialize(Names(&mut names));
    names
}

/// Deserializer that records an enumeration's names and then fails.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = de::value::Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> std::result::Result<V::Value, Self::Error> {
        *self.0 = variants;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(
        self,
        _visitor: V,
    ) -> std::result::Result<V::Value, Self::Error> {
        Err(de::Error::custom("there is no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code, reason = "only the names are asked for")]
    enum Order {
        FirstIn,
        LastIn,
    }

    #[test]
    fn enumerations_have_names() {
        assert_eq!(names_of::<Order>(), ["first-in", "last-in"]);
        assert!(names_of::<bool>().is_empty() && names_of::<u64>().is_empty());
        assert!(names_of::<String>().is_empty());
    }
}
