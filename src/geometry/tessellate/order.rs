//! Order in which the triangles of a grid are submitted.

use quadrille_base::choice;
use quadrille_base::math::whole;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

choice! {
    /// Order of the triangles inside a grid. The paper on quad-fragment merging does not state it, and the
    /// number of merges that a small buffer finds depends on it.
    #[derive(Default)]
    pub enum GridOrder {
        /// Row by row.
        #[default]
        Rows = "rows",
        /// Ring by ring from the rim inwards, side by side within a ring, as Direct3D 11's tessellator
        Rings = "rings",
        /// Random order, from the seed; the same for all grids with the same number of triangles
        Random = "random",
    }
}

/// Factor that maps positions on a lattice to distinct integers: they are at most 64 and differ by over 1/32768.
const STEPS: f32 = 32_768.0;

impl GridOrder {
    /// Sorts triangles by their centroids on a lattice with the given sides.
    pub(super) fn sort<T>(
        self,
        triangles: &mut [T],
        sides: [f32; 2],
        seed: u64,
        centroid: impl Fn(&T) -> [f32; 2],
    ) {
        match self {
            Self::Rows => triangles.sort_by_cached_key(|t| {
                let [x, y] = centroid(t);
                (whole::<u32>(y), whole::<u32>(x * STEPS))
            }),
            Self::Rings => triangles.sort_by_cached_key(|t| ring_key(centroid(t), sides)),
            Self::Random => shuffle(triangles, seed),
        }
    }
}

/// Sort key: ring, side of the ring, and position along the side. Sides are counter-clockwise from (0, 0).
fn ring_key([x, y]: [f32; 2], [width, height]: [f32; 2]) -> (u32, usize, u32) {
    let from_sides = [y, width - x, height - y, x];
    let along_sides = [x, y, width - x, height - y];
    let mut nearest = 0;
    for side in 1..4 {
        if from_sides[side] < from_sides[nearest] {
            nearest = side;
        }
    }
    (whole(from_sides[nearest]), nearest, whole(along_sides[nearest] * STEPS))
}

fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut rng = Pcg32::seed_from_u64(seed);
    for last in (1..items.len()).rev() {
        items.swap(last, rng.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Centroids of the two triangles of each square of a lattice of 4 by 4.
    fn centroids() -> Vec<[f32; 2]> {
        let squares = (0..16_u8).map(|k| [k % 4, k / 4].map(f32::from));
        squares.flat_map(|[x, y]| [[x + 0.25, y + 0.5], [x + 0.75, y + 0.5]]).collect()
    }

    #[test]
    fn rings_go_around_the_rim_and_inwards() {
        let mut triangles = centroids();
        GridOrder::Rings.sort(&mut triangles, [4.0; 2], 1, |t| *t);
        let ring = |[x, y]: [f32; 2]| whole(x.min(y).min(4.0 - x).min(4.0 - y));
        let rings: Vec<u32> = triangles.iter().map(|t| ring(*t)).collect();
        assert_eq!(rings.iter().filter(|r| **r == 0).count(), 24);
        assert!(rings.is_sorted(), "{rings:?}");
        // The order is along the bottom to the right, up, along the top to the left, and down.
        let rim: Vec<[f32; 2]> = triangles[..24].to_vec();
        let at = |p: [f32; 2]| rim.iter().position(|t| *t == p).unwrap_or(usize::MAX);
        let places = [[1.25, 0.5], [2.25, 0.5], [3.75, 1.5], [2.25, 3.5], [0.25, 1.5]].map(at);
        assert!(places.is_sorted() && places[4] < 24, "{places:?}");
    }

    #[test]
    fn a_random_order_keeps_all_triangles() {
        let (mut one, mut other, mut again) = (centroids(), centroids(), centroids());
        GridOrder::Random.sort(&mut one, [4.0; 2], 1, |t| *t);
        GridOrder::Random.sort(&mut other, [4.0; 2], 2, |t| *t);
        GridOrder::Random.sort(&mut again, [4.0; 2], 1, |t| *t);
        assert!(one == again && one != other && one != centroids());
        GridOrder::Rows.sort(&mut one, [4.0; 2], 1, |t| *t);
        assert_eq!(one, centroids());
    }
}
