//! Fields of a configuration that no unit of a run reads.

use super::config::Config;
use super::method::Method;
use super::optional_parts as parts;
use super::tile_gpu::TileMethod;
use super::variant::Variant;
use super::warp::shader_blend::ShaderOrder;
use quadrille_machine::{Field, OptionalPart};

/// A field that differs from a base configuration and has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedField {
    /// Name of the field, in the form `unit.field`.
    pub name: String,
    /// Part of the GPU that would read the field, but that no method of the run has.
    pub lacks: &'static str,
}

impl Config {
    /// Fields that differ from `base` but that no run of `methods` reads. Fields of estimates count as unread.
    pub fn unused_by(&self, methods: &[Method], base: &Self) -> Vec<UnusedField> {
        let lacks = |field: &Field| {
            let is_unread = !self.is_read(field, methods);
            field.only_if.filter(|_| is_unread).map(|part| part.name)
        };
        unused([self.fields(), base.fields()], lacks)
    }

    pub(crate) fn is_read(&self, field: &Field, methods: &[Method]) -> bool {
        let is_in = |part| methods.iter().any(|method| is_in(part, self, *method));
        field.only_if.is_none_or(is_in)
    }
}

/// Fields whose values differ from the base and of which `lacks` names the part that no run has.
pub fn unused(
    [fields, base]: [Vec<Field>; 2],
    lacks: impl Fn(&Field) -> Option<&'static str>,
) -> Vec<UnusedField> {
    let changed = fields.into_iter().zip(base).filter(|(field, base)| field.value != base.value);
    let unused = changed
        .filter_map(|(field, _)| Some(UnusedField { lacks: lacks(&field)?, name: field.name }));
    unused.collect()
}

/// Whether a method has an addition, or simulates it to measure the share of merged quads.
fn has(method: Method, addition: fn(Variant) -> bool) -> bool {
    let measured = match method {
        Method::Imitated(imitation) => Some(imitation.variant()).filter(|variant| variant.qru()),
        _ => None,
    };
    method.variant().or(measured).is_some_and(addition)
}

fn blends_in_shader(method: Method) -> bool {
    matches!(method, Method::InShader(_) | Method::Tiles(TileMethod::FramebufferFetch))
}

fn is_in(part: OptionalPart, config: &Config, method: Method) -> bool {
    let has_tiles = method.has_tiles();
    match part {
        parts::TILE_GRID_COALESCING => has(method, Variant::tgc),
        parts::QUAD_REORDERING => has(method, Variant::qru),
        parts::EARLY_TERMINATION => {
            let is_imitated =
                matches!(method, Method::Imitated(imitation) if imitation.variant().het());
            has(method, Variant::het) || is_imitated || matches!(method, Method::MultiPass(2..))
        }
        parts::TERMINATION_FEEDBACK => has(method, Variant::het),
        parts::PASSES => matches!(method, Method::MultiPass(2..)),
        parts::SHADER_BLENDING => blends_in_shader(method),
        parts::CRITICAL_SECTIONS => method == Method::InShader(ShaderOrder::Interlocked),
        parts::BLENDING_IN_CROP => method.is_pipeline() && !blends_in_shader(method) && !has_tiles,
        parts::WARP_RESULTS => method.is_pipeline() && !blends_in_shader(method),
        parts::VERTEX_BUFFER | parts::TEST_CACHE => method.is_pipeline() && !has_tiles,
        parts::TILES => has_tiles,
        parts::TILE_BLENDING => has_tiles && !blends_in_shader(method),
        parts::TILE_FETCH => has_tiles && blends_in_shader(method),
        parts::SECOND_GPC => config.gpu.gpcs > 1 && method.is_pipeline(),
        parts::SOFTWARE => matches!(method, Method::Compute(_)),
        parts::KERNELS => matches!(method, Method::Compute(_) | Method::Gscore),
        parts::ACCELERATOR => method == Method::Gscore,
        parts::KEPT_ORDER => false,
        parts::FRAME_ESTIMATE => false,
        parts::ENERGY_ESTIMATE => false,
        parts::PIPELINE | parts::SPLAT_PIPELINE => method.is_pipeline(),
        _ => true,
    }
}
