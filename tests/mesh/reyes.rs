//! Counts of Reyes that follow by hand from the sizes of grids.

use nalgebra::{Matrix3, Vector3};
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Material;
use quadrille::geometry::surface::Surface;
use quadrille::geometry::tessellate::{TessellateSettings, Tessellated};
use quadrille::mesh::frame::{Cull, FrameSettings, VisibleFrame};
use quadrille::mesh::merge::MergeUnitKind;
use quadrille::mesh::result::MeshResult;
use quadrille::{Camera, Intrinsics};

use crate::support::mesh::{pattern, settings};

const SIDE: u32 = 96;

/// A camera at the origin that looks along z: a world unit at distance z is 96 / z pixels.
fn camera() -> MeshCamera {
    let lens =
        Intrinsics { width: SIDE, height: SIDE, focal_px: [96.0; 2], principal_px: [48.0; 2] };
    let camera = Camera::new("test", lens, Matrix3::identity(), Vector3::zeros());
    MeshCamera::new(camera.unwrap(), 0.5)
}

/// Flat squares in front of the camera, half their sides and their distances, in order of submission.
fn vertices_shaded(squares: &[(f32, f32)]) -> u64 {
    let (mut points, mut patches) = (Vec::new(), Vec::new());
    for &(half, z) in squares {
        let first = points.len() as u32;
        for k in 0..16_u32 {
            let [u, v] = [k % 4, k / 4].map(|t| t as f32 / 3.0 * 2.0 - 1.0);
            points.push([half * u, half * v, z]);
        }
        patches.push(std::array::from_fn(|k| first + k as u32));
    }
    let material = Material { two_sided: true, ..Material::default() };
    let surface = Surface::bezier(&points, &patches, material).unwrap();
    let tessellation =
        TessellateSettings { triangle_area_px: 2.0, ..TessellateSettings::default() };
    let source = Tessellated::new(surface, tessellation).unwrap();
    let frame = FrameSettings { size: [SIDE; 2], ..settings(pattern(4), Cull::Quads) };
    let visible =
        VisibleFrame::new(&source, [&camera(), &camera()], &frame, &quadrille::Task::NEVER)
            .unwrap();
    let shading = visible.merged(&source, MergeUnitKind::None);
    MeshResult::of(&visible, &shading).vertices
}

/// Triangles of 2 px have legs of 2 px. A square of 64 px is then 32 by 32 cells, which two halvings cut
/// into 4 grids of 16 by 16 cells: 512 triangles and 17 by 17 vertices. One of 36 px is 18 by 18 cells,
/// cut once into 2 grids of 9 by 18 cells and 10 by 19 vertices.
#[test]
fn vertices_of_visible_grids_are_shaded() {
    let large = (1.99, 6.0);
    let small = (1.495, 8.0);
    assert_eq!(vertices_shaded(&[large]), 4 * 17 * 17);
    assert_eq!(vertices_shaded(&[small]), 2 * 10 * 19);
    // Behind the large square and drawn after it, the grids of the small one are hidden as a whole; drawn
    // before it, they are shaded for nothing.
    assert_eq!(vertices_shaded(&[large, small]), 4 * 17 * 17);
    assert_eq!(vertices_shaded(&[small, large]), 4 * 17 * 17 + 2 * 10 * 19);
}
