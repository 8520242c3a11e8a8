//! Splats as filled rectangles: the picture of two triangles, from half of the primitives and three quarters of the vertices.

use quadrille::gpu::variant::Variant;
use quadrille::{Recipe, Synthetic};

use crate::support::emulated::{config, prepared, run};

#[test]
fn a_filled_rectangle_draws_the_picture_of_two_triangles() {
    let scene = Synthetic::new(Recipe::Object, 1, 1001, 0).unwrap();
    let splats = scene.splats();
    let view = prepared(&splats, &scene.cameras()[0].resized(160, 120).unwrap());
    let drawn = u64::from(view.draw().len());
    let unbounded = "vertex.buffer_is_bounded=false";
    for variant in [Variant::BASELINE, Variant::TGC] {
        let triangles = run(&view, &config(&[unbounded]), variant);
        let set = [unbounded, "vertex.splat_primitive=fill-rectangle"];
        let rectangles = run(&view, &config(&set), variant);
        assert_eq!(rectangles.frame().pixels(), triangles.frame().pixels(), "{variant}");
        assert_eq!(rectangles.fragments.blended, triangles.fragments.blended, "{variant}");
        // Two triangles share the quads on their diagonal; the rectangle around a slanted box has more fragments.
        assert!(rectangles.quads.blended < triangles.quads.blended, "{variant}");
        assert!(rectangles.fragments.rasterized > triangles.fragments.rasterized, "{variant}");
        let of = [&triangles, &rectangles];
        assert_eq!(of.map(|r| r.raster.primitives), [2 * drawn, drawn], "{variant}");
        // 32 lanes hold the vertices of 8 splats of four, or of 10 splats of three.
        assert_eq!(of.map(|r| r.vertex_warps), [drawn.div_ceil(8), drawn.div_ceil(10)]);
        // Four and three vertices of four words of position and six words of attributes.
        for (result, bytes) in of.into_iter().zip([160, 120]) {
            let peaks = result.vertex_buffer;
            assert_eq!(peaks.live_bytes, bytes * peaks.live_splats, "{variant}");
        }
    }
}
