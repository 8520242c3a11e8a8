//! Units that gather: primitives by tile grid, quads by screen tile, overlapping quads in pairs.

pub mod bins;
pub mod qru;
pub mod tc;
pub mod tgc;
