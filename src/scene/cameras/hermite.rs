//! Cubic Hermite splines through keyframes, as `SuperSplat`'s viewer interpolates camera tracks.
//!
//! A key's tangent is the slope between its neighbours times the smoothness: 0 stops at keys, 1 is a Catmull-Rom spline.

use quadrille_base::math::spline::between;

/// Keyframes at ascending times, with values of equal length.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HermiteKeys {
    pub(super) times: Vec<f64>,
    pub(super) points: Vec<Vec<f64>>,
    pub(super) smoothness: f64,
}

/// Extends a looping track on both sides with copies shifted by one loop of `length`.
pub(super) fn looped(keys: &HermiteKeys, length: f64) -> HermiteKeys {
    let count = keys.times.len();
    if count < 2 {
        return keys.clone();
    }
    let key = |index: usize, shift: f64| (keys.times[index] + shift, keys.points[index].clone());
    let before = [count - 2, count - 1].map(|index| key(index, -length));
    let after = [0, 1].map(|index| key(index, length));
    let own = (0..count).map(|index| key(index, 0.0));
    let (times, points) = before.into_iter().chain(own).chain(after).unzip();
    HermiteKeys { times, points, smoothness: keys.smoothness }
}

impl HermiteKeys {
    /// Values at `time`, clamped to the times of the first and last key.
    pub(super) fn at(&self, time: f64) -> Vec<f64> {
        let [before, after] = match between(&self.times, time) {
            Ok(keys) => keys,
            Err(end) => return self.points[end].clone(),
        };
        let step = self.times[after] - self.times[before];
        let t = (time - self.times[before]) / step;
        let values = (0..self.points[before].len()).map(|value| {
            let [p0, p1] = [before, after].map(|key| self.points[key][value]);
            let [m0, m1] =
                [before, after].map(|key| self.slope(key, value) * step * self.smoothness);
            let (s, t2) = (1.0 - t, t * t);
            p0 * (1.0 + 2.0 * t) * s * s
                + m0 * t * s * s
                + p1 * t2 * (3.0 - 2.0 * t)
                + m1 * t2 * (t - 1.0)
        });
        values.collect()
    }

    fn slope(&self, key: usize, value: usize) -> f64 {
        let (from, to) = (key.saturating_sub(1), (key + 1).min(self.times.len() - 1));
        let rise = self.points[to][value] - self.points[from][value];
        rise / (self.times[to] - self.times[from])
    }
}

#[cfg(test)]
#[path = "tests/hermite.rs"]
mod tests;
