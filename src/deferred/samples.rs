//! Visible identifier and depth of every sample after the raster: the result of the first pass (section 4.1).

use bytemuck::zeroed_vec;

use super::shading::spid::Spid;

/// Visible identifier and depth of every sample of the picture.
///
/// Samples are stored block by block of 2x2 pixels, blocks row by row; in a block pixel by pixel (0 top
/// left, 1 top right, 2 bottom left, 3 bottom right), in a pixel sample by sample. With 16 samples per
/// pixel, a block is 64 consecutive values, 256 bytes of each of the three 32-bit buffers.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibleSamples {
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Samples per pixel, 1 to 16.
    pub samples: u32,
    /// Shading point identifier of each sample.
    pub spids: Vec<Spid>,
    /// Depth of each sample: the distance of the near plane divided by the distance of the surface, 0 for the
    /// background. Empty if [depths are not kept](super::settings::DeferredSettings::keeps_depths).
    pub depths: Vec<f32>,
}

impl VisibleSamples {
    pub(crate) fn background(size: [u32; 2], samples: u32, keeps_depths: bool) -> Self {
        let pixels = size.map(|px| px.next_multiple_of(2) as usize);
        let count = pixels[0] * pixels[1] * samples as usize;
        const { assert!(Spid::BACKGROUND.primitive == 0 && Spid::BACKGROUND.morton == 0) };
        Self {
            size,
            samples,
            // The system clears this memory when a thread first writes to it, in parallel.
            spids: zeroed_vec(count),
            depths: zeroed_vec(if keeps_depths { count } else { 0 }),
        }
    }

    /// Numbers of columns and rows of blocks of 2x2 pixels.
    pub fn blocks(&self) -> [u32; 2] {
        self.size.map(|px| px.div_ceil(2))
    }

    /// Index of the first sample of the block at a column and row of blocks.
    #[inline]
    pub fn block(&self, block: [u16; 2]) -> usize {
        let [column, row] = block.map(usize::from);
        let across = self.size[0].div_ceil(2) as usize;
        (row * across + column) * 4 * self.samples as usize
    }

    /// Index of the first sample of a pixel.
    #[inline]
    pub fn pixel(&self, x: u32, y: u32) -> usize {
        let across = self.size[0].div_ceil(2) as usize;
        let block = (y / 2) as usize * across + (x / 2) as usize;
        (block * 4 + (y % 2 * 2 + x % 2) as usize) * self.samples as usize
    }
}
