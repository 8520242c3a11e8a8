//! Drawings over the picture of a square of two triangles whose quads, samples and edges are known by hand.

use nalgebra::{Matrix3, Vector3};
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::{Cull, FrameSettings, VisibleFrame};
use quadrille::mesh::merge::{MergeUnitKind, QfmSettings};
use quadrille::suite::merging_runs::MergedFrame;
use quadrille::suite::report::overlay::{Overlay, OverlayDrawing};
use quadrille::suite::report::scale::{Curve, Scale};
use quadrille::{Camera, Frame, Intrinsics};

use crate::support::mesh::{mesh, pattern, settings};

/// Side of the picture in pixels.
const SIDE: u32 = 8;
const UNMERGED: MergeUnitKind = MergeUnitKind::None;

/// Draws over a black picture of a square from pixel 1 to pixel 7, cut along the diagonal from its upper left corner, with
/// 4 samples per pixel. The first triangle is the upper right half. Returns the bytes of a pixel of the canvas.
fn drawn(unit: MergeUnitKind, overlay: Overlay) -> impl Fn(u32, u32) -> [u8; 3] {
    drawn_part(unit, overlay, [[0; 2], [SIDE; 2]])
}

/// The same over the part of the picture from `corner` on.
fn drawn_part(
    unit: MergeUnitKind,
    overlay: Overlay,
    [corner, size]: [[u32; 2]; 2],
) -> impl Fn(u32, u32) -> [u8; 3] {
    let at = |x: f32, y: f32| [(x - 4.0) / 8.0, (y - 4.0) / 8.0, 1.0];
    let corners = vec![at(1.0, 1.0), at(7.0, 1.0), at(7.0, 7.0), at(1.0, 7.0)];
    let mut square = mesh(corners, &[vec![0, 1, 2], vec![0, 2, 3]]);
    square.materials[0].two_sided = true;
    let source = Triangles::new(square, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let lens = Intrinsics { width: SIDE, height: SIDE, focal_px: [8.0; 2], principal_px: [4.0; 2] };
    let camera = Camera::new("square", lens, Matrix3::identity(), Vector3::zeros()).unwrap();
    let view = MeshCamera::new(camera, 0.05);
    let settings = FrameSettings { size: [SIDE; 2], ..settings(pattern(4), Cull::Quads) };
    let visible =
        VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER).unwrap();
    let shading = visible.merged(&source, unit);
    let frame = MergedFrame {
        source: &source,
        visible: &visible,
        shading: Some(&shading),
        picture: None,
        unmerged: None,
    };
    let mut part = OverlayDrawing::part([SIDE; 2], None).unwrap();
    (part.corner, part.size) = (corner, size);
    let drawing = OverlayDrawing {
        title: "square".to_owned(),
        part,
        overlays: &[overlay],
        scale: Scale { least: 1, top: 8, curve: Curve::Linear },
    };
    let canvas = drawing.of(&Frame::new(SIDE, SIDE), &frame).unwrap();
    move |x, y| {
        let pixel = canvas.pixels()[(y * canvas.width() + x) as usize];
        [0, 1, 2].map(|c| (pixel[c] * 255.0).round() as u8)
    }
}

/// The middle of a pixel of the picture, which is 16 pixels wide on the canvas.
fn middle(of: &impl Fn(u32, u32) -> [u8; 3], x: u32, y: u32) -> [u8; 3] {
    of(16 * x + 8, 16 * y + 8)
}

#[test]
fn quads_along_the_shared_edge_are_shaded_twice_and_once_after_merging() {
    // Three quarters of the second and the first colour of the scale, over black.
    let [once, twice] = [[0, 0, 96], [0, 48, 191]];
    let unbounded = QfmSettings { entries: None, ..QfmSettings::default() };
    for (unit, on_edge) in [(UNMERGED, twice), (MergeUnitKind::Qfm(unbounded), once)] {
        let canvas = drawn(unit, Overlay::Quads);
        // Also the pixel at the corner, which no triangle covers: its quad is shaded as a whole.
        for (x, y) in [(0, 0), (1, 1), (4, 4), (5, 4), (4, 5), (7, 7)] {
            assert_eq!(middle(&canvas, x, y), on_edge, "{unit:?}: {x}, {y}");
        }
        for (x, y) in [(2, 0), (3, 1), (7, 0), (0, 7), (2, 5)] {
            assert_eq!(middle(&canvas, x, y), once, "{unit:?}: {x}, {y}");
        }
        // The frame of a quad.
        assert_eq!(canvas(32, 40), [0; 3]);
    }
}

#[test]
fn samples_have_the_colours_of_their_triangles() {
    let canvas = drawn(UNMERGED, Overlay::Samples);
    let [first, second, none] = [[230, 159, 0], [86, 180, 233], [128; 3]];
    // The samples of a pixel lie at (6, 2), (14, 6), (2, 10) and (10, 14) sixteenths; the edge cuts the pixels (1, 1)
    // and (4, 4) along their diagonal, and pixel (6, 6) is the last one of the square.
    for (pixel, expected) in [
        ([0, 0], [none; 4]),
        ([1, 1], [first, first, second, second]),
        ([4, 4], [first, first, second, second]),
        ([5, 2], [first; 4]),
        ([2, 5], [second; 4]),
        ([7, 7], [none; 4]),
    ] {
        let found = [[6, 2], [14, 6], [2, 10], [10, 14]];
        let found = found.map(|[dx, dy]| canvas(16 * pixel[0] + dx, 16 * pixel[1] + dy));
        assert_eq!(found, expected, "{pixel:?}");
    }
}

#[test]
fn edges_lie_along_the_diagonal_and_around_the_square() {
    let [red, black] = [[220, 0, 0], [0; 3]];
    let canvas = drawn(UNMERGED, Overlay::Edges);
    for at in [(72, 72), (40, 40), (15, 60), (111, 60), (60, 15), (60, 111)] {
        assert_eq!(canvas(at.0, at.1), red, "{at:?}");
    }
    for at in [(72, 60), (60, 72), (8, 60), (17, 60), (120, 120)] {
        assert_eq!(canvas(at.0, at.1), black, "{at:?}");
    }
    let vertices = drawn(UNMERGED, Overlay::Vertices);
    for at in [(16, 16), (112, 16), (112, 112), (16, 112)] {
        assert_eq!(vertices(at.0, at.1), [255, 255, 0], "{at:?}");
    }
    assert_eq!(vertices(64, 64), black);
}

#[test]
fn a_part_of_the_picture_has_the_drawings_of_the_whole() {
    let (corner, size) = ([2, 4], [6, 4]);
    for overlay in [Overlay::Quads, Overlay::Edges, Overlay::Samples, Overlay::Vertices] {
        let whole = drawn(UNMERGED, overlay);
        let part = drawn_part(UNMERGED, overlay, [corner, size]);
        for (x, y) in (0..16 * size[1]).flat_map(|y| (0..16 * size[0]).map(move |x| (x, y))) {
            let expected = whole(x + 16 * corner[0], y + 16 * corner[1]);
            assert_eq!(part(x, y), expected, "{overlay:?}: {x}, {y}");
        }
    }
}

#[test]
fn pictures_that_are_too_large_to_show_quads_are_refused() {
    assert_eq!(OverlayDrawing::part([1024; 2], None).unwrap().zoom, 4);
    let error = OverlayDrawing::part([1280, 720], None).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("overlay") && said.contains("--crop"), "{said}");
}
