//! Samples that a triangle covers, against the definition sample by sample.

use proptest::prelude::*;

use quadrille::SimdLevel;
use quadrille::raster::geometry::{GUARD_BAND, PixelRect, Vertex};
use quadrille::raster::outline::{Outline, TileCover, raster_tiles};
use quadrille::raster::sampled::{SampledPolygon, SampledQuad, TileSamples};
use quadrille::raster::samples::SamplePattern;

const SIDE: i32 = 40;

fn picture() -> PixelRect {
    PixelRect { x0: 0, y0: 0, x1: SIDE - 1, y1: SIDE }
}

/// Coverage of all shading pixels of the picture by the tiles that the raster visits.
fn drawn(polygon: &SampledPolygon, pattern: &SamplePattern) -> Vec<(u16, bool)> {
    let mut pixels = vec![(0, false); (SIDE * SIDE) as usize];
    let bounds = polygon.bounds().intersect(picture());
    if bounds.is_empty() {
        return pixels;
    }
    let mut visit = |[column, row]: [u32; 2], quarter: u8, mask: u64, tile: &TileSamples| {
        for (quad, place) in tile.quads.iter().zip(0..) {
            let x = column.cast_signed() * 16 + i32::from(quarter & 1) * 8 + place % 4 * 2;
            let y = row.cast_signed() * 16 + i32::from(quarter >> 1) * 8 + place / 4 * 2;
            let touched = tile.touched >> place & 1 == 1;
            assert!(touched || *quad == SampledQuad::default());
            for pixel in 0..4 {
                let (cx, cy) = (x + (pixel & 1), y + (pixel >> 1));
                let samples = pattern.pixel(quad.coverage, usize::try_from(pixel).unwrap());
                let bit = ((cy & 7) * 8 + (cx & 7)).cast_unsigned();
                assert_eq!(mask >> bit & 1 == 1, samples != 0);
                if picture().contains(cx, cy) {
                    let at = (cy * SIDE + cx).cast_unsigned() as usize;
                    assert_eq!(pixels[at], (0, false), "visited twice");
                    pixels[at] = (samples, quad.centres >> pixel & 1 == 1);
                } else {
                    assert_eq!((samples, quad.centres >> pixel & 1), (0, 0), "outside");
                }
            }
        }
    };
    raster_tiles(polygon, bounds, &mut visit);
    pixels
}

/// The same by the definition, sample by sample.
fn defined(polygon: &SampledPolygon, pattern: &SamplePattern) -> Vec<(u16, bool)> {
    let pixel = pattern.side_units();
    let mut pixels = vec![(0, false); (SIDE * SIDE) as usize];
    for (slot, at) in pixels.iter_mut().zip(0..) {
        let (x, y) = (at % SIDE, at / SIDE);
        if picture().contains(x, y) {
            for (&[dx, dy], k) in pattern.offsets().iter().zip(0..) {
                slot.0 |= u16::from(polygon.covers(x * pixel + dx, y * pixel + dy)) << k;
            }
            slot.1 = polygon.covers(x * pixel + pixel / 2, y * pixel + pixel / 2);
        }
    }
    pixels
}

fn patterns() -> Vec<&'static SamplePattern> {
    let standard = [1, 2, 4, 8, 16].map(SamplePattern::standard);
    let coarse = [1, 2, 4].map(SamplePattern::coarse);
    let all = standard.into_iter().chain(coarse).flatten();
    all.map(|p| p.shared()).collect()
}

/// A corner near the picture, or far away.
fn corner() -> impl Strategy<Value = Vertex> {
    let near = -600..SIDE * 256 + 600;
    let far = -GUARD_BAND..=GUARD_BAND;
    prop_oneof![
        6 => (near.clone(), near.clone()).prop_map(|(x, y)| Vertex { x, y }),
        // On the samples' own raster: edges through samples.
        3 => (-3..SIDE * 16 + 3, -3..SIDE * 16 + 3)
            .prop_map(|(x, y)| Vertex { x: x * 16, y: y * 16 }),
        1 => (far.clone(), far).prop_map(|(x, y)| Vertex { x, y }),
    ]
}

proptest! {
    #[test]
    fn tiles_hold_what_the_definition_says(corners in [corner(), corner(), corner()]) {
        for pattern in patterns() {
            for level in SimdLevel::all() {
                if let Some(polygon) = SampledPolygon::triangle(corners, pattern, level) {
                    prop_assert_eq!(drawn(&polygon, pattern), defined(&polygon, pattern));
                }
            }
        }
    }

    /// Triangles around an inner point share their edges: each sample belongs to one of them just
    /// when it belongs to the whole, and turning one around only changes its face.
    #[test]
    fn neighbours_share_no_sample_and_lose_none(
        corners in [corner(), corner(), corner()],
        weights in (1..100, 1..100, 1..100),
    ) {
        let pattern = SamplePattern::standard(16).unwrap().shared();
        let level = SimdLevel::best();
        let [a, b, c] = corners;
        let sum = i64::from(weights.0 + weights.1 + weights.2);
        let mix = |p: i32, q: i32, r: i32| {
            let total = i64::from(p) * i64::from(weights.0)
                + i64::from(q) * i64::from(weights.1)
                + i64::from(r) * i64::from(weights.2);
            i32::try_from(total / sum).unwrap()
        };
        let inner = Vertex { x: mix(a.x, b.x, c.x), y: mix(a.y, b.y, c.y) };
        let whole = SampledPolygon::triangle(corners, pattern, level);
        let parts = [[a, b, inner], [b, c, inner], [c, a, inner]];
        let turn = |t: [Vertex; 3]| {
            let cross = i64::from(t[1].x - t[0].x) * i64::from(t[2].y - t[0].y)
                - i64::from(t[2].x - t[0].x) * i64::from(t[1].y - t[0].y);
            cross.signum()
        };
        // The rounded inner point may fall outside a thin triangle.
        prop_assume!(parts.iter().all(|&p| turn(p) == 0 || turn(p) == turn(corners)));
        let Some(whole) = whole else { return Ok(()) };
        let expected: Vec<_> = drawn(&whole, pattern).iter().map(|c| c.0).collect();
        let mut found = vec![0; expected.len()];
        for part in parts {
            if let Some(part) = SampledPolygon::triangle(part, pattern, level) {
                prop_assert_eq!(part.is_front(), whole.is_front());
                for (sum, (samples, _)) in found.iter_mut().zip(drawn(&part, pattern)) {
                    prop_assert_eq!(*sum & samples, 0, "a sample covered twice");
                    *sum |= samples;
                }
            }
        }
        prop_assert_eq!(found, expected);
        let turned = SampledPolygon::triangle([a, c, b], pattern, level).unwrap();
        prop_assert!(turned.is_front() != whole.is_front());
        prop_assert_eq!(drawn(&turned, pattern), drawn(&whole, pattern));
    }
}

#[test]
fn a_touched_quad_may_hold_no_sample() {
    let pattern = SamplePattern::standard(1).unwrap().shared();
    let corners = [[10, 10], [60, 10], [10, 60]].map(|[x, y]| Vertex { x, y });
    let polygon = SampledPolygon::triangle(corners, pattern, SimdLevel::best()).unwrap();
    let mut tile = TileSamples::default();
    let mask = polygon.tile(&(), [0, 0], [0, 0], polygon.bounds(), &mut tile);
    assert_eq!((mask, tile.touched), (Some(0), 1));
    assert_eq!((tile.quads(0), tile.fragments(0)), (1, 0));
}
