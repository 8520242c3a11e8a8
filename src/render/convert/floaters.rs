//! Detection of floaters: splats in much sparser surroundings than their neighbours.

use quadrille_base::math::neighbours::{Neighbour, Neighbours};
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
#[path = "tests/floaters.rs"]
mod tests;
