use std::fmt::Display;
use std::ops::RangeBounds;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use toml::Value;

use quadrille_base::error::{Error, Result};

pub(crate) fn within<T: PartialOrd + Display>(
    setting: &str,
    value: Option<T>,
    range: impl RangeBounds<T>,
    expected: &str,
) -> Result<()> {
    let Some(wrong) = value.filter(|value| !range.contains(value)) else { return Ok(()) };
    Err(Error::argument(setting, expected, wrong))
}

pub(crate) fn finite(setting: &str, numbers: &[f64]) -> Result<()> {
    let Some(wrong) = numbers.iter().find(|number| !number.is_finite()) else { return Ok(()) };
    Err(Error::argument(setting, "finite numbers such as 1,-2,0.5", wrong))
}

/// Refuses repeated values: their rows and output files would collide.
pub fn each_once<T: PartialEq + ToString>(setting: &str, values: &[T]) -> Result<()> {
    let repeated = (1..values.len()).find(|&at| values[..at].contains(&values[at]));
    let Some(at) = repeated else { return Ok(()) };
    Err(Error::argument(setting, "each value once", format!("{} twice", values[at].to_string())))
}

/// Removes repeated values and keeps the order of first occurrence.
pub fn unique<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

pub(crate) fn one_or_more<'de, T, D>(from: D) -> std::result::Result<Vec<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let values = match Value::deserialize(from)? {
        Value::Array(values) => values,
        one => vec![one],
    };
    let values = values.into_iter().map(T::deserialize);
    values.collect::<std::result::Result<_, _>>().map_err(D::Error::custom)
}
