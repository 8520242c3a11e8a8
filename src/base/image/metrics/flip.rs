//! FLIP: the difference that an observer sees when flipping between two pictures.
//!
//! Andersson, Nilsson, Akenine-Moller, Oskarsson, Astrom, Fairchild: "FLIP: A Difference Evaluator
//! for Alternating Images", HPG 2020; the filters in separable form after "Visualizing Errors in
//! Rendered High Dynamic Range Images", Eurographics 2021 short papers. This is the low dynamic
//! range variant: values are taken as sRGB, which a splat frame's values are (see
//! [`to_8_bit`](crate::image::to_8_bit)), and clamped to `[0, 1]`.

use std::f32::consts::{FRAC_1_SQRT_2, PI};
use std::ops::Range;

use rayon::prelude::*;

use super::flip_colour::{hunt_lab_from_rgb, hyab, rgb_from_ycxcz, ycxcz_from_srgb};
use super::flip_filters::Filters;
use super::planes::{Pair, Planes};

/// Pixels per degree of visual angle: a display of 3840 pixels, 0.7 m wide, seen from 0.7 m. The
/// paper (section 5) rounds it to 67; its authors' program does not.
const PIXELS_PER_DEGREE: f32 = 3840.0 * PI / 180.0;

/// Exponent of the colour difference (section 4.1.3).
const COLOUR_EXPONENT: f32 = 0.7;

/// Fraction of the largest colour difference that is mapped to [`COLOUR_BEND_TO`].
const COLOUR_BEND_FROM: f32 = 0.4;

/// Mapped colour difference at which the slope changes.
const COLOUR_BEND_TO: f32 = 0.95;

/// The FLIP error of every pixel, in `[0, 1]`, row by row from the top.
pub(super) fn error_map(pair: &Pair) -> Vec<f32> {
    let filters = Filters::new(PIXELS_PER_DEGREE);
    let largest = largest_colour_difference();
    let pictures = [0, 1].map(|i| to_ycxcz(&pair.colours[i], pair.peak));
    let mut errors = vec![0.0; pair.width * pair.height];
    errors.par_chunks_mut(pair.width).enumerate().for_each_init(
        || [FilteredRow::default(), FilteredRow::default()],
        |rows, (y, errors)| {
            for (rows, picture) in rows.iter_mut().zip(&pictures) {
                rows.filter(picture, &filters, pair, y);
            }
            let [a, b] = &*rows;
            for (x, error) in errors.iter_mut().enumerate() {
                let colour = colour_error(a.seen(x), b.seen(x), largest);
                *error = colour.powf(1.0 - feature_error(a.features(x), b.features(x)));
            }
        },
    );
    errors
}

fn to_ycxcz(colours: &Planes, peak: f32) -> Planes {
    let [r, g, b] = colours;
    let mut planes = [(); 3].map(|()| vec![0.0; r.len()]);
    let [luminance, cx, cz] = &mut planes;
    luminance
        .par_iter_mut()
        .zip(cx)
        .zip(cz)
        .enumerate()
        .for_each(|(i, ((luminance, cx), cz))| {
            let srgb = [r[i], g[i], b[i]].map(|c| (c / peak).clamp(0.0, 1.0));
            [*luminance, *cx, *cz] = ycxcz_from_srgb(srgb);
        });
    planes
}

/// The largest colour difference, between pure green and pure blue, raised to the exponent.
fn largest_colour_difference() -> f32 {
    let green = hunt_lab_from_rgb([0.0, 1.0, 0.0]);
    let blue = hunt_lab_from_rgb([0.0, 0.0, 1.0]);
    hyab(green, blue).powf(COLOUR_EXPONENT)
}

/// The colour difference of two filtered `YCxCz` pixels, mapped to `[0, 1]` (section 4.1.3).
fn colour_error(a: [f32; 3], b: [f32; 3], largest: f32) -> f32 {
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

/// The difference of two pixels' edge and point strengths, in `[0, 1]`, raised to 0.5, the paper's
/// q_f (section 4.2).
fn feature_error(a: [f32; 2], b: [f32; 2]) -> f32 {
    let difference = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
    (FRAC_1_SQRT_2 * difference).sqrt().min(1.0)
}

/// One row of one picture, filtered.
#[derive(Default)]
struct FilteredRow {
    /// `YCxCz`, filtered by the contrast sensitivity.
    seen: Planes,
    /// Strengths of features by pixel, in order: horizontal and vertical edges, horizontal and
    /// vertical points.
    features: [Vec<f32>; 4],
    scratch: Vec<f32>,
}

impl FilteredRow {
    fn filter(&mut self, picture: &Planes, filters: &Filters, pair: &Pair, y: usize) {
        let Self {
            seen,
            features,
            scratch,
        } = self;
        for (channel, row) in seen.iter_mut().enumerate() {
            row.clear();
            row.resize(pair.width, 0.0);
            let source = |range: Range<usize>| picture[channel][range].iter().copied();
            for filter in filters.sensitivity(channel) {
                filter.add_row(source, pair.height, y, scratch, row);
            }
        }
        let grey = |range: Range<usize>| {
            let luminance = picture[0][range].iter();
            luminance.map(|luminance| (luminance + 16.0) / 116.0)
        };
        for (row, filter) in features.iter_mut().zip(filters.features()) {
            row.clear();
            row.resize(pair.width, 0.0);
            filter.add_row(grey, pair.height, y, scratch, row);
        }
    }

    fn seen(&self, x: usize) -> [f32; 3] {
        [self.seen[0][x], self.seen[1][x], self.seen[2][x]]
    }

    /// Edge and point strength.
    fn features(&self, x: usize) -> [f32; 2] {
        let [edge_x, edge_y, point_x, point_y] = [0, 1, 2, 3].map(|i| self.features[i][x]);
        [edge_x.hypot(edge_y), point_x.hypot(point_y)]
    }
}
