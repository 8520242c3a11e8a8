//! Natural cubic splines through points of any dimension.

/// Natural cubic spline: continuous second derivatives, zero at the ends.
#[derive(Debug, Clone)]
pub struct CubicSpline {
    times: Vec<f64>,
    points: Vec<Vec<f64>>,
    bends: Vec<Vec<f64>>,
}

impl CubicSpline {
    /// Spline through `points` (at least one) at ascending `times`.
    pub fn through(times: Vec<f64>, points: Vec<Vec<f64>>) -> Self {
        let dimensions = points.first().map_or(0, Vec::len);
        let columns = (0..dimensions).map(|d| {
            let values: Vec<f64> = points.iter().map(|point| point[d]).collect();
            second_derivatives(&times, &values)
        });
        let columns: Vec<Vec<f64>> = columns.collect();
        let bends = (0..points.len()).map(|i| columns.iter().map(|column| column[i]).collect());
        Self { bends: bends.collect(), times, points }
    }

    /// Point at `time`, clamped to the range of the spline.
    pub fn at(&self, time: f64) -> Vec<f64> {
        let [before, after] = match between(&self.times, time) {
            Ok(keys) => keys,
            Err(end) => return self.points[end].clone(),
        };
        let step = self.times[after] - self.times[before];
        let b = (time - self.times[before]) / step;
        let a = 1.0 - b;
        let curve = [a * a * a - a, b * b * b - b].map(|c| c * step * step / 6.0);
        let values = (0..self.points[before].len()).map(|d| {
            a * self.points[before][d]
                + b * self.points[after][d]
                + curve[0] * self.bends[before][d]
                + curve[1] * self.bends[after][d]
        });
        values.collect()
    }
}

/// Indices of the keys before and after `time`; outside the range of keys, the index of the nearest one as an error.
pub fn between(times: &[f64], time: f64) -> Result<[usize; 2], usize> {
    let after = times.partition_point(|key| *key <= time);
    if after == 0 || after == times.len() {
        return Err(after.saturating_sub(1));
    }
    Ok([after - 1, after])
}

fn second_derivatives(times: &[f64], values: &[f64]) -> Vec<f64> {
    let count = times.len();
    let mut bends = vec![0.0; count];
    let mut factors = vec![0.0; count];
    for i in 1..count.saturating_sub(1) {
        let [before, after] = [times[i] - times[i - 1], times[i + 1] - times[i]];
        let slopes = (values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before;
        let pivot = 2.0 * (before + after) - before * factors[i - 1];
        factors[i] = after / pivot;
        bends[i] = (6.0 * slopes - before * bends[i - 1]) / pivot;
    }
    for i in (1..count.saturating_sub(1)).rev() {
        bends[i] -= factors[i] * bends[i + 1];
    }
    bends
}
