//! FLIP: the difference that an observer sees when flipping between two pictures.
//!
//! Andersson, Nilsson, Akenine-Moller, Oskarsson, Astrom, Fairchild: "FLIP: A Difference Evaluator for Alternating Images",
//! HPG 2020; the filters in separable form after "Visualizing Errors in Rendered High Dynamic Range Images", Eurographics
//! 2021 short papers. This is the low dynamic range variant: values are taken as sRGB, which a splat frame's values are
//! (see [`to_8_bit`](crate::image::to_8_bit)), and clamped to `[0, 1]`.

use std::f32::consts::FRAC_1_SQRT_2;
use std::f64::consts::PI;

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};
use rayon::prelude::*;

use super::flip_colour::{self, hunt_lab_from_rgb};
use super::flip_lanes::{Colours, Matrices, hunt_lab_from_ycxcz, hyab, power, ycxcz_from_rgb};
use super::flip_rows::{FilteredRow, Taps};
use super::planes::{Pair, Planes};
use super::separable::LANES;
use crate::image::srgb::{decode_srgb, srgb_decoding_table};
use crate::math::{SimdLevel, narrow, whole};

/// Pixels per degree of visual angle: a display of 3840 pixels, 0.7 m wide, seen from 0.7 m. The
/// paper (section 5) rounds it to 67; its authors' program does not.
pub(super) const PIXELS_PER_DEGREE: f64 = 3840.0 * PI / 180.0;

/// Exponent of the colour difference (section 4.1.3).
pub(super) const COLOUR_EXPONENT: f64 = 0.7;

/// Fraction of the largest colour difference that is mapped to [`COLOUR_BEND_TO`].
pub(super) const COLOUR_BEND_FROM: f64 = 0.4;

/// Mapped colour difference at which the slope changes.
pub(super) const COLOUR_BEND_TO: f64 = 0.95;

struct ColourScale {
    matrices: Matrices,
    largest: f32,
}

/// The FLIP error of every pixel, in `[0, 1]`, row by row from the top.
///
/// The error of a pixel differs from its definition, and between levels of vector instructions, by less than 2e-5,
/// since powers of small differences magnify rounding, and the mean over a picture by less than 1e-6.
pub(super) fn error_map(pair: &Pair, level: SimdLevel) -> Vec<f32> {
    let taps = Taps::new(PIXELS_PER_DEGREE);
    let scale =
        ColourScale { matrices: Matrices::new(), largest: narrow(largest_colour_difference()) };
    let pictures = [0, 1].map(|i| to_ycxcz(&pair.colours[i], pair, &scale.matrices, level));
    let mut errors = vec![0.0; pair.width * pair.height];
    errors.par_chunks_mut(pair.width).enumerate().for_each_init(
        || [(); 2].map(|()| FilteredRow::new(pair.width)),
        |rows, (y, errors)| {
            dispatch!(level.level(), simd => {
                for (row, picture) in rows.iter_mut().zip(&pictures) {
                    row.filter_columns(simd, picture, &taps, y);
                }
                row_errors(simd, rows, &taps, &scale, errors);
            });
        },
    );
    errors
}

#[inline(always)]
fn row_errors<S: Simd>(
    simd: S,
    rows: &[FilteredRow; 2],
    taps: &Taps,
    scale: &ColourScale,
    errors: &mut [f32],
) {
    for (block, errors) in errors.chunks_mut(LANES).enumerate() {
        let [a, b] = [&rows[0], &rows[1]];
        let x = block * LANES;
        let seen = [a.seen(simd, taps, x), b.seen(simd, taps, x)];
        let features = [a.features(simd, taps, x), b.features(simd, taps, x)];
        let colour = colour_error(simd, seen, scale);
        let feature = feature_error(simd, features);
        let one = f32x16::splat(simd, 1.0);
        let error: [f32; LANES] = power(simd, colour, one - feature).min(one).into();
        errors.copy_from_slice(&error[..errors.len()]);
    }
}

fn to_ycxcz(colours: &Planes, pair: &Pair, matrices: &Matrices, level: SimdLevel) -> Planes {
    let mut planes = [(); 3].map(|()| vec![0.0; colours[0].len()]);
    let table = pair.is_8_bit().then(srgb_decoding_table);
    let linear = |value: f32| match &table {
        Some(table) => table[usize::from(whole::<u8>(value))],
        None => decode_srgb([value.clamp(0.0, 1.0); 3])[0],
    };
    let [y, cx, cz] = planes.each_mut().map(|plane| plane.par_chunks_mut(pair.width));
    let [r, g, b] = colours.each_ref().map(|plane| plane.par_chunks(pair.width));
    (y, cx, cz, r, g, b)
        .into_par_iter()
        .for_each(|(y, cx, cz, r, g, b)| {
            let chunks = r
                .chunks(LANES)
                .zip(g.chunks(LANES))
                .zip(b.chunks(LANES))
                .enumerate();
            for (block, ((r, g), b)) in chunks {
                let mut rgb = [[0.0; LANES]; 3];
                for (linear_values, values) in rgb.iter_mut().zip([r, g, b]) {
                    for (out, value) in linear_values.iter_mut().zip(values) {
                        *out = linear(*value);
                    }
                }
                let ycxcz: [[f32; LANES]; 3] = dispatch!(level.level(), simd => {
                    ycxcz_from_rgb(simd, matrices, rgb.map(|c| f32x16::simd_from(simd, c))).map(Into::into)
                });
                let columns = block * LANES..block * LANES + r.len();
                for (plane, values) in [&mut *y, &mut *cx, &mut *cz].into_iter().zip(&ycxcz) {
                    plane[columns.clone()].copy_from_slice(&values[..r.len()]);
                }
            }
        });
    planes
}

pub(super) fn largest_colour_difference() -> f64 {
    let green = hunt_lab_from_rgb([0.0, 1.0, 0.0]);
    flip_colour::hyab(green, hunt_lab_from_rgb([0.0, 0.0, 1.0])).powf(COLOUR_EXPONENT)
}

/// The colour difference of two filtered `YCxCz` pixels, mapped to `[0, 1]` (section 4.1.3).
#[inline(always)]
fn colour_error<S: Simd>(simd: S, [a, b]: [Colours<S>; 2], scale: &ColourScale) -> f32x16<S> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let distance = hyab(
        hunt_lab_from_ycxcz(simd, &scale.matrices, a),
        hunt_lab_from_ycxcz(simd, &scale.matrices, b),
    );
    let [exponent, from, to] = [COLOUR_EXPONENT, COLOUR_BEND_FROM, COLOUR_BEND_TO].map(narrow);
    let difference = power(simd, distance, splat(exponent));
    let bend = from * scale.largest;
    let below = difference * (to / bend);
    let slope = (1.0 - to) / (scale.largest - bend);
    let beyond = (difference - bend).mul_add(splat(slope), splat(to));
    difference.simd_lt(splat(bend)).select(below, beyond.min(splat(1.0)))
}

/// The difference of two pixels' edge and point strengths, in `[0, 1]`, to the power of 0.5, the paper's q_f (section 4.2).
#[inline(always)]
fn feature_error<S: Simd>(simd: S, [a, b]: [[f32x16<S>; 2]; 2]) -> f32x16<S> {
    let difference = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
    (difference * FRAC_1_SQRT_2).sqrt().min(f32x16::splat(simd, 1.0))
}
