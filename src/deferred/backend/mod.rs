//! The second pass: identifiers of a tile, sorted, to shading work and colours (sections 4.3 and 4.4).

pub mod radix;
