//! The layers of VGG-16 and AlexNet, with their shapes.

use std::ops::Range;

use super::maps::{MARGIN, Size};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stride {
    One,
    Four,
}

impl Stride {
    fn pixels(self) -> usize {
        match self {
            Self::One => 1,
            Self::Four => 4,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) kernel: usize,
    pub(super) stride: Stride,
    /// Zeros on each side of the input, in pixels; at most [`MARGIN`].
    pub(super) padding: usize,
}

impl Shape {
    fn side(self, side: usize) -> usize {
        outputs(side + 2 * self.padding, self.kernel, self.stride.pixels())
    }

    pub(super) fn size(self, input: Size) -> Size {
        Size {
            width: self.side(input.width),
            height: self.side(input.height),
            channels: self.outputs,
        }
    }

    /// The rows of an input of `height` on which the rows `output` depend.
    pub(super) fn input_rows(self, output: Range<usize>, height: usize) -> Range<usize> {
        let rows = window_rows(output, self.kernel, self.stride.pixels());
        rows.start.saturating_sub(self.padding)..(rows.end - self.padding).min(height)
    }
}

/// One layer. A convolution includes its rectification, max(0, x).
#[derive(Debug, Clone, Copy)]
pub(super) enum Layer {
    Convolution(Shape),
    /// Maximum of windows of `window` x `window` pixels, two pixels apart.
    Pool {
        window: usize,
    },
    Compare,
}

pub(super) const POOL_STRIDE: usize = 2;

fn outputs(side: usize, window: usize, stride: usize) -> usize {
    match side.checked_sub(window) {
        Some(rest) => rest / stride + 1,
        None => 0,
    }
}

fn window_rows(windows: Range<usize>, window: usize, stride: usize) -> Range<usize> {
    let last = windows.end.saturating_sub(1);
    windows.start * stride..last * stride + window
}

pub(super) fn pooled(input: Size, window: usize) -> Size {
    Size {
        width: outputs(input.width, window, POOL_STRIDE),
        height: outputs(input.height, window, POOL_STRIDE),
        channels: input.channels,
    }
}

pub(super) fn unpooled_rows(output: Range<usize>, window: usize) -> Range<usize> {
    window_rows(output, window, POOL_STRIDE)
}

#[derive(Debug, Clone)]
pub(super) struct Network {
    pub(super) layers: Vec<Layer>,
}

impl Network {
    /// VGG-16 (Simonyan & Zisserman 2015, configuration D) with `channels` by stage, compared after each stage.
    pub(super) fn vgg(channels: [usize; 5]) -> Self {
        const DEPTHS: [usize; 5] = [2, 2, 3, 3, 3];
        let mut layers = Vec::new();
        let mut inputs = 3;
        for (stage, (depth, outputs)) in DEPTHS.into_iter().zip(channels).enumerate() {
            if stage > 0 {
                layers.push(Layer::Pool { window: 2 });
            }
            for _ in 0..depth {
                layers.push(convolution([inputs, outputs], 3, Stride::One, 1));
                inputs = outputs;
            }
            layers.push(Layer::Compare);
        }
        Self { layers }
    }

    /// The convolutions of AlexNet (Krizhevsky 2014, "One weird trick for parallelizing convolutional neural networks")
    /// with `channels` by convolution, compared after each.
    pub(super) fn alex(channels: [usize; 5]) -> Self {
        let [a, b, c, d, e] = channels;
        let layers = vec![
            convolution([3, a], 11, Stride::Four, 2),
            Layer::Compare,
            Layer::Pool { window: 3 },
            convolution([a, b], 5, Stride::One, 2),
            Layer::Compare,
            Layer::Pool { window: 3 },
            convolution([b, c], 3, Stride::One, 1),
            Layer::Compare,
            convolution([c, d], 3, Stride::One, 1),
            Layer::Compare,
            convolution([d, e], 3, Stride::One, 1),
            Layer::Compare,
        ];
        Self { layers }
    }

    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Convolution(shape) => Some(*shape),
            Layer::Pool { .. } | Layer::Compare => None,
        })
    }

    pub(super) fn compared(&self) -> impl Iterator<Item = usize> {
        let mut channels = 3;
        self.layers.iter().filter_map(move |layer| match layer {
            Layer::Convolution(shape) => {
                channels = shape.outputs;
                None
            }
            Layer::Pool { .. } => None,
            Layer::Compare => Some(channels),
        })
    }

    /// Smallest width and height that leave at least a pixel in each layer.
    pub(super) fn smallest_side(&self) -> usize {
        let fits = |side: usize| {
            let last = self.layers.iter().fold(side, |side, layer| match *layer {
                Layer::Convolution(shape) => shape.side(side),
                Layer::Pool { window } => outputs(side, window, POOL_STRIDE),
                Layer::Compare => side,
            });
            last > 0
        };
        (1..).find(|&side| fits(side)).unwrap_or(1)
    }
}

fn convolution(
    [inputs, outputs]: [usize; 2],
    kernel: usize,
    stride: Stride,
    padding: usize,
) -> Layer {
    debug_assert!(padding <= MARGIN);
    Layer::Convolution(Shape { inputs, outputs, kernel, stride, padding })
}
