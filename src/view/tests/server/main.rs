//! The server as pages and hostile clients meet it, in process, on a port of the system's choice.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

mod admission;
mod client;
mod hostile;
mod maps;
mod pictures;
mod reload;
