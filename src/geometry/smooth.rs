//! Normals of corners that have none in the file.

use nalgebra::Vector3;
use rayon::prelude::*;

use super::files::{Corner, Mesh, NONE, Smoothing};
use super::sets::Sets;
use quadrille_base::math::{fit, narrow};
use quadrille_base::task::Task;

/// Maximum triangles at an edge for comparing all pairs. Of more triangles, each is compared with the next in the file.
const COMPARED_TRIANGLES: usize = 8;

/// Normals of corners without one: area-weighted means of the mutually smooth triangles around a position.
#[derive(Debug)]
pub(super) struct SmoothNormals {
    by_position: Vec<[f32; 3]>,
    /// Means over the triangles between hard edges. Their indices start after the normals of the mesh.
    pub(super) of_sides: Vec<[f32; 3]>,
}

impl SmoothNormals {
    /// Computes the normals, and sets their indices in the corners of `triangles` (of `faces`) beside hard edges.
    pub(super) fn of(
        mesh: &Mesh,
        triangles: &mut [[Corner; 3]],
        faces: &[u32],
        task: &Task,
    ) -> Self {
        let mut sums = vec![Vector3::zeros(); mesh.positions.len()];
        for triangle in triangles.iter().take_while(|_| !task.is_cancelled()) {
            let twice_area = twice_area(mesh, triangle);
            for corner in triangle {
                sums[corner.position as usize] += twice_area;
            }
        }
        let mut normals =
            Self { by_position: sums.into_iter().map(unit).collect(), of_sides: Vec::new() };
        if triangles.as_flattened().iter().all(|c| c.normal != NONE) {
            return normals;
        }
        if let Some(rule) = SmoothEdges::of(&mesh.smoothing, faces) {
            normals.split(mesh, triangles, &rule, task);
        }
        normals
    }

    fn split(
        &mut self,
        mesh: &Mesh,
        triangles: &mut [[Corner; 3]],
        rule: &SmoothEdges<'_>,
        task: &Task,
    ) {
        let around = CornersByPosition::of(mesh.positions.len(), triangles);
        let read: &[[Corner; 3]] = triangles;
        let sides: Vec<_> = (0..mesh.positions.len())
            .into_par_iter()
            .take_any_while(|_| !task.is_cancelled())
            .flat_map_iter(|position| sides(mesh, read, around.of_position(position), rule))
            .collect();
        let first = mesh.normals.len();
        for (normal, corners) in sides {
            let index = fit::<u32>(first + self.of_sides.len());
            self.of_sides.push(normal);
            for corner in corners {
                let corner = &mut triangles.as_flattened_mut()[corner as usize];
                if corner.normal == NONE {
                    corner.normal = index;
                }
            }
        }
    }

    pub(super) fn of_corner(&self, mesh: &Mesh, corner: Corner) -> [f32; 3] {
        if corner.normal == NONE {
            return self.by_position[corner.position as usize];
        }
        let index = corner.normal as usize;
        let of_side = || self.of_sides[index - mesh.normals.len()];
        mesh.normals.get(index).copied().unwrap_or_else(of_side)
    }
}

struct SmoothEdges<'a> {
    faces: &'a [u32],
    groups: &'a [u32],
    least_cosine: f64,
}

impl<'a> SmoothEdges<'a> {
    /// Rule for hard edges; `None` if all edges are smooth.
    fn of(smoothing: &'a Smoothing, faces: &'a [u32]) -> Option<Self> {
        let (groups, crease) = match smoothing {
            Smoothing::Everywhere => return None,
            Smoothing::Crease(degrees) if *degrees >= 180.0 => return None,
            Smoothing::Crease(degrees) => (&[][..], *degrees),
            Smoothing::Groups { groups, crease } => (&groups[..], *crease),
        };
        Some(Self { faces, groups, least_cosine: crease.to_radians().cos() })
    }

    fn are_smooth(&self, [a, b]: [u32; 2], [m, n]: [Vector3<f64>; 2]) -> bool {
        let [a, b] = [a, b].map(|triangle| self.faces[triangle as usize] as usize);
        if a == b {
            return true;
        }
        let group = |face: usize| self.groups.get(face).copied().unwrap_or(NONE);
        match [group(a), group(b)] {
            [NONE, NONE] => m.dot(&n) >= self.least_cosine,
            [0, _] => false,
            [a, b] => a == b,
        }
    }
}

struct CornersByPosition {
    /// First index in `corners` of each position, and the end of the last one.
    starts: Vec<u32>,
    corners: Vec<u32>,
}

