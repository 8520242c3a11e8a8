//! Cell sizes of adaptive shading grids.

use quadrille_base::math::narrow;
use quadrille_deferred::camera::lens::{Lens, LensShear};
use quadrille_deferred::raster::triangle::MovingTriangle;
use quadrille_deferred::shading::adaptive::*;
use quadrille_deferred::shading::grid::ShadingGrid;
use quadrille_deferred::shading::grid_view::{GridRule, GridView};
use quadrille_deferred::shading::spid::Spid;

use super::Random;

fn triangle(by: [f64; 2], z: f64) -> MovingTriangle {
    let px = [[0.0, 0.0], [0.0, 8.0], [8.0, 0.0]];
    MovingTriangle::unculled(
        px.map(|[x, y]| [[x * z, y * z, z], [(x + by[0]) * z, (y + by[1]) * z, z]]),
        1,
    )
}

fn spacing(triangle: &MovingTriangle, shear: &LensShear) -> Spacing {
    Blur::new(triangle, shear, 0.5).whole()
}

fn px(by: [f64; 2], shear: &LensShear) -> [f64; 2] {
    spacing(&triangle(by, 2.0), shear).px
}

#[test]
fn cells_grow_along_the_motion_and_with_defocus() {
    let sharp = LensShear::default();
    assert_eq!(spacing(&triangle([0.0; 2], 2.0), &sharp), Spacing::PIXEL);
    assert_eq!(px([0.5, 0.0], &sharp), [1.0; 2]);
    let [along, across] = px([0.0, 8.0], &sharp);
    assert!((along - 0.5 * 65.0_f64.sqrt()).abs() < 1e-6 && across == 1.0);
    let basis = spacing(&triangle([0.0, 8.0], 2.0), &sharp).basis();
    assert!((basis[0][1] - 1.0 / along).abs() < 1e-6 && basis[1][0] == -1.0, "{basis:?}");
    // The circle of confusion is 2 |a + b / z| = 8.
    let lens = LensShear { a: [0.0; 2], b: [-8.0; 2] };
    let [along, across] = px([0.0; 2], &lens);
    assert!((across - 3.5).abs() < 1e-6 && along == across, "{along} {across}");
    assert_eq!(px([1000.0, 0.0], &sharp), [16.0, 1.0]);
}

#[test]
fn the_least_blur_counts() {
    let sharp = LensShear::default();
    let mut one_still = triangle([8.0, 0.0], 2.0);
    one_still.change[0] = [0.0; 3];
    assert_eq!(spacing(&one_still, &sharp), Spacing::PIXEL);
    // The plane in focus, z = 2, lies between the corners.
    let lens = LensShear { a: [8.0; 2], b: [-16.0; 2] };
    let mut cut = triangle([0.0; 2], 2.0);
    cut.start[0][2] = 1.0;
    cut.start[1][2] = 9.0;
    assert_eq!(spacing(&cut, &lens), Spacing::PIXEL);
    cut.start[0][2] = -1.0;
    assert_eq!(spacing(&cut, &lens), Spacing::PIXEL);
}

/// Scale of the cells, as in `GridRule::Adaptive`.
const QUALITY: f64 = 0.5;
/// Factor by which the side of a cell may exceed the bound: positions are rounded to 1/256 of a pixel.
const ROUNDING: f64 = 1.01;

/// Random triangle that moves sideways; one in four has a corner behind the eye.
fn through_focus(random: &mut Random, shift: f64) -> MovingTriangle {
    let mut depths = [random.next(1.0, 4.0), random.next(4.0, 30.0), random.next(1.0, 30.0)];
    if random.next(0.0, 4.0) < 1.0 {
        depths[0] = random.next(-3.0, 0.2);
    }
    MovingTriangle::unculled(
        depths.map(|z| {
            let [x, y] = [0, 1].map(|_| random.next(-200.0, 200.0) * z.abs().max(0.5));
            [[x - shift / 2.0, y, z], [x + shift / 2.0, y, z]]
        }),
        1,
    )
}

#[test]
fn no_part_of_a_triangle_through_focus_is_shaded_more_coarsely_than_its_blur_allows() {
    let mut random = Random(5);
    let [mut coarse, mut cut, mut cut_behind_eye] = [0, 0, 0];
    for round in 0..400 {
        let lens = Lens::from_blur_at_infinity(random.next(2.0, 60.0), 300.0, 4.0).unwrap();
        let view = GridView {
            rule: GridRule::Adaptive { quality: QUALITY },
            shear: lens.shear([300.0; 2]),
            near: 0.25,
            centre: [160.0, 90.5],
            reach_px: 480.0,
        };
        let shift = if round % 2 == 0 { 0.0 } else { random.next(0.0, 20.0) };
        let triangle = through_focus(&mut random, shift);
        let grid = ShadingGrid::new(&triangle, &view);
        if grid.is_barycentric || grid.is_coarsened {
            continue;
        }
        let mut sides = Vec::new();
        for _ in 0..200 {
            let weights = [0; 3].map(|_| random.next(0.0, 1.0));
            let sum: f64 = weights.iter().sum();
            let weights = weights.map(|w| w / sum);
            let [x, y, z] = [0, 1, 2].map(|k| {
                let of = |i: usize| weights[i] * f64::from(triangle.at(0.5)[i][k]);
                of(0) + of(1) + of(2)
            });
            let place = [x / z, y / z];
            let is_seen = place.iter().all(|v| v.abs() < view.reach_px);
            if z < f64::from(view.near) || !is_seen {
                continue;
            }
            let spid = Spid { primitive: 1, morton: grid.map(weights.map(narrow)) };
            let [column, row] = spid.point().map(|v| i32::from(v & !1));
            let corners =
                [[0, 0], [1, 0], [0, 1]].map(|[c, r]| grid.position([column + c, row + r]));
            let length = |v: [f64; 2]| v[0].hypot(v[1]);
            let side = [1, 2].map(|k| length([0, 1].map(|i| corners[k][i] - corners[0][i])));
            let variance = 1.0 + 0.75 * view.shear.coc_px(z).powi(2);
            let moving = variance + (shift / z).powi(2);
            for (side, variance) in side.into_iter().zip([moving, variance]) {
                let most = (QUALITY * variance.sqrt()).clamp(1.0, 16.0);
                assert!(side <= most * ROUNDING, "{round} {place:?}: {side} {most}");
            }
            // The grid point is in the cell of the hit.
            let point = grid.position(spid.point().map(i32::from));
            let off = length([0, 1].map(|k| point[k] - place[k]));
            assert!(off <= 0.51 * length(side) + 0.01, "{round} {place:?}: {off} {side:?}");
            coarse += u32::from(side[1] > 2.0);
            sides.push(side[1]);
        }
        let [least, most] =
            [f64::min, f64::max].map(|f| sides.iter().copied().reduce(f).unwrap_or(1.0));
        cut += u32::from(most > 1.9 * least);
        cut_behind_eye += u32::from(most > 1.9 * least && triangle.start[0][2] < 0.0);
    }
    // Without bands, triangles that the plane in focus cuts have cells of the size of pixels.
    assert!(coarse > 10_000 && cut > 150 && cut_behind_eye > 30, "{coarse} {cut} {cut_behind_eye}");
}
