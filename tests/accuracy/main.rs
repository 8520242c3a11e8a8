//! Accuracy of pictures: the scalar renderer against the reference frame, and the fast renderer against
//! the scalar one, on every SIMD level and any number of threads.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

mod batches;
mod channels;
mod determinism;
mod discs;
mod far_scenes;
mod goldens;
mod lanes;
mod layers;
mod lenses;
mod metrics;
mod oracle;
mod order;
mod points;
mod poison;
mod probe;
mod profiles;
mod reference_pictures;
mod surfaces;
mod synthetic;

#[path = "../support/mod.rs"]
mod support;
