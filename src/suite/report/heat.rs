//! Counts per pixel as a heat map with a legend below it.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions on a bar of a few thousand pixels, and colours of eight bits"
)]

use super::canvas::{Canvas, INK, opaque, width_px};
use super::scale::{Curve, Scale, short};
use quadrille_base::image::Frame;
use quadrille_base::image::difference::colour_at;

/// Colours of a heat map, sRGB.
#[derive(Debug, Clone, Copy)]
pub struct HeatColours {
    /// Colours at equal distances on the scale.
    colours: &'static [[u8; 3]],
    pub(super) nothing: [u8; 3],
}

/// Matplotlib's viridis, whose lightness rises evenly, at eighths of the scale.
pub const VIRIDIS: HeatColours = HeatColours {
    colours: &[
        [68, 1, 84],
        [71, 44, 122],
        [59, 81, 139],
        [44, 113, 142],
        [33, 144, 141],
        [39, 173, 129],
        [92, 200, 99],
        [170, 220, 50],
        [253, 231, 37],
    ],
    nothing: [0, 0, 0],
};

/// Figure 11 of "Reducing Shading on GPUs using Quad-Fragment Merging", for 1 to 8 shadings per
/// pixel. The paper names three colours: dark blue is 1, bright green 4, dark red 8 or more. The
/// others are our choice, on the way from blue to red.
pub const SHADINGS: HeatColours = HeatColours {
    colours: &[
        [0, 0, 128],
        [0, 64, 255],
        [0, 217, 255],
        [0, 255, 0],
        [255, 255, 0],
        [255, 128, 0],
        [255, 0, 0],
        [128, 0, 0],
    ],
    nothing: [26, 26, 26],
};

/// Minimum width of a heat map in pixels, so that the legend's text fits.
pub(super) const MIN_WIDTH_PX: usize = 480;
const MAX_TIMES: usize = 8;
/// Picture width per unit of the legend: text doubles in size with the picture's width.
const WIDTH_PER_UNIT_PX: usize = 640;
const MAX_TICKS: u32 = 8;

/// Counts per pixel and the text of their legend.
#[derive(Debug, Clone)]
pub struct HeatMap<'a> {
    /// Title above the map.
    pub title: String,
    /// Meaning of pixels without a count.
    pub nothing: &'static str,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Counts, row by row.
    pub counts: &'a [u32],
    /// Scale of the values.
    pub scale: Scale,
    /// Flag or rule that determines the end of the scale.
    pub scale_end: &'static str,
    /// Colours of the scale.
    pub palette: HeatColours,
}

/// Draws pixels, row by row, enlarged by a whole factor if the picture is small, above room for a legend of
/// `legend_units` units. Returns the canvas, the bottom of the pixels, and the unit of the legend, both in pixels.
pub(super) fn enlarged(
    size: [u32; 2],
    pixels: impl Iterator<Item = [u8; 3]>,
    legend_units: usize,
) -> (Canvas, usize, usize) {
    let [width, height] = size.map(|side| side as usize);
    let times = MIN_WIDTH_PX.div_ceil(width.max(1)).min(MAX_TIMES);
    let canvas_width = (width * times).max(MIN_WIDTH_PX);
    let unit = (canvas_width / WIDTH_PER_UNIT_PX).max(1);
    let mut canvas = Canvas::new(canvas_width, height * times + legend_units * unit);
    for (index, colour) in pixels.enumerate() {
        let at = [index % width.max(1), index / width.max(1)];
        canvas.fill(at.map(|at| at * times), [times; 2], colour);
    }
    (canvas, height * times, unit)
}

/// Draws the map, enlarged by a whole factor if it is small, and the legend below it.
pub fn picture(map: &HeatMap<'_>) -> Frame {
    let colours = colours(map.counts, map.scale, map.palette);
    let (mut canvas, bottom, unit) = enlarged(map.size, colours, LEGEND_UNITS);
    legend(&mut canvas, map, bottom, unit);
    canvas.into_frame()
}

/// The map of `counts`, row by row, alone and in its own size: opaque, with a pixel for every count.
///
/// # Panics
/// When the number of counts does not match the size.
pub fn pixels(size: [u32; 2], counts: &[u32], scale: Scale, palette: HeatColours) -> Frame {
    opaque(size, colours(counts, scale, palette))
}

fn colours(counts: &[u32], scale: Scale, palette: HeatColours) -> impl Iterator<Item = [u8; 3]> {
    let ramp = palette.ramp();
    counts.iter().map(move |&count| match count {
        0 => palette.nothing,
        count => ramp(scale.position(count)),
    })
}

impl HeatColours {
    /// The colours by position, 0 to 1.
    pub fn ramp(self) -> impl Fn(f32) -> [u8; 3] {
        let colours: Vec<_> = self.colours.iter().map(|c| c.map(f32::from)).collect();
        move |position| colour_at(&colours, position).map(|c| c.round() as u8)
    }
}

