//! Counts per pixel as a heat map with a legend below it.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "positions on a bar of a few thousand pixels, and colours of eight bits"
)]

use super::font;
use super::legend::{Curve, Scale, short};
use crate::image::Frame;
use crate::image::difference::colour_at;

/// Colours at eighths of the scale: those of Matplotlib's viridis, whose lightness rises evenly.
const COLOURS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];
/// Pixels without a count.
const NOTHING: [u8; 3] = [0, 0, 0];
const GROUND: [u8; 3] = [24, 24, 27];
const INK: [u8; 3] = [228, 228, 231];

/// Least width of a picture, in pixels: the legend's text fits.
const LEAST_WIDTH_PX: usize = 480;
/// Most times that a small map is enlarged.
const MOST_TIMES: usize = 8;
/// Width a unit of the legend's size: text doubles where the picture is twice this wide.
const WIDTH_A_SIZE_PX: usize = 640;
const MOST_TICKS: u32 = 8;

/// Counts per pixel, and what to write below them.
#[derive(Debug, Clone)]
pub(crate) struct HeatMap<'a> {
    /// What is shown, and of which variant.
    pub title: String,
    /// What no count means: it is drawn black.
    pub nothing: &'static str,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// The counts, row by row.
    pub counts: &'a [u32],
    /// The scale.
    pub scale: Scale,
}

/// The picture: the map, enlarged by a whole number if small, and the legend.
pub(crate) fn picture(map: &HeatMap<'_>) -> Frame {
    let [width, height] = map.size.map(|side| side as usize);
    let times = LEAST_WIDTH_PX.div_ceil(width.max(1)).min(MOST_TIMES);
    let canvas_width = (width * times).max(LEAST_WIDTH_PX);
    let unit = (canvas_width / WIDTH_A_SIZE_PX).max(1);
    let mut canvas = Canvas::new(canvas_width, height * times + LEGEND_UNITS * unit);
    for (index, &count) in map.counts.iter().enumerate() {
        let (x, y) = (index % width.max(1), index / width.max(1));
        canvas.fill(
            [x * times, y * times],
            [times, times],
            colour(map.scale, count),
        );
    }
    legend(&mut canvas, map, height * times, unit);
    canvas.into_frame()
}

fn colour(scale: Scale, count: u32) -> [u8; 3] {
    if count == 0 {
        return NOTHING;
    }
    ramp(scale.position(count))
}

fn ramp(position: f32) -> [u8; 3] {
    let colours = COLOURS.map(|colour| colour.map(f32::from));
    colour_at(&colours, position).map(|c| c.round() as u8)
}

/// Rows of the legend, in units: title, bar, numbers, range, each with its margin.
const LEGEND_UNITS: usize = 56;
const MARGIN: usize = 8;

