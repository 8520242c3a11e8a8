//! Samples in five dimensions: position in the pixel, position on the lens, and time.

pub mod pattern;
pub mod sobol;
