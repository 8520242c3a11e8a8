//! Samples of a pipeline that shades during the raster: picture, covered pixels, and primitives for measures of blur.

use rayon::prelude::*;

use super::sample_order::{SampleOrder, each_bit};
use crate::backend::resolve::Background;
use crate::geometry::DrawLayer;
use crate::hits::QuadHits;
use crate::memory::bits::BLOCK_WORDS;
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_mesh::frame::picture::over;

/// Content of all samples while the frame is drawn.
#[derive(Debug)]
pub(crate) struct ShownSamples {
    order: SampleOrder,
    /// Per block of 2x2 pixels, samples covered by any primitive, as in [`QuadHits::coverage`].
    covered: Vec<u64>,
    /// Opaque primitive in each pixel's first sample, four pixels per block; 0 for the background.
    first_samples: Vec<u32>,
    picture: Option<SampleColours>,
}

#[derive(Debug)]
struct SampleColours {
    background: Background,
    /// Premultiplied linear colours with alpha.
    colours: Vec<[f32; 4]>,
}

/// Content of the samples of a finished frame.
#[derive(Debug, Clone, Default)]
pub struct ShownFrame {
    /// Pixels with a sample that any primitive covers.
    pub pixels_covered: u64,
    /// Opaque primitives in the first samples of pixels, one per pixel that shows one, in ascending order.
    pub primitives: Vec<u32>,
    /// The picture, if it was requested.
    pub picture: Option<Frame>,
}

impl ShownSamples {
    /// Creates samples that show the background. Colours are kept if there is a `background` for a picture.
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

    /// Draws a primitive over the samples in `kept` of a block of 2x2 pixels. `colours` holds the colour and
    /// the opacity of each of them, and is read for a picture only.
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

    /// Ends the frame and resolves its picture.
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
