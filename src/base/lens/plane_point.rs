//! Points on the picture plane of a camera.

/// Point on the picture plane relative to the principal point, in units of the focal lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanePoint {
    /// Coordinates x and y.
    pub at: [f64; 2],
    /// Derivatives of `at` by the coordinates in view space: one row per coordinate of `at`.
    pub gradient: [[f64; 3]; 2],
}

impl PlanePoint {
    /// The slopes x/z and y/z of a point in view space; `None` behind the camera.
    pub(crate) fn of_slopes([x, y, z]: [f64; 3]) -> Option<Self> {
        (z > 0.0).then(|| Self {
            at: [x / z, y / z],
            gradient: [[1.0 / z, 0.0, -x / (z * z)], [0.0, 1.0 / z, -y / (z * z)]],
        })
    }
}

/// Largest angle up to `end` below which `grows` is true in all of `steps` steps.
pub(crate) fn growing_until(end: f64, steps: u32, grows: impl Fn(f64) -> bool) -> f64 {
    let angle = |step: u32| end * f64::from(step) / f64::from(steps);
    let Some(step) = (1..=steps).find(|step| !grows(angle(*step))) else { return end };
    let (mut low, mut high) = (angle(step - 1), angle(step));
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if grows(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
