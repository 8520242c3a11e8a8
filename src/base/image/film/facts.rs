//! Properties of a film that are known before its first frame.

use super::rate::FrameRate;

/// Size, length and rate of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilmFacts {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Number of frames.
    pub frames: u32,
    /// Frames per second.
    pub rate: FrameRate,
}
