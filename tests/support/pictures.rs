//! Differences between pictures, collected over several pairs.

use quadrille::Frame;

/// The largest difference of a channel, alpha among them, of every pixel whose expected value is
/// finite; infinite where the other picture's is not. In units of the brightest expected value of
/// the picture where that is above 1.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    of_pixels: Vec<f64>,
    /// Pixels that are ignored, since the expected value is not finite.
    pub(crate) undefined: usize,
}

impl Differences {
    pub(crate) fn between(found: &Frame, expected: &Frame) -> Self {
        let mut differences = Self::default();
        differences.add(found, expected);
        differences
    }

    /// Adds the differences of another pair.
    pub(crate) fn add(&mut self, found: &Frame, expected: &Frame) {
        let size = |f: &Frame| (f.width(), f.height());
        assert_eq!(size(found), size(expected), "sizes of the pictures");
        let values = expected.pixels().as_flattened().iter().copied();
        let brightest = values.filter(|v| v.is_finite()).fold(1.0, f32::max);
        for (found, expected) in found.pixels().iter().zip(expected.pixels()) {
            if !expected.iter().all(|v| v.is_finite()) {
                self.undefined += 1;
                continue;
            }
            let channel = |(f, e): (&f32, &f32)| {
                let difference = (f64::from(*f) - f64::from(*e)).abs();
                if difference.is_nan() { f64::INFINITY } else { difference / f64::from(brightest) }
            };
            let largest = found.iter().zip(expected).map(channel).fold(0.0, f64::max);
            self.of_pixels.push(largest);
        }
    }

    /// Adds all of `other`.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.of_pixels.append(&mut other.of_pixels);
        self.undefined += other.undefined;
    }

    /// Number of compared pixels.
    pub(crate) fn len(&self) -> usize {
        self.of_pixels.len()
    }

    pub(crate) fn max(&self) -> f64 {
        self.of_pixels.iter().copied().fold(0.0, f64::max)
    }

    /// The bound of the differences of all but a thousandth of the pixels (rounded down).
    pub(crate) fn p99_9(&self) -> f64 {
        let mut sorted = self.of_pixels.clone();
        sorted.sort_by(f64::total_cmp);
        let within = sorted.len() - sorted.len() / 1000;
        within.checked_sub(1).map_or(0.0, |last| sorted[last])
    }

    /// Number of pixels that differ by more than `bound`.
    pub(crate) fn strays(&self, bound: f64) -> usize {
        self.of_pixels.iter().filter(|d| **d > bound).count()
    }
}
