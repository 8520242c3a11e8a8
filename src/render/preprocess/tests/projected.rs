//! Tests of the module `projected`.

use super::*;

#[test]
fn shapes_of_sixteen_are_those_of_each() {
    let splats: [ProjectedSplat; BLOCK] = std::array::from_fn(|lane| {
        let x = lane as f32;
        ProjectedSplat {
            u_per_x: 0.01 + 0.07 * x,
            u_per_y: 0.03 * x - 0.2,
            v_per_y: 2.0 / (1.0 + x),
            log2_opacity: -0.53 * x,
            ..ProjectedSplat::zeroed()
        }
    });
    for level in SimdLevel::all() {
        let shapes = ProjectedSplat::shapes(level, &splats);
        assert_eq!(shapes.radii, splats.map(|splat| splat.radii()));
        let bits = |conics: [[f32; 3]; BLOCK]| conics.map(|conic| conic.map(f32::to_bits));
        assert_eq!(bits(shapes.conics), bits(splats.map(|splat| splat.conic())));
    }
}
