//! Sizes of adaptive shading pixels.

use quadrille_deferred::camera::lens::LensShear;
use quadrille_deferred::raster::triangle::MovingTriangle;
use quadrille_deferred::shading::adaptive::*;

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
    assert!(
        (basis[0][1] - 1.0 / along).abs() < 1e-6 && basis[1][0] == -1.0,
        "{basis:?}"
    );
    // 2 |a + b / z| = 8.
    let lens = LensShear {
        a: [0.0; 2],
        b: [-8.0; 2],
    };
    let [along, across] = px([0.0; 2], &lens);
    assert!(
        (across - 3.5).abs() < 1e-6 && along == across,
        "{along} {across}"
    );
    assert_eq!(px([1000.0, 0.0], &sharp), [16.0, 1.0]);
}

#[test]
fn the_least_blur_counts() {
    let sharp = LensShear::default();
    let mut one_still = triangle([8.0, 0.0], 2.0);
    one_still.change[0] = [0.0; 3];
    assert_eq!(spacing(&one_still, &sharp), Spacing::PIXEL);
    // In focus at z = 2, between the corners.
    let lens = LensShear {
        a: [8.0; 2],
        b: [-16.0; 2],
    };
    let mut cut = triangle([0.0; 2], 2.0);
    cut.start[0][2] = 1.0;
    cut.start[1][2] = 9.0;
    assert_eq!(spacing(&cut, &lens), Spacing::PIXEL);
    cut.start[0][2] = -1.0;
    assert_eq!(spacing(&cut, &lens), Spacing::PIXEL);
}
