//! Vector quantisation: codebooks of numbers and palettes of rows.

mod codebook;
mod nearest;
mod palette;

pub use codebook::{ENTRIES, codebook, indices};
pub use palette::{Palette, palette};