impl CornersByPosition {
    fn of(positions: usize, triangles: &[[Corner; 3]]) -> Self {
        let all = triangles.as_flattened();
        let mut starts = vec![0_u32; positions + 1];
        for corner in all {
            starts[corner.position as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut corners) = (starts.clone(), vec![0; all.len()]);
        for (corner, number) in all.iter().zip(0_u32..) {
            let next = &mut next[corner.position as usize];
            corners[*next as usize] = number;
            *next += 1;
        }
        Self { starts, corners }
    }

    fn of_position(&self, position: usize) -> &[u32] {
        &self.corners[self.starts[position] as usize..self.starts[position + 1] as usize]
    }
}

/// Normal and corners of each set of triangles with area between hard edges around a position; empty without hard edges.
fn sides(
    mesh: &Mesh,
    triangles: &[[Corner; 3]],
    corners: &[u32],
    rule: &SmoothEdges<'_>,
) -> Vec<([f32; 3], Vec<u32>)> {
    let areas: Vec<_> =
        corners.iter().map(|corner| twice_area(mesh, &triangles[*corner as usize / 3])).collect();
    let normals: Vec<_> = areas.iter().map(|area| area.try_normalize(0.0)).collect();
    // Edges from the position, each as a pair of its other end and a triangle.
    let mut edges = Vec::with_capacity(2 * corners.len());
    for (at, &corner) in corners.iter().enumerate() {
        let triangle = &triangles[corner as usize / 3];
        if normals[at].is_some() {
            for step in [1, 2] {
                edges.push((triangle[(corner as usize + step) % 3].position, at));
            }
        }
    }
    edges.sort_unstable();
    let mut sets = Sets::new(corners.len());
    let mut has_hard_edge = false;
    for edge in edges.chunk_by(|a, b| a.0 == b.0) {
        for (nth, &(_, a)) in edge.iter().enumerate() {
            let most = if edge.len() > COMPARED_TRIANGLES { 1 } else { COMPARED_TRIANGLES };
            for &(_, b) in edge[nth + 1..].iter().take(most) {
                let pair = [corners[a] / 3, corners[b] / 3];
                let (Some(m), Some(n)) = (normals[a], normals[b]) else { continue };
                if rule.are_smooth(pair, [m, n]) {
                    sets.join(fit(a), fit(b));
                } else {
                    has_hard_edge = true;
                }
            }
        }
    }
    if !has_hard_edge {
        return Vec::new();
    }
    let mut sums: Vec<Option<(Vector3<f64>, Vec<u32>)>> = vec![None; corners.len()];
    for at in (0..corners.len()).filter(|at| normals[*at].is_some()) {
        let (sum, members) = sums[sets.of(fit(at)) as usize].get_or_insert_default();
        *sum += areas[at];
        members.push(corners[at]);
    }
    sums.into_iter().flatten().map(|(sum, members)| (unit(sum), members)).collect()
}

fn twice_area(mesh: &Mesh, triangle: &[Corner; 3]) -> Vector3<f64> {
    let at = |k: usize| Vector3::from(mesh.positions[triangle[k].position as usize].map(f64::from));
    (at(1) - at(0)).cross(&(at(2) - at(0)))
}

fn unit(sum: Vector3<f64>) -> [f32; 3] {
    sum.try_normalize(0.0).unwrap_or_default().map(narrow).into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::files::parse;

    /// Normals of the corners of an OBJ file of triangles, face by face.
    fn normals(text: &str, smoothing: Option<Smoothing>) -> Vec<[[f32; 3]; 3]> {
        let no_files = &mut |_: &str| unreachable!();
        let mut mesh = parse(text.as_bytes(), Path::new("a.obj"), no_files).unwrap().mesh;
        if let Some(smoothing) = smoothing {
            mesh.smoothing = smoothing;
        }
        let mut triangles: Vec<[Corner; 3]> = mesh.corners.as_chunks().0.to_vec();
        let faces: Vec<u32> = (0..).take(triangles.len()).collect();
        let found = SmoothNormals::of(&mesh, &mut triangles, &faces, &Task::NEVER);
        let of = |corner| found.of_corner(&mesh, corner);
        triangles.iter().map(|triangle| triangle.map(of)).collect()
    }

    /// Two triangles that share an edge along x, the second turned upwards by `degrees`.
    fn hinge(degrees: f64, before_each: [&str; 2]) -> String {
        let [a, b] = before_each;
        let (y, z) = (degrees.to_radians().cos(), degrees.to_radians().sin());
        format!("v 0 0 0\nv 1 0 0\nv 0 -1 0\nv 0 {y} {z}\n{a}\nf 1 3 2\n{b}\nf 1 2 4\n")
    }

    fn is_shared(text: &str, smoothing: Option<Smoothing>) -> bool {
        let [first, second] = normals(text, smoothing)[..] else {
            panic!("two triangles");
        };
        let shared = first[0] == second[0];
        assert_eq!(shared, first[2] == second[1]);
        if !shared {
            assert_eq!(first, [[0.0, 0.0, 1.0]; 3]);
        }
        shared
    }

    #[test]
    fn edges_above_the_crease_are_hard() {
        for (degrees, crease, expected) in [
            (59.0, None, true),
            (61.0, None, false),
            (61.0, Some(62.0), true),
            (59.0, Some(58.0), false),
            (10.0, Some(0.0), false),
            (179.0, Some(180.0), true),
        ] {
            let smoothing = crease.map(Smoothing::Crease);
            let found = is_shared(&hinge(degrees, [""; 2]), smoothing);
            assert_eq!(found, expected, "{degrees} of {crease:?}");
        }
        assert!(is_shared(&hinge(90.0, [""; 2]), Some(Smoothing::Everywhere)));
    }

    #[test]
    fn groups_of_the_file_decide() {
        for (before, degrees, expected) in [
            (["s 1", ""], 90.0, true),
            (["s 1", "s 1"], 90.0, true),
            (["s 1", "s 2"], 1.0, false),
            (["s off", ""], 1.0, false),
            (["s 0", "s 0"], 1.0, false),
            (["s 1", "s off"], 1.0, false),
            // The file states no group for the first face.
            (["", "s 1"], 1.0, false),
            (["", ""], 1.0, true),
        ] {
            let found = is_shared(&hinge(degrees, before), None);
            assert_eq!(found, expected, "{before:?} at {degrees}");
        }
        assert!(is_shared(&hinge(90.0, ["s off", ""]), Some(Smoothing::Crease(180.0))));
    }

    #[test]
    fn a_box_is_flat_and_a_sphere_is_not() {
        let corners = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n";
        let quads = [
            ([4, 3, 2, 1], [0.0, 0.0, -1.0]),
            ([5, 6, 7, 8], [0.0, 0.0, 1.0]),
            ([1, 2, 6, 5], [0.0, -1.0, 0.0]),
            ([3, 4, 8, 7], [0.0, 1.0, 0.0]),
            ([2, 3, 7, 6], [1.0, 0.0, 0.0]),
            ([4, 1, 5, 8], [-1.0, 0.0, 0.0]),
        ];
        let faces = quads.map(|([a, b, c, d], _)| format!("f {a} {b} {c}\nf {a} {c} {d}\n"));
        let cube = format!("{corners}{}", faces.concat());
        for (triangles, (_, normal)) in normals(&cube, None).chunks(2).zip(quads) {
            assert_eq!(triangles, [[normal; 3]; 2]);
        }
        // Positions without a hard edge keep the mean to the last bit. Eight-sided rings of a sphere turn by 45 degrees.
        let mut sphere = String::new();
        for ring in 1..8 {
            let (y, r) = (f64::from(ring) * 22.5_f64.to_radians()).sin_cos();
            for step in 0..8 {
                let (z, x) = (f64::from(step) * 45.0_f64.to_radians()).sin_cos();
                sphere += &format!("v {} {} {}\n", x * y, z * y, r);
            }
        }
        for ring in 0..6 {
            for step in 0..8 {
                let [a, b] = [step, (step + 1) % 8].map(|at| 8 * ring + at + 1);
                sphere += &format!("f {a} {} {}\nf {a} {} {b}\n", a + 8, b + 8, b + 8);
            }
        }
        assert_eq!(normals(&sphere, None), normals(&sphere, Some(Smoothing::Everywhere)));
    }

    #[test]
    fn one_hard_edge_alone_splits_nothing_and_triangles_without_area_are_harmless() {
        // A fan around the origin in which the first and the last triangle make an edge of 90 degrees.
        let mut fan = String::from("v 0 0 0\n");
        for (x, y, z) in [(1, 0, 0), (1, 1, 1), (0, 1, 1), (-1, 0, 1), (-1, -1, 0), (0, -1, -1)] {
            fan += &format!("v {x} {y} {z}\n");
        }
        for at in 2..7 {
            fan += &format!("f 1 {at} {}\n", at + 1);
        }
        let hard = normals(&fan, Some(Smoothing::Crease(120.0)));
        assert_eq!(hard, normals(&fan, Some(Smoothing::Everywhere)));
        let slivers = format!("{}f 1 2 2\nf 1 1 1\nf 1 2 1\n", hinge(90.0, [""; 2]));
        let found = normals(&slivers, None);
        assert_eq!(found[0], [[0.0, 0.0, 1.0]; 3]);
        assert!(found.as_flattened().as_flattened().iter().all(|x| x.is_finite()));
    }

    #[test]
    fn many_triangles_along_one_edge_take_no_more_than_their_number() {
        let mut pages = String::from("v 0 0 0\nv 0 0 1\n");
        let count = 50_000;
        for page in 0..count {
            let (y, x) = (f64::from(page) * 0.001).sin_cos();
            pages += &format!("v {x} {y} 0\nf 1 2 {}\n", page + 3);
        }
        assert_eq!(normals(&pages, None).len(), 50_000);
    }
}
