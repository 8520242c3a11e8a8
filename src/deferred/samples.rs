//! Visible identifier and depth of every sample after the raster: the result of the first pass (section 4.1).

use bytemuck::zeroed_vec;

use super::shading::spid::Spid;
use quadrille_base::image::{Layer, LayerPicture};

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

    /// Means of the depths and of the coverage over the samples of each pixel: the layers [`Layer::Depth`], 0 where no sample
    /// shows a surface, and [`Layer::Alpha`]; others are left out. `near` is the distance of the near plane, to which the
    /// depths of the samples are relative. All depths are 0 if [depths are not kept](Self::depths).
    pub fn layers(&self, wanted: &[Layer], near: f32) -> Vec<LayerPicture> {
        let samples = self.samples as usize;
        let of_pixel = |x: u32, y: u32| {
            let first = self.pixel(x, y);
            let depths = self.depths.get(first..first + samples).unwrap_or_default();
            let covered = depths.iter().filter(|depth| **depth > 0.0);
            let (sum, count) = covered
                .fold((0.0_f32, 0_u16), |(sum, count), depth| (sum + near / depth, count + 1));
            let count = f32::from(count);
            let mean = if count > 0.0 { sum / count } else { 0.0 };
            (mean, count / f32::from(u16::try_from(samples).unwrap_or(1)))
        };
        let [width, height] = self.size;
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| of_pixel(x, y)));
        let (depth, coverage): (Vec<u32>, Vec<u32>) =
            pixels.map(|(depth, share)| (depth.to_bits(), share.to_bits())).unzip();
        let picture = |layer: &Layer| match layer {
            Layer::Depth => Some(LayerPicture::from_bits(*layer, self.size, depth.clone())),
            Layer::Alpha => Some(LayerPicture::from_bits(*layer, self.size, coverage.clone())),
            _ => None,
        };
        wanted.iter().filter_map(picture).collect()
    }

    /// Index of the first sample of a pixel.
    #[inline]
    pub fn pixel(&self, x: u32, y: u32) -> usize {
        let across = self.size[0].div_ceil(2) as usize;
        let block = (y / 2) as usize * across + (x / 2) as usize;
        (block * 4 + (y % 2 * 2 + x % 2) as usize) * self.samples as usize
    }
}
