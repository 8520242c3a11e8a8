//! What a film is, beside its pictures.

use super::rate::FrameRate;

/// What is known of a film before its first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilmFacts {
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
    /// Number of frames.
    pub(crate) frames: u32,
    pub(crate) rate: FrameRate,
}
