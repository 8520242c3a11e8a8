//! Conversions of results to units for people.

use std::time::Duration;

/// Formats a share as a percentage with one decimal: `12.5 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Number of things in words: `1 view`, `3 views`.
pub fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Converts a duration to milliseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Duration of `cycles` of a clock in milliseconds.
pub fn cycles_to_ms(cycles: u64, clock_mhz: f64) -> f64 {
    cycles as f64 / (clock_mhz * 1e3)
}
