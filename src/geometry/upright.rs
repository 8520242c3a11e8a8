//! Detection of the axis along which a mesh stands.

use std::cmp::Ordering;

use nalgebra::Vector3;

use super::files::bounds;
use super::mirror::{MIRRORED, mirrored_share};
use quadrille_base::math::whole;

/// Thickness of the layer of points that a mesh rests on, as a share of the diagonal of its box (assumed).
const LAYER: f64 = 0.01;
/// Cells along the diagonal, the mean of which is the centre (assumed).
const CELLS: f64 = 64.0;
/// Minimum ratio of support along z to support along y for z to be up (assumed).
const MARGIN: f64 = 2.0;
/// Least support as a share of the squared diagonal (assumed). Busts may touch the lowest layer only with the chin.
const LEAST_SUPPORT: f64 = 0.01;
/// Share of the outline from above from which on a support needs no symmetry (assumed).
const FULL: f64 = 0.6;

/// True if a mesh in a format that does not state its up direction stands along +z rather than +y. `rims` tells for
/// each point whether it lies on the rim of an open surface; its result may be shorter than `points`.
///
/// An object rests on its support, the convex hull of its lowest points: a teapot on its bottom, not on the side of its
/// belly. Tools export OBJ and PLY files with either axis. +y is assumed unless the mesh clearly contradicts it: its centre
/// is not above its support along y, so that it would fall over, or its top is the mirror image of its bottom, as of a chess
/// piece that lies on its side; and its support along z
///
/// - is much larger than along y, where wheels and feet support little;
/// - is not a rim, like the open back of a scan, except the open bottom of a body with two planes of symmetry;
/// - covers most of the outline from above, or the mesh is symmetric about a plane that contains z;
/// - differs from the top, as in objects that stand.
pub fn stands_along_z(points: &[[f32; 3]], rims: impl FnOnce() -> Vec<bool>) -> bool {
    let [least, most] = bounds(points).map(|corner| Vector3::from(corner.map(f64::from)));
    let diagonal = (most - least).norm();
    if diagonal == 0.0 {
        return false;
    }
    let top = |axis: usize| least[axis] + LAYER * diagonal;
    let along_y = support(points, 1, top(1), |_| true);
    let suffices =
        |along_z: f64| along_z > MARGIN * along_y && along_z > LEAST_SUPPORT * diagonal * diagonal;
    // The support decides most cases, without the cost of symmetry and rims.
    let with_rims = support(points, 2, top(2), |_| true);
    if !suffices(with_rims) {
        return false;
    }
    let [across_x, across_y, across_z] =
        [0, 1, 2].map(|axis| mirrored_share(points, Vector3::ith(axis, 1.0)));
    if across_z >= across_x.max(across_y).min(MIRRORED) {
        return false;
    }
    if across_y < MIRRORED && holds(points, 1, top(1), LAYER * diagonal) {
        return false;
    }
    let along_z = match across_x.min(across_y) >= MIRRORED {
        true => with_rims,
        false => {
            let is_rim = rims();
            let is_inner = |at: usize| !is_rim.get(at).copied().unwrap_or_default();
            support(points, 2, top(2), is_inner)
        }
    };
    let outline = || support(points, 2, f64::INFINITY, |_| true);
    suffices(along_z) && (across_x.max(across_y) >= MIRRORED || along_z >= FULL * outline())
}

/// Area of the convex hull of the points up to `top` along an axis, among those for which `counts` is true.
fn support(points: &[[f32; 3]], axis: usize, top: f64, counts: impl Fn(usize) -> bool) -> f64 {
    hull_area(lowest(points, axis, top, counts))
}

/// The points up to `top` along an axis, seen along it, among those for which `counts` is true.
fn lowest(
    points: &[[f32; 3]],
    axis: usize,
    top: f64,
    counts: impl Fn(usize) -> bool,
) -> Vec<[f64; 2]> {
    let low = points.iter().enumerate().filter(|(at, p)| f64::from(p[axis]) <= top && counts(*at));
    low.map(|(_, p)| across(axis, p.map(f64::from))).collect()
}

