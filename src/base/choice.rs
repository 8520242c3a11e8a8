//! Values that users choose by name: on the command line, in suite files and in results.

#[doc(hidden)]
#[cfg(feature = "cli")]
pub use clap;
#[cfg(feature = "cli")]
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::error::{Error, Result};

/// A value that users choose by name. [`choice!`](crate::choice!) implements it.
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// All values, in the order of help texts.
    const ALL: &'static [Self];

    /// Name on the command line, in suite files and in results.
    fn name(self) -> &'static str;

    /// Other names that are accepted for this value.
    fn aliases(self) -> &'static [&'static str] {
        &[]
    }

    /// Doc comment of the value, in one text.
    fn doc(self) -> &'static str;

    /// Description for help texts: the documentation without its full stop.
    fn help(self) -> &'static str {
        let doc = self.doc().trim();
        doc.strip_suffix('.').unwrap_or(doc)
    }

    /// Returns the value with this name or alias.
    fn named(name: &str) -> Result<Self> {
        let is_named = |choice: &&Self| choice.name() == name || choice.aliases().contains(&name);
        let choice = Self::ALL.iter().find(is_named);
        choice.copied().ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|choice| choice.name()).collect();
            Error::unknown_name("name", format!("one of {}", names.join(", ")), name, names)
        })
    }
}

/// Returns the names and descriptions of all values, as help texts list them.
#[cfg(feature = "cli")]
pub fn possible_values<T: Choice>() -> impl Iterator<Item = PossibleValue> {
    T::ALL.iter().map(|&value| {
        PossibleValue::new(value.name()).help(value.help()).aliases(value.aliases().iter().copied())
    })
}

/// Creates the parser of a flag whose value is a `T`.
#[doc(hidden)]
#[cfg(feature = "cli")]
pub fn flag_parser<T: Choice>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(possible_values::<T>()).try_map(|name| T::named(&name))
}

/// Implements clap's value parser for a choice, so that it can be the type of a flag.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "cli")]
macro_rules! flag_of_choice {
    ($type:ident) => {
        impl $crate::choice::clap::builder::ValueParserFactory for $type {
            type Parser = $crate::choice::clap::builder::ValueParser;

            fn value_parser() -> Self::Parser {
                Self::Parser::new($crate::choice::flag_parser::<Self>())
            }
        }
    };
}

/// Expands to nothing: without the feature `cli` there are no flags.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "cli"))]
macro_rules! flag_of_choice {
    ($type:ident) => {};
}

/// Declares an enum whose values have names: each variant is followed by its name and, after `|`, by its aliases.
///
/// The enum is `Debug`, `Clone`, `Copy`, `PartialEq` and `Eq`, implements [`Choice`] with the doc comments as descriptions,
/// is displayed, parsed, serialized and deserialized by name, and has inherent `ALL` and `name`. With the feature `cli` it
/// can be the type of a flag.
///
/// # Examples
///
/// ```
/// quadrille_base::choice! {
///     /// Order of a list.
///     #[derive(Default)]
///     pub enum Order {
///         /// By name.
///         #[default]
///         Name = "name",
///         /// Newest first.
///         Newest = "newest-first" | "newest",
///     }
/// }
///
/// assert_eq!("newest".parse::<Order>()?, Order::Newest);
/// assert_eq!(Order::Newest.to_string(), "newest-first");
/// assert_eq!(Order::default().name(), "name");
/// # Ok::<(), quadrille_base::Error>(())
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $type:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[default $($default:tt)?])?
                $variant:ident = $name:literal $(| $alias:literal)*
            ),+ $(,)?
            $(
                ;
                $(
                    $(#[doc = $value_doc:literal])+
                    $value_variant:ident($value:ty) = $value_name:literal
                ),+ $(,)?
            )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $visibility enum $type {
            $(
                $(#[doc = $doc])+
                $(#[default $($default)?])?
                #[serde(rename = $name $(, alias = $alias)*)]
                $variant,
            )+
            $($($(#[doc = $value_doc])+ #[serde(skip)] $value_variant($value)),+)?
        }

        #[allow(dead_code, reason = "not every choice is listed or named")]
        impl $type {
            /// All values, in the order of help texts.
            $visibility const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Name on the command line, in suite files and in results.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    $($(Self::$value_variant(_) => $value_name),+)?
                }
            }
        }

        impl $crate::choice::Choice for $type {
            const ALL: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                Self::name(self)
            }

            fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$($alias),*],)+
                    $($(Self::$value_variant(_) => &[]),+)?
                }
            }

            fn doc(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+),)+
                    $($(Self::$value_variant(_) => concat!($($value_doc),+)),+)?
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<Self> {
                $crate::choice::Choice::named(name)
            }
        }

        $crate::flag_of_choice!($type);
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// A direction.
        enum Direction {
            /// Towards smaller numbers, which come first.
            Down = "down",
            /// Towards greater numbers
            Up = "up" | "upwards" | "north",
        }
    }

    #[test]
    fn names_aliases_and_descriptions() {
        assert_eq!(Direction::ALL.map(Direction::name), ["down", "up"]);
        assert_eq!("north".parse::<Direction>().unwrap(), Direction::Up);
        let help = "Towards smaller numbers, which come first";
        assert_eq!(Direction::Down.help(), help);
        assert_eq!(Direction::Up.help(), "Towards greater numbers");
        let error = "left".parse::<Direction>().unwrap_err().to_string();
        assert_eq!(error, "name: expected one of down, up, found left");
    }

    #[test]
    fn serialized_by_name() {
        assert_eq!(serde_json::to_string(&Direction::Up).unwrap(), "\"up\"");
        let parsed: Direction = serde_json::from_str("\"upwards\"").unwrap();
        assert_eq!(parsed, Direction::Up);
        assert!(serde_json::from_str::<Direction>("\"left\"").is_err());
    }
}
