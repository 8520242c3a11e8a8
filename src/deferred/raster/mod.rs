//! Stochastic raster: coverage in the picture, on the lens and in time.
//!
//! [`sample_test`] defines hits. [`traverse`] finds the hits of a triangle without testing all samples of the picture:
//! tiles of 8x8 pixels and blocks of 2x2 pixels are culled by bounds in time and on the lens and by the triangle's
//! edges, and samples of a block are tested sixteen at a time.

pub mod bounds;
pub mod cost;
pub mod cull;
pub mod edges;
pub mod lanes;
pub mod sample_test;
pub mod sides;
pub mod traverse;
pub mod triangle;
