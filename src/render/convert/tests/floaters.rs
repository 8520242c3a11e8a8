//! Tests of the module `floaters`.

use super::*;

#[test]
fn points_apart_have_large_factors() {
    // Two planes, one ten times as dense as the other, and two points far from both.
    let mut points: Vec<[f32; 3]> = Vec::new();
    for i in 0..400u16 {
        let (column, line) = (f32::from(i % 20), f32::from(i / 20));
        points.push([column, line, 0.0]);
        points.push([100.0 + column * 0.1, line * 0.1, 0.0]);
    }
    points.push([10.0, 10.0, 30.0]);
    points.push([101.0, 1.0, 3.0]);
    let mut raw = RawColumns::zeroed(points.len(), 0);
    for (axis, column) in raw.mean.iter_mut().enumerate() {
        *column = points.iter().map(|p| f64::from(p[axis])).collect();
    }
    let factors = outlier_factors(&raw, &Task::NEVER).unwrap();
    let (apart, planes) = (&factors[800..], &factors[..800]);
    let largest = planes.iter().copied().fold(0.0, f32::max);
    assert!(largest < 1.6, "{largest}");
    assert!(apart.iter().all(|factor| *factor > 6.0), "{apart:?}");
}

#[test]
fn points_that_coincide_are_no_outliers() {
    let mut raw = RawColumns::zeroed(40, 0);
    raw.mean = [vec![1.0; 40], vec![2.0; 40], vec![3.0; 40]];
    assert!(outlier_factors(&raw, &Task::NEVER).unwrap().iter().all(|factor| *factor == 1.0));
}
