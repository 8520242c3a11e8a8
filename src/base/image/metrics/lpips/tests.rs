//! The fast path against the scalar definition, on networks with few channels.

use std::ffi::OsString;
use std::path::Path;

use super::network::{Layer, Network, POOL_STRIDE, Shape, Stride};
use super::*;

/// Rounding error of sums in single precision, relative to the distance.
const TOLERANCE: f64 = 1e-5;

/// A picture's channels, each row by row from the top.
struct Channels {
    width: usize,
    height: usize,
    planes: Vec<Vec<f64>>,
}

impl Channels {
    /// Creates channels of a size from a function of channel, column and row.
    fn new(
        [width, height]: [usize; 2],
        count: usize,
        value: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let plane = |c| (0..width * height).map(|i| value(c, i % width, i / width)).collect();
        Self { width, height, planes: (0..count).map(plane).collect() }
    }

    fn at(&self, c: usize, x: usize, y: usize) -> f64 {
        self.planes[c][y * self.width + x]
    }

    /// The value at a column and a row of the picture with a border of zeros.
    fn at_padded(&self, c: usize, x: usize, y: usize, padding: usize) -> f64 {
        match (x.checked_sub(padding), y.checked_sub(padding)) {
            (Some(x), Some(y)) if x < self.width && y < self.height => self.at(c, x, y),
            _ => 0.0,
        }
    }

    /// Convolves the channels, and rectifies the sums.
    fn convolved(&self, shape: Shape, [weights, bias]: &[Vec<f32>; 2]) -> Self {
        let stride = if shape.stride == Stride::One { 1 } else { 4 };
        let side = |side| (side + 2 * shape.padding - shape.kernel) / stride + 1;
        Self::new([self.width, self.height].map(side), shape.outputs, |o, x, y| {
            let mut sum = f64::from(bias[o]);
            for (i, weight) in weights.chunks(shape.kernel).enumerate() {
                let [row, input] = [i % shape.kernel, i / shape.kernel];
                if input / shape.inputs != o {
                    continue;
                }
                for (column, &weight) in weight.iter().enumerate() {
                    let [x, y] = [x * stride + column, y * stride + row];
                    let value = self.at_padded(input % shape.inputs, x, y, shape.padding);
                    sum += f64::from(weight) * value;
                }
            }
            sum.max(0.0)
        })
    }

    fn pooled(&self, window: usize) -> Self {
        let side = |side| (side - window) / POOL_STRIDE + 1;
        let size = [self.width, self.height].map(side);
        Self::new(size, self.planes.len(), |c, x, y| {
            let offsets = (0..window * window).map(|i| [i % window, i / window]);
            let values = offsets.map(|[dx, dy]| self.at(c, 2 * x + dx, 2 * y + dy));
            values.fold(f64::NEG_INFINITY, f64::max)
        })
    }

    fn length(&self, x: usize, y: usize) -> f64 {
        (0..self.planes.len()).map(|c| self.at(c, x, y).powi(2)).sum::<f64>().sqrt() + 1e-10
    }
}

/// The mean over pixels of the weighted squares of differences of channels of length 1.
fn defined_difference(a: &Channels, b: &Channels, weights: &[f32]) -> f64 {
    let per_pixel = Channels::new([a.width, a.height], 1, |_, x, y| {
        let [length_a, length_b] = [a.length(x, y), b.length(x, y)];
        let terms = weights.iter().enumerate().map(|(c, weight)| {
            let difference = a.at(c, x, y) / length_a - b.at(c, x, y) / length_b;
            f64::from(*weight) * difference * difference
        });
        terms.sum()
    });
    per_pixel.planes[0].iter().sum::<f64>() / (a.width * a.height) as f64
}

/// The definition of the distance, in double precision.
fn defined(weights: &LpipsWeights, pictures: &[Frame; 2], scale: InputScale) -> f64 {
    let mut pair = pictures.each_ref().map(|frame| {
        let size = [frame.width() as usize, frame.height() as usize];
        Channels::new(size, 3, |c, x, y| {
            let value = f64::from(frame.pixels()[y * size[0] + x][c]);
            let value = match scale {
                InputScale::Unit => value,
                InputScale::Signed => 2.0 * value - 1.0,
            };
            (value - f64::from(MEAN[c])) / f64::from(DEVIATION[c])
        })
    });
    let mut convolutions = weights.convolutions.iter();
    let mut linear = weights.linear.iter();
    let mut distance = 0.0;
    for layer in &weights.network.layers {
        match *layer {
            Layer::Convolution(shape) => {
                let weights = convolutions.next().unwrap();
                pair = pair.map(|channels| channels.convolved(shape, weights));
            }
            Layer::Pool { window } => pair = pair.map(|channels| channels.pooled(window)),
            Layer::Compare => {
                distance += defined_difference(&pair[0], &pair[1], linear.next().unwrap());
            }
        }
    }
    distance
}

