//! Resolve of the samples of a pixel to its colour, with a box filter.

use quadrille_base::image::srgb::decode_srgb;
use quadrille_mesh::frame::picture::finish;

/// Background of a picture; samples are averaged with it in linear light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Background {
    /// Colour in linear light; `None` keeps premultiplied alpha.
    linear: Option<[f32; 3]>,
}

impl Background {
    /// Creates a background from an sRGB colour; `None` gives a picture with premultiplied alpha.
    pub fn new(srgb: Option<[f32; 3]>) -> Self {
        Self { linear: srgb.map(decode_srgb) }
    }

    /// Returns the RGBA colour, in linear light, of a pixel without covered samples.
    pub fn pixel(&self) -> [f32; 4] {
        self.linear.map_or([0.0; 4], |[r, g, b]| [r, g, b, 1.0])
    }

    /// Averages the samples of a pixel, given as premultiplied RGBA colours in linear light.
    pub fn resolve(&self, colours: &[[f32; 4]]) -> [f32; 4] {
        let (mut sum, mut covered) = ([0.0_f32; 3], 0.0_f32);
        for [r, g, b, alpha] in colours {
            sum = [sum[0] + r, sum[1] + g, sum[2] + b];
            covered += alpha;
        }
        if covered == 0.0 {
            return self.pixel();
        }
        let share = 1.0 / f32::from(u16::try_from(colours.len()).unwrap_or(1));
        finish(sum, covered, share, self.linear)
    }
}
