//! The program as its users run it.
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

mod artists;
mod batches;
mod bench;
mod blank_views;
mod blur;
#[cfg(target_os = "linux")]
mod clusters;
mod compare;
mod convert;
mod dashes;
mod data_sets;
mod deferred;
mod deferred_docs;
mod deferred_hostile;
mod deferred_tiles;
mod discs;
mod docs;
mod estimates;
mod evaluation;
mod exposures;
mod figures;
mod figures_merging;
mod figures_meshes;
mod film;
mod filters;
mod first_contact;
mod gates;
mod hardware;
mod in_place;
mod info;
#[cfg(unix)]
mod interrupt;
mod lenses;
mod lossy;
#[cfg(target_os = "linux")]
mod memory;
mod mesh;
mod mesh_learn;
mod mesh_look;
mod mesh_trial;
mod meshes_in_scene;
mod moved;
mod odd;
mod page_tables;
mod plot;
mod probe;
mod remedies;
mod resume;
mod sequences;
mod sim;
mod sizes;
mod small_scenes;
mod statistics;
mod stencil;
mod suites;
mod sweeps;
#[cfg(feature = "trace")]
mod trace;
mod unused_fields;
mod usage;
#[cfg(all(unix, feature = "view"))]
mod view;
mod views;
mod vr_pipe_docs;
mod warm_suites;

#[path = "../support/mod.rs"]
mod support;