/// The coordinates of a point other than that along `axis`.
fn across(axis: usize, point: [f64; 3]) -> [f64; 2] {
    [point[(axis + 1) % 3], point[(axis + 2) % 3]]
}

/// Whether the centre of the points is above the convex hull of the points up to `top` along an axis, at least `margin` from
/// its edges.
fn holds(points: &[[f32; 3]], axis: usize, top: f64, margin: f64) -> bool {
    let centre = across(axis, centre(points));
    let mut low = lowest(points, axis, top, |_| true);
    drop_inner(&mut low);
    low.sort_by(order);
    let is_inside = |hull: Vec<[f64; 2]>| {
        let inside = |[a, b]: &[[f64; 2]; 2]| {
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            turn(*a, *b, centre) >= margin * length
        };
        hull.len() > 1 && hull.array_windows().all(inside)
    };
    is_inside(chain(low.iter().copied())) && is_inside(chain(low.iter().rev().copied()))
}

/// Mean of the cells that the points fill, so that finely meshed parts do not count more.
fn centre(points: &[[f32; 3]]) -> [f64; 3] {
    let [least, most] = bounds(points).map(|corner| Vector3::from(corner.map(f64::from)));
    let cell = (most - least).norm() / CELLS;
    let first = least.map(|c| (c / cell).floor());
    // No axis is longer than the diagonal, and the first and the last cell may be cut.
    let side = whole::<usize>(CELLS) + 2;
    let mut filled = vec![false; side.pow(3)];
    for point in points {
        let at = |axis: usize| {
            let cells = (f64::from(point[axis]) / cell).floor() - first[axis];
            whole::<usize>(cells).min(side - 1)
        };
        filled[(at(2) * side + at(1)) * side + at(0)] = true;
    }
    let (mut sum, mut count) = ([0; 3], 0);
    for at in (0..filled.len()).filter(|at| filled[*at]) {
        let place = [at % side, at / side % side, at / (side * side)];
        sum = [0, 1, 2].map(|axis| sum[axis] + place[axis]);
        count += 1;
    }
    [0, 1, 2].map(|axis| (first[axis] + sum[axis] as f64 / f64::from(count) + 0.5) * cell)
}

pub(super) fn hull_area(mut points: Vec<[f64; 2]>) -> f64 {
    drop_inner(&mut points);
    chain_area(points)
}

/// Area of the convex hull by Andrew's monotone chain, which sorts all points.
fn chain_area(mut points: Vec<[f64; 2]>) -> f64 {
    points.sort_by(order);
    // Area between a chain and its chord.
    let area = |hull: Vec<[f64; 2]>| {
        let first = hull.first().copied().unwrap_or_default();
        hull.windows(2).map(|pair| turn(first, pair[0], pair[1])).sum::<f64>() / 2.0
    };
    area(chain(points.iter().copied())) + area(chain(points.iter().rev().copied()))
}

fn order(a: &[f64; 2], b: &[f64; 2]) -> Ordering {
    a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
}