/// Title, colour bar, its numbers, the range of the counts.
fn legend(canvas: &mut Canvas, map: &HeatMap<'_>, top: usize, unit: usize) {
    let at = |rows: usize| top + rows * unit;
    let left = MARGIN * unit;
    canvas.write(&map.title, [left, at(6)], unit);
    // The swatch of pixels without a count, then the bar.
    let swatch = 10 * unit;
    canvas.fill([left, at(17)], [swatch, 10 * unit], NOTHING);
    canvas.outline([left, at(17)], [swatch, 10 * unit], unit);
    canvas.write(map.nothing, [left, at(32)], unit);
    let bar_left = left + font::width_px(map.nothing).max(10) * unit + 16 * unit;
    let last = map.counts.iter().copied().max().unwrap_or(0);
    let end_margin = (MARGIN + 12) * unit;
    let bar_width = canvas.width.saturating_sub(bar_left + end_margin).max(2);
    for x in 0..bar_width {
        let position = x as f32 / (bar_width - 1) as f32;
        canvas.fill([bar_left + x, at(17)], [1, 10 * unit], ramp(position));
    }
    for tick in map.scale.ticks(MOST_TICKS) {
        let beyond = tick == map.scale.top && last > tick;
        let text = short(tick) + if beyond { "+" } else { "" };
        let position = map.scale.position(tick);
        canvas.tick(position, &text, [bar_left, bar_width], at(27), unit);
    }
    let counted = map.counts.iter().copied().filter(|&c| c > 0);
    let curve = match map.scale.curve {
        Curve::Linear => "linear",
        Curve::Root => "square-root",
    };
    let range = format!(
        "{} TO {last}, {curve} scale to {}: 99.9th percentile",
        counted.min().unwrap_or(0),
        map.scale.top
    );
    canvas.write(&range, [left, at(44)], unit);
}

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: vec![GROUND; width * height],
        }
    }

    /// Fills a rectangle, as far as it lies inside.
    fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], colour: [u8; 3]) {
        let columns = x.min(self.width)..(x + width).min(self.width);
        for row in y.min(self.height)..(y + height).min(self.height) {
            self.pixels[row * self.width..][columns.clone()].fill(colour);
        }
    }

    /// A frame just outside a rectangle, half a unit of the legend wide.
    fn outline(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], unit: usize) {
        let line = unit.div_ceil(2);
        let frame = [width + 2 * line, height + 2 * line];
        let (left, up) = (x - line, y - line);
        self.fill([left, up], [frame[0], line], INK);
        self.fill([left, y + height], [frame[0], line], INK);
        self.fill([left, up], [line, frame[1]], INK);
        self.fill([x + width, up], [line, frame[1]], INK);
    }

    /// Writes `text` from its top left corner, each pixel of the font `unit` wide.
    fn write(&mut self, text: &str, [x, y]: [usize; 2], unit: usize) {
        for (column, row) in font::pixels(text) {
            self.fill([x + column * unit, y + row * unit], [unit, unit], INK);
        }
    }

    /// A stroke below a bar at `position` of it, and its number centred below.
    fn tick(
        &mut self,
        position: f32,
        text: &str,
        [bar_left, bar_width]: [usize; 2],
        y: usize,
        unit: usize,
    ) {
        let x = bar_left + (position * (bar_width - 1) as f32) as usize;
        let stroke = unit.div_ceil(2);
        self.fill([x.saturating_sub(stroke / 2), y], [stroke, 3 * unit], INK);
        let half = font::width_px(text) * unit / 2;
        self.write(text, [x.saturating_sub(half), y + 5 * unit], unit);
    }

    fn into_frame(self) -> Frame {
        let pixels = self.pixels.iter().map(|colour| {
            let [r, g, b] = colour.map(|c| f32::from(c) / 255.0);
            [r, g, b, 1.0]
        });
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        Frame::from_pixels(side(self.width), side(self.height), pixels.collect())
    }
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
        }
    }

    #[test]
    fn lightness_only_rises() {
        let luma = |[r, g, b]: [u8; 3]| {
            0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b)
        };
        let steps: Vec<f32> = (0..=64_u8)
            .map(|i| luma(ramp(f32::from(i) / 64.0)))
            .collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }

    #[test]
    fn pixels_keep_their_places() {
        let counts = [0, 1, 2, 3, 4, 5];
        let frame = picture(&map([3, 2], &counts));
        assert_eq!(frame.width(), 480);
        let pixel = |x: u32, y: u32| frame.pixels()[(y * frame.width() + x) as usize];
        let first = pixel(0, 0);
        assert_eq!(&first[..3], &[0.0; 3], "no count is black");
        let last = COLOURS[8].map(|c| f32::from(c) / 255.0);
        assert_eq!(&pixel(2 * 8 + 7, 8 + 7)[..3], &last[..]);
        assert_ne!(pixel(8, 0), pixel(0, 8));
    }

    #[test]
    fn wide_pictures_are_not_enlarged_and_narrow_ones_not_beyond_bounds() {
        assert_eq!(picture(&map([1000, 1], &[7; 1000])).width(), 1000);
        let narrow = picture(&map([1, 3000], &[7; 3000]));
        assert_eq!((narrow.width(), narrow.height()), (480, 24_056));
    }
}
