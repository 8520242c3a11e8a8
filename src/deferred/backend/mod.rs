//! The second pass: sorts the identifiers of each tile and shades its quads (sections 4.3 and 4.4).

pub(crate) mod alpha_test;
pub mod attributes;
mod forward;
pub mod radix;
pub mod resolve;
pub mod scan;
pub mod shade;
pub mod tiles;
