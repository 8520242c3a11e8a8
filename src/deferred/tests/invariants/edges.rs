//! Bounds of edge functions against the sample test.

use fearless_simd::dispatch;
use fearless_simd::{f32x16, mask32x16, prelude::*};
use quadrille_base::math::SimdLevel;
use quadrille_base::math::narrow;
use quadrille_deferred::camera::lens::LensShear;
use quadrille_deferred::raster::bounds::CornerBounds;
use quadrille_deferred::raster::bounds::{Rect, RectLanes};
use quadrille_deferred::raster::edges::*;
use quadrille_deferred::raster::sample_test::{Sample, sample_test};
use quadrille_deferred::raster::triangle::{FaceSet, MovingTriangle};

const AREA: Rect = Rect { least: [-32.0, -32.0], greatest: [32.0, 32.0] };

const FRONT: FaceSet = FaceSet { front: true, back: false };
const BACK: FaceSet = FaceSet { front: false, back: true };

const NONE: FaceSet = FaceSet { front: false, back: false };

/// Ranges in time and on the lens of the samples of a rectangle that may be hit, and sides that may be visible; `None`
/// if no sample may be hit.
fn found(
    triangle: &MovingTriangle,
    lens: &LensShear,
    rect: &Rect,
) -> Option<([[f32; 2]; 3], FaceSet)> {
    let corners = CornerBounds::new(triangle, lens, 32.0);
    let edges = EdgeBounds::new(triangle, lens, corners.slack(), &AREA);
    dispatch!(SimdLevel::best().level(), simd => {
        let rects = RectLanes::splat(simd, rect);
        let (may_cover, range) = corners.range(simd, &rects);
        let all = mask32x16::splat(simd, true);
        let shows = |side| edges.may_show(simd, &rects, &range, all, side).any_true();
        let first = |lanes: [_; 2]| lanes.map(|v: f32x16<_>| v[0]);
        let ranges = [first(range.t), first(range.uv[0]), first(range.uv[1])];
        let faces = FaceSet {
            front: shows(FRONT),
            back: shows(BACK),
        };
        may_cover.any_true().then_some((ranges, faces))
    })
}

#[test]
fn tiles_beyond_an_edge_show_nothing() {
    let px = [[0.0, 0.0], [0.0, 20.0], [20.0, 0.0]];
    let triangle = MovingTriangle::unculled(px.map(|[x, y]| [[x, y, 1.0]; 2]), 1);
    let sharp = LensShear::default();
    let rect = |x: f32, y: f32| Rect { least: [x, y], greatest: [x + 2.0, y + 2.0] };
    let of = |x, y| found(&triangle, &sharp, &rect(x, y)).map_or(NONE, |(_, faces)| faces);
    assert!(of(1.0, 1.0).front && !of(1.0, 1.0).back);
    assert!(of(9.0, 9.0).front, "the edge crosses the tile");
    // Inside the box of the triangle, beyond its third edge.
    assert!(of(12.0, 12.0).is_empty());
}

#[test]
fn no_hit_is_culled() {
    // Random triangles, tiles and ranges: if a sample in the range hits, its side is kept.
    let mut state = 1_u64;
    let mut random = |least: f64, greatest: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        least + (greatest - least) * ((state >> 33) as f64 / 2_147_483_648.0)
    };
    let mut hits = 0;
    for round in 0..4000 {
        let near_eye = round % 3 == 0;
        let corners = [(); 3].map(|()| {
            let z = random(if near_eye { -1.0 } else { 1.0 }, 4.0);
            let [x, y] = [(); 2].map(|()| z * random(-24.0, 24.0));
            let by = [random(-8.0, 8.0), random(-8.0, 8.0), random(-0.5, 0.5)];
            [[x, y, z], [x + by[0], y + by[1], z + by[2]]]
        });
        let triangle = MovingTriangle::unculled(corners, 1);
        let lens =
            LensShear { a: [narrow(random(0.0, 4.0)); 2], b: [narrow(random(-8.0, 0.0)); 2] };
        let corner = [(); 2].map(|()| narrow(random(-30.0, 22.0)));
        let rect = Rect { least: corner, greatest: corner.map(|v| v + 8.0) };
        let found = found(&triangle, &lens, &rect);
        for _ in 0..64 {
            let sample = Sample {
                xy: corner.map(|v| v + narrow(random(0.0, 8.0))),
                uv: [(); 2].map(|()| narrow(random(-0.7, 0.7))),
                t: narrow(random(0.0, 1.0)),
            };
            let Some(hit) = sample_test(&triangle, &lens, 0.01, &sample) else { continue };
            hits += 1;
            let (ranges, faces) = found.unwrap_or_else(|| panic!("culled by bounds: {sample:?}"));
            let values = [sample.t, sample.uv[0], sample.uv[1]];
            for ([least, greatest], value) in ranges.into_iter().zip(values) {
                assert!(least <= value && value <= greatest, "{ranges:?} {sample:?}");
            }
            assert!(if hit.is_front { faces.front } else { faces.back }, "{sample:?}");
        }
    }
    assert!(hits > 10_000, "{hits}");
}
