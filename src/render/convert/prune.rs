//! Largest weight of each splat over all views, and removal of splats below a threshold.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::preprocess::{LOG2_ALPHA_CUT, PixelBounds, Preprocessed, ProjectedSplat};
use crate::visibility::Sight;
use quadrille_base::shading::{
    Accumulated, Blended, Profile, cap_rounded_down, falloff_alpha, falloff_exponent,
};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::{Camera, SplatTable, Splats};

/// Rows of pixels that a thread blends at a time.
const BAND_ROWS: usize = 16;

/// Drops the splats whose weight is below `threshold` in every pixel of every view; `path` names the input in errors.
/// Returns the warnings about views that show little or nothing, whose splats are dropped if no other view shows them.
///
/// # Errors
/// [`Error::Malformed`] for rows without a valid splat, [`Error::Argument`] without cameras, and
/// [`Error::Cancelled`].
pub fn prune(
    table: &mut SplatTable,
    threshold: f32,
    cameras: &[Camera],
    profile: &Profile,
    path: &Path,
    task: &Task,
) -> Result<Vec<String>> {
    Error::refuse_if(cameras.is_empty(), "cameras", "at least one camera", "none")?;
    let (splats, dropped) = table.splats_with(&task.without_progress())?;
    let expected = "valid splats (drop other rows with --drop-nan)";
    Error::malformed_if(dropped.total() > 0, path, "rows", expected, dropped)?;
    let (weights, in_view) = largest_weights(&splats, cameras, profile, task)?;
    let rows = (0u32..).zip(&weights);
    let kept: Vec<u32> =
        rows.filter(|(_, weight)| **weight >= threshold).map(|(row, _)| row).collect();
    table.select(&kept, task)?;
    let sights = cameras.iter().zip(in_view);
    let sights = sights.map(|(camera, in_view)| Sight::of(in_view, &splats, camera, profile));
    Ok(sights.filter_map(|sight| sight.warning().map(str::to_owned)).collect())
}

/// Returns the largest weight (transmittance times alpha) of each splat over all pixels of the views; 0 for a splat that
/// no view shows; and the number of splats in each view. The views are blended by the rules of `profile`. The task's
/// progress is in views.
pub fn largest_weights(
    splats: &Splats,
    cameras: &[Camera],
    profile: &Profile,
    task: &Task,
) -> Result<(Vec<f32>, Vec<u64>)> {
    let mut in_view = Vec::new();
    let largest: Vec<AtomicU32> = (0..splats.len()).map(|_| AtomicU32::new(0)).collect();
    let mut preprocessed = Preprocessed::default();
    let steps = task.steps(cameras.len() as u64);
    for camera in cameras {
        preprocessed.run(splats, camera, profile, task)?;
        in_view.push(preprocessed.splats_in_view() as u64);
        let drawn: Vec<_> = preprocessed.in_order().collect();
        (0..camera.height as usize).into_par_iter().step_by(BAND_ROWS).for_each(|first| {
            Band::new(camera, first, profile).blend(&drawn, task, |index, weight| {
                // The bits of non-negative floats sort like the floats. A maximum does not depend on the
                // order of the threads.
                largest[index as usize].fetch_max(weight.to_bits(), Ordering::Relaxed);
            });
        });
        steps.advance(1)?;
    }
    let weight = |bits: AtomicU32| f32::from_bits(bits.into_inner());
    Ok((largest.into_iter().map(weight).collect(), in_view))
}

struct Band<'a> {
    camera: &'a Camera,
    profile: &'a Profile,
    rows: std::ops::Range<usize>,
    pixels: Vec<Accumulated>,
}

impl<'a> Band<'a> {
    fn new(camera: &'a Camera, first: usize, profile: &'a Profile) -> Self {
        let rows = first..(first + BAND_ROWS).min(camera.height as usize);
        Self {
            camera,
            profile,
            pixels: vec![Accumulated::default(); rows.len() * camera.width as usize],
            rows,
        }
    }

    /// Blends all splats in order and calls `found` with the index and largest weight of each, until `task` is cancelled.
    fn blend(
        mut self,
        drawn: &[(&ProjectedSplat, PixelBounds)],
        task: &Task,
        mut found: impl FnMut(u32, f32),
    ) {
        let cap = cap_rounded_down(self.profile.alpha_cap);
        let width = self.camera.width as usize;
        let half = [self.camera.width, self.camera.height].map(|side| side as f32 / 2.0);
        for (splat, bounds) in drawn.iter().take_while(|_| !task.is_cancelled()) {
            let first = self.rows.start.max(bounds.y0.into());
            let end = self.rows.end.min(usize::from(bounds.y1) + 1);
            let mut largest = 0.0_f64;
            for y in first..end {
                let line = (y - self.rows.start) * width;
                let from_centre_y = y as f32 + 0.5 - half[1];
                for x in usize::from(bounds.x0)..=usize::from(bounds.x1) {
                    let from_centre_x = x as f32 + 0.5 - half[0];
                    let u = splat.u_at_centre - splat.u_per_y * from_centre_y
                        + splat.u_per_x * from_centre_x;
                    let v = splat.v_at_centre + splat.v_per_y * from_centre_y;
                    let exponent = falloff_exponent(u, v, splat.log2_opacity);
                    if exponent < LOG2_ALPHA_CUT {
                        continue;
                    }
                    let alpha = f64::from(falloff_alpha(exponent, cap));
                    let pixel = &mut self.pixels[line + x];
                    let before = pixel.transmittance;
                    if pixel.offer(alpha, [0.0; 3], self.profile.stop) == Blended::Yes {
                        largest = largest.max(before * alpha);
                    }
                }
            }
            if largest > 0.0 {
                found(splat.index, quadrille_base::math::narrow(largest));
            }
        }
    }
}
