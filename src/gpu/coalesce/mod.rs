//! Coalescing units: primitives by tile grid, quads by screen tile, overlapping quads in pairs.

pub mod bins;
pub mod flush_policy;
pub mod quad_reorder;
pub mod tile_coalescing;
pub mod tile_grid_coalescing;
