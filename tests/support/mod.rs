//! What several tests need: seeded scenes, differences of pictures, tolerances, shared data.
#![allow(dead_code, reason = "each test uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "tests"
)]

pub(crate) mod cages;
pub(crate) mod contract;
pub(crate) mod emulated;
pub(crate) mod gpu;
pub(crate) mod mesh;
pub(crate) mod packing;
pub(crate) mod pictures;
pub(crate) mod program;
pub(crate) mod scenes;
pub(crate) mod shared;
pub(crate) mod skipped;
pub(crate) mod tolerances;
