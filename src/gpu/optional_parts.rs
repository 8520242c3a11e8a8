//! Parts of the GPU that only some methods have, for `only_if` in specifications.

use quadrille_machine::OptionalPart;

macro_rules! parts {
    ($($part:ident $name:literal;)+) => {
        $(
            #[doc = concat!("Part of the machine: ", $name, ".")]
            pub const $part: OptionalPart = OptionalPart { id: stringify!($part), name: $name };
        )+
    };
}

parts! {
    TILE_GRID_COALESCING "tile-grid coalescing";
    QUAD_REORDERING "quad reordering";
    EARLY_TERMINATION "early termination";
    TERMINATION_FEEDBACK "early termination";
    PASSES "several passes (multipass:N)";
    SHADER_BLENDING "blending in the shader (shader-blend, interlock or framebuffer-fetch)";
    CRITICAL_SECTIONS "critical sections (interlock)";
    BLENDING_IN_CROP "blending in CROP";
    WARP_RESULTS "blending outside of the shader";
    VERTEX_BUFFER "a buffer of vertex results in the L2";
    TEST_CACHE "a cache of stencil and depth values";
    KEPT_ORDER "a sequence whose order is kept (sim --warm, or warm in a suite)";
    TILES "tiles on the chip (tile-gpu or framebuffer-fetch)";
    TILE_BLENDING "blending in the tile buffer (tile-gpu)";
    TILE_FETCH "blending in the shader from the tile buffer (framebuffer-fetch)";
    SECOND_GPC "a second GPC (gpu.gpcs)";
    SOFTWARE "software on the shader cores";
    KERNELS "kernels before the raster in software";
    ACCELERATOR "the accelerator";
    FRAME_ESTIMATE "an estimate of frame times";
    ENERGY_ESTIMATE "an estimate of energy";
    PIPELINE "the graphics pipeline";
    SPLAT_PIPELINE "the graphics pipeline with splats";
}
