//! Estimate of the direction that points up in a scene.
//!
//! Trained scenes do not store it. Floors, grounds and table tops are the largest surfaces of one direction in most scenes,
//! so the world axis along which level splats are most concentrated at one height is taken as the vertical. The mean
//! direction of these splats then corrects a tilt, since COLMAP's models are as tilted as their first camera.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use rayon::prelude::*;

use quadrille_base::math::whole;
use quadrille_base::{Result, Task};
use quadrille_scene::Splats;

const MAX_SAMPLES: usize = 1 << 15;
/// Quantile at which footprint areas are capped, so that no backdrop outweighs a floor.
const AREA_CAP: f64 = 0.95;
/// Minimum cosine between the shortest axis of a splat and a world axis at which the splat is level.
const ACROSS: f64 = 0.8;
/// Maximum ratio of the shortest to the next axis of a surface-like splat; needles and balls have no normal.
const FLAT: f64 = 0.95;
const BINS: usize = 60;
/// Quantiles of the splats' area at which the histograms begin and end.
const HISTOGRAM_SHARES: [f64; 2] = [0.02, 0.98];
/// Minimum ratio of the highest to the second peak at which the vertical axis is clear.
const CLEAR_PEAK: f64 = 1.3;
/// Cosines of the narrowing cones for the mean direction of level splats.
const CONES: [f64; 7] = [0.7, 0.8, 0.9, 0.95, 0.95, 0.97, 0.97];
/// Minimum share of the area in the last cone at which a tilt is corrected.
const LEVEL_SHARE: f64 = 0.3;
/// Range of tilts that are corrected, in degrees: smaller ones are invisible, larger ones are slopes.
const TILT_DEGREES: [f64; 2] = [4.0, 30.0];

struct Patch {
    mean: Vector3<f64>,
    /// Direction of the shortest axis, of length 1, or zero if unclear; see [`FLAT`].
    normal: Vector3<f64>,
    /// Area, capped at [`AREA_CAP`], times opacity.
    weight: f64,
}

/// Returns the unit vector that points up, or `default` without evidence. An axis has the sign that trainers
/// and modelling tools give it (-y, +z) unless both floor and content contradict it.
pub(super) fn up(splats: &Splats, default: Vector3<f64>, task: &Task) -> Result<Vector3<f64>> {
    let patches = patches(splats);
    if patches.is_empty() {
        return Ok(default);
    }
    let peak = |axis| task.check().map(|()| level_peak(&patches, axis));
    let peaks = [peak(0)?, peak(1)?, peak(2)?];
    let vertical = (0..3).max_by(|a, b| peaks[*a].share.total_cmp(&peaks[*b].share));
    let vertical = vertical.unwrap_or(default.iamax());
    let second = (0..3).filter(|axis| *axis != vertical);
    let second = second.map(|axis| peaks[axis].share).fold(0.0, f64::max);
    if peaks[vertical].share <= CLEAR_PEAK * second {
        return Ok(default);
    }
    let usual = if vertical == 1 { -1.0 } else { 1.0 };
    Ok(tilted(&patches, Vector3::ith(vertical, sign_of_up(&peaks[vertical], usual))))
}

struct Peak {
    /// Area of the level splats in the fullest bin, as a share of all splats' area.
    share: f64,
    /// Position of the bin between the ends of the scene, 0 to 1.
    position: f64,
    /// Area-weighted median position, 0 to 1.
    median: f64,
}

/// Returns the sign with which the axis points up. Floors are at the bottom, and most content stands on them. The
/// unusual sign is taken only if both agree on it, since a ceiling may be the larger surface.
fn sign_of_up(peak: &Peak, usual: f64) -> f64 {
    let below = |position: f64| if position < 0.5 { 1.0 } else { -1.0 };
    let (floor, content) = (below(peak.position), below(peak.median));
    if floor == content && floor != usual { -usual } else { usual }
}

fn level_peak(patches: &[Patch], axis: usize) -> Peak {
    let mut along: Vec<(f64, f64)> = patches.iter().map(|p| (p.mean[axis], p.weight)).collect();
    along.par_sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = along.iter().map(|(_, w)| w).sum();
    let quantile = |share: f64| {
        let mut below = 0.0;
        let found = along.iter().find(|(_, weight)| {
            below += weight;
            below >= share * total
        });
        found.or(along.last()).map_or(0.0, |(value, _)| *value)
    };
    let [low, high] = HISTOGRAM_SHARES.map(quantile);
    let extent = (high - low).max(f64::MIN_POSITIVE);
    let mut bins = [0.0; BINS];
    for patch in patches.iter().filter(|p| p.normal[axis].abs() > ACROSS) {
        let position = (patch.mean[axis] - low) / extent;
        let bin = whole::<usize>((position * BINS as f64).clamp(0.0, BINS as f64 - 1.0));
        bins[bin] += patch.weight;
    }
    let fullest = (0..BINS).max_by(|a, b| bins[*a].total_cmp(&bins[*b])).unwrap_or(0);
    Peak {
        share: bins[fullest] / total,
        position: (fullest as f64 + 0.5) / BINS as f64,
        median: (quantile(0.5) - low) / extent,
    }
}

/// Turns `axis` to the mean direction of level splats, if many agree on a tilt.
fn tilted(patches: &[Patch], axis: Vector3<f64>) -> Vector3<f64> {
    let total: f64 = patches.iter().map(|p| p.weight).sum();
    let mut up = axis;
    let mut share = 0.0;
    for cosine in CONES {
        let mut sum = Vector3::zeros();
        share = 0.0;
        for patch in patches {
            let along = patch.normal.dot(&up);
            if along.abs() > cosine {
                sum += patch.normal * (patch.weight * along.signum());
                share += patch.weight / total;
            }
        }
        match sum.try_normalize(0.0) {
            Some(mean) => up = mean,
            None => return axis,
        }
    }
    let is_tilted = (TILT_DEGREES[0]..=TILT_DEGREES[1]).contains(&up.angle(&axis).to_degrees());
    if is_tilted && share > LEVEL_SHARE { up } else { axis }
}

fn patches(splats: &Splats) -> Vec<Patch> {
    let mut patches: Vec<(Patch, f64)> = splats
        .sampled(MAX_SAMPLES)
        .filter(|s| s.opacity > 0.0)
        .map(|s| {
            let scale = s.scale.map(f64::from);
            let mut axes = [0, 1, 2];
            axes.sort_by(|a, b| scale[*a].total_cmp(&scale[*b]));
            let [shortest, next, longest] = axes;
            let is_flat = scale[shortest] <= FLAT * scale[next];
            let [w, x, y, z] = s.rotation.map(f64::from);
            let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let patch = Patch {
                mean: Vector3::from(splats.position(&s)),
                normal: turn * Vector3::ith(shortest, if is_flat { 1.0 } else { 0.0 }),
                weight: f64::from(s.opacity),
            };
            (patch, scale[next] * scale[longest])
        })
        .collect();
    let mut areas: Vec<f64> = patches.iter().map(|(_, area)| *area).collect();
    areas.sort_by(f64::total_cmp);
    let at = whole::<usize>(areas.len() as f64 * AREA_CAP);
    let cap = areas.get(at).or(areas.last()).copied().unwrap_or(0.0);
    for (patch, area) in &mut patches {
        patch.weight *= area.min(cap);
    }
    let patches = patches.into_iter().map(|(patch, _)| patch);
    patches.filter(|p| p.weight > 0.0 && p.weight.is_finite()).collect()
}

#[cfg(test)]
#[path = "tests/upright.rs"]
mod tests;