/// Numbers in `[-1, 1)` of a linear congruential generator.
fn random(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

fn random_weights(network: Network) -> LpipsWeights {
    let mut next = random(1);
    let mut array = |count: usize, limit: f32| -> Vec<f32> {
        std::iter::repeat_with(|| limit * next()).take(count).collect()
    };
    let convolutions = network.shapes().map(|shape| {
        let fan_in = shape.inputs * shape.kernel * shape.kernel;
        let limit = (6.0 / fan_in as f32).sqrt();
        [array(shape.outputs * fan_in, limit), array(shape.outputs, 0.1)]
    });
    let convolutions = convolutions.collect();
    let linear = network.compared().map(|channels| array(channels, 1.0));
    let linear = linear.map(|weights| weights.iter().map(|w| w.abs()).collect());
    LpipsWeights { convolutions, linear: linear.collect(), network }
}

fn random_pictures([width, height]: [u32; 2]) -> [Frame; 2] {
    let mut next = random(width * 1000 + height);
    [(); 2].map(|()| {
        let mut channel = || 0.5 + 0.5 * next();
        let pixels = (0..width * height).map(|_| [channel(), channel(), channel(), 1.0]);
        Frame::from_pixels(width, height, pixels.collect())
    })
}

/// Compares the fast path with the definition on all levels, for pictures of `sizes`.
fn hold(network: Network, sizes: &[[u32; 2]]) {
    let weights = random_weights(network);
    for &size in sizes {
        let pictures = random_pictures(size);
        let [a, b] = &pictures;
        for scale in InputScale::ALL {
            let expected = defined(&weights, &pictures, scale);
            for level in SimdLevel::all() {
                let lpips = Lpips::on_level(&weights, level);
                let found = lpips.distance(a, b, Protocol::Float, scale).unwrap();
                let error = (found - expected).abs() / expected;
                let name = level.name();
                assert!(error < TOLERANCE, "{size:?} {scale} {name}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn vgg_follows_its_definition() {
    // Channels that fill no block, one block, an odd number of blocks and two blocks.
    let network = Network::vgg([5, 16, 33, 48, 32]);
    hold(network, &[[16, 16], [17, 35], [47, 18]]);
    // More than one strip; the last strip has rows that fill no pooling window.
    hold(Network::vgg([4; 5]), &[[16, 258], [18, 275]]);
}

#[test]
fn alex_follows_its_definition() {
    hold(Network::alex([18, 3, 40, 16, 32]), &[[31, 31], [34, 62], [131, 33]]);
    hold(Network::alex([4; 5]), &[[31, 1051], [40, 1066]]);
}

#[test]
fn the_smallest_pictures_leave_a_pixel_in_each_layer() {
    assert_eq!(LpipsNet::Vgg.network().smallest_side(), 16);
    assert_eq!(LpipsNet::Alex.network().smallest_side(), 31);
}

#[test]
fn weights_are_found_by_argument_then_variable_then_in_the_cache() {
    use super::weights::find_in;

    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        path
    };
    let named = file("named.safetensors");
    let in_folder = file("weights/lpips-alex.safetensors");
    let in_cache = file("cache/quadrille/lpips-alex.safetensors");
    let in_home = file("home/.cache/quadrille/lpips-alex.safetensors");
    let find = |explicit: Option<&Path>, set: &[(&str, &str)]| {
        let value = |name: &str| -> Option<OsString> {
            let (_, value) = set.iter().find(|(variable, _)| *variable == name)?;
            Some(folder.path().join(value).into_os_string())
        };
        find_in(explicit, LpipsNet::Alex, &value)
    };
    let weights = ("QUADRILLE_LPIPS_WEIGHTS", "weights");
    let [cache, home] = [("XDG_CACHE_HOME", "cache"), ("HOME", "home")];
    assert_eq!(find(Some(&named), &[weights]).unwrap(), named);
    assert_eq!(find(None, &[weights, cache]).unwrap(), in_folder);
    assert_eq!(find(None, &[cache, home]).unwrap(), in_cache);
    assert_eq!(find(None, &[home]).unwrap(), in_home);
    let error = find(None, &[("HOME", "nobody")]).unwrap_err().to_string();
    assert!(error.contains("nobody/.cache/quadrille/lpips-alex.safetensors"), "{error}");
    assert!(error.contains("`python lpips_weights.py`"), "{error}");
}
