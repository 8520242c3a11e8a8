//! Few numbers, and few rows of numbers, that stand for many: codebooks and palettes.

mod codebook;
mod nearest;
mod palette;

pub use codebook::{ENTRIES, codebook, indices};
pub use palette::{Palette, palette};
