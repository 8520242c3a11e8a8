//! The second pass: identifiers of a tile, sorted, to shading work and colours (sections 4.3 and 4.4).

pub mod attributes;
mod blended;
pub mod radix;
pub mod resolve;
pub mod scan;
pub mod shade;
pub mod tiles;
