//! Tessellation: no cracks, the area asked for, the same on any thread.
use std::collections::HashMap;

use nalgebra::Vector3;
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::NONE;
use quadrille::geometry::files::Texture;
use quadrille::geometry::grid::Grid;
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::surface::HeightChannel;
use quadrille::geometry::surface::HeightMap;
use quadrille::geometry::surface::ProceduralScene;
use quadrille::geometry::surface::Surface;
use quadrille::geometry::tessellate::TessellateSettings;
use quadrille::geometry::tessellate::Tessellated;

use crate::support::cages::{creased_cube, cube, odd_solid};

/// A view of the origin from `eye`.
fn view(eye: [f64; 3], width: u32, height: u32) -> MeshCamera {
    let lens = Intrinsics::from_vertical_fov(width, height, 1.2);
    let camera = Camera::look_at("test", lens, eye.into(), Vector3::zeros(), Vector3::z()).unwrap();
    MeshCamera::new(camera, 0.01)
}

fn settings(triangle_area_px: f64) -> TessellateSettings {
    TessellateSettings { triangle_area_px, ..TessellateSettings::default() }
}

fn all(source: &impl GridSource, view: &MeshCamera) -> Vec<Grid> {
    let mut grids = Vec::new();
    for batch in 0..source.batches() {
        source.grids(batch, view, &mut grids);
    }
    grids
}

type Bits = [u32; 3];

/// Checks that every edge is walked once in each direction, by the positions' bits, degenerate
/// triangles aside; returns how many triangles there are.
fn check_closed(grids: &[Grid]) -> usize {
    let mut edges: HashMap<[Bits; 2], i32> = HashMap::new();
    let mut triangles = 0;
    for grid in grids {
        for t in &grid.topology.triangles {
            let corner = |k: usize| grid.vertices[usize::from(t[k])].position.map(f32::to_bits);
            triangles += 1;
            for k in 0..3 {
                let (a, b) = (corner(k), corner((k + 1) % 3));
                if a != b {
                    *edges.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
                }
            }
        }
    }
    let open = edges.values().filter(|sum| **sum != 0).count();
    assert_eq!(open, 0, "of {} edges", edges.len());
    triangles
}

/// Gives each face of a mesh texture coordinates of its own, so that every edge is a seam.
fn with_seams(mut mesh: Mesh) -> Mesh {
    for corner in 0..mesh.corners.len() {
        let t = corner as f32;
        mesh.uvs.push([0.37, 0.73].map(|step| 0.3 * (t * step).fract()));
        mesh.corners[corner].uv = u32::try_from(corner).unwrap();
    }
    assert!(mesh.corners.iter().all(|c| c.uv != NONE));
    mesh
}

fn bumps() -> HeightMap {
    let texels = (0..256_u32).map(|i| [0, 0, 0, u8::try_from(i * 97 % 256).unwrap()]).collect();
    let texture = Texture { width: 16, height: 16, texels, ..Texture::default() };
    HeightMap::new(&texture, HeightChannel::Alpha).unwrap()
}

#[test]
fn closed_surfaces_have_no_cracks() {
    for mesh in [cube(), creased_cube(1.5), creased_cube(f32::INFINITY), odd_solid()] {
        let surface = Surface::catmull_clark(&with_seams(mesh), 2).unwrap();
        for (eye, area) in [([3.0, -4.0, 2.0], 1.0), ([0.5, -3.2, 1.6], 9.0)] {
            let view = view(eye, 200, 150);
            let smooth = Tessellated::new(surface.clone(), settings(area)).unwrap();
            let count = check_closed(&all(&smooth, &view));
            assert!(count > 500, "{count}");
            let rough = surface.clone().displaced(bumps(), 0.3, -0.1).unwrap();
            let rough = Tessellated::new(rough, settings(area)).unwrap();
            check_closed(&all(&rough, &view));
        }
    }
}

