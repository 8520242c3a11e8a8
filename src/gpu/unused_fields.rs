//! Fields of a configuration that no unit of a run reads.

use super::config::Config;
use super::method::Method;
use super::variant::Variant;
use super::warp::shader_blend::ShaderOrder;

/// Fields, or whole units, that only some runs read.
struct Conditional {
    names: &'static [&'static str],
    /// Condition under which a run of a method reads them.
    is_read: fn(&Config, Method) -> bool,
    /// What the run lacks otherwise.
    lacks: &'static str,
}

/// Whether a method is a variant of the pipeline with an addition.
fn has(method: Method, addition: fn(Variant) -> bool) -> bool {
    method.variant().is_some_and(addition)
}

/// Whether CROP blends the fragments of a method.
fn blends_in_crop(method: Method) -> bool {
    method.is_pipeline() && !matches!(method, Method::InShader(_))
}

/// Whether a method has stencil updates between passes.
fn is_in_passes(method: Method) -> bool {
    matches!(method, Method::MultiPass(2..))
}

const CONDITIONAL: [Conditional; 15] = [
    Conditional {
        names: &["tgc"],
        is_read: |_, method| has(method, Variant::tgc),
        lacks: "tile-grid coalescing",
    },
    Conditional {
        names: &[
            "qru",
            "cores.merge_instructions",
            "cores.merge_latency_cycles",
        ],
        is_read: |_, method| has(method, Variant::qru),
        lacks: "quad reordering",
    },
    Conditional {
        names: &["zrop.threshold"],
        is_read: |_, method| has(method, Variant::het) || is_in_passes(method),
        lacks: "early termination",
    },
    Conditional {
        names: &["passes"],
        is_read: |_, method| is_in_passes(method),
        lacks: "several passes (multipass:N)",
    },
    Conditional {
        names: &["shader_blend"],
        is_read: |_, method| matches!(method, Method::InShader(_)),
        lacks: "blending in the shader (shader-blend or interlock)",
    },
    Conditional {
        names: &["interlock"],
        is_read: |_, method| method == Method::InShader(ShaderOrder::Interlocked),
        lacks: "critical sections (interlock)",
    },
    Conditional {
        names: &[
            "crop.queue",
            "crop.bytes_per_cycle",
            "crop.quads_per_cycle",
            "crop.cache_bytes",
            "crop.cache_ways",
            "crop.l2_bytes_per_cycle",
            "crop.write_buffer",
            "crop.fast_clear",
            "crop.wait_queue",
            "crop.blend_cycles",
            "cores.warps_out_per_cycle",
        ],
        is_read: |_, method| blends_in_crop(method),
        lacks: "blending in CROP",
    },
    Conditional {
        names: &[
            "zrop.feedback",
            "zrop.feedback_cycles",
            "zrop.update_queue",
            "zrop.update_cycles",
        ],
        is_read: |_, method| has(method, Variant::het),
        lacks: "early termination",
    },
    Conditional {
        names: &[
            "distributor",
            "crossbar",
            "gpu.tile_mapping",
            "gpu.tile_block",
        ],
        is_read: |config, method| config.gpu.gpcs > 1 && method.is_pipeline(),
        lacks: "a second GPC (gpu.gpcs)",
    },
    Conditional {
        names: &["compute"],
        is_read: |_, method| matches!(method, Method::Compute(_)),
        lacks: "software on the shader cores",
    },
    Conditional {
        names: &["kernels"],
        is_read: |_, method| matches!(method, Method::Compute(_) | Method::Gscore),
        lacks: "kernels ahead of a raster in software",
    },
    Conditional {
        names: &["gscore"],
        is_read: |_, method| method == Method::Gscore,
        lacks: "the accelerator",
    },
    Conditional {
        names: &["frame"],
        is_read: |_, _| false,
        lacks: "an estimate of frame times",
    },
    Conditional {
        names: &["energy"],
        is_read: |_, _| false,
        lacks: "an estimate of energy",
    },
    Conditional {
        names: &[
            "vertex",
            "vpo",
            "setup",
            "coarse",
            "hi_z",
            "fine",
            "tc",
            "prop",
            "zrop",
            "pack",
            "launch",
            "crop",
            "cores.fragment_instructions",
            "cores.fragment_latency_cycles",
            "cores.l1_bytes",
            "cores.l1_ways",
            "cores.l1_bytes_per_cycle",
        ],
        is_read: |_, method| method.is_pipeline(),
        lacks: "the graphics pipeline",
    },
];

/// A field that differs from a base configuration and has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedField {
    /// `unit.field`.
    pub name: String,
    /// What would read it, which no method has.
    pub lacks: &'static str,
}

impl Config {
    /// Fields with other values than in `base` that no run of `methods` reads. The estimates of frame times
    /// and energy are made behind a run and are no part of it.
    #[must_use]
    pub fn unused_by(&self, methods: &[Method], base: &Self) -> Vec<UnusedField> {
        let fields = self.fields().into_iter().zip(base.fields());
        let changed = fields.filter(|(field, base)| field.value != base.value);
        let unused = changed.filter_map(|(field, _)| {
            let is_named = |c: &&Conditional| {
                let unit = field.name.split('.').next();
                c.names
                    .iter()
                    .any(|name| *name == field.name || Some(*name) == unit)
            };
            let found = CONDITIONAL.iter().find(is_named)?;
            let is_read = methods.iter().any(|m| (found.is_read)(self, *m));
            (!is_read).then_some(UnusedField {
                name: field.name,
                lacks: found.lacks,
            })
        });
        unused.collect()
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
