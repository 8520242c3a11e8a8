//! Score of a view, from a small picture of it.
//!
//! The small picture holds luminance, sharpness and inverse depth, which the renderer blends like colours. A good view
//! shows much detail over the whole picture: fog and floaters are blurred, walls seen from outside leave much of the
//! picture empty, and a view out of an object shows the inner side of large splats.

use nalgebra::Vector3;

use super::candidates::Candidate;
use super::sample::SplatSample;
use crate::cpu::{RenderSettings, Renderer};
use crate::preprocess::ProjectedSplat;
use quadrille_base::image::Frame;
use quadrille_base::image::srgb::luminance;
use quadrille_base::math::narrow;
use quadrille_base::task::Task;
use quadrille_scene::{Camera, Intrinsics};

/// Picture height in pixels for which the sizes below are given.
const HEIGHT_PX: f32 = 54.0;
/// Low-pass filter of the rendering profile, in square pixels.
const LOW_PASS_PX2: f32 = 0.3;
/// Maximum standard deviation of a sharp splat and minimum of a blurred one, as log2 of pixels.
const SHARP_LOG2_PX: [f32; 2] = [0.0, 2.6];
/// Standard deviation of a sharp splat in pixels.
const SHARP_PX: f32 = 1.0;
/// Contrast between neighbouring pixels that scores half of the maximum; the score saturates, so weak edges count too.
const HALF_DETAIL: f32 = 0.15;
/// Loss of weight at the middle of a picture edge; double in the corners.
const EDGE_LOSS: f32 = 0.35;
/// Ratios of near depth to depth at which a near object starts to hide a pixel, and hides it fully.
const HIDDEN: [f32; 2] = [0.8, 1.2];
/// Limit on the ratio of near depth to depth, so that one splat does not decide for a pixel.
const MAX_NEAR: f32 = 4.0;
/// Exponents of the unblurred and the unobstructed share.
const CLEAR_EXPONENTS: [i32; 2] = [2, 2];
/// Exponent of the covered share, which detail is divided by: an object in empty space need not fill the picture.
const COVERAGE_EXPONENT: f64 = 0.4;
/// Loss of a picture with half of its border covered: content is cut off.
const CUT_LOSS: f64 = 0.6;
/// Exponent of the cosine of the pitch: photographs are taken level.
const PITCH_EXPONENT: f64 = 1.5;
/// Median depth with half the score, in radii of the content: views of a place beat views of a thing in it.
const HALF_DEPTH: f64 = 0.35;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Score {
    pub(super) total: f64,
    /// Median depth of the visible content, 0 if nothing is visible.
    pub(super) depth: f64,
}

#[derive(Default)]
pub(super) struct Scorer {
    renderer: Renderer,
    frame: Option<Frame>,
}

pub(super) struct Scoring<'a> {
    pub(super) task: &'a Task,
    pub(super) sample: SplatSample,
    pub(super) intrinsics: Intrinsics,
    pub(super) settings: RenderSettings,
    pub(super) up: Vector3<f64>,
    pub(super) radius: f64,
    pub(super) near: f64,
}

impl Scorer {
    /// Scores a view; 0 for a view that no camera can have, and after a cancellation.
    pub(super) fn score(&mut self, scoring: &Scoring<'_>, candidate: &Candidate) -> Score {
        if scoring.task.is_cancelled() {
            return Score::default();
        }
        let target = candidate.eye + candidate.forward;
        let camera = Camera::look_at("", scoring.intrinsics, candidate.eye, target, scoring.up);
        let Ok(camera) = camera else { return Score::default() };
        let mut frame = self.frame.take().unwrap_or_else(|| Frame::new(1, 1));
        let sample = &scoring.sample;
        let (px, near) = (HEIGHT_PX / camera.height as f32, narrow(scoring.near));
        let drawn = self.renderer.render_recoloured(
            &mut frame,
            &sample.splats,
            &camera,
            &scoring.settings,
            scoring.task,
            |splat| features(splat, sample.size_factor(splat.index), px, near),
        );
        if drawn.is_err() {
            return Score::default();
        }
        let seen = Seen::of(&frame);
        self.frame = Some(frame);
        let depth =
            if seen.near_over_depth > 0.0 { scoring.near / seen.near_over_depth } else { 0.0 };
        let pitch = candidate.forward.dot(&scoring.up);
        let total =
            seen.total() * (1.0 - pitch * pitch).max(0.0).powf(PITCH_EXPONENT / 2.0) * depth
                / (depth + HALF_DEPTH * scoring.radius);
        Score { total: if total.is_finite() { total } else { 0.0 }, depth }
    }
}