#[test]
fn jumps_larger_than_the_surface_end_without_cracks() {
    let view = view([8.0, -11.0, 6.0], 96, 72);
    for mesh in [cube(), creased_cube(1.5), odd_solid()] {
        let surface = Surface::catmull_clark(&with_seams(mesh), 2).unwrap();
        for scale in [2.0, 6.0] {
            let rough = surface.clone().displaced(bumps(), scale, 0.0).unwrap();
            let rough = Tessellated::new(rough, settings(1.0)).unwrap();
            let count = check_closed(&all(&rough, &view));
            assert!((1_000..5_000_000).contains(&count), "{count}");
        }
    }
}

#[test]
fn the_viewer_may_stand_inside() {
    let surface = Surface::catmull_clark(&with_seams(cube()), 1).unwrap();
    let rough = surface.displaced(bumps(), 0.2, 0.0).unwrap();
    let source = Tessellated::new(rough, settings(20.0)).unwrap();
    let grids = all(&source, &view([0.1, -0.2, 0.15], 320, 200));
    let triangles: usize = grids.iter().map(|g| g.topology.triangles.len()).sum();
    assert!((1_000..100_000).contains(&triangles), "{triangles}");
}

#[test]
fn balls_and_armies_have_no_cracks() {
    let ball = Surface::ball(Material::default());
    let view = view([3.0, -14.0, 6.0], 800, 600);
    let one = Tessellated::new(ball.clone(), settings(1.0)).unwrap();
    check_closed(&all(&one, &view));
    let many = Tessellated::new(ball.army([3, 2], 1).unwrap(), settings(1.0)).unwrap();
    let grids = all(&many, &view);
    assert!(check_closed(&grids) > 6 * 500);
    assert_eq!(many.draw(6), 1);
    let bounds = many.bounds();
    for vertex in grids.iter().flat_map(|g| &g.vertices) {
        for (axis, x) in vertex.position.iter().enumerate() {
            assert!(bounds[0][axis] - 1e-5 <= *x && *x <= bounds[1][axis] + 1e-5);
        }
    }
}

/// A cone of four Bezier patches with the whole of one side at the tip.
#[test]
fn collapsed_sides_are_points() {
    let (mut points, mut patches) = (Vec::<[f32; 3]>::new(), Vec::new());
    let bow = 0.552_284_8_f32;
    let rim = [[1.0, 0.0], [1.0, bow], [bow, 1.0], [0.0, 1.0]];
    for turn in 0..4 {
        let first = u32::try_from(points.len()).unwrap();
        let turned = |[x, y]: [f32; 2]| match turn {
            0 => [x, y],
            1 => [-y, x],
            2 => [-x, -y],
            _ => [y, -x],
        };
        for row in 0..4_u8 {
            let t = f32::from(row) / 3.0;
            points.extend(rim.map(turned).map(|[x, y]| [x * (1.0 - t), y * (1.0 - t), t * t]));
        }
        patches.push(std::array::from_fn(|i| first + u32::try_from(i).unwrap()));
    }
    let surface = Surface::bezier(&points, &patches, Material::default()).unwrap();
    assert!(surface.side_owner(1, 2).is_point);
    let normal = surface.point(2, 0.3, 1.0).normal;
    assert!(Vector3::from(normal).norm() > 0.99);
    let source = Tessellated::new(surface, settings(4.0)).unwrap();
    let grids = all(&source, &view([0.5, -3.0, 4.0], 300, 300));
    let mut rims = 0.0;
    let mut edges: HashMap<[Bits; 2], i32> = HashMap::new();
    for grid in &grids {
        for t in &grid.topology.triangles {
            let at = |k: usize| grid.vertices[usize::from(t[k % 3])].position;
            for k in 0..3 {
                let (a, b) = (at(k).map(f32::to_bits), at(k + 1).map(f32::to_bits));
                assert_ne!(a, b, "a side of no length");
                *edges.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
            }
        }
    }
    for ([a, b], _) in edges.iter().filter(|(_, sum)| **sum != 0) {
        let [a, b] = [a, b].map(|p| Vector3::from(p.map(f32::from_bits)));
        assert!(a.z == 0.0 && b.z == 0.0, "open at {a} {b}");
        rims += (a - b).norm();
    }
    assert!((rims - std::f32::consts::TAU).abs() < 0.02, "rim {rims}");
}

