//! The emulated graphics pipeline: exact pictures, hand-worked timing, the contract of every stage.
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

mod add_a_unit;
mod compute;
mod configuration;
mod costs;
mod coverage;
mod coverage_by_hand;
mod estimates;
mod exact;
mod gscore;
mod hand_worked;
mod imitation;
mod in_shader;
mod late_fragment;
mod limits;
mod memory;
mod microbench;
mod outside_unit;
mod passes;
mod reference;
mod relief;
mod samples;
mod sequences;
mod several_gpcs;
mod shading;
mod splat_primitive;
mod stages;
mod sweeps;
mod tile_gpu;
mod tile_stencil;
mod trained_scenes;
mod vertex_buffer;
mod wired;

#[path = "../support/mod.rs"]
mod support;
