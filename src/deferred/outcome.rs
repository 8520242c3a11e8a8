//! Statistics of the visible primitives of a frame: amount of blur, and kinds of shading grids.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::frame::StochasticFrame;
use super::shading::grid::ShadingGrid;

/// Weighted quantiles by nearest rank: each is one of the values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// 50th percentile by nearest rank.
    pub median: f64,
    /// 95th percentile by nearest rank.
    pub p95: f64,
}

/// Blur of the primitives visible in the first sample of each pixel, measured at the centroids of the primitives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlurAmounts {
    /// Length of the motion on the picture while the shutter is open, in pixels.
    pub motion_px: Quantiles,
    /// Diameter of the circle of confusion half-way through the exposure, in pixels.
    pub coc_px: Quantiles,
}

/// Numbers of shading grids of the primitives visible in the first sample of any pixel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GridCounts {
    /// Grids of any kind, one per visible primitive.
    pub visible: u64,
    /// Grids in barycentric coordinates, of triangles seen edge on or too near at all three times that are tried.
    pub(crate) barycentric: u64,
    /// Grids with enlarged cells, because cells of the regular size would exceed the largest grid.
    pub(crate) coarsened: u64,
}

impl Quantiles {
    /// Weighted quantiles of `(value, count)` pairs by nearest rank; 0 without values.
    fn of(mut values: Vec<(f64, u64)>) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let count: u64 = values.iter().map(|(_, count)| count).sum();
        let rank = |hundredths: u64| {
            let mut left = (count * hundredths).div_ceil(100).max(1);
            let holds = |(_, count): &&(f64, u64)| {
                let is_here = left <= *count;
                left = left.saturating_sub(*count);
                is_here
            };
            values.iter().find(holds).map_or(0.0, |(value, _)| *value)
        };
        Self { median: rank(50), p95: rank(95) }
    }
}

impl StochasticFrame {
    /// Measures the blur of `primitives`, one entry per pixel in ascending order.
    pub fn blur(&self, primitives: &[u32]) -> BlurAmounts {
        let blurs: Vec<([f64; 2], u64)> = primitives
            .par_chunk_by(|a, b| a == b)
            .map(|pixels| (self.blur_of(pixels[0]), pixels.len() as u64))
            .collect();
        let of = |kind: usize| {
            Quantiles::of(blurs.iter().map(|(blur, count)| (blur[kind], *count)).collect())
        };
        BlurAmounts { motion_px: of(0), coc_px: of(1) }
    }

    /// Counts the shading grids of `primitives`, one entry per pixel in ascending order.
    pub(crate) fn grid_counts(&self, primitives: &[u32]) -> GridCounts {
        let view = self.grid_view();
        let grids: Vec<_> = primitives
            .par_chunk_by(|a, b| a == b)
            .map(|pixels| {
                let found = self.geometry.find(pixels[0]);
                ShadingGrid::new(&found.moving(&self.view, pixels[0]), &view)
            })
            .collect();
        let count = |is: fn(&ShadingGrid) -> bool| grids.iter().filter(|g| is(g)).count() as u64;
        GridCounts {
            visible: grids.len() as u64,
            barycentric: count(|grid| grid.is_barycentric),
            coarsened: count(|grid| grid.is_coarsened),
        }
    }

    /// Primitives visible in the first sample of each covered pixel, in ascending order with repetitions.
    pub(crate) fn first_samples(&self) -> Vec<u32> {
        let mut primitives: Vec<u32> = self
            .visible
            .spids
            .par_iter()
            .step_by(self.visible.samples as usize)
            .filter(|spid| !spid.is_background())
            .map(|spid| spid.primitive)
            .collect();
        primitives.par_sort_unstable();
        primitives
    }

    /// Motion and circle of confusion of a primitive's centroid; 0 if it is not in front of the camera.
    fn blur_of(&self, primitive: u32) -> [f64; 2] {
        let moving = self.geometry.find(primitive).moving(&self.view, primitive);
        let centroid = |corners: [[f32; 3]; 3]| {
            [0, 1, 2].map(|k| corners.iter().map(|p| f64::from(p[k])).sum::<f64>() / 3.0)
        };
        let [start, middle, end] = [0.0, 0.5, 1.0].map(|time| centroid(moving.at(time)));
        if [start, middle, end].iter().any(|p| p[2] <= 0.0) {
            return [0.0; 2];
        }
        let off = |k: usize| end[k] / end[2] - start[k] / start[2];
        [off(0).hypot(off(1)), self.view.shear().coc_px(middle[2])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values() {
        let values = (1..=100).map(|v| (f64::from(v), 1)).rev().collect();
        let quantiles = Quantiles::of(values);
        assert_eq!((quantiles.median, quantiles.p95), (50.0, 95.0));
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
        assert_eq!(Quantiles::of(vec![(3.0, 1)]).p95, 3.0);
        // 1, 1, 1, 2, 7, 7, 7, 7, 7, 7
        let several = Quantiles::of(vec![(7.0, 6), (1.0, 3), (2.0, 1)]);
        assert_eq!((several.median, several.p95), (7.0, 7.0));
        let half = Quantiles::of(vec![(7.0, 5), (1.0, 4), (2.0, 1)]);
        assert_eq!((half.median, half.p95), (2.0, 7.0));
    }
}
