//! The mesh path: the frame without time, the units in cycles, meshes against splats.
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

mod among_splats;
mod arcade_flight;
mod assumptions;
mod blending;
mod defaults;
mod far;
mod frame;
mod front;
mod grid;
mod layers;
mod materials;
mod merging;
mod overlay;
mod pipeline;
mod projection;
mod reyes;
mod shading;
mod stages;
mod subdivision;
mod surfaces;
mod tessellation;
mod upright;
mod versus;

#[path = "../support/mod.rs"]
mod support;