/// One side of the convex hull of sorted points, counter-clockwise.
fn chain(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut hull: Vec<[f64; 2]> = Vec::new();
    for point in points {
        while let [.., a, b] = hull[..]
            && turn(a, b, point) <= 0.0
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Drops the points inside the polygon of the farthest points in eight directions (Akl and Toussaint): most of a mesh.
fn drop_inner(points: &mut Vec<[f64; 2]>) {
    let Some(&first) = points.first() else { return };
    // Directions are counter-clockwise, so that the farthest points form a polygon in this order.
    let directions = [
        [1.0, 0.0],
        [1.0, 1.0],
        [0.0, 1.0],
        [-1.0, 1.0],
        [-1.0, 0.0],
        [-1.0, -1.0],
        [0.0, -1.0],
        [1.0, -1.0],
    ];
    let mut farthest = [(f64::NEG_INFINITY, first); 8];
    for point in &*points {
        for (direction, best) in directions.iter().zip(&mut farthest) {
            let along = direction[0] * point[0] + direction[1] * point[1];
            if along > best.0 {
                *best = (along, *point);
            }
        }
    }
    let corner = |at: usize| farthest[at % farthest.len()].1;
    let edges = (0..farthest.len()).map(|at| [corner(at), corner(at + 1)]);
    let edges: Vec<[[f64; 2]; 2]> = edges.filter(|[a, b]| a != b).collect();
    // Two edges form a line in both directions, which has no inside.
    if edges.len() > 2 {
        points.retain(|point| edges.iter().any(|[a, b]| turn(*a, *b, *point) <= 0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_of_a_hull() {
        let square = vec![[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 2.0]];
        assert!((hull_area(square) - 4.0).abs() < 1e-12);
        assert!(hull_area(vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).abs() < 1e-12);
        assert!(hull_area(Vec::new()).abs() < 1e-12);
        // Points of a disc at golden angles: the hull has some dozen of the 10,000 points.
        let disc = (0..10_000).map(|i| {
            let (radius, angle) = (f64::from(i).sqrt() / 100.0, f64::from(i) * 2.399_963);
            [radius * angle.cos(), radius * angle.sin()]
        });
        let disc: Vec<[f64; 2]> = disc.collect();
        let area = hull_area(disc.clone());
        assert!((3.12..std::f64::consts::PI).contains(&area), "{area}");
        assert!((chain_area(disc.clone()) - area).abs() < 1e-12);
        let mut outer = disc.clone();
        drop_inner(&mut outer);
        assert!(outer.len() < disc.len() / 5, "{}", outer.len());
        assert!(hull_area(vec![[1.0, 2.0]; 9]).abs() < 1e-12);
    }

    /// Points of a cone with its base in the plane where coordinate `axis` is 0.
    fn cone(axis: usize) -> Vec<[f32; 3]> {
        let mut points = vec![[0.0; 3]];
        points[0][axis] = 2.0;
        for k in 0..32_u8 {
            let angle = std::f32::consts::TAU * f32::from(k) / 32.0;
            let mut point = [0.0; 3];
            point[(axis + 1) % 3] = angle.cos();
            point[(axis + 2) % 3] = angle.sin();
            points.push(point);
        }
        points
    }

    /// Points of a ball.
    fn ball(centre: [f32; 3], radius: f32) -> impl Iterator<Item = [f32; 3]> {
        (0..400_u16).map(move |i| {
            let height = 1.0 - (f32::from(i) + 0.5) / 200.0;
            let (sin, cos) = (2.399_963 * f32::from(i)).sin_cos();
            let level = radius * (1.0 - height * height).sqrt();
            [centre[0] + level * cos, centre[1] + radius * height, centre[2] + level * sin]
        })
    }

    #[test]
    fn a_figure_on_its_feet_stands_though_its_back_is_flat() {
        let parts = [([0.0, 3.0, 0.5], 1.0), ([0.0, 1.5, 0.5], 0.9)];
        let feet = [([-0.5, 0.3, 0.6], 0.4), ([0.5, 0.3, 0.6], 0.4), ([0.0, 0.3, 0.0], 0.4)];
        let mut points: Vec<_> =
            parts.into_iter().chain(feet).flat_map(|(c, r)| ball(c, r)).collect();
        // The back is a plate, on which the figure would lie safely too.
        points.extend([[-1.2, 0.2, -0.6], [1.2, 0.2, -0.6], [-1.2, 4.0, -0.6], [1.2, 4.0, -0.6]]);
        assert!(!stands_along_z(&points, Vec::new));
        // Modelled with its feet down along z, it would roll over along y.
        let turned: Vec<_> = points.iter().map(|[x, y, z]| [*x, -z, *y]).collect();
        assert!(stands_along_z(&turned, Vec::new));
    }

    #[test]
    fn a_cone_stands_on_its_base() {
        assert!(!stands_along_z(&cone(1), Vec::new));
        assert!(stands_along_z(&cone(2), Vec::new));
        // A cube stands along either axis, so +y is assumed.
        let cube = (0..8_u8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(f32::from));
        assert!(!stands_along_z(&cube.collect::<Vec<_>>(), Vec::new));
        assert!(!stands_along_z(&[[1.0; 3]], Vec::new));
        assert!(!stands_along_z(&[], Vec::new));
    }
}
