//! Statistics of a scene: bounds, quantiles and histograms.

use rayon::prelude::*;

use quadrille_base::math::{SimdLevel, narrow, whole};
use quadrille_scene::{BLOCK, Lanes, SplatBlock, Splats};

/// Sample size for quantiles and histograms of larger scenes; a median's standard error is below 0.03 % of the ranks.
const SAMPLE: usize = 1 << 22;

const BINS: usize = 8;

const CHUNK: usize = 1 << 16;

/// Quantiles and a histogram of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Quantiles at [`SceneStatistics::PROBABILITIES`], in the quantity's unit.
    pub quantiles: [f32; 7],
    /// Edges of the bins, ascending; one more than there are bins.
    pub edges: Vec<f32>,
    /// Splats per bin; the outer bins include values beyond the edges.
    pub counts: Vec<u64>,
}

/// Statistics of a scene; all fields are `None` for a scene without splats.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SceneStatistics {
    /// Minimum and maximum of the means, x, y, z in world units, over all splats.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// The 1 % and 99 % quantiles of the means, axis by axis.
    pub central_bounds: Option<[[f64; 3]; 2]>,
    /// Opacity, 0 to 1, in equal bins.
    pub opacity: Option<Distribution>,
    /// Largest standard deviation of each splat in world units, in bins of equal ratio.
    pub scale: Option<Distribution>,
    /// Largest divided by smallest standard deviation, 1 to infinity (flat), in bins of equal ratio.
    pub anisotropy: Option<Distribution>,
}

impl SceneStatistics {
    /// Probabilities of the quantiles of a [`Distribution`].
    pub const PROBABILITIES: [f64; 7] = [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0];

    /// Computes the statistics of `splats`. Above 4 million splats, quantiles and histograms are computed from a sample.
    pub fn of(splats: &Splats) -> Self {
        let step = splats.len().div_ceil(SAMPLE).max(1);
        let sample = |quantity: Quantity<'_>| sampled(splats, step, quantity);
        let central = [0, 1, 2].map(|axis| {
            let mut values = sample(&|block| block.mean[axis]);
            quantiles(&mut values, [0.01, 0.99]).map(|end| splats.origin()[axis] + f64::from(end))
        });
        let some = !splats.is_empty();
        let distribution = |quantity: Quantity<'_>, edge_at| {
            some.then(|| Distribution::of(&mut sample(quantity), edge_at))
        };
        Self {
            bounds: bounds(splats),
            central_bounds: some.then(|| [central.map(|c| c[0]), central.map(|c| c[1])]),
            opacity: distribution(&|block| block.opacity, |_, t| t),
            scale: distribution(&longest_axes, by_ratio),
            anisotropy: distribution(&anisotropies, by_ratio),
        }
    }
}

/// Maps quantiles and a position, 0 to 1, to an edge of a histogram.
type EdgeAt = fn(&[f32; 7], f32) -> f32;

/// Edges from the 1 % to the 99 % quantile, at equal ratios.
fn by_ratio(quantiles: &[f32; 7], t: f32) -> f32 {
    // Flat splats have an infinite ratio, and often all splats of a scene are flat.
    let [low, high] = [quantiles[1], quantiles[5]].map(|v| v.clamp(f32::MIN_POSITIVE, f32::MAX));
    // Computed in f64, where the ratio cannot overflow and rounding cannot swap two edges.
    let ratio = f64::from(high) / f64::from(low);
    narrow(f64::from(low) * ratio.powf(t.into())).max(low).min(high)
}

impl Distribution {
    /// Distribution of non-empty `values`, which are reordered.
    fn of(values: &mut [f32], edge_at: EdgeAt) -> Self {
        let quantiles = quantiles(values, SceneStatistics::PROBABILITIES);
        let edges: Vec<f32> =
            (0..=BINS).map(|i| edge_at(&quantiles, i as f32 / BINS as f32)).collect();
        let counts = counts(values, &edges);
        Self { quantiles, edges, counts }
    }
}

