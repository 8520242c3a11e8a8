//! Layers as PNG files of 16 bits per channel, mapped so that a viewer of pictures shows them.

use std::io::{self, Write};

use png::{BitDepth, ColorType, Encoder};

use crate::error::{Error, Result};
use crate::image::{Layer, LayerPicture};

/// Values of a layer at the ends of the greys or colours of its PNG.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerRange {
    /// Layer that was written.
    pub layer: Layer,
    /// Value at the brightest grey, 65535.
    pub bright: f32,
    /// Value at the darkest grey: 1 for depths, where 0 means that nothing is seen, else 0.
    pub dark: f32,
}

impl LayerRange {
    /// Describes the mapping in words.
    pub fn text(&self) -> String {
        let Self { layer, bright, dark } = self;
        match is_distance(*layer) {
            true => format!("{layer} from {bright} (65535) to {dark} (1); 0 where nothing is seen"),
            false => format!("{layer} from {dark} (0) to {bright} (65535)"),
        }
    }
}

fn is_distance(layer: Layer) -> bool {
    matches!(layer, Layer::Depth | Layer::DepthSum | Layer::DepthMedian)
}

/// Range of the values of `layer`, or `depths`, the nearest and the farthest, if it is a depth.
///
/// # Errors
/// [`Error::Argument`] for a layer of identifiers, which no grey can hold.
pub(super) fn range(layer: &LayerPicture, depths: Option<[f32; 2]>) -> Result<LayerRange> {
    let values = || layer.plane(0).iter().copied().filter(|value| value.is_finite());
    let most = || values().fold(0.0, f32::max);
    let [bright, dark] = match layer.layer {
        own if is_distance(own) => depths.unwrap_or_else(|| {
            let seen = || values().filter(|depth| *depth > 0.0);
            [seen().fold(f32::INFINITY, f32::min).min(most()), most()]
        }),
        Layer::DepthInverse => [most(), 0.0],
        Layer::Alpha => [1.0, 0.0],
        Layer::Normal => [1.0, -1.0],
        #[allow(clippy::cast_precision_loss, reason = "counts of fragments, for a picture")]
        Layer::Count => [layer.integers().iter().copied().max().unwrap_or(0) as f32, 0.0],
        other => {
            let expected =
                "a name that ends in .exr or .npy, which hold identifiers and top layers";
            return Err(Error::argument(format!("--aov {other}"), expected, ".png"));
        }
    };
    Ok(LayerRange { layer: layer.layer, bright, dark })
}

/// Writes the layer with its mapping as a text chunk.
pub(super) fn encode(
    out: &mut impl Write,
    layer: &LayerPicture,
    range: &LayerRange,
) -> io::Result<()> {
    let planes = layer.layer.planes();
    let mut encoder = Encoder::new(out, layer.width, layer.height);
    encoder.set_color(if planes == 3 { ColorType::Rgb } else { ColorType::Grayscale });
    encoder.set_depth(BitDepth::Sixteen);
    encoder.add_text_chunk("Comment".to_owned(), range.text())?;
    let pixels = layer.width as usize * layer.height as usize;
    let mut bytes = Vec::with_capacity(2 * planes * pixels);
    for pixel in 0..pixels {
        for plane in 0..planes {
            let grey = grey(layer, range, plane, pixel);
            bytes.extend(grey.to_be_bytes());
        }
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    Ok(writer.finish()?)
}

fn grey(layer: &LayerPicture, range: &LayerRange, plane: usize, pixel: usize) -> u16 {
    #[allow(clippy::cast_precision_loss, reason = "counts of fragments, for a picture")]
    let value = match layer.whole_plane(plane) {
        Some(counts) => counts[pixel] as f32,
        None => layer.plane(plane)[pixel],
    };
    let is_distance = is_distance(layer.layer);
    if !value.is_finite() || is_distance && value <= 0.0 {
        return 0;
    }
    let least = if is_distance { 1.0 } else { 0.0 };
    let extent = f64::from(range.bright) - f64::from(range.dark);
    let share = match extent {
        0.0 => 1.0,
        extent => (f64::from(value) - f64::from(range.dark)) / extent,
    };
    let most = f64::from(u16::MAX);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 65535")]
    let grey = (least + share.clamp(0.0, 1.0) * (most - least)).round() as u16;
    grey
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::ImageReader;

    #[test]
    fn greys_give_the_values_back() {
        let depths = [0.0_f32, 2.0, 3.0, 10.0];
        let bits = depths.map(f32::to_bits).to_vec();
        let layer = LayerPicture::from_bits(Layer::Depth, [2, 2], bits);
        let range = range(&layer, None).unwrap();
        assert_eq!((range.bright, range.dark), (2.0, 10.0));
        let mut file = Vec::new();
        encode(&mut file, &layer, &range).unwrap();
        let reader = ImageReader::new(io::Cursor::new(&file)).with_guessed_format().unwrap();
        let greys = reader.decode().unwrap().into_luma16();
        let greys: Vec<u16> = greys.pixels().map(|pixel| pixel.0[0]).collect();
        assert_eq!([greys[0], greys[1], greys[3]], [0, u16::MAX, 1]);
        let back = range.dark + (f32::from(greys[2]) - 1.0) / 65534.0 * (range.bright - range.dark);
        assert!((back - 3.0).abs() < 1e-3, "{back}");
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(text.contains("depth from 2 (65535) to 10 (1)"));
        let fixed = super::range(&layer, Some([1.0, 20.0])).unwrap();
        assert_eq!(fixed.text(), "depth from 1 (65535) to 20 (1); 0 where nothing is seen");
        let ids = LayerPicture::from_bits(Layer::Id, [1, 1], vec![7]);
        assert!(super::range(&ids, None).is_err());
    }
}
