//! Catmull-Clark surfaces against their limit.
use nalgebra::Vector3;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::surface::CORNERS;
use quadrille::geometry::surface::Surface;

use crate::support::cages::{creased_cube, cube, mesh, odd_solid};

/// Largest distance of a surface from the limit along its normal (parameters shift a little near
/// irregular vertices, which moves no surface), in diagonals of its bounding box, and largest
/// angle between its normals and the limit's, in degrees. The limit is the surface of the same cage after
/// five steps, at the corners of its quads, where points and normals are exact.
fn errors(mesh: &Mesh, levels: u32) -> [f64; 2] {
    let rough = Surface::catmull_clark(mesh, levels).unwrap();
    let fine = Surface::catmull_clark(mesh, 5).unwrap();
    assert_eq!(rough.patches(), fine.patches());
    let bounds = fine.bounds().map(|p| Vector3::from(p.map(f64::from)));
    let size = (bounds[1] - bounds[0]).norm();
    let (mut distance, mut angle) = (0.0_f64, 0.0_f64);
    for patch in 0..fine.patches() {
        for place in 0..33 * 33_u16 {
            let [u, v] = [place % 33, place / 33].map(|x| f32::from(x) / 32.0);
            let [a, b] = [&rough, &fine].map(|surface| surface.point(patch, u, v));
            let [p, q, m, n] = [a.position, b.position, a.normal, b.normal]
                .map(|x| Vector3::from(x.map(f64::from)));
            distance = distance.max((p - q).dot(&n).abs() / size);
            angle = angle.max(m.cross(&n).norm().atan2(m.dot(&n)).to_degrees());
        }
    }
    [distance, angle]
}

/// A mesh of `n` by `n` quads over the unit square, bent.
fn sheet(n: u32) -> Mesh {
    let points = (0..(n + 1) * (n + 1)).map(|i| {
        let [x, y] = [i % (n + 1), i / (n + 1)].map(|k| k as f32 / n as f32);
        [x, y, 0.3 * (x * 4.0).sin() * (y * 3.0).cos()]
    });
    let faces: Vec<Vec<u32>> = (0..n * n)
        .map(|i| {
            let at = i / n * (n + 1) + i % n;
            vec![at, at + 1, at + n + 2, at + n + 1]
        })
        .collect();
    mesh(&points.collect::<Vec<_>>(), &faces)
}

#[test]
fn corners_are_limit_points() {
    // (n^2 v + 4 sum e + sum f) / (n (n + 5)) at a corner of the cube: n = 3.
    let surface = Surface::catmull_clark(&cube(), 0).unwrap();
    let by_mask = (9.0 + 4.0 * 1.0 - 1.0) / 24.0;
    for (u, v) in CORNERS.map(|[u, v]| (u, v)) {
        let point = surface.point(0, u, v);
        for axis in 0..3 {
            assert!((point.position[axis].abs() - by_mask).abs() < 1e-6);
            let along = point.position[axis].signum() / 3_f32.sqrt();
            assert!((point.normal[axis] - along).abs() < 1e-5, "{point:?}");
        }
    }
}

#[test]
fn regular_patches_are_exact() {
    // Borders included: they are regular with the rules for creases.
    let [distance, angle] = errors(&sheet(4), 0);
    assert!(distance < 1e-6 && angle < 0.01, "{distance:e} {angle}");
}

#[test]
fn irregular_patches_come_close() {
    for (name, cage, bounds) in [
        ("cube", cube(), [[9e-4, 2.5], [2e-4, 1.1]]),
        ("odd", odd_solid(), [[1.1e-3, 4.2], [4e-4, 2.5]]),
    ] {
        let found = [1, 2].map(|levels| errors(&cage, levels));
        for ([distance, angle], bound) in found.into_iter().zip(bounds) {
            assert!(distance < bound[0] && angle < bound[1], "{name}: {distance:e} {angle}");
        }
        let [[coarse, _], [fine, _]] = found;
        assert!(fine < 0.5 * coarse, "{name}: {coarse:e}, then {fine:e}");
    }
}

