//! Natural cubic splines through points of any dimension.

/// A curve with continuous second derivatives, which are zero at its ends.
#[derive(Debug, Clone)]
pub(super) struct CubicSpline {
    /// Times of the keys, in ascending order.
    times: Vec<f64>,
    points: Vec<Vec<f64>>,
    /// Second derivatives at the points.
    bends: Vec<Vec<f64>>,
}

impl CubicSpline {
    /// The spline through `points` of one dimension at `times`, which ascend; at least one.
    pub(super) fn through(times: Vec<f64>, points: Vec<Vec<f64>>) -> Self {
        let dimensions = points.first().map_or(0, Vec::len);
        let columns = (0..dimensions).map(|d| {
            let values: Vec<f64> = points.iter().map(|point| point[d]).collect();
            second_derivatives(&times, &values)
        });
        let columns: Vec<Vec<f64>> = columns.collect();
        let bends = (0..points.len()).map(|i| columns.iter().map(|column| column[i]).collect());
        Self {
            bends: bends.collect(),
            times,
            points,
        }
    }

    /// The point at `time`, which is clamped to the range of the spline.
    pub(super) fn at(&self, time: f64) -> Vec<f64> {
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

/// The keys before and after `time`, or the key at the end that it is beyond.
pub(super) fn between(times: &[f64], time: f64) -> Result<[usize; 2], usize> {
    let after = times.partition_point(|key| *key <= time);
    if after == 0 || after == times.len() {
        return Err(after.saturating_sub(1));
    }
    Ok([after - 1, after])
}

/// Solves the tridiagonal system of the second derivatives of one dimension.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_a_hump_worked_by_hand() {
        let line = CubicSpline::through(
            vec![0.0, 1.0, 3.0, 4.0],
            [0.0, 2.0, 6.0, 8.0].map(|v| vec![v]).to_vec(),
        );
        for time in [0.0, 0.5, 2.25, 3.5, 4.0] {
            assert!((line.at(time)[0] - 2.0 * time).abs() < 1e-12, "{time}");
        }
        let hump = CubicSpline::through(
            vec![0.0, 1.0, 2.0],
            [0.0, 1.0, 0.0].map(|v| vec![v, -v]).to_vec(),
        );
        // By hand: the second derivative in the middle is -3, so f(1/2) = 1/2 + 3/16.
        assert!((hump.at(0.5)[0] - 0.6875).abs() < 1e-12);
        assert!((hump.at(1.5)[1] + 0.6875).abs() < 1e-12);
    }

    #[test]
    fn slopes_and_bends_are_continuous() {
        let times = vec![0.0, 0.7, 2.0, 2.5, 4.0];
        let points = [1.0, -2.0, 0.5, 3.0, 1.0].map(|v| vec![v]).to_vec();
        let spline = CubicSpline::through(times.clone(), points.clone());
        let f = |t: f64| spline.at(t)[0];
        for (time, point) in times.iter().zip(&points) {
            assert!((f(*time) - point[0]).abs() < 1e-12);
        }
        let h = 1e-4;
        for t in &times[1..4] {
            let [left, right] = [f(*t) - f(t - h), f(t + h) - f(*t)];
            // Equal slopes: the difference comes from curvature and is of order h^2.
            assert!((right - left).abs() < 100.0 * h * h, "{t}");
        }
    }
}
