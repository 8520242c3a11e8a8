//! One step of Catmull-Clark subdivision with creases (Catmull and Clark 1978; DeRose, Kass and
//! Truong 1998, "Subdivision Surfaces in Character Animation", section 3 and appendix B).

use nalgebra::Vector3;

use super::cage::{Cage, Edges, ordered};
use quadrille_base::math::fit;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// Mean over all neighbours, for a vertex with at most one sharp edge.
    Smooth,
    /// Mean along the crease between two neighbours.
    Crease([u32; 2]),
    /// The vertex keeps its position.
    Corner,
}

/// Rule of each vertex and its weight, 0 to 1. [`Rule::Smooth`] has the remaining weight.
pub(super) struct Rules(pub(super) Vec<(Rule, f32)>);

#[derive(Debug, Clone, Copy, Default)]
struct Around {
    faces: u32,
    sharp_edges: u32,
    sharp_ends: [u32; 2],
    sharpness: f32,
}

impl Rules {
    pub(super) fn new(cage: &Cage, edges: &Edges, is_pinched: &[bool]) -> Self {
        let mut around = vec![Around::default(); cage.positions.len()];
        for &vertex in &cage.corners {
            around[vertex as usize].faces += 1;
        }
        for (ends, &sharpness) in edges.ends.iter().zip(&edges.sharpness) {
            for (vertex, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let seen = &mut around[vertex as usize];
                if sharpness > 0.0 {
                    if let Some(end) = seen.sharp_ends.get_mut(seen.sharp_edges as usize) {
                        *end = other;
                    }
                    seen.sharp_edges += 1;
                    seen.sharpness += sharpness;
                }
            }
        }
        let rule = |(vertex, seen): (usize, &Around)| {
            let mean = seen.sharpness / seen.sharp_edges.max(1) as f32;
            let own = cage.sharp_vertices[vertex];
            // A border vertex of a single face stays, since edges and corners are interpolated.
            let is_tip = seen.faces == 1;
            if is_pinched[vertex] || is_tip || seen.faces == 0 {
                (Rule::Corner, 1.0)
            } else if own > 0.0 {
                (Rule::Corner, own.min(1.0))
            } else {
                match seen.sharp_edges {
                    0 | 1 => (Rule::Smooth, 1.0),
                    2 => (Rule::Crease(seen.sharp_ends), mean.min(1.0)),
                    _ => (Rule::Corner, mean.min(1.0)),
                }
            }
        };
        Self(around.iter().enumerate().map(rule).collect())
    }
}

/// Positions of the next level: vertex points, then edge points, then face points.
fn positions(cage: &Cage, edges: &Edges, rules: &Rules) -> Vec<Vector3<f64>> {
    let centre = |face: usize| {
        let range = cage.face(face);
        let sum: Vector3<f64> =
            cage.corners[range.clone()].iter().map(|v| cage.positions[*v as usize]).sum();
        sum / range.len() as f64
    };
    let centres: Vec<Vector3<f64>> = (0..cage.faces()).map(centre).collect();
    let mut face_sums = vec![(Vector3::zeros(), 0_u32); cage.positions.len()];
    let mut edge_sums = face_sums.clone();
    let mut beside_edge = vec![(Vector3::zeros(), 0_u32); edges.ends.len()];
    for (face, point) in centres.iter().enumerate() {
        for corner in cage.face(face) {
            let vertex = &mut face_sums[cage.corners[corner] as usize];
            *vertex = (vertex.0 + point, vertex.1 + 1);
            let edge = &mut beside_edge[edges.of_corner[corner] as usize];
            *edge = (edge.0 + point, edge.1 + 1);
        }
    }
    for ends in &edges.ends {
        for (vertex, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let sum = &mut edge_sums[vertex as usize];
            *sum = (sum.0 + cage.positions[other as usize], sum.1 + 1);
        }
    }
    let at = |v: u32| cage.positions[v as usize];
    let moved = |(vertex, &(rule, share)): (usize, &(Rule, f32))| {
        let here = cage.positions[vertex];
        let (sharp, share) = match rule {
            Rule::Smooth => (here, 0.0),
            Rule::Corner => (here, f64::from(share)),
            Rule::Crease([a, b]) => ((at(a) + at(b) + here * 6.0) / 8.0, f64::from(share)),
        };
        if share >= 1.0 {
            return sharp;
        }
        let n = f64::from(edge_sums[vertex].1);
        let faces = face_sums[vertex].0 / f64::from(face_sums[vertex].1);
        let smooth = (here * (n - 2.0) + edge_sums[vertex].0 / n + faces) / n;
        smooth * (1.0 - share) + sharp * share
    };
    let mut all: Vec<Vector3<f64>> = rules.0.iter().enumerate().map(moved).collect();
    all.extend(edges.ends.iter().enumerate().map(|(edge, ends)| {
        let middle = (at(ends[0]) + at(ends[1])) / 2.0;
        let share = f64::from(edges.sharpness[edge].min(1.0));
        if share >= 1.0 {
            return middle;
        }
        let (sum, count) = beside_edge[edge];
        let smooth = (middle + sum / f64::from(count)) / 2.0;
        smooth * (1.0 - share) + middle * share
    }));
    all.extend(centres);
    all
}

/// Returns the next level, with one quad per corner of `cage`, in order. The children of a quad keep its directions and
/// tile its parameters: corner `c` is corner `c` of child `c`. The children of other faces begin at the old vertex.
pub(super) fn refined(cage: &Cage, edges: &Edges, rules: &Rules) -> Cage {
    let first_edge = fit::<u32>(cage.positions.len());
    let first_face = first_edge + fit::<u32>(edges.ends.len());
    let mut next = Cage {
        positions: positions(cage, edges, rules),
        corners: Vec::with_capacity(4 * cage.corners.len()),
        starts: Vec::with_capacity(cage.corners.len() + 1),
        ..Cage::default()
    };
    for face in 0..cage.faces() {
        let range = cage.face(face);
        let is_quad = range.len() == 4;
        for (at, corner) in range.enumerate() {
            let [before, _] = cage.neighbours(face, corner);
            let mut child = [
                cage.corners[corner],
                first_edge + edges.of_corner[corner],
                first_face + fit::<u32>(face),
                first_edge + edges.of_corner[before],
            ];
            if is_quad {
                child.rotate_right(at);
            }
            next.starts.push(fit::<u32>(next.corners.len()));
            next.corners.extend(child);
        }
    }
    next.starts.push(fit::<u32>(next.corners.len()));
    for (edge, ends) in edges.ends.iter().enumerate() {
        let sharpness = edges.sharpness[edge] - 1.0;
        if sharpness > 0.0 {
            let middle = first_edge + fit::<u32>(edge);
            for end in ends {
                next.sharp_edges.insert(ordered(*end, middle), sharpness);
            }
        }
    }
    next.sharp_vertices = cage.sharp_vertices.iter().map(|s| (s - 1.0).max(0.0)).collect();
    next.sharp_vertices.resize(next.positions.len(), 0.0);
    next
}
