//! Ranges of values: `8..64`, `8..64*2`, `0..1+0.25`, `1MB..8MB*2`; both ends are values.

use quadrille_base::bytes::Bytes;
use quadrille_base::parse::finite;

/// Maximum number of configurations of a run, and of values of a range.
pub const MAX_CONFIGURATIONS: usize = 4096;
const DOTS: &str = "..";
/// Relative tolerance of the end of a range of factors.
const MEETS: f64 = 1e-9;
const MAX_DECIMALS: usize = 12;

#[derive(Debug, Clone, Copy)]
struct Number {
    value: f64,
    is_size: bool,
}

#[allow(clippy::cast_precision_loss, reason = "sizes below 2^53")]
fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let plain = finite(text).ok().map(|value| Number { value, is_size: false });
    plain.or_else(|| Some(Number { value: text.parse::<Bytes>().ok()?.0 as f64, is_size: true }))
}

pub(super) fn values(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((from, rest)) = text.split_once(DOTS) else { return Ok(None) };
    let Some(from) = number(from) else { return Ok(None) };
    let syntax = || "a range with both ends, such as 8..64, 8..64*2 or 0..1+0.25".to_owned();
    let at = rest.find(['*', '+']).unwrap_or(rest.len());
    // The sign of an exponent does not begin a step.
    let at = match rest.get(..at) {
        Some(before) if before.ends_with(['e', 'E']) => {
            rest[at + 1..].find(['*', '+']).map_or(rest.len(), |more| at + 1 + more)
        }
        _ => at,
    };
    let to = number(&rest[..at]).ok_or_else(syntax)?;
    if from.is_size != to.is_size {
        return Err("a range with both ends in bytes, or neither".to_owned());
    }
    if to.value < from.value {
        return Err("a range whose first end is the smaller one".to_owned());
    }
    let values = match rest.get(at..at + 1) {
        Some("*") => {
            let factor = finite(rest[at + 1..].trim()).map_err(|_| syntax())?;
            by_factors(from.value, to.value, factor)?
        }
        Some(_) => {
            let step = number(&rest[at + 1..]).ok_or_else(syntax)?;
            if step.is_size != from.is_size {
                return Err("a range with ends and step all in bytes, or none in bytes".to_owned());
            }
            by_steps(from.value, to.value, step.value)?
        }
        None if from.is_size => {
            return Err("a range of sizes with a step, as in 1MB..4MB*2".to_owned());
        }
        None => by_steps(from.value, to.value, 1.0)?,
    };
    let unit = if from.is_size { "B" } else { "" };
    Ok(Some(values.into_iter().map(|value| format!("{value}{unit}")).collect()))
}

/// Steps before and after the end that a range misses.
fn misses(to: f64, before: f64, after: f64) -> String {
    format!("steps that end at {to}; they meet {before} and {after}")
}

fn check_count(count: f64) -> Result<(), String> {
    match count <= MAX_CONFIGURATIONS as f64 {
        true => Ok(()),
        false => Err(format!("a range of at most {MAX_CONFIGURATIONS} values")),
    }
}

/// Equally spaced values, computed in whole numbers of the last decimal, so that they are as typed.
fn by_steps(from: f64, to: f64, step: f64) -> Result<Vec<f64>, String> {
    if step <= 0.0 {
        return Err("a step above 0".to_owned());
    }
    let decimals = [from, to, step]
        .map(|value| value.to_string().split_once('.').map_or(0, |(_, after)| after.len()));
    let decimals = decimals.into_iter().fold(0, usize::max);
    if decimals > MAX_DECIMALS {
        return Err(format!("numbers of at most {MAX_DECIMALS} decimals"));
    }
    let scale = (0..decimals).fold(1.0, |scale, _| scale * 10.0);
    let [first, last, by] = [from, to, step].map(|value| (value * scale).round());
    let count = ((last - first) / by).floor();
    check_count(count + 1.0)?;
    let value = |at: f64| (first + at * by) / scale;
    if first + count * by != last {
        return Err(misses(to, value(count), value(count + 1.0)));
    }
    Ok((0_u32..).map(f64::from).take_while(|at| *at <= count).map(value).collect())
}

fn by_factors(from: f64, to: f64, factor: f64) -> Result<Vec<f64>, String> {
    if factor <= 1.0 || from <= 0.0 {
        return Err("a factor above 1 and a range that starts above 0".to_owned());
    }
    check_count((to / from).ln() / factor.ln())?;
    let mut values = vec![from];
    let mut last = from;
    while last * (1.0 + MEETS) < to {
        let next = last * factor;
        if next > to * (1.0 + MEETS) {
            return Err(misses(to, last, next));
        }
        last = next;
        values.push(next);
    }
    if let Some(end) = values.last_mut() {
        // End exactly at `to`, without the rounding of the products.
        *end = to;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        values(text).unwrap().unwrap()
    }

    #[test]
    fn both_ends_are_values() {
        for (text, expected) in [
            ("8..11", "8 9 10 11"),
            ("8..64*2", "8 16 32 64"),
            ("0..1+0.25", "0 0.25 0.5 0.75 1"),
            ("0.1..0.7+0.1", "0.1 0.2 0.3 0.4 0.5 0.6 0.7"),
            ("-1..1", "-1 0 1"),
            ("1e3..3e3+1e+3", "1000 2000 3000"),
            ("0.5..4*2", "0.5 1 2 4"),
            ("0.1..100*10", "0.1 1 10 100"),
            ("1MB..4MB*2", "1048576B 2097152B 4194304B"),
            ("1KiB..3KiB+1KiB", "1024B 2048B 3072B"),
            ("7..7", "7"),
            (" 1 .. 2 ", "1 2"),
        ] {
            assert_eq!(of(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_ranges() {
        for text in ["8", "rgba8", "\"8..16\"", "1/3", "x..y", "[1..2]"] {
            assert_eq!(values(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn wrong_ranges_say_what_is_missing() {
        for (text, word) in [
            ("8..", "both ends"),
            ("8..x", "both ends"),
            ("8..64*x", "both ends"),
            ("8..60*2", "end at 60; they meet 32 and 64"),
            ("0..1+0.3", "they meet 0.9 and 1.2"),
            ("64..8", "smaller"),
            ("0..8*2", "above 0"),
            ("1..8*1", "above 1"),
            ("0..1+0", "above 0"),
            ("0..1+1e-300", "decimals"),
            ("1MB..8", "bytes"),
            ("1MB..8MB+1", "bytes"),
            ("1MB..8MB", "1MB..4MB*2"),
            ("0..1000000", "4096"),
            ("1..1e300*1.0000001", "4096"),
        ] {
            let error = values(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
