//! What users of the library do, each in a few lines, and cancellation of long calls.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod cancel;
mod examples;
mod tour;
