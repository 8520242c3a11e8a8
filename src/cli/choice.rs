//! Values of flags that are chosen by name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use quadrille_base::choice::Choice;

/// Returns the names and descriptions of a choice, as help texts list them.
pub(super) fn possible_values<T: Choice>() -> impl Iterator<Item = PossibleValue> {
    T::ALL.iter().map(|&value| {
        let aliases = value.aliases().iter().copied();
        PossibleValue::new(value.name()).help(value.help()).aliases(aliases)
    })
}

/// Creates the parser of a choice.
pub(super) fn one_of<T: Choice>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(possible_values::<T>()).try_map(|name| T::named(&name))
}
