//! The error of every pixel as a heat map with a legend below it.

use quadrille_base::image::difference::{heat_colour, heat_picture};
use quadrille_base::image::{Frame, to_8_bit};

use super::canvas::width_px;
use super::heat::enlarged;

const LEGEND_UNITS: usize = 44;
const MARGIN: usize = 8;
const TICKS: [(f32, &str); 5] =
    [(0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1")];

/// Draws errors of 0 to 1, row by row, enlarged by a whole factor if the picture is small, above a title, the scale of
/// colours, and the mean and the largest error; and says so where all are 0.
///
/// # Panics
/// When the number of errors does not match the size (width, height).
pub fn picture(title: &str, size: [u32; 2], errors: &[f32]) -> Frame {
    let heat = heat_picture(size, errors);
    let pixels = heat.pixels().iter().map(|pixel| [pixel[0], pixel[1], pixel[2]].map(to_8_bit));
    let (mut canvas, bottom, unit) = enlarged(size, pixels, LEGEND_UNITS);
    let at = |rows: usize| bottom + rows * unit;
    let left = MARGIN * unit;
    canvas.write(title, [left, at(6)], unit);
    let sum: f64 = errors.iter().copied().map(f64::from).sum();
    let largest = errors.iter().copied().fold(0.0, f32::max);
    let facts = match largest {
        0.0 => "no pixel differs".to_owned(),
        largest => format!("mean {:.4}, largest {largest:.4}", sum / errors.len() as f64),
    };
    canvas.write(&facts, [left, at(32)], unit);
    let bar_left = left
        + width_px("mean 0.0000, largest 0.0000").max(width_px(title)) * unit
        + 2 * MARGIN * unit;
    let bar_width = canvas.width.saturating_sub(bar_left + 3 * MARGIN * unit).max(2);
    for x in 0..bar_width {
        let colour = heat_colour(x as f32 / (bar_width - 1) as f32).map(to_8_bit);
        canvas.fill([bar_left + x, at(10)], [1, 10 * unit], colour);
    }
    for (position, text) in TICKS {
        canvas.tick(position, text, [bar_left, bar_width], at(20), unit);
    }
    canvas.into_frame()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_stands_above_its_legend() {
        let errors: Vec<f32> = (0..600_u16).map(|at| f32::from(at) / 599.0).collect();
        let drawn = picture("FLIP error", [600, 1], &errors);
        assert_eq!([drawn.width(), drawn.height()], [600, 1 + 44]);
        for (at, pixel) in drawn.pixels()[..600].iter().enumerate() {
            let [r, g, b] = heat_colour(errors[at]);
            let near = pixel.iter().zip([r, g, b]).all(|(a, b)| (a - b).abs() < 1.0 / 255.0);
            assert!(near, "{at}: {pixel:?}");
        }
        // Equal pictures have another text beside the same scale.
        let equal = picture("FLIP error", [600, 1], &[0.0; 600]);
        assert_ne!(drawn.pixels()[600..], equal.pixels()[600..]);
    }
}
