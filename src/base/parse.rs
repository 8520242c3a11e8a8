//! Parsers of numbers that users write in flags, actions and suite files. Messages name the expected form.

use std::str::FromStr;

use crate::error::Error;

/// Parses `text` with `parse`, for callers that add the argument's name and value to the message themselves.
///
/// # Errors
/// The valid values of an [`Error::Argument`], or the whole message of another error.
pub fn parsed<T>(
    text: &str,
    parse: impl FnOnce(&str) -> crate::error::Result<T>,
) -> Result<T, String> {
    parse(text).map_err(|error| match error {
        Error::Argument { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    })
}

/// Parses a whole number, also in the form `1e6`.
pub fn whole_number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().or_else(|| exact(text.parse().ok()?));
    let number: u64 = number.ok_or("expected a whole number such as 400 or 2e3")?;
    let greatest = || u64::MAX >> (64 - 8 * size_of::<T>().min(8));
    number.try_into().map_err(|_| format!("expected a whole number up to {}", greatest()))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and below 2^53")]
pub(crate) fn exact(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..9e15).contains(&number);
    is_whole.then_some(number as u64)
}

/// Parses a number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = finite(text).ok().filter(|number| *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

/// Parses a finite number.
pub fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|value: &f64| value.is_finite());
    number.ok_or_else(|| "expected a number such as 40 or 0.5".to_owned())
}

/// Parses `N` numbers separated by commas; blanks around them are ignored.
pub fn numbers<T: FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Parses a number whose range is checked elsewhere.
///
/// # Errors
/// The expected form, as a message.
pub fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a number such as 40 or 0.5".to_owned())
}

/// Parses a point or a direction: three numbers separated by commas.
///
/// # Errors
/// The expected form, as a message.
pub fn point(text: &str) -> Result<[f64; 3], String> {
    numbers(text)
        .ok_or_else(|| "expected three coordinates of the world such as 1,-2,0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_in_either_notation() {
        for (text, number) in [("0", 0), ("200000", 200_000), ("1e6", 1_000_000), ("2.5e3", 2500)] {
            assert_eq!(whole_number::<u64>(text), Ok(number));
        }
        for text in ["", "-1", "1.5", "1e-3", "nan", "inf", "1e30", "ten"] {
            assert!(whole_number::<u64>(text).is_err(), "{text}");
        }
        let beyond = |greatest| format!("expected a whole number up to {greatest}");
        assert_eq!(whole_number::<u8>("256"), Err(beyond(255_u64)));
        assert_eq!(whole_number::<u32>("4294967296"), Err(beyond(4_294_967_295)));
    }
}
