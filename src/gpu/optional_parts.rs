//! Parts of the GPU that only some methods have, for `only_if` in specifications.

use super::config::Config;
use super::method::Method;
use super::variant::Variant;
use super::warp::shader_blend::ShaderOrder;
use quadrille_machine::spec::OptionalPart;

/// Declares the optional parts and [`is_in`].
macro_rules! parts {
    ($config:ident, $method:ident: $($part:ident $name:literal = $is_in:expr;)+) => {
        $(pub(crate) const $part: OptionalPart = OptionalPart { id: stringify!($part), name: $name };)+

        /// Whether runs of a method have the part.
        pub(crate) fn is_in(part: OptionalPart, $config: &Config, $method: Method) -> bool {
            match part.id {
                $(stringify!($part) => $is_in,)+
                _ => true,
            }
        }
    };
}

/// Whether a method is a variant of the pipeline with an addition.
fn has(method: Method, addition: fn(Variant) -> bool) -> bool {
    method.variant().is_some_and(addition)
}

parts! {
    config, method:
    TILE_GRID_COALESCING "tile-grid coalescing" = has(method, Variant::tgc);
    QUAD_REORDERING "quad reordering" = has(method, Variant::qru);
    EARLY_TERMINATION "early termination" = has(method, Variant::het) || matches!(method, Method::MultiPass(2..));
    TERMINATION_FEEDBACK "early termination" = has(method, Variant::het);
    PASSES "several passes (multipass:N)" = matches!(method, Method::MultiPass(2..));
    SHADER_BLENDING "blending in the shader (shader-blend or interlock)" = matches!(method, Method::InShader(_));
    CRITICAL_SECTIONS "critical sections (interlock)" = method == Method::InShader(ShaderOrder::Interlocked);
    BLENDING_IN_CROP "blending in CROP" = method.is_pipeline() && !matches!(method, Method::InShader(_));
    SECOND_GPC "a second GPC (gpu.gpcs)" = config.gpu.gpcs > 1 && method.is_pipeline();
    SOFTWARE "software on the shader cores" = matches!(method, Method::Compute(_));
    KERNELS "kernels ahead of a raster in software" = matches!(method, Method::Compute(_) | Method::Gscore);
    ACCELERATOR "the accelerator" = method == Method::Gscore;
    FRAME_ESTIMATE "an estimate of frame times" = false;
    ENERGY_ESTIMATE "an estimate of energy" = false;
    PIPELINE "the graphics pipeline" = method.is_pipeline();
}
