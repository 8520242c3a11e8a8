//! Learned perceptual image patch similarity.
//!
//! Zhang, Isola, Efros, Shechtman, Wang: "The Unreasonable Effectiveness of Deep Features as a Perceptual Metric",
//! CVPR 2018; version 0.1 of the authors' program, with linear layers. Features of a network that is trained on
//! `ImageNet` are compared after five of its layers: the channels of each pixel are divided by their Euclidean length,
//! and their squared differences, weighted by channel, are averaged over the pixels and added up over the layers.
//!
//! Published figures differ in the network and in the range that values are scaled to. The metric is trained on -1 to 1.
//!
//! | program | network | range |
//! |---|---|---|
//! | `metrics.py` of 3D Gaussian splatting (its copy of lpipsPyTorch, net `vgg`) | VGG-16 | 0 to 1 |
//! | `simple_trainer.py` of gsplat with `--lpips_net vgg` (torchmetrics, `normalize=False`) | VGG-16 | 0 to 1 |
//! | `simple_trainer.py` of gsplat (torchmetrics, `normalize=True`) | AlexNet | -1 to 1 |
//! | splatfacto of nerfstudio (torchmetrics, `normalize=True`) | AlexNet | -1 to 1 |
//!
//! Recent versions of torchmetrics add 1e-8 to the squared lengths, where the authors add 1e-10 to the lengths. The
//! distances of test pictures do not differ by 1e-7.

mod convolution;
mod layers;
mod maps;
mod network;
mod safetensors;
mod strips;
#[cfg(test)]
mod tests;
mod weights;

pub use self::weights::{LpipsNet, LpipsWeights, find_weights};

use std::ops::Range;

use self::convolution::Convolution;
use self::maps::{LANES, Lanes, MARGIN, Maps, Size};
use self::network::Layer;
use self::strips::{Step, distance};
use super::planes::{Pair, Protocol};
use super::{Frame, checked_pair};
use crate::choice;
use crate::error::{Error, Result};
use crate::math::SimdLevel;
use crate::math::buffer::Buffer;

choice! {
    /// Range to which values from 0 to 1 are scaled before the network.
    #[derive(Hash, Default)]
    pub enum InputScale {
        /// 0 to 1, without scaling: used by the authors of 3D Gaussian splatting, and by gsplat with VGG-16.
        #[default]
        Unit = "unit",
        /// -1 to 1, for which the metric is trained: used by gsplat with AlexNet, and by nerfstudio.
        Signed = "signed",
    }
}

/// Means of red, green and blue that are subtracted from values of -1 to 1, as the authors do.
const MEAN: [f32; 3] = [-0.030, -0.088, -0.188];

/// Standard deviations by which the differences from [`MEAN`] are divided.
const DEVIATION: [f32; 3] = [0.458, 0.448, 0.450];

/// A network with its weights, ready for pictures.
pub struct Lpips {
    steps: Vec<Step>,
    smallest_side: usize,
    level: SimdLevel,
}

impl Lpips {
    /// Prepares a network on the widest SIMD level of this machine.
    pub fn new(weights: &LpipsWeights) -> Self {
        Self::on_level(weights, SimdLevel::best())
    }

    /// Prepares a network on a SIMD level. Distances differ by rounding between levels, by less than 2e-6 in tests.
    pub fn on_level(weights: &LpipsWeights, level: SimdLevel) -> Self {
        let mut convolutions = weights.convolutions.iter();
        let mut linear = weights.linear.iter();
        let steps = weights.network.layers.iter().filter_map(|layer| match *layer {
            Layer::Convolution(shape) => convolutions.next().map(|[weights, bias]| {
                Step::Convolution(Convolution::new(shape, weights, bias, level))
            }),
            Layer::Pool { window } => Some(Step::Pool { window }),
            Layer::Compare => linear.next().map(|weights| Step::Compare(padded(weights))),
        });
        Self { steps: steps.collect(), smallest_side: weights.network.smallest_side(), level }
    }

    /// The distance of two pictures: 0 for the same, about 1 for pictures without similarity. Their order does not
    /// matter. Colours are premultiplied, under `protocol`. The distance is the same on any number of threads.
    ///
    /// Beside the pictures and the weights, VGG-16 needs about 200 bytes per pixel, and at least 110 KB per column: 0.14 GB
    /// for 980 x 545 pixels, 1.6 GB for 3840 x 2160. AlexNet needs less than half as much. At 980 x 545 pixels, VGG-16
    /// takes 3.2 s of processor time with AVX-512 and 5.6 s with AVX2, AlexNet 0.2 s with AVX-512, shared by all cores.
    ///
    /// # Errors
    /// [`Error::Argument`] when the pictures differ in size or are smaller than the network accepts.
    pub fn distance(
        &self,
        a: &Frame,
        b: &Frame,
        protocol: Protocol,
        scale: InputScale,
    ) -> Result<f64> {
        let pair = checked_pair(a, b, protocol, None)?;
        let smallest = self.smallest_side;
        if pair.width.min(pair.height) < smallest {
            let expected = format!("at least {smallest} x {smallest} pixels");
            let found = format!("{} x {}", pair.width, pair.height);
            let what = "size of pictures for LPIPS";
            return Err(Error::argument(what, expected, found));
        }
        let size = Size { width: pair.width, height: pair.height, channels: pair.colours[0].len() };
        let input = |picture: usize, rows: Range<usize>, old: Buffer<Lanes>| {
            let mut maps = Maps::in_place_of(old, size, rows);
            maps.fill_bands(1, |y, values| {
                let pixels = &mut values[MARGIN..][..size.width];
                input_row(pixels, &pair, [picture, y], scale);
            });
            maps
        };
        Ok(distance(&self.steps, self.level, size, input))
    }
}

fn padded(weights: &[f32]) -> Vec<Lanes> {
    let blocks = weights.chunks(LANES).map(|block| {
        let mut lanes = [0.0; LANES];
        lanes[..block.len()].copy_from_slice(block);
        lanes
    });
    blocks.collect()
}

/// Writes a row of the network's input, scaled and normalised. `place` is the number of the picture and the row.
fn input_row(pixels: &mut [Lanes], pair: &Pair, place: [usize; 2], scale: InputScale) {
    let [picture, y] = place;
    for (channel, plane) in pair.colours[picture].iter().enumerate() {
        let colours = &plane[y * pair.width..][..pair.width];
        for (pixel, colour) in pixels.iter_mut().zip(colours) {
            let unit = colour / pair.peak;
            let value = match scale {
                InputScale::Unit => unit,
                InputScale::Signed => 2.0 * unit - 1.0,
            };
            pixel[channel] = (value - MEAN[channel]) / DEVIATION[channel];
        }
    }
}
