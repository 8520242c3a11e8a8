//! The second pass: identifiers of a tile, sorted, to shading work and colours (sections 4.3 and 4.4).

pub(crate) mod alpha_test;
pub mod attributes;
mod forward;
pub mod radix;
pub mod resolve;
pub mod scan;
pub mod shade;
pub mod tiles;
