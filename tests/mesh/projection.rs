//! Projection and clipping of triangles.

use nalgebra::{Matrix3, Vector3};
use quadrille::geometry::camera::MeshCamera;
use quadrille::mesh::project::{project, triangles};
use quadrille::raster::geometry::Vertex;
use quadrille::raster::sample_depth::DepthPlane;
use quadrille::{Camera, Intrinsics};

fn view() -> MeshCamera {
    let lens = Intrinsics::from_vertical_fov(100, 100, std::f64::consts::FRAC_PI_2);
    let camera = Camera::new("v", lens, Matrix3::identity(), Vector3::zeros()).unwrap();
    MeshCamera::new(camera, 0.5)
}

fn pieces(corners: [[f32; 3]; 3]) -> Vec<([Vertex; 3], DepthPlane)> {
    let view = view();
    let projected = corners.map(|c| project(&view, c));
    let mut found = Vec::new();
    triangles(&view, projected.each_ref(), |t, p| found.push((t, p)));
    found
}

#[test]
fn a_triangle_in_view_is_projected() {
    let found = pieces([[0.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]);
    let [(corners, plane)] = found[..] else { panic!("one triangle") };
    // Focal length 50 px, centre at 50 px: 75 px for (1, 0, 2).
    let at = |x, y| Vertex { x: x * 256, y: y * 256 };
    assert_eq!(corners, [at(50, 50), at(75, 50), at(50, 75)]);
    assert_eq!(plane.depth, 0.5);
    let depth = plane.at_sample([75 * 256, 50 * 256], [0, 0]);
    assert!((depth - 0.25).abs() < 1e-6);
}

#[test]
fn the_near_plane_cuts() {
    // One corner behind the camera: a quadrilateral is left; two: a triangle; all: nothing.
    let (front, front2, back) = ([0.0, 0.3, 2.0], [1.0, 0.0, 2.0], [0.2, 0.0, -1.0]);
    assert_eq!(pieces([front, front2, back]).len(), 2);
    assert_eq!(pieces([front, back, [0.5, 0.1, -1.0]]).len(), 1);
    assert_eq!(pieces([back, back, back]).len(), 0);
    for (corners, plane) in pieces([front, front2, back]) {
        for corner in corners {
            let depth = plane.at_sample([corner.x, corner.y], [0, 0]);
            assert!((0.24..1.01).contains(&depth), "{depth}");
        }
    }
}

/// A floor from far behind the camera to a corner before it, of which the near plane and the guard band leave
/// a part whose other corners are up to a million pixels away and ten thousand times nearer than the visible part.
#[test]
fn a_cut_floor_has_the_depths_of_the_whole() {
    const HEIGHT: f32 = 0.5;
    let view = MeshCamera::new(view().camera, 1e-4);
    for x in [-20.0, 0.0, 7.0] {
        // The corner is at a whole pixel of row 51, so that snapping does not move it. The horizon is at row 50.
        let corners = [[-300.0, HEIGHT, -200.0], [x, HEIGHT, 25.0], [500.0, HEIGHT, -100.0]];
        let projected = corners.map(|c| project(&view, c));
        let mut planes = Vec::new();
        triangles(&view, projected.each_ref(), |_, plane| planes.push(plane));
        assert!(!planes.is_empty());
        for (plane, row) in planes.iter().flat_map(|p| [52, 60, 80, 99].map(|row| (p, row))) {
            for column in [0, 50, 99] {
                let z = 50.0 * f64::from(HEIGHT) / f64::from(row - 50);
                let depth = plane.at_sample([column * 256, row * 256], [0, 0]);
                let error = f64::from(depth) * z / view.near - 1.0;
                assert!(error.abs() < 2e-6, "{x}: {column}, {row}: {error:e}");
            }
        }
    }
}

#[test]
fn far_aside_is_cut_at_the_guard_band() {
    let found = pieces([[-1e7, 0.1, 0.6], [1e7, 0.1, 0.6], [0.0, 1.0, 0.6]]);
    assert!(!found.is_empty());
    for corner in found.iter().flat_map(|(c, _)| c) {
        assert!(corner.x.abs() <= 1 << 29 && corner.y.abs() <= 1 << 29);
    }
}