fn mean_area(grids: &[Grid], view: &MeshCamera) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for grid in grids {
        for t in &grid.topology.triangles {
            let [a, b, c] = t.map(|v| view.position_px(grid.vertices[usize::from(v)].position));
            let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            sum += twice.abs() / 2.0;
            count += 1.0;
        }
    }
    sum / count
}

#[test]
fn triangles_of_a_plane_have_nearly_the_area_asked_for() {
    let scene = ProceduralScene::from_name("PLANE").unwrap();
    // Smaller triangles on a smaller picture, to save time.
    for (area, width, height) in [(0.5, 432, 270), (10.0, 1728, 1080)] {
        let camera = scene.viewpoint().camera("plane", width, height).unwrap();
        let view = MeshCamera::new(camera, 0.01);
        let source = Tessellated::new(scene.surface(0), settings(area)).unwrap();
        let grids = all(&source, &view);
        let share = mean_area(&grids, &view) / area;
        assert!((0.6..1.0).contains(&share), "{area}: {share}");
    }
}

#[test]
fn grids_are_the_same_on_any_thread() {
    let surface = Surface::catmull_clark(&odd_solid(), 2).unwrap();
    let view = view([3.0, -4.0, 2.0], 200, 150);
    let source = Tessellated::new(surface.clone(), settings(1.0)).unwrap();
    let other = Tessellated::new(surface.clone(), settings(1.0)).unwrap();
    let batches = source.batches();
    let apart: Vec<Vec<Grid>> = std::thread::scope(|scope| {
        let make = |batch| {
            let (other, view) = (&other, &view);
            scope.spawn(move || {
                let mut grids = Vec::new();
                other.grids(batch, view, &mut grids);
                grids
            })
        };
        let threads: Vec<_> = (0..batches).rev().map(make).collect();
        threads.into_iter().rev().map(|t| t.join().unwrap()).collect()
    });
    let (one, other): (Vec<Grid>, Vec<Grid>) =
        (all(&source, &view), apart.into_iter().flatten().collect());
    assert_eq!(one.len(), other.len());
    for (a, b) in one.iter().zip(&other) {
        assert_eq!(a.vertices, b.vertices);
        assert_eq!(a.topology, b.topology);
    }
}

#[test]
fn vertices_of_one_name_have_one_position() {
    let surface = Surface::catmull_clark(&cube(), 2).unwrap();
    let source = Tessellated::new(surface.clone(), settings(2.0)).unwrap();
    let mut names: HashMap<u32, [f32; 3]> = HashMap::new();
    for grid in all(&source, &view([3.0, -4.0, 2.0], 300, 200)) {
        assert_eq!(grid.ids.len(), grid.vertices.len());
        for (vertex, &id) in grid.vertices.iter().zip(&grid.ids) {
            let known = *names.entry(id).or_insert(vertex.position);
            assert_eq!(known, vertex.position);
        }
    }
}

#[test]
fn what_is_outside_the_view_is_left_out() {
    let surface = Surface::catmull_clark(&cube(), 1).unwrap();
    let source = Tessellated::new(surface.clone(), settings(2.0)).unwrap();
    let mut turned = view([6.0, 0.0, 0.0], 100, 100);
    turned.camera.translation_in_view.z = -6.0;
    assert!(all(&source, &turned).is_empty());
}

#[test]
fn settings_out_of_range_are_refused() {
    let surface = Surface::catmull_clark(&cube(), 1).unwrap();
    assert!(Tessellated::new(surface.clone(), settings(0.0)).is_err());
    let wide = TessellateSettings { max_edge_factor: 65, ..TessellateSettings::default() };
    assert!(Tessellated::new(surface.clone(), wide).is_err());
}
