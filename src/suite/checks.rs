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
    match value.filter(|value| !range.contains(value)) {
        None => Ok(()),
        Some(value) => Err(Error::argument(setting, expected, value)),
    }
}

pub(crate) fn finite(setting: &str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(number) => Err(Error::argument(setting, "finite numbers such as 1,-2,0.5", number)),
    }
}

/// Refuses repeated values, whose rows and files would be the same.
pub fn each_once<T: PartialEq + ToString>(setting: &str, values: &[T]) -> Result<()> {
    match (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
        None => Ok(()),
        Some(at) => {
            let found = format!("{} twice", values[at].to_string());
            Err(Error::argument(setting, "each value once", found))
        }
    }
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