/// Counts the values between consecutive ascending edges; the outer bins include values beyond.
fn counts(values: &[f32], edges: &[f32]) -> Vec<u64> {
    let inner = &edges[1..edges.len() - 1];
    let level = SimdLevel::best();
    let below = values.par_chunks(CHUNK).map(|values| {
        let count = |edge: &f32| level.run(|| count_below(values, *edge));
        inner.iter().map(count).collect()
    });
    let sums = |a: Vec<u64>, b: Vec<u64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let mut cuts: Vec<u64> = below.reduce(|| vec![0; inner.len()], sums);
    cuts.insert(0, 0);
    cuts.push(values.len() as u64);
    cuts.windows(2).map(|w| w[1].saturating_sub(w[0])).collect()
}

#[inline(always)]
fn count_below(values: &[f32], edge: f32) -> u64 {
    values.iter().map(|value| u64::from(*value < edge)).sum()
}

type Quantity<'a> = &'a (dyn Fn(&SplatBlock) -> Lanes + Sync);

fn longest_axes(block: &SplatBlock) -> Lanes {
    let [x, y, z] = &block.scale;
    std::array::from_fn(|lane| x[lane].max(y[lane]).max(z[lane]))
}

/// Ratio of largest to smallest standard deviation of each splat; 1 if all are 0.
fn anisotropies(block: &SplatBlock) -> Lanes {
    let ([x, y, z], longest) = (&block.scale, longest_axes(block));
    std::array::from_fn(|lane| {
        let shortest = x[lane].min(y[lane]).min(z[lane]);
        if longest[lane] > 0.0 { longest[lane] / shortest } else { 1.0 }
    })
}

fn sampled(splats: &Splats, step: usize, quantity: Quantity<'_>) -> Vec<f32> {
    let blocks = splats.blocks();
    let mut values = vec![0.0; splats.len().div_ceil(step)];
    if step == 1 {
        let parts = values.par_chunks_mut(BLOCK).with_min_len(CHUNK / BLOCK);
        parts.zip(blocks).for_each(|(values, block)| {
            values.copy_from_slice(&quantity(block)[..values.len()]);
        });
    } else {
        values.par_iter_mut().enumerate().for_each(|(i, value)| {
            *value = quantity(&blocks[i * step / BLOCK])[i * step % BLOCK];
        });
    }
    values
}

/// Selects the values at the ranks nearest to ascending `probabilities` in linear time; 0 without values.
fn quantiles<const N: usize>(values: &mut [f32], probabilities: [f64; N]) -> [f32; N] {
    let last = values.len().saturating_sub(1);
    let mut above = values;
    let mut passed = 0;
    let mut found = 0.0;
    probabilities.map(|probability| {
        let rank = whole::<usize>((probability * last as f64).round()).min(last);
        // The values before `passed` are the smallest; a repeated rank has the value found last.
        if let Some(rank) = rank.checked_sub(passed).filter(|rank| *rank < above.len()) {
            let rest = std::mem::take(&mut above);
            let (_, value, rest) = rest.select_nth_unstable_by(rank, f32::total_cmp);
            found = *value;
            passed += rank + 1;
            above = rest;
        }
        found
    })
}

fn bounds(splats: &Splats) -> Option<[[f64; 3]; 2]> {
    let blocks = splats.blocks().par_iter().enumerate();
    let level = SimdLevel::best();
    let boxes = blocks.map(|(i, block)| {
        let lanes = BLOCK.min(splats.len() - i * BLOCK);
        level.run(|| {
            let mut corners = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
            for (axis, values) in block.mean.iter().enumerate() {
                for value in &values[..lanes] {
                    corners[0][axis] = corners[0][axis].min(*value);
                    corners[1][axis] = corners[1][axis].max(*value);
                }
            }
            corners
        })
    });
    let around = boxes.reduce_with(|a, b| {
        let axes = [0, 1, 2];
        [axes.map(|i| a[0][i].min(b[0][i])), axes.map(|i| a[1][i].max(b[1][i]))]
    });
    let in_world = |corner: [f32; 3]| [0, 1, 2].map(|i| splats.origin()[i] + f64::from(corner[i]));
    around.map(|corners| corners.map(in_world))
}

#[cfg(test)]
#[path = "tests/units/statistics.rs"]
mod tests;
