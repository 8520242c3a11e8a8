//! Conversion of times and rates to cycles.

use crate::timing::Cycle;

/// Whole cycles in `ns` at `clock_mhz`.
pub(super) fn cycles_in(ns: f64, clock_mhz: f64) -> Cycle {
    truncated(ns * clock_mhz / 1e3)
}

/// The integer part of a number that is not negative.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "validated fields: not negative, and their products far below 2^64"
)]
pub(super) fn truncated(number: f64) -> u64 {
    number as u64
}
