//! Cases worked by hand.

use super::*;
use crate::raster::geometry::GUARD_BAND;

/// A corner at whole pixels.
fn px(x: i32, y: i32) -> Vertex {
    Vertex {
        x: PIXEL * x,
        y: PIXEL * y,
    }
}

/// A corner at the centre of a pixel.
fn centre(x: i32, y: i32) -> Vertex {
    Vertex {
        x: PIXEL * x + CENTRE,
        y: PIXEL * y + CENTRE,
    }
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
    let far = Vertex {
        x: GUARD_BAND + 1,
        y: 0,
    };
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
    let expected = PixelRect {
        x0: 1,
        y0: 2,
        x1: 4,
        y1: 6,
    };
    assert_eq!(bounds, Some(expected));
    assert!(!expected.is_empty() && expected.contains(3, 5) && !expected.contains(4, 5));
    let right = PixelRect { x0: 4, ..expected };
    assert!(expected.intersect(right).is_empty());
}
