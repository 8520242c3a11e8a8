//! Fields of a configuration that no unit of a run reads.

use super::config::Config;
use super::method::Method;
use super::optional_parts as parts;
use super::variant::Variant;
use super::warp::shader_blend::ShaderOrder;
use quadrille_machine::spec::OptionalPart;

/// A field that differs from a base configuration and has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedField {
    /// `unit.field`.
    pub name: String,
    /// The unit that would read it; no method has it.
    pub lacks: &'static str,
}

impl Config {
    /// Fields with other values than in `base` that no run of `methods` reads. The estimates of frame times
    /// and energy are made behind a run and are no part of it.
    pub fn unused_by(&self, methods: &[Method], base: &Self) -> Vec<UnusedField> {
        let fields = self.fields().into_iter().zip(base.fields());
        let changed = fields.filter(|(field, base)| field.value != base.value);
        let unused = changed.filter_map(|(field, _)| {
            let part = field.only_if?;
            let is_read = methods.iter().any(|method| is_in(part, self, *method));
            (!is_read).then_some(UnusedField {
                name: field.name,
                lacks: part.name,
            })
        });
        unused.collect()
    }
}

/// Whether a method is a variant of the pipeline with an addition.
fn has(method: Method, addition: fn(Variant) -> bool) -> bool {
    method.variant().is_some_and(addition)
}

/// Whether runs of a method have a part.
fn is_in(part: OptionalPart, config: &Config, method: Method) -> bool {
    match part {
        parts::TILE_GRID_COALESCING => has(method, Variant::tgc),
        parts::QUAD_REORDERING => has(method, Variant::qru),
        parts::EARLY_TERMINATION => {
            has(method, Variant::het) || matches!(method, Method::MultiPass(2..))
        }
        parts::TERMINATION_FEEDBACK => has(method, Variant::het),
        parts::PASSES => matches!(method, Method::MultiPass(2..)),
        parts::SHADER_BLENDING => matches!(method, Method::InShader(_)),
        parts::CRITICAL_SECTIONS => method == Method::InShader(ShaderOrder::Interlocked),
        parts::BLENDING_IN_CROP => method.is_pipeline() && !matches!(method, Method::InShader(_)),
        parts::SECOND_GPC => config.gpu.gpcs > 1 && method.is_pipeline(),
        parts::SOFTWARE => matches!(method, Method::Compute(_)),
        parts::KERNELS => matches!(method, Method::Compute(_) | Method::Gscore),
        parts::ACCELERATOR => method == Method::Gscore,
        parts::FRAME_ESTIMATE => false,
        parts::ENERGY_ESTIMATE => false,
        parts::PIPELINE => method.is_pipeline(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_that_no_variant_reads() {
        let base = Config::default();
        let changed = [
            "tgc.bins=64",
            "qru.window=64",
            "cores.merge_instructions=7",
            "zrop.threshold=0.9",
            "zrop.queue=9",
            "crossbar.queue=9",
            "tc.bins=9",
        ];
        let config = changed
            .into_iter()
            .try_fold(base.clone(), |config, assignment| config.with(assignment))
            .unwrap();
        let names = |config: &Config, variants: &[Variant]| {
            let methods: Vec<_> = variants.iter().map(|v| Method::from(*v)).collect();
            let unused = config.unused_by(&methods, &base).into_iter();
            unused.map(|field| field.name).collect::<Vec<_>>()
        };
        let all = [
            "crossbar.queue",
            "tgc.bins",
            "zrop.threshold",
            "qru.window",
            "cores.merge_instructions",
        ];
        assert_eq!(names(&config, &[Variant::BASELINE]), all);
        let rest = ["crossbar.queue", "zrop.threshold"];
        assert_eq!(names(&config, &[Variant::BASELINE, Variant::QM]), rest);
        assert_eq!(names(&config, &Variant::ALL), rest[..1]);
        let passes = config.with("passes.draw_gap_cycles=0").unwrap();
        let in_passes = |passes: &Config, number| {
            let unused = passes.unused_by(&[Method::MultiPass(number)], &base);
            let names: Vec<_> = unused.into_iter().map(|field| field.name).collect();
            ["zrop.threshold", "passes.draw_gap_cycles"].map(|n| names.contains(&n.to_owned()))
        };
        assert_eq!(in_passes(&passes, 2), [false; 2]);
        assert_eq!(in_passes(&passes, 1), [true; 2]);
        let in_shader = ["crop.queue=9", "crop.format=rgba8", "interlock.regions=9"];
        let in_shader = in_shader
            .into_iter()
            .try_fold(base.clone(), |c, a| c.with(a));
        let unread_by = |method: Method| {
            let unused = in_shader.as_ref().unwrap().unused_by(&[method], &base);
            unused
                .into_iter()
                .map(|field| field.name)
                .collect::<Vec<_>>()
        };
        let baseline = Method::from(Variant::BASELINE);
        assert_eq!(unread_by(baseline), ["interlock.regions"]);
        let [raced, locked] = ShaderOrder::ALL.map(Method::InShader).map(unread_by);
        assert_eq!(raced, ["crop.queue", "interlock.regions"]);
        assert_eq!(locked, ["crop.queue"]);
        let two = config.with("gpu.gpcs=2").unwrap();
        assert_eq!(names(&two, &Variant::ALL), <[&str; 0]>::default());
        assert_eq!(
            names(&base, &[Variant::BASELINE]),
            <[&str; 0]>::default(),
            "defaults"
        );
    }
}
