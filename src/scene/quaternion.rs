//! Quaternions without their largest component, as several formats store them.

use quadrille_base::math::narrow;

/// Unit quaternion from the index of its largest component and the `others` in order.
pub(super) fn with_largest(others: [f64; 3], index: usize) -> [f32; 4] {
    let squares: f64 = others.iter().map(|v| v * v).sum();
    let mut rest = others.into_iter();
    let largest = (1.0 - squares).max(0.0).sqrt();
    std::array::from_fn(|i| {
        if i == index { narrow(largest) } else { narrow(rest.next().unwrap_or(0.0)) }
    })
}

/// Index of the largest component, and the others in order. Signs are changed so that the largest one is positive.
pub(super) fn without_largest(q: [f64; 4]) -> (usize, [f64; 3]) {
    let mut largest = 0;
    for i in 1..4 {
        if q[i].abs() > q[largest].abs() {
            largest = i;
        }
    }
    let sign = if q[largest] < 0.0 { -1.0 } else { 1.0 };
    let mut others = (0..4).filter(|i| *i != largest).map(|i| q[i] * sign);
    (largest, std::array::from_fn(|_| others.next().unwrap_or(0.0)))
}

#[cfg(test)]
#[path = "tests/units/quaternion.rs"]
mod tests;
