//! Triangles of a grid whose four sides have different numbers of segments: rows of quads inside, and a
//! ring of triangles around them (the layout of Direct3D 11's tessellator).
//!
//! Vertices are numbered along the perimeter, from corner 0 counter-clockwise, then row by row inside. The inner vertices
//! are on a lattice of `columns` x `rows` quads, the greater factors of opposite sides.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use super::order::GridOrder;
use crate::grid::{Topology, neighbours};
use crate::surface::along_side;

/// Segments of the four sides of a grid, each at most [`super::MAX_EDGE_FACTOR`].
pub(super) type Factors = [u8; 4];

pub(super) fn lattice([a, b, c, d]: Factors) -> [u16; 2] {
    [a.max(c), b.max(d)].map(u16::from)
}

#[derive(Debug)]
pub(super) struct Topologies {
    order: GridOrder,
    seed: u64,
    known: RwLock<HashMap<Factors, Arc<Topology>>>,
}

impl Topologies {
    /// Creates a cache of topologies with triangles in this order; `seed` seeds a random order.
    pub(super) fn new(order: GridOrder, seed: u64) -> Self {
        Self { order, seed, known: RwLock::default() }
    }

    pub(super) fn get(&self, factors: Factors) -> Arc<Topology> {
        let known = self.known.read().ok().and_then(|all| all.get(&factors).cloned());
        known.unwrap_or_else(|| {
            let new = Arc::new(stitched(factors, self.order, self.seed));
            match self.known.write() {
                Ok(mut all) => all.entry(factors).or_insert(new).clone(),
                Err(_) => new,
            }
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    vertex: u16,
    position: [f32; 2],
}

fn side(factors: Factors, number: usize) -> Vec<Node> {
    let [columns, rows] = lattice(factors).map(f32::from);
    let before: u16 = factors[..number].iter().copied().map(u16::from).sum();
    let all: u16 = factors.iter().copied().map(u16::from).sum();
    let count = u16::from(factors[number]);
    let node = |i: u16| {
        let t = f32::from(i) / f32::from(count.max(1));
        let [u, v] = along_side(u8::try_from(number).unwrap_or(0), t);
        Node { vertex: (before + i) % all, position: [u * columns, v * rows] }
    };
    (0..=count).map(node).collect()
}

/// Triangulates between an outer chain and a parallel chain to its left. `key` increases along both.
fn zip(outer: &[Node], inner: &[Node], key: impl Fn([f32; 2]) -> f32, out: &mut Vec<[Node; 3]>) {
    let (mut i, mut j) = (0, 0);
    let middle = |chain: &[Node], k: usize| key(chain[k].position) + key(chain[k + 1].position);
    while i + 1 < outer.len() || j + 1 < inner.len() {
        let takes_outer =
            j + 1 >= inner.len() || (i + 1 < outer.len() && middle(outer, i) <= middle(inner, j));
        if takes_outer {
            out.push([outer[i], outer[i + 1], inner[j]]);
            i += 1;
        } else {
            out.push([outer[i], inner[j + 1], inner[j]]);
            j += 1;
        }
    }
}

fn stitched(factors: Factors, order: GridOrder, seed: u64) -> Topology {
    let [columns, rows] = lattice(factors);
    let total: u16 = factors.iter().copied().map(u16::from).sum();
    let mut triangles = Vec::new();
    if total > 0 {
        let sides: [Vec<Node>; 4] = std::array::from_fn(|s| side(factors, s));
        let backwards = |chain: &Vec<Node>| chain.iter().rev().copied().collect::<Vec<_>>();
        if rows <= 1 {
            zip(&sides[0], &backwards(&sides[2]), |p| p[0], &mut triangles);
        } else if columns <= 1 {
            zip(&sides[1], &backwards(&sides[3]), |p| p[1], &mut triangles);
        } else {
            let node = |x: u16, y: u16| Node {
                vertex: total + (y - 1) * (columns - 1) + x - 1,
                position: [x, y].map(f32::from),
            };
            let low: Vec<_> = (1..columns).map(|x| node(x, 1)).collect();
            let high: Vec<_> = (1..columns).rev().map(|x| node(x, rows - 1)).collect();
            let right: Vec<_> = (1..rows).map(|y| node(columns - 1, y)).collect();
            let left: Vec<_> = (1..rows).rev().map(|y| node(1, y)).collect();
            zip(&sides[0], &low, |p| p[0], &mut triangles);
            zip(&sides[1], &right, |p| p[1], &mut triangles);
            zip(&sides[2], &high, |p| -p[0], &mut triangles);
            zip(&sides[3], &left, |p| -p[1], &mut triangles);
            for y in 1..rows - 1 {
                let row = |y: u16| (1..columns).map(|x| node(x, y)).collect::<Vec<_>>();
                zip(&row(y), &row(y + 1), |p| p[0], &mut triangles);
            }
        }
    }
    triangles.retain(|t| {
        let [a, b, c] = t.map(|node| node.vertex);
        a != b && b != c && c != a
    });
    let centroid = |t: &[Node; 3]| {
        let mean =
            |axis: usize| (t[0].position[axis] + t[1].position[axis] + t[2].position[axis]) / 3.0;
        [mean(0), mean(1)]
    };
    order.sort(&mut triangles, [columns, rows].map(f32::from), seed, centroid);
    let triangles: Vec<[u16; 3]> = triangles.iter().map(|t| t.map(|node| node.vertex)).collect();
    Topology { neighbours: neighbours(&triangles), triangles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{MAX_GRID_TRIANGLES, NO_NEIGHBOUR};

    /// Checks that segments of the perimeter have one triangle, other edges have two, and neighbours are symmetric.
    fn check(factors: Factors) {
        let topology = stitched(factors, GridOrder::Rows, 1);
        let total: u16 = factors.iter().copied().map(u16::from).sum();
        let n = topology.triangles.len();
        assert!(n <= MAX_GRID_TRIANGLES, "{factors:?}: {n}");
        let mut edges: HashMap<[u16; 2], u32> = HashMap::new();
        for t in &topology.triangles {
            for k in 0..3 {
                *edges.entry([t[k], t[(k + 1) % 3]]).or_default() += 1;
            }
        }
        for (&[a, b], &count) in &edges {
            assert_eq!(count, 1, "{factors:?}: {a} {b}");
            let is_rim = a < total && b < total && b == (a + 1) % total;
            let back = edges.contains_key(&[b, a]);
            assert!(is_rim || back, "{factors:?}: {a} {b} is open");
        }
        if total > 2 {
            let rim = (0..total).all(|a| edges.contains_key(&[a, (a + 1) % total]));
            assert!(rim, "{factors:?}: a part of the perimeter has no triangle");
        }
        for (number, across) in topology.neighbours.iter().enumerate() {
            for &other in across.iter().filter(|o| **o != NO_NEIGHBOUR) {
                let back = topology.neighbours[usize::from(other)];
                assert!(back.contains(&u16::try_from(number).unwrap()));
            }
        }
    }

    #[test]
    fn grids_are_closed_and_within_the_mask() {
        for a in 0..=16 {
            for b in (0..=16).step_by(3).chain([1, 2]) {
                for c in (0..=16).step_by(4).chain([1, 2, 3]) {
                    for d in [0, 1, 2, 3, 7, 16] {
                        check([a, b, c, d]);
                    }
                }
            }
        }
    }

    #[test]
    fn long_grids_are_closed() {
        for [long, short] in [[64, 4], [64, 1], [51, 5], [33, 7], [64, 2]] {
            for other in [long, long - 1, long / 2, 1, 0] {
                check([long, short, other, short]);
                check([short, other, 1, long]);
            }
        }
    }

    #[test]
    fn even_grids_are_quads_in_rows() {
        assert_eq!(stitched([4, 3, 4, 3], GridOrder::Rows, 1).triangles.len(), 24);
        assert_eq!(stitched([16; 4], GridOrder::Rows, 1).triangles.len(), MAX_GRID_TRIANGLES);
        assert_eq!(stitched([1; 4], GridOrder::Rows, 1).triangles, [[0, 1, 3], [1, 2, 3]]);
    }
}
