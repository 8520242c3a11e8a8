//! False-colour pictures of layers such as depth and normals.

use super::canvas::opaque;
use super::heat::{self, VIRIDIS};
use super::scale::{Curve, Scale};
use quadrille_base::image::{Frame, Layer, LayerPicture};
use quadrille_base::math::whole;

/// Share of the pixels that lie below the scale of a layer, and share above it: a few splats near the camera or far
/// away would leave all others one colour.
const BEYOND: f64 = 0.001;

/// A layer as colours, and the values of the first and the last colour.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerColours {
    /// The opaque picture, in the layer's size.
    pub frame: Frame,
    /// Value of the first colour.
    pub low: f32,
    /// Value of the last colour.
    pub high: f32,
    /// Relation of colours to values.
    pub curve: Curve,
}

/// Colours a layer in [`VIRIDIS`]: alpha from 0 to 1, counts as the maps of counts, and depths from the 0.1st to the
/// 99.9th percentile of the values above 0. Pixels where nothing is blended are black. Normals are `(n + 1) / 2` as red
/// (right), green (down) and blue (forward). `None` for splat identifiers and their weights, whose values have no order
/// in a picture.
pub fn layer_colours(layer: &LayerPicture) -> Option<LayerColours> {
    let size = [layer.width, layer.height];
    match layer.layer {
        Layer::Id | Layer::TopId(_) | Layer::TopWeight(_) => None,
        Layer::Count => {
            let counts = layer.integers();
            let scale = Scale::covering(counts, Curve::SquareRoot);
            Some(LayerColours {
                frame: heat::pixels(size, counts, scale, VIRIDIS),
                low: scale.least as f32,
                high: scale.top as f32,
                curve: scale.curve,
            })
        }
        Layer::Normal => {
            let [x, y, z] = [0, 1, 2].map(|plane| layer.plane(plane));
            let pixels = x.iter().zip(y).zip(z).map(|((x, y), z)| [*x, *y, *z]).map(|normal| {
                let [r, g, b] = normal.map(|n| f32::midpoint(n, 1.0));
                [r, g, b, 1.0]
            });
            Some(LayerColours {
                frame: Frame::from_pixels(size[0], size[1], pixels.collect()),
                low: -1.0,
                high: 1.0,
                curve: Curve::Linear,
            })
        }
        Layer::Alpha => Some(linear(size, layer.plane(0), [0.0, 1.0])),
        Layer::Depth | Layer::DepthSum | Layer::DepthInverse | Layer::DepthMedian => {
            let depths = layer.plane(0);
            Some(linear(size, depths, range(depths)))
        }
    }
}

/// Linear scale from `low` to `high`; values not above 0 are black.
fn linear(size: [u32; 2], values: &[f32], [low, high]: [f32; 2]) -> LayerColours {
    let ramp = VIRIDIS.ramp();
    let width = (high - low).max(f32::MIN_POSITIVE);
    let colours = values
        .iter()
        .map(|&value| if value > 0.0 { ramp((value - low) / width) } else { VIRIDIS.nothing });
    LayerColours { frame: opaque(size, colours), low, high, curve: Curve::Linear }
}

/// Percentiles (nearest rank) of the finite values above 0 that bound a scale.
fn range(values: &[f32]) -> [f32; 2] {
    let mut values: Vec<f32> =
        values.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect();
    let count = values.len();
    if count == 0 {
        return [0.0, 1.0];
    }
    [BEYOND, 1.0 - BEYOND].map(|share| {
        let rank = whole::<usize>((count as f64 * share).ceil()).clamp(1, count) - 1;
        *values.select_nth_unstable_by(rank, f32::total_cmp).1
    })
}

#[cfg(test)]
mod tests {
    use quadrille_base::math::byte;

    use super::*;

    fn layer(layer: Layer, width: u32, values: &[f32]) -> LayerPicture {
        let bits = values.iter().map(|value| value.to_bits()).collect();
        LayerPicture::from_bits(layer, [width, 1], bits)
    }

    /// Colours of eight bits.
    fn colours(of: &LayerColours) -> Vec<[u8; 3]> {
        let pixels = of.frame.pixels().iter();
        let bytes = pixels.map(|p| [p[0], p[1], p[2]].map(|c| byte((c * 255.0).into())));
        bytes.collect()
    }

    #[test]
    fn depths_span_the_scale_without_their_outliers() {
        // 1000 depths of 4, 5 and 6, one of 0.1 and one of 900, and an empty pixel.
        let mut depths: Vec<f32> = (0..1000_u16).map(|i| 4.0 + f32::from(i % 3)).collect();
        depths.extend([0.1, 900.0, 0.0]);
        let coloured = layer_colours(&layer(Layer::Depth, 1003, &depths)).unwrap();
        assert_eq!((coloured.low, coloured.high), (4.0, 6.0));
        let colours = colours(&coloured);
        // The first, fifth and last of the nine colours of viridis.
        let [first, middle, last] = [[68, 1, 84], [33, 144, 141], [253, 231, 37]];
        assert_eq!(colours[..3], [first, middle, last]);
        assert_eq!(colours[1000..], [first, last, [0; 3]]);
    }

    #[test]
    fn other_layers_have_fixed_scales() {
        let alpha = layer_colours(&layer(Layer::Alpha, 3, &[0.0, 0.5, 1.0])).unwrap();
        assert_eq!((alpha.low, alpha.high), (0.0, 1.0));
        assert_eq!(colours(&alpha), [[0; 3], [33, 144, 141], [253, 231, 37]]);
        let normals = [-1.0, 0.0, 0.0, 1.0, 0.0, -0.5];
        let normal = layer_colours(&layer(Layer::Normal, 2, &normals)).unwrap();
        let pixels = normal.frame.pixels();
        assert_eq!(pixels, [[0.0, 0.5, 0.5, 1.0], [0.5, 1.0, 0.25, 1.0]]);
        let counts = LayerPicture::from_bits(Layer::Count, [3, 1], vec![0, 4, 16]);
        let count = layer_colours(&counts).unwrap();
        assert_eq!((count.low, count.high), (0.0, 16.0));
        assert_eq!(colours(&count), [[0; 3], [33, 144, 141], [253, 231, 37]]);
        let ids = LayerPicture::from_bits(Layer::Id, [1, 1], vec![3]);
        assert_eq!(layer_colours(&ids), None);
        let empty = layer_colours(&layer(Layer::Depth, 1, &[0.0])).unwrap();
        assert_eq!(colours(&empty), [[0; 3]]);
    }
}
