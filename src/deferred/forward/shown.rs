//! Visible samples of a pipeline that shades during the raster: picture, covered pixels, and primitives to measure blur.

use rayon::prelude::*;

use super::sample_order::{SampleOrder, each_bit};
use crate::backend::resolve::Background;
use crate::geometry::DrawLayer;
use crate::hits::QuadHits;
use crate::memory::bits::BLOCK_WORDS;
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_mesh::frame::picture::over;

/// Visible content of all samples while the frame is drawn.
#[derive(Debug)]
pub(crate) struct ShownSamples {
    order: SampleOrder,
    /// Samples covered by any primitive, a mask per block of 2x2 pixels as in [`QuadHits::coverage`].
    covered: Vec<u64>,
    /// Opaque primitive in the first sample of each pixel, four pixels per block; 0 for the background.
    first_samples: Vec<u32>,
    picture: Option<SampleColours>,
}

#[derive(Debug)]
struct SampleColours {
    background: Background,
    /// Premultiplied linear RGBA colours of samples.
    colours: Vec<[f32; 4]>,
}

/// Visible content of a finished frame.
#[derive(Debug, Clone, Default)]
pub struct ShownFrame {
    /// Pixels with at least one covered sample.
    pub pixels_covered: u64,
    /// Opaque primitive in the first sample of each pixel, in ascending order; pixels without one are left out.
    pub primitives: Vec<u32>,
    /// Picture in linear light, if it was requested.
    pub picture: Option<Frame>,
}

impl ShownSamples {
    /// Creates samples without covering primitives. Colours are kept if `background` is given for a picture.
    pub(crate) fn new(order: SampleOrder, background: Option<Background>) -> Self {
        let [columns, rows] = order.blocks().map(|n| n as usize);
        Self {
            order,
            covered: vec![0; columns * rows],
            first_samples: vec![0; 4 * columns * rows],
            picture: background.map(|background| SampleColours {
                background,
                colours: vec![[0.0; 4]; order.count()],
            }),
        }
    }

    /// Draws a primitive over the samples in `kept` of a block of 2x2 pixels. `colours` holds their RGB colours and
    /// opacities, and is read only for a picture.
    #[inline]
    pub(crate) fn draw(
        &mut self,
        quad: &QuadHits,
        kept: u64,
        layer: DrawLayer,
        colours: &[[f32; 4]; BLOCK_WORDS],
    ) {
        let samples = self.order.samples;
        let first = self.order.first(quad.block);
        let block = first / (4 * samples as usize);
        self.covered[block] |= kept;
        if layer == DrawLayer::Opaque {
            for pixel in 0..4 {
                if kept >> (pixel * samples) & 1 != 0 {
                    self.first_samples[4 * block + pixel as usize] = quad.primitive;
                }
            }
        }
        if let Some(picture) = &mut self.picture {
            each_bit(kept, |bit| {
                let own @ [r, g, b, _] = colours[bit as usize];
                let sample = &mut picture.colours[first + bit as usize];
                *sample = match layer {
                    DrawLayer::Blended => over(own, *sample),
                    DrawLayer::AlphaTested | DrawLayer::Opaque => [r, g, b, 1.0],
                };
            });
        }
    }

    /// Ends the frame, counts its covered pixels and resolves the picture.
    pub(crate) fn finish(self) -> ShownFrame {
        let samples = self.order.samples;
        let pixel_mask = (1_u64 << samples) - 1;
        let pixels = self.covered.iter().map(|covered| {
            let is_covered = |pixel: &u32| covered >> (pixel * samples) & pixel_mask != 0;
            (0..4).filter(is_covered).count() as u64
        });
        let pixels_covered = pixels.sum();
        let mut primitives = self.first_samples;
        primitives.retain(|primitive| *primitive != 0);
        primitives.par_sort_unstable();
        let order = self.order;
        ShownFrame {
            pixels_covered,
            primitives,
            picture: self.picture.map(|picture| picture.resolve(order)),
        }
    }
}

impl SampleColours {
    fn resolve(&self, order: SampleOrder) -> Frame {
        let [width, height] = order.size;
        let per_block = 4 * order.samples as usize;
        let across = order.blocks()[0] as usize;
        let rows = (0..height as usize).into_par_iter().flat_map_iter(|y| {
            (0..width as usize).map(move |x| {
                let block = (y / 2 * across + x / 2) * per_block;
                let first = block + (y % 2 * 2 + x % 2) * order.samples as usize;
                self.background.resolve(&self.colours[first..first + order.samples as usize])
            })
        });
        Frame::from_pixels(width, height, rows.collect()).taken_as(ColourSpace::Linear)
    }
}
