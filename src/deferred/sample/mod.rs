//! Sample positions in the picture, on the lens and in time.

pub mod pattern;
pub mod sobol;