#[test]
fn a_cube_of_infinite_creases_stays_a_cube() {
    let surface = Surface::catmull_clark(&creased_cube(f32::INFINITY), 2).unwrap();
    for patch in 0..6 {
        let middle = Vector3::from(surface.point(patch, 0.5, 0.5).normal);
        for place in 0..81_u8 {
            let [u, v] = [place % 9, place / 9].map(|x| f32::from(x) / 8.0);
            let point = surface.point(patch, u, v);
            let [position, normal] = [point.position, point.normal].map(Vector3::from);
            assert!((position.dot(&middle) - 1.0).abs() < 1e-6);
            assert!((normal - middle).norm() < 1e-5);
        }
        for corner in CORNERS {
            let position = surface.position(patch, corner[0], corner[1]);
            assert!(position.iter().all(|x| (x.abs() - 1.0).abs() < 1e-6));
        }
    }
}

#[test]
fn sharper_creases_lie_closer_to_the_cage() {
    let reach = |sharpness: f32| {
        let surface = Surface::catmull_clark(&creased_cube(sharpness), 2).unwrap();
        Vector3::from(surface.position(0, 0.0, 0.0)).norm()
    };
    let reaches = [0.0, 0.5, 1.0, 2.0, 3.0, f32::INFINITY].map(reach);
    assert!(reaches.windows(2).all(|pair| pair[0] < pair[1]), "{reaches:?}");
    let surface = Surface::catmull_clark(&creased_cube(2.5), 0).unwrap();
    // Bezier patches: 8 by 8 for each face.
    assert!(format!("{surface:?}").contains("side: 8"));
    assert!(surface.side_owner(0, 0).is_smooth);
}

#[test]
fn borders_are_cubic_splines_and_tips_stay() {
    let cage = sheet(4);
    let surface = Surface::catmull_clark(&cage, 1).unwrap();
    let at = |i: usize| Vector3::from(cage.positions[i]);
    let tip = Vector3::from(surface.position(0, 0.0, 0.0));
    assert!((tip - at(0)).norm() < 1e-6);
    let border = Vector3::from(surface.position(1, 1.0, 0.0));
    assert!((border - (at(1) + at(2) * 4.0 + at(3)) / 6.0).norm() < 1e-6);
    assert!(!surface.corner_owner(1, 1).is_smooth);
}

#[test]
fn edges_of_three_faces_are_cut_apart() {
    let points = [
        [0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
        [-1.0, 1.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let faces = [vec![0, 3, 2, 1], vec![0, 1, 4, 5], vec![0, 1, 6, 7]];
    let surface = Surface::catmull_clark(&mesh(&points, &faces), 2).unwrap();
    let owner = surface.side_owner(2, 0);
    assert_eq!((owner.patch, owner.part, owner.is_reversed), (0, 3, true));
    let middle = |patch, [u, v]: [f32; 2]| Vector3::from(surface.position(patch, u, v));
    let gap = middle(0, [0.0, 0.5]) - middle(2, [0.5, 0.0]);
    assert!(gap.norm() < 1e-6);
}

#[test]
fn faces_that_meet_a_vertex_twice_are_refused() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    assert!(Surface::catmull_clark(&mesh(&points, &[vec![0, 1, 2, 1]]), 1).is_err());
    let slim =
        Surface::catmull_clark(&mesh(&points, &[vec![0, 1, 1, 2], vec![0, 0, 1]]), 1).unwrap();
    assert_eq!(slim.patches(), 3);
    let mut far = points;
    far[2][0] = f32::NAN;
    assert!(Surface::catmull_clark(&mesh(&far, &[vec![0, 1, 2, 3]]), 1).is_err());
}

#[test]
fn texture_coordinates_are_linear_in_each_face() {
    let mut cage = mesh(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[vec![0, 1, 2]]);
    cage.uvs = vec![[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]];
    for corner in &mut cage.corners {
        corner.uv = corner.position;
    }
    let surface = Surface::catmull_clark(&cage, 2).unwrap();
    assert_eq!(surface.uv(1, 0.0, 0.0), [3.0, 0.0]);
    assert_eq!(surface.uv(1, 1.0, 1.0), [1.0, 1.0]);
    assert_eq!(surface.uv(1, 0.5, 0.0), [2.25, 0.75]);
}
