//! Lines of a page, and the numbers in them.

use std::fmt::Write;

use quadrille_base::math::{narrow, whole};

const LINE_CHARS: usize = 108;

/// Adds a line with a label; a long text continues below itself.
pub(super) fn push_line(page: &mut String, label: &str, text: &str) {
    for (nth, part) in wrapped(text).iter().enumerate() {
        let label = if nth == 0 { label } else { "" };
        let _ = writeln!(page, "{label:<10} {part}");
    }
}

/// A range, with enough digits to distinguish its ends.
pub(super) fn range(min: f64, max: f64) -> String {
    let [from, to] = [min, max].map(|v| short(narrow(v)));
    if from != to || min >= max {
        return format!("{from} .. {to}");
    }
    let digits = whole::<usize>((2.0 - (max - min).log10()).ceil().clamp(0.0, 12.0));
    format!("{min:.digits$} .. {max:.digits$}")
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut() {
            let is_full = line.chars().count() + 1 + word.chars().count() > LINE_CHARS;
            match (line.is_empty(), is_full) {
                (true, _) => line.push_str(word),
                (false, false) => {
                    line.push(' ');
                    line.push_str(word);
                }
                (false, true) => lines.push(word.to_owned()),
            }
        }
    }
    lines
}

/// Formats three or four significant digits, with an exponent only if the plain number would be long.
pub(super) fn short(value: f32) -> String {
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() {
        format!("{value}")
    } else if !(1e-4..1e6).contains(&magnitude) {
        format!("{value:.2e}")
    } else if magnitude >= 1000.0 {
        format!("{value:.0}")
    } else if magnitude >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(0.0), "0");
        assert_eq!(short(1.23456), "1.23");
        assert_eq!(short(-1e-7), "-1.00e-7");
        assert_eq!(short(f32::INFINITY), "inf");
    }
}