pub(super) const LEGEND_UNITS: usize = 56;
const MARGIN: usize = 8;

pub(super) fn legend(canvas: &mut Canvas, map: &HeatMap<'_>, top: usize, unit: usize) {
    let at = |rows: usize| top + rows * unit;
    let left = MARGIN * unit;
    canvas.write(&map.title, [left, at(6)], unit);
    // The swatch of pixels without a count, then the bar.
    let swatch = 10 * unit;
    let line = unit.div_ceil(2);
    canvas.fill([left - line, at(17) - line], [swatch + 2 * line; 2], INK);
    canvas.fill([left, at(17)], [swatch; 2], map.palette.nothing);
    canvas.write(map.nothing, [left, at(32)], unit);
    let bar_left = left + width_px(map.nothing).max(10) * unit + 16 * unit;
    let last = map.counts.iter().copied().max().unwrap_or(0);
    let end_margin = (MARGIN + 12) * unit;
    let bar_width = canvas.width.saturating_sub(bar_left + end_margin).max(2);
    let ramp = map.palette.ramp();
    for x in 0..bar_width {
        let colour = ramp(x as f32 / (bar_width - 1) as f32);
        canvas.fill([bar_left + x, at(17)], [1, 10 * unit], colour);
    }
    for tick in map.scale.ticks(MAX_TICKS) {
        let text = short(tick) + if tick == map.scale.top && last > tick { "+" } else { "" };
        canvas.tick(map.scale.position(tick), &text, [bar_left, bar_width], at(27), unit);
    }
    let counted = map.counts.iter().copied().filter(|&c| c > 0);
    let curve = match map.scale.curve {
        Curve::Linear => "linear",
        Curve::SquareRoot => "square-root",
        Curve::Logarithmic => "logarithmic",
    };
    let range = format!(
        "{} TO {last}, {curve} scale to {}: {}",
        counted.min().unwrap_or(0),
        map.scale.top,
        map.scale_end
    );
    canvas.write(&range, [left, at(44)], unit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(size: [u32; 2], counts: &[u32]) -> HeatMap<'_> {
        HeatMap {
            title: "qm: fragments".to_owned(),
            nothing: "none",
            size,
            counts,
            scale: Scale::covering(counts, Curve::Linear),
            scale_end: "all",
            palette: VIRIDIS,
        }
    }

    #[test]
    fn lightness_only_rises() {
        let luma = |colour: [u8; 3]| quadrille_base::image::srgb::luminance(colour.map(f32::from));
        let ramp = VIRIDIS.ramp();
        let steps: Vec<f32> = (0..=64_u8).map(|i| luma(ramp(f32::from(i) / 64.0))).collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }

    #[test]
    fn pixels_keep_their_positions() {
        let counts = [0, 1, 2, 3, 4, 5];
        let frame = picture(&map([3, 2], &counts));
        assert_eq!(frame.width(), 480);
        let pixel = |x: u32, y: u32| frame.pixels()[(y * frame.width() + x) as usize];
        let first = pixel(0, 0);
        assert_eq!(&first[..3], &[0.0; 3], "no count is black");
        let last = VIRIDIS.colours[8].map(|c| f32::from(c) / 255.0);
        assert_eq!(&pixel(2 * 8 + 7, 8 + 7)[..3], &last[..]);
        assert_ne!(pixel(8, 0), pixel(0, 8));
    }

    #[test]
    fn a_map_alone_has_the_colours_of_the_map_above_its_legend() {
        let counts: Vec<u32> = (0..600 * 5).map(|i| i * i % 1013).collect();
        let map = map([600, 5], &counts);
        let alone = pixels(map.size, &counts, map.scale, map.palette);
        assert_eq!((alone.width(), alone.height()), (600, 5));
        let whole = picture(&map);
        assert_eq!(alone.pixels(), &whole.pixels()[..600 * 5]);
    }

    #[test]
    fn wide_pictures_are_not_enlarged_and_narrow_ones_not_beyond_bounds() {
        assert_eq!(picture(&map([1000, 1], &[7; 1000])).width(), 1000);
        let narrow = picture(&map([1, 3000], &[7; 3000]));
        assert_eq!((narrow.width(), narrow.height()), (480, 24_056));
    }

    #[test]
    fn shadings_have_the_colours_of_the_figure() {
        let (least, top, curve) = (1, 8, Curve::Linear);
        let scale = Scale { least, top, curve };
        let colour = |count| SHADINGS.ramp()(scale.position(count));
        assert_eq!((1..=8).map(colour).collect::<Vec<_>>(), SHADINGS.colours);
        assert_eq!(colour(1000), colour(8));
        assert_eq!(scale.ticks(8), [1, 2, 4, 6, 8]);
    }
}
