//! What users of the library do, each in a few lines, cancellation of long calls, and the package that they get.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod cancel;
mod examples;
mod package;
mod refusals;
mod suites;
mod tour;
