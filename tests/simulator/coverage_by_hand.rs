//! Polygons and boxes of splats worked by hand.

use bytemuck::Zeroable;
use quadrille::ProjectedSplat;
use quadrille::gpu::geometry::splat_box::{splat_box, splat_rectangle};
use quadrille::raster::geometry::{GUARD_BAND, PixelRect, Vertex};
use quadrille::raster::polygon::Polygon;
use quadrille_render::preprocess::LOG2_ALPHA_CUT;

/// Subpixel units per pixel, and from a pixel's corner to its centre.
const PIXEL: i32 = 256;
const CENTRE: i32 = PIXEL / 2;

/// A corner at whole pixels.
fn px(x: i32, y: i32) -> Vertex {
    Vertex { x: PIXEL * x, y: PIXEL * y }
}

/// A corner at the centre of a pixel.
fn centre(x: i32, y: i32) -> Vertex {
    Vertex { x: PIXEL * x + CENTRE, y: PIXEL * y + CENTRE }
}

fn covered(polygon: Option<Polygon>) -> Vec<(i32, i32)> {
    let pixels = (-2..8).flat_map(|y| (-2..8).map(move |x| (x, y)));
    let covers = |&(x, y): &(i32, i32)| polygon.is_some_and(|p| p.covers(x, y));
    pixels.filter(covers).collect()
}

/// Half a square of 3x3 pixels: the centres on its longest side, a right one, are not in.
#[test]
fn a_half_square_of_either_winding() {
    let [a, b, c] = [px(0, 0), px(3, 0), px(0, 3)];
    let expected = [(0, 0), (1, 0), (0, 1)];
    assert_eq!(covered(Polygon::triangle([a, b, c])), expected);
    assert_eq!(covered(Polygon::triangle([b, a, c])), expected);
    // The other half, whose longest side is a left one.
    let other = Polygon::triangle([px(3, 3), b, c]);
    let expected = [(2, 0), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)];
    assert_eq!(covered(other), expected);
}

/// Sides through centres: top and left ones hold them, right and bottom ones do not.
#[test]
fn sides_through_centres() {
    let square = Polygon::rectangle(centre(1, 2), centre(3, 4));
    assert_eq!(covered(square), [(1, 2), (2, 2), (1, 3), (2, 3)]);
    // Level top side, then level bottom side.
    let down = Polygon::triangle([centre(0, 0), centre(2, 0), centre(0, 2)]);
    assert_eq!(covered(down), [(0, 0), (1, 0), (0, 1)]);
    let up = Polygon::triangle([centre(0, 2), centre(2, 2), centre(2, 0)]);
    assert_eq!(covered(up), [(1, 1)]);
}

#[test]
fn nothing_without_area_or_outside_the_guard_band() {
    assert!(Polygon::triangle([px(0, 0), px(1, 1), px(2, 2)]).is_none());
    assert!(Polygon::rectangle(px(1, 1), px(1, 2)).is_none());
    assert!(Polygon::rectangle(px(2, 1), px(1, 2)).is_none());
    let far = Vertex { x: GUARD_BAND + 1, y: 0 };
    assert!(Polygon::triangle([px(0, 0), px(0, 1), far]).is_none());
}

/// The largest triangle there is: all arithmetic at its limits.
#[test]
fn the_whole_guard_band() {
    let [low, high] = [-GUARD_BAND, GUARD_BAND];
    let corner = |x, y| Vertex { x, y };
    let all = [corner(low, low), corner(high, low), corner(low, high)];
    let polygon = Polygon::triangle(all);
    let is_covered = |x, y| polygon.is_some_and(|p| p.covers(x, y));
    // The longest side, a right one, goes through the centres of x + y = -1.
    assert!(is_covered(-1, -1) && !is_covered(-1, 0) && !is_covered(0, 0));
    let last = (GUARD_BAND / PIXEL) - 1;
    assert!(is_covered(-last, last - 2) && !is_covered(last, last));
    assert!(!is_covered(i32::MAX, i32::MIN) && !is_covered(i32::MIN, i32::MIN));
}

/// A block of 2x2 pixels beside a corner is touched though no centre in it is covered.
#[test]
fn the_coarse_test() {
    let polygon = Polygon::triangle([px(0, 0), px(8, 0), px(0, 8)]);
    let touches = |x, y| polygon.is_some_and(|p| p.touches(x, y, 2));
    assert!(touches(0, 0) && touches(6, 0) && !touches(6, 2) && !touches(-2, 0));
}

