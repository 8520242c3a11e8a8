//! Coalescing units. They group primitives by tile grid, quads by screen tile, overlapping quads in pairs, quads in warps.

pub mod binning;
pub mod bins;
pub mod flush_policy;
mod held_pixels;
pub mod quad_reorder;
pub mod tile_coalescing;
pub mod tile_grid_coalescing;
pub mod warp_packing;
