//! The FLIP error, pixel by pixel, in double precision.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

use super::super::flip::{
    COLOUR_BEND_FROM, COLOUR_BEND_TO, COLOUR_EXPONENT, PIXELS_PER_DEGREE, largest_colour_difference,
};
use super::super::flip_colour::{hunt_lab_from_rgb, hyab, rgb_from_ycxcz, ycxcz_from_rgb};
use super::super::flip_filters::Filters;
use super::super::planes::{self, Pair};
use super::super::separable::Border;
use super::separable::Separable;
use crate::image::srgb::decode_srgb;

type Planes = [Vec<f64>; 3];

pub(super) fn error_map(pair: &Pair) -> Vec<f64> {
    let filters = Filters::new(PIXELS_PER_DEGREE);
    let largest = largest_colour_difference();
    let pictures = [0, 1].map(|i| to_ycxcz(&pair.colours[i], pair.peak));
    let mut errors = vec![0.0; pair.width * pair.height];
    let mut rows = [FilteredRow::default(), FilteredRow::default()];
    for (y, errors) in errors.chunks_mut(pair.width).enumerate() {
        for (rows, picture) in rows.iter_mut().zip(&pictures) {
            rows.filter(picture, &filters, pair, y);
        }
        let [a, b] = &rows;
        for (x, error) in errors.iter_mut().enumerate() {
            let colour = colour_error(a.seen(x), b.seen(x), largest);
            *error = colour.powf(1.0 - feature_error(a.features(x), b.features(x)));
        }
    }
    errors
}

fn to_ycxcz(colours: &planes::Planes, peak: f32) -> Planes {
    let [r, g, b] = colours;
    let mut planes = [(); 3].map(|()| vec![0.0; r.len()]);
    for i in 0..r.len() {
        let srgb = [r[i], g[i], b[i]].map(|c| (c / peak).clamp(0.0, 1.0));
        let ycxcz = ycxcz_from_rgb(decode_srgb(srgb).map(f64::from));
        for (plane, value) in planes.iter_mut().zip(ycxcz) {
            plane[i] = value;
        }
    }
    planes
}

fn colour_error(a: [f64; 3], b: [f64; 3], largest: f64) -> f64 {
    let [a, b] = [a, b].map(|c| hunt_lab_from_rgb(rgb_from_ycxcz(c)));
    let difference = hyab(a, b).powf(COLOUR_EXPONENT);
    let bend = COLOUR_BEND_FROM * largest;
    if difference < bend {
        COLOUR_BEND_TO / bend * difference
    } else {
        let beyond = (difference - bend) / (largest - bend);
        (COLOUR_BEND_TO + (1.0 - COLOUR_BEND_TO) * beyond).min(1.0)
    }
}

/// Difference of the features of two pixels (section 4.2), as in the vector code.
fn feature_error(a: [f64; 2], b: [f64; 2]) -> f64 {
    let difference = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
    (FRAC_1_SQRT_2 * difference).sqrt().min(1.0)
}

#[derive(Default)]
struct FilteredRow {
    seen: Planes,
    /// Strengths of features by pixel, in order: horizontal and vertical edges, horizontal and vertical points.
    features: [Vec<f64>; 4],
    scratch: Vec<f64>,
}

impl FilteredRow {
    fn filter(&mut self, picture: &Planes, filters: &Filters, pair: &Pair, y: usize) {
        let Self { seen, features, scratch } = self;
        for (channel, row) in seen.iter_mut().enumerate() {
            row.clear();
            row.resize(pair.width, 0.0);
            let source = |range: Range<usize>| picture[channel][range].iter().copied();
            for [vertical, horizontal] in &filters.sensitivity[channel] {
                separable(vertical, horizontal).add_row(source, pair.height, y, scratch, row);
            }
        }
        let grey = |range: Range<usize>| {
            let luminance = picture[0][range].iter();
            luminance.map(|luminance| (luminance + 16.0) / 116.0)
        };
        let [gaussian, first, second] = &filters.derivatives;
        let detectors = [
            separable(gaussian, first),
            separable(first, gaussian),
            separable(gaussian, second),
            separable(second, gaussian),
        ];
        for (row, filter) in features.iter_mut().zip(detectors) {
            row.clear();
            row.resize(pair.width, 0.0);
            filter.add_row(grey, pair.height, y, scratch, row);
        }
    }

    fn seen(&self, x: usize) -> [f64; 3] {
        [self.seen[0][x], self.seen[1][x], self.seen[2][x]]
    }

    fn features(&self, x: usize) -> [f64; 2] {
        let [edge_x, edge_y, point_x, point_y] = [0, 1, 2, 3].map(|i| self.features[i][x]);
        [edge_x.hypot(edge_y), point_x.hypot(point_y)]
    }
}

fn separable<'a>(vertical: &'a [f64], horizontal: &'a [f64]) -> Separable<'a, f64> {
    Separable { vertical, horizontal, border: Border::Nearest }
}
