//! Tests of the server through its sockets, by pages and hostile clients, in process, on a free port.
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
mod control;
mod hostile;
mod maps;
mod matrix;
mod openings;
mod pictures;
mod reload;
mod sequence;
