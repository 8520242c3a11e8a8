//! Fields that no method of a run reads.

use quadrille_gpu::config::Config;
use quadrille_gpu::method::Method;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::warp::shader_blend::ShaderOrder;

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
        config.unused_by(&methods, &base).into_iter().map(|field| field.name).collect::<Vec<_>>()
    };
    let all =
        ["crossbar.queue", "tgc.bins", "zrop.threshold", "qru.window", "cores.merge_instructions"];
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
    let in_shader = in_shader.into_iter().try_fold(base.clone(), |c, a| c.with(a));
    let unread_by = |method: Method| {
        let unused = in_shader.as_ref().unwrap().unused_by(&[method], &base);
        unused.into_iter().map(|field| field.name).collect::<Vec<_>>()
    };
    assert_eq!(unread_by(Method::from(Variant::BASELINE)), ["interlock.regions"]);
    let [raced, locked] = ShaderOrder::ALL.map(Method::InShader).map(unread_by);
    assert_eq!(raced, ["crop.queue", "interlock.regions"]);
    assert_eq!(locked, ["crop.queue"]);
    assert_eq!(names(&config.with("gpu.gpcs=2").unwrap(), &Variant::ALL), <[&str; 0]>::default());
    assert_eq!(names(&base, &[Variant::BASELINE]), <[&str; 0]>::default(), "defaults");
}
