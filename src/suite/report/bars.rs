//! Stacked bars: bytes by buffer of each row, with a legend and a scale.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions on a bar of about a thousand pixels"
)]

use super::canvas::{Canvas, INK, width_px};
use super::scale::{Curve, Scale};
use quadrille_base::image::Frame;

/// sRGB colours of the parts, distinguishable by colour-blind readers (Okabe and Ito 2008).
const COLOURS: [[u8; 3]; 5] =
    [[0, 114, 178], [86, 180, 233], [230, 159, 0], [0, 158, 115], [204, 121, 167]];

const UNIT: usize = 2;
const MARGIN: usize = 16;
const BAR: usize = 24;
const STEP: usize = 36;
const LENGTH: usize = 720;
const HEAD: usize = 80;
const FOOT: usize = 48;
const MAX_TICKS: u32 = 7;

/// A bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Name of the row.
    pub label: String,
    /// Bytes of each part, in the order of the names of the parts.
    pub bytes: Vec<u64>,
}

impl Bar {
    fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }
}

/// Draws bars whose parts have `names`, at most five.
pub fn picture(title: &str, names: &[&str], bars: &[Bar]) -> Frame {
    let most = bars.iter().map(Bar::total).max().unwrap_or(0);
    let (unit_bytes, unit) = unit(most);
    let totals: Vec<String> = bars.iter().map(|bar| amount(bar.total())).collect();
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(width_px).max().unwrap_or(0);
    let labels = UNIT * widest(&mut bars.iter().map(|bar| bar.label.as_str()));
    let numbers = UNIT * widest(&mut totals.iter().map(String::as_str));
    let left = 2 * MARGIN + labels;
    let legend: usize = names.iter().map(|name| UNIT * (width_px(name) + 24)).sum();
    let width = (left + LENGTH + numbers + 2 * MARGIN).max(legend + 2 * MARGIN);
    let width = width.max(UNIT * width_px(title) + 2 * MARGIN);
    let mut canvas = Canvas::new(width, HEAD + STEP * bars.len() + FOOT);
    canvas.write(title, [MARGIN, MARGIN], UNIT);
    let mut x = MARGIN;
    for (name, colour) in names.iter().zip(COLOURS) {
        canvas.fill([x, MARGIN + 28], [16, 16], colour);
        canvas.write(name, [x + 24, MARGIN + 28], UNIT);
        x += UNIT * (width_px(name) + 24);
    }
    for ((bar, total), row) in bars.iter().zip(&totals).zip(0..) {
        let y = HEAD + STEP * row;
        canvas.write(&bar.label, [MARGIN, y + 4], UNIT);
        let mut sum = 0;
        for (bytes, colour) in bar.bytes.iter().zip(COLOURS) {
            let from = position(sum, most);
            sum += bytes;
            canvas.fill([left + from, y], [position(sum, most) - from, BAR], colour);
        }
        canvas.write(total, [left + position(sum, most) + 8, y + 4], UNIT);
    }
    let bottom = HEAD + STEP * bars.len();
    canvas.fill([left, bottom - 4], [LENGTH, 2], INK);
    let top = (most / unit_bytes).clamp(1, u32::MAX.into()) as u32;
    let scale = Scale { least: 0, top, curve: Curve::Linear };
    for tick in scale.ticks(MAX_TICKS) {
        let share = (u64::from(tick) * unit_bytes) as f32 / most.max(unit_bytes) as f32;
        let text = if tick == 0 { format!("0 {unit}") } else { tick.to_string() };
        canvas.tick(share, &text, [left, LENGTH], bottom, UNIT);
    }
    canvas.into_frame()
}

/// Length in pixels of a bar of `bytes`, on a scale that ends at `most`.
fn position(bytes: u64, most: u64) -> usize {
    (bytes as f64 / most.max(1) as f64 * LENGTH as f64).round() as usize
}

fn unit(most: u64) -> (u64, &'static str) {
    match most {
        0..10_000 => (1, "B"),
        10_000..10_000_000 => (1000, "KB"),
        _ => (1_000_000, "MB"),
    }
}

fn amount(bytes: u64) -> String {
    let (unit_bytes, unit) = unit(bytes);
    if unit_bytes == 1 {
        return format!("{bytes} B");
    }
    format!("{:.1} {unit}", bytes as f64 / unit_bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_long_as_their_bytes() {
        let bar =
            |label: &str, bytes: [u64; 2]| Bar { label: label.to_owned(), bytes: bytes.to_vec() };
        let bars = [bar("cached-decoupled", [30_000_000, 60_000_000]), bar("sds", [30_000_000, 0])];
        let frame = picture("traffic", &["depth", "colour"], &bars);
        let colour = |k: usize| COLOURS[k].map(|c| f32::from(c) / 255.0);
        let in_row = |y: usize, k: usize| {
            let width = frame.width() as usize;
            let row = &frame.pixels()[y * width..(y + 1) * width];
            row.iter().filter(|p| p[..3] == colour(k)).count()
        };
        // The last line of each bar, below the text.
        let rows = [HEAD + BAR - 1, HEAD + STEP + BAR - 1];
        assert_eq!(rows.map(|y| in_row(y, 0)), [LENGTH / 3; 2]);
        assert_eq!(rows.map(|y| in_row(y, 1)), [2 * LENGTH / 3, 0]);
    }

    #[test]
    fn nothing_and_little_are_drawn_too() {
        assert!(picture("empty", &["depth"], &[]).width() > 0);
        let bar = Bar { label: "none".to_owned(), bytes: vec![0] };
        assert!(picture("zero", &["depth"], &[bar]).height() > 0);
        assert_eq!(amount(999), "999 B");
        assert_eq!(amount(12_340), "12.3 KB");
        assert_eq!(amount(151_142_400), "151.1 MB");
    }
}
