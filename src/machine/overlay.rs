//! Overrides of configuration fields: TOML texts, and assignments `unit.field=value`.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::spec::is_in_bytes;
use quadrille_base::bytes::Bytes;
use quadrille_base::error::{Error, Result};
use quadrille_base::words::did_you_mean_one_of;

/// Word for an assignment in error messages.
pub const ASSIGNMENT: &str = "assignment";

/// Converts an assignment `unit.field=value` to TOML.
pub fn as_toml(assignment: &str) -> Result<String> {
    let malformed = || Error::argument(ASSIGNMENT, "unit.field=value", assignment);
    let (path, value) = assignment.split_once('=').ok_or_else(malformed)?;
    let (unit, field) = path.trim().split_once('.').ok_or_else(malformed)?;
    // A value that is not valid TOML is taken as a string.
    let value = toml::from_str::<toml::Table>(&format!("v = {}", value.trim()))
        .ok()
        .and_then(|mut t| t.remove("v"))
        .unwrap_or_else(|| toml::Value::String(value.trim().to_owned()));
    let overlay = toml::Table::from_iter([(
        unit.to_owned(),
        toml::Value::Table(toml::Table::from_iter([(field.to_owned(), value)])),
    )]);
    Ok(overlay.to_string())
}

/// Describes the line of `text` at which the TOML parser failed, by number and content.
pub fn line_of(error: &toml::de::Error, text: &str) -> String {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let number = text.get(..at).unwrap_or_default().matches('\n').count();
    let line = text.lines().nth(number).unwrap_or_default().trim();
    format!("line {}, `{line}`", number + 1)
}

/// Parses a configuration. `from` names the text in errors, which also name the line.
pub fn parsed(text: &str, from: &str) -> Result<toml::Table> {
    toml::from_str(text).map_err(|error| {
        let place = format!("{from}: {}", line_of(&error, text));
        Error::argument(place, "keys and values of a configuration", error.message())
    })
}

/// Replaces fields of specifications by the values in a TOML text, without validation. `from` names the text in errors.
pub fn overlaid<T: Serialize + DeserializeOwned>(units: &T, text: &str, from: &str) -> Result<T> {
    let overlay = parsed(text, from)?;
    // All fields are numbers, strings or booleans, which TOML can represent.
    let mut table = toml::Table::try_from(units).unwrap_or_default();
    for (unit, fields) in overlay {
        check_names(&table, &unit, &fields, from)?;
        let Some(toml::Value::Table(ours)) = table.get_mut(&unit) else {
            let units: Vec<_> = table.keys().map(String::as_str).collect();
            let expected = format!("a table named after a unit ({})", units.join(", "));
            return Err(Error::unknown_name(from, expected, &unit, units));
        };
        let toml::Value::Table(fields) = fields else {
            return Err(Error::argument(from, format!("a table [{unit}]"), fields));
        };
        for (field, value) in fields {
            let found = value.to_string();
            let name = format!("{from}: {unit}.{field}");
            put(ours, &unit, &field, value, from)?;
            // Only the type of the field knows which strings it accepts, so it is parsed after each change.
            let one = toml::Table::from_iter([(unit.clone(), toml::Value::Table(ours.clone()))]);
            one.try_into::<T>().map_err(|e| {
                Error::argument(name, expected_names(&e), found + &did_you_mean_one_of(e.message()))
            })?;
        }
    }
    table.try_into().map_err(|e: toml::de::Error| {
        Error::argument(from, "valid fields of the units", e.message().to_owned())
    })
}

/// Refuses fields that only other units have, and names these units.
fn check_names(units: &toml::Table, unit: &str, fields: &toml::Value, from: &str) -> Result<()> {
    let has = |unit: &str, field: &str| {
        let own = units.get(unit).and_then(toml::Value::as_table);
        own.is_some_and(|own| own.contains_key(field))
    };
    for field in fields.as_table().into_iter().flat_map(|fields| fields.keys()) {
        let others = units.keys().filter(|other| has(other, field));
        let others: Vec<String> = others.map(|other| format!("{other}.{field}")).collect();
        if !has(unit, field) && !others.is_empty() {
            let expected = format!("a unit that has the field, as in {}", others.join(" or "));
            return Err(Error::argument(from, expected, format!("{unit}.{field}")));
        }
    }
    Ok(())
}

fn expected_names(error: &toml::de::Error) -> String {
    let message = error.message().replace('`', "");
    let names = message.split_once("expected ");
    names.map_or(message.clone(), |(_, names)| names.to_owned())
}

fn size(value: &toml::Value) -> Option<i64> {
    i64::try_from(value.as_str()?.parse::<Bytes>().ok()?.0).ok()
}

/// Replaces an existing field. Sizes in bytes may be texts such as `4MB`; number fields accept `64`, `64.0` and `6.4e1`.
pub fn put(
    unit_table: &mut toml::Table,
    unit: &str,
    field: &str,
    value: toml::Value,
    from: &str,
) -> Result<()> {
    let names: Vec<_> = unit_table.keys().cloned().collect();
    let Some(slot) = unit_table.get_mut(field) else {
        let expected = format!("a field of {unit} ({})", names.join(", "));
        return Err(Error::unknown_name(from, expected, field, names.iter().map(String::as_str)));
    };
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "a number that a person typed, and an integer below 2^53"
    )]
    let value = match (&slot, value) {
        (toml::Value::Integer(_), value) if size(&value).is_some() => {
            if !is_in_bytes(field) {
                let expected =
                    "a number without quotes or a unit, since the field is not a size in bytes";
                return Err(Error::argument(format!("{from}: {unit}.{field}"), expected, value));
            }
            toml::Value::Integer(size(&value).unwrap_or(0))
        }
        (toml::Value::Float(_), toml::Value::Integer(i)) => toml::Value::Float(i as f64),
        (toml::Value::Integer(_), toml::Value::Float(f)) if f.fract() == 0.0 && f.abs() < 9e15 => {
            toml::Value::Integer(f as i64)
        }
        (_, value) => value,
    };
    // A rate may change between a whole number and the text of a ratio.
    let is_ratio = |value: &toml::Value| value.as_str().is_some_and(|text| text.contains('/'));
    if is_ratio(&value) && slot.is_integer() || is_ratio(slot) && value.is_integer() {
        *slot = value;
        return Ok(());
    }
    let negative = matches!(value, toml::Value::Integer(..0));
    if !value.same_type(slot) || negative {
        let least = if negative { " from 0" } else { "" };
        return Err(Error::argument(
            format!("{from}: {unit}.{field}"),
            format!("a value of type {}{least}", slot.type_str()),
            value,
        ));
    }
    *slot = value;
    Ok(())
}
