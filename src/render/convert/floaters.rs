//! Detection of floaters: splats in much sparser surroundings than their neighbours.

use super::neighbours::{Neighbour, Neighbours};
use quadrille_base::{Result, Task};
use quadrille_scene::table::RawColumns;

const NEIGHBOURS: usize = 16;

/// Computes the local outlier factor of each point: the mean density around its neighbours divided by the density around
/// the point (Breunig, Kriegel, Ng, Sander: "LOF: identifying density-based local outliers", SIGMOD 2000). It is about 1
/// within a surface of any density, also at the surface's edge, and large for isolated points.
pub(super) fn outlier_factors(raw: &RawColumns, task: &Task) -> Result<Vec<f32>> {
    let tree = Neighbours::new(raw.positions(), raw.origin(), task);
    let all = tree.of_all(NEIGHBOURS, task, |_, nearest| nearest.to_vec())?;
    let distance = |neighbour: &Neighbour| f64::from(neighbour.distance_squared).sqrt();
    let reach: Vec<f64> = all.iter().map(|nearest| nearest.last().map_or(0.0, distance)).collect();
    let mean = |nearest: &[Neighbour], of: &dyn Fn(&Neighbour) -> f64| {
        nearest.iter().map(of).sum::<f64>() / nearest.len().max(1) as f64
    };
    task.check()?;
    // The lower bound keeps the density of coincident points finite.
    let density = |nearest: &Vec<Neighbour>| {
        let reachability = |n: &Neighbour| distance(n).max(reach[n.row as usize]);
        1.0 / mean(nearest, &reachability).max(f64::from(f32::MIN_POSITIVE))
    };
    let density: Vec<f64> = all.iter().map(density).collect();
    task.check()?;
    let factor = |(nearest, own): (&Vec<Neighbour>, &f64)| {
        quadrille_base::math::narrow(mean(nearest, &|n| density[n.row as usize]) / own)
    };
    Ok(all.iter().zip(&density).map(factor).collect())
}

#[cfg(test)]
mod tests {
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
}
