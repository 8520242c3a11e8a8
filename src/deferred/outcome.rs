//! Amounts of blur in a frame.

use super::frame::StochasticFrame;

/// Median and 95th percentile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quantiles {
    /// Half of the values are at most this one.
    pub median: f64,
    /// 95 of 100 values are at most this one.
    pub p95: f64,
}

/// Blur of the primitives that samples show, measured at their centroids, one sample per pixel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BlurAmounts {
    /// Length of the motion on the picture while the shutter is open, in pixels.
    pub motion_px: Quantiles,
    /// Diameter of the circle of confusion half-way through the exposure, in pixels.
    pub coc_px: Quantiles,
}

impl Quantiles {
    /// Quantiles of values (nearest rank); 0 of none.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let rank = |hundredths: usize| {
            let at = (values.len() * hundredths).div_ceil(100).max(1) - 1;
            values.get(at).copied().unwrap_or(0.0)
        };
        Self {
            median: rank(50),
            p95: rank(95),
        }
    }
}

impl StochasticFrame {
    /// Measures the blur of what the first sample of each pixel shows.
    pub fn blur(&self) -> BlurAmounts {
        let samples = self.visible.samples as usize;
        let (mut motions, mut cocs) = (Vec::new(), Vec::new());
        let mut last = (0, [0.0; 2]);
        for spid in self.visible.spids.iter().step_by(samples) {
            if spid.is_background() {
                continue;
            }
            if spid.primitive != last.0 {
                last = (spid.primitive, self.blur_of(spid.primitive));
            }
            motions.push(last.1[0]);
            cocs.push(last.1[1]);
        }
        BlurAmounts {
            motion_px: Quantiles::of(motions),
            coc_px: Quantiles::of(cocs),
        }
    }

    /// Motion and circle of confusion of the centroid of a primitive; 0 if it is not in front of the
    /// camera.
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
        let values = (1..=100).map(f64::from).rev().collect();
        let quantiles = Quantiles::of(values);
        assert_eq!((quantiles.median, quantiles.p95), (50.0, 95.0));
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
        assert_eq!(Quantiles::of(vec![3.0]).p95, 3.0);
    }
}
