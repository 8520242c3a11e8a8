//! A few thousand splats that draw the same small pictures as all splats of a scene.
//!
//! All splats above a threshold area are taken. Of the smaller splats, a share in proportion to their area
//! is taken and enlarged to the threshold, so that surfaces stay closed.

use quadrille_scene::{BLOCK, Splat, SplatBlock, Splats};

/// Opacity below which splats are left out.
const LEAST_OPACITY: f32 = 0.02;
/// Number of splats above which the threshold is estimated from every n-th splat.
const ESTIMATED_FROM: usize = 1 << 16;
const BISECTIONS: usize = 60;

/// Enlarged splats of degree 0, and their original sizes.
pub(super) struct SplatSample {
    pub(super) splats: Splats,
    /// Original size divided by enlarged size, by index: at most 1.
    size_factor: Vec<f32>,
}

impl SplatSample {
    pub(super) fn of(splats: &Splats, count: usize) -> Self {
        let least = if splats.len() <= count { 0.0 } else { least_area(splats, count) };
        let mut taken = Vec::with_capacity(count + count / 8);
        let mut size_factor = Vec::with_capacity(taken.capacity());
        // A splat is taken whenever the sum of all shares passes another whole number.
        let mut due = 0.5;
        for block in splats.blocks() {
            for lane in 0..BLOCK {
                if block.opacity[lane] < LEAST_OPACITY {
                    continue;
                }
                let share = share(area(block, lane), least);
                due += share;
                if due < 1.0 {
                    continue;
                }
                due -= 1.0;
                let factor = share.sqrt();
                let mut splat = Splat::load(block, &[], lane);
                splat.scale = splat.scale.map(|s| s / factor);
                taken.push(splat);
                size_factor.push(factor);
            }
        }
        Self { splats: Splats::from_splats(0, taken).with_origin(splats.origin()), size_factor }
    }

    pub(super) fn size_factor(&self, index: u32) -> f32 {
        self.size_factor.get(index as usize).copied().unwrap_or(1.0)
    }
}

/// Share of the splats of area `area` that are taken; `least` is the threshold area.
fn share(area: f32, least: f32) -> f32 {
    if area >= least { 1.0 } else { area / least }
}

/// Product of the two larger standard deviations.
fn area(block: &SplatBlock, lane: usize) -> f32 {
    let [x, y, z] = block.scale.map(|axis| axis[lane]);
    (x * y).max(y * z).max(z * x)
}

/// Threshold area for which the shares add up to `count`.
fn least_area(splats: &Splats, count: usize) -> f32 {
    let step = splats.len().div_ceil(ESTIMATED_FROM);
    let blocks = splats.blocks();
    let areas: Vec<f32> = (0..splats.len())
        .step_by(step)
        .map(|i| (&blocks[i / BLOCK], i % BLOCK))
        .filter(|(block, lane)| block.opacity[*lane] >= LEAST_OPACITY)
        .map(|(block, lane)| area(block, lane))
        .filter(|area| area.is_finite() && *area > 0.0)
        .collect();
    let wanted = count as f64 / step as f64;
    let (mut low, mut high) = (f32::MIN_POSITIVE.log2(), f32::MAX.log2());
    for _ in 0..BISECTIONS {
        let middle = f32::midpoint(low, high);
        let least = middle.exp2();
        let shares = areas.iter().map(|area| f64::from(share(*area, least)));
        if shares.sum::<f64>() > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.exp2()
}

#[cfg(test)]
#[path = "tests/sample.rs"]
mod tests;