/// Luminance, sharpness and inverse depth of a splat, in place of colours.
fn features(splat: &ProjectedSplat, size_factor: f32, px: f32, near: f32) -> [f32; 3] {
    let luminance = luminance(splat.colour).min(1.0);
    // Geometric mean of the two standard deviations.
    let variance = std::f32::consts::LOG2_E / 2.0 / (splat.u_per_x * splat.v_per_y);
    let size = (variance - LOW_PASS_PX2).max(0.0).sqrt() * size_factor * px;
    let near = (near / splat.depth).min(MAX_NEAR);
    [luminance, sharpness(size), near]
}

/// Sharpness of a splat of a size in pixels: from 1 (sharp) to 0 (blurred).
fn sharpness(size: f32) -> f32 {
    let [sharp, blurred] = SHARP_LOG2_PX;
    // Most splats are sharp, and need no logarithm.
    if size <= SHARP_PX {
        return 1.0;
    }
    let blur = (size.log2() - sharp) / (blurred - sharp);
    1.0 - blur.clamp(0.0, 1.0)
}

/// Weighted means over the pixels, 0 to 1.
#[derive(Debug, Default)]
struct Seen {
    detail: f64,
    /// Share covered by blurred splats.
    blur: f64,
    coverage: f64,
    /// Share hidden by near content.
    hidden: f64,
    border: f64,
    near_over_depth: f64,
}

impl Seen {
    fn of(frame: &Frame) -> Self {
        let (width, height) = (frame.width() as usize, frame.height() as usize);
        let pixels = frame.pixels();
        let mut seen = Self::default();
        let (mut weights, mut border_pixels) = (0.0, 0.0);
        let mut near = Vec::with_capacity(pixels.len());
        let from_centre = |at: usize, side: usize| (2.0 * at as f32 + 1.0) / side as f32 - 1.0;
        for y in 0..height - 1 {
            for x in 0..width - 1 {
                let at = y * width + x;
                let [here, right, below] = [pixels[at], pixels[at + 1], pixels[at + width]];
                let edge = (here[0] - right[0]).abs() + (here[0] - below[0]).abs();
                let sharpness = here[1].min(right[1]).min(below[1]);
                let (u, v) = (from_centre(x, width), from_centre(y, height));
                let weight = 1.0 - EDGE_LOSS * (u * u + v * v);
                let add = |sum: &mut f64, value: f32| *sum += f64::from(weight * value);
                add(&mut weights, 1.0);
                add(&mut seen.detail, edge / (edge + HALF_DETAIL) * sharpness);
                add(&mut seen.blur, (here[3] - here[1]).max(0.0));
                add(&mut seen.coverage, here[3]);
                let hidden = (here[2] - HIDDEN[0]) / (HIDDEN[1] - HIDDEN[0]);
                add(&mut seen.hidden, hidden.clamp(0.0, 1.0));
                if here[3] > 0.5 {
                    near.push(here[2] / here[3]);
                }
                if x == 0 || y == 0 || x == width - 2 || y == height - 2 {
                    seen.border += f64::from(here[3]);
                    border_pixels += 1.0;
                }
            }
        }
        for mean in [&mut seen.detail, &mut seen.blur, &mut seen.coverage, &mut seen.hidden] {
            *mean /= weights;
        }
        seen.border /= border_pixels;
        let middle = near.len() / 2;
        if middle < near.len() {
            let (_, median, _) = near.select_nth_unstable_by(middle, f32::total_cmp);
            seen.near_over_depth = f64::from(*median);
        }
        seen
    }

    fn total(&self) -> f64 {
        let [blur, hidden] = CLEAR_EXPONENTS;
        let cut = 4.0 * self.border * (1.0 - self.border);
        let clear = |share: f64, exponent| (1.0 - share).max(0.0).powi(exponent);
        self.detail / self.coverage.max(1e-3).powf(COVERAGE_EXPONENT)
            * clear(self.blur, blur)
            * clear(self.hidden, hidden)
            * (1.0 - CUT_LOSS * cut.max(0.0))
    }
}
