//! Rows of the `sim` pages: a label, then one column per method.

use std::fmt::Write;

use super::simulated::VariantRun;

pub(super) const LINE: usize = 100;
const LABEL: usize = 13;
const COLUMN: usize = 17;
pub(super) const CELL: usize = COLUMN - 1;
pub(super) const COLUMNS_PER_PAGE: usize = (LINE - LABEL) / COLUMN;

/// Name of a run, with the difference of its picture if requested.
pub(super) fn name(run: &VariantRun) -> String {
    match run.against_reference {
        None => run.name(),
        Some(against) => match against.psnr_db {
            Some(db) => format!("{} {db:.1} dB", run.name()),
            None if against.is_blank => format!("{} blank", run.name()),
            None => format!("{} exact", run.name()),
        },
    }
}

pub(super) fn row<R>(text: &mut String, label: &str, runs: &[R], cell: impl Fn(&R) -> String) {
    let mut line = format!("{label:LABEL$}");
    for run in runs {
        let mut cell: String = cell(run).chars().take(COLUMN).collect();
        if cell.chars().count() > CELL {
            cell = cell.chars().take(CELL - 1).chain(['…']).collect();
        }
        let _ = write!(line, "{cell:COLUMN$}");
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Formats a count in eight characters; a million and more in millions.
pub(super) fn short(count: u64) -> String {
    if count < 1_000_000 {
        return format!("{count:>8}");
    }
    let millions = count as f64 / 1e6;
    let digits = match millions {
        m if m < 10.0 => 3,
        m if m < 100.0 => 2,
        m if m < 1000.0 => 1,
        _ => 0,
    };
    format!("{:>8}", format!("{millions:.digits$} M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_eight_characters() {
        for (count, text) in [
            (0, "       0"),
            (999_999, "  999999"),
            (1_234_567, " 1.235 M"),
            (12_345_678, " 12.35 M"),
            (123_456_789, " 123.5 M"),
            (12_345_678_901, " 12346 M"),
        ] {
            assert_eq!(short(count), text);
        }
    }
}