#[test]
fn bounds_are_half_open() {
    let bounds = Polygon::rectangle(centre(1, 2), px(4, 6)).map(|p| p.pixel_bounds());
    let expected = PixelRect { x0: 1, y0: 2, x1: 4, y1: 6 };
    assert_eq!(bounds, Some(expected));
    assert!(!expected.is_empty() && expected.contains(3, 5) && !expected.contains(4, 5));
    let right = PixelRect { x0: 4, ..expected };
    assert!(expected.intersect(right).is_empty());
}

/// Of radius 4 in (u, v).
fn splat(u_per_x: f32, u_per_y: f32, v_per_y: f32) -> ProjectedSplat {
    ProjectedSplat {
        u_per_x,
        u_per_y,
        v_per_y,
        log2_opacity: 16.0 + LOG2_ALPHA_CUT,
        ..ProjectedSplat::zeroed()
    }
}

/// A circle of 8 px in the middle of 64x32 pixels: 1/512 px more snaps to no more, or a step.
#[test]
fn a_circle() {
    let corners = splat_box(&splat(0.5, 0.0, 0.5), 64, 32);
    let [left, right, top, bottom] = [24, 40, 8, 24].map(|px| px * 256);
    let expected = [(left, top), (right, top), (right, bottom), (left, bottom)];
    for (corner, (x, y)) in corners.into_iter().zip(expected) {
        assert!((corner.x - x).abs() <= 1 && (corner.y - y).abs() <= 1);
    }
}

/// `u = (x - y) / 2`, `v = y`: worked by hand, L^T L = [[1, -1], [-1, 5]] / 4, whose
/// eigenvalues are (3 +- sqrt 5) / 4 = 1.30902 and 0.19098.
#[test]
fn a_slanted_ellipse() {
    let [a, b, c, _] = splat_box(&splat(0.5, 0.5, 1.0), 640, 320);
    let length = |p: Vertex, q: Vertex| f64::from(p.x - q.x).hypot(f64::from(p.y - q.y)) / 256.0;
    assert!((length(a, b) - 8.0 / 1.309_017_f64.sqrt()).abs() < 0.02);
    assert!((length(b, c) - 8.0 / 0.190_983_f64.sqrt()).abs() < 0.02);
    // The longer axis goes down and right: y = (sqrt 5 - 2) x.
    let slope = f64::from(c.y - b.y) / f64::from(c.x - b.x);
    assert!((slope - (5_f64.sqrt() - 2.0)).abs() < 0.002);
}

/// The same ellipse: the inverse of L^T L is [[5, 1], [1, 1]], so that it extends by 4 sqrt 5 px along x and by 4 px along y.
#[test]
fn the_rectangle_of_a_slanted_ellipse() {
    let corners = splat_rectangle(&splat(0.5, 0.5, 1.0), 640, 320);
    let expected = [(320.0 - 80_f64.sqrt(), 156.0), (320.0 + 80_f64.sqrt(), 164.0)];
    for (corner, (x, y)) in corners.into_iter().zip(expected) {
        assert!((f64::from(corner.x) / 256.0 - x).abs() < 0.01, "{corners:?}");
        assert!((f64::from(corner.y) / 256.0 - y).abs() < 0.01, "{corners:?}");
    }
}

/// A needle of 1e6 px ends at the circle around the picture: 50 px from its centre.
#[test]
fn a_needle_is_shortened() {
    let [a, _, c, _] = splat_box(&splat(4e-6, 0.0, 1.0), 80, 60);
    let [low, high] = [a.x.min(c.x), a.x.max(c.x)];
    assert!((low + 10 * 256).abs() <= 1 && (high - 90 * 256).abs() <= 1);
    assert_eq!((a.y.max(c.y) - a.y.min(c.y) + 128) / 256, 8);
}

#[test]
fn nothing_for_what_is_off_or_not_finite() {
    let far = ProjectedSplat { u_at_centre: 1000.0, ..splat(1.0, 0.0, 1.0) };
    assert_eq!(splat_box(&far, 64, 64), [Vertex::default(); 4]);
    assert_eq!(splat_box(&splat(f32::NAN, 0.0, 1.0), 64, 64), [Vertex::default(); 4]);
    assert_eq!(splat_box(&splat(0.0, 0.0, 0.0), 64, 64), [Vertex::default(); 4]);
    for nothing in [far, splat(f32::NAN, 0.0, 1.0), splat(0.0, 0.0, 0.0)] {
        assert_eq!(splat_rectangle(&nothing, 64, 64), [Vertex::default(); 2]);
    }
}
