//! A unit from outside is configured, swept, counted and traced like the units of the emulated GPU.

use std::path::Path;
use std::time::Duration;

use quadrille::gpu::machine::Machine;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Watch;
use quadrille::suite::{Configuration, RunOptions, RunRow, Suite, csv};
use quadrille::{
    Config, Method, Profile, Recipe, SceneFacts, SimdLevel, Simulated, Synthetic, Task, Variant,
    VariantRun, ViewFacts,
};

#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/own_program.rs"]
mod example;
use example::{ProbeSpec, probe};

/// The default configuration with the probe between the tests and the shading.
fn probed() -> Config {
    Config::default().with_extension(probe()).unwrap()
}

#[test]
fn its_fields_are_set_by_name_and_checked() {
    let config = probed();
    assert_eq!(config.unit::<ProbeSpec>().latency_cycles, 2);
    let slow = config.with("probe.latency_cycles=500").unwrap();
    assert_eq!(slow.unit::<ProbeSpec>().latency_cycles, 500);
    // A file may set it beside other fields.
    let text = "[tc]\nbins = 8\n[probe]\nlatency_cycles = 7";
    let both = config.overlaid(text, "my.toml").unwrap();
    assert_eq!((both.tc.bins, both.unit::<ProbeSpec>().latency_cycles), (8, 7));
    let field = slow.fields().into_iter().find(|f| f.name == "probe.latency_cycles");
    assert_eq!(field.unwrap().value, "500");
    let changes = slow.changes_from("vr-pipe").unwrap();
    assert_eq!(
        changes.into_iter().collect::<Vec<_>>(),
        [("probe.latency_cycles".into(), "500".into())]
    );
    for (wrong, named) in [
        ("probe.latency_cycles=200000", "probe.latency_cycles"),
        ("probe.latency_cycles=fast", "probe.latency_cycles"),
        ("probe.latency=1", "latency_cycles"),
    ] {
        let error = config.with(wrong).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    assert!(Config::default().with("probe.latency_cycles=1").is_err());
}

#[test]
fn a_suite_sweeps_it_and_rows_have_its_fields_and_counters() {
    let base = Configuration { config: probed(), ..Configuration::default() };
    let text = "method = ['baseline', 'het']\n[matrix]\nprobe.latency_cycles = [0, 20000]\n\
                [[scene]]\nname = 'vase'\nrecipe = 'object'\nsplats = 500\nviews = '0'\nwidth = 64";
    let path = Path::new("suite.toml");
    assert!(Suite::parse(text, path).is_err());
    let suite = Suite::parse_for(text, path, &base).unwrap();
    let plan = suite.plan(&[base], quadrille::PROGRAM, &Task::NEVER, &mut |_| {});
    let rows = plan.unwrap().run(&RunOptions::default(), &mut |_| {}).unwrap();
    let table = csv::text(&RunRow::split(rows).0, &[]);
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let lines: Vec<_> = lines.collect();
    let cells = |name: &str| -> Vec<u64> {
        let at = header.iter().position(|h| *h == name);
        let at = at.unwrap_or_else(|| panic!("no column {name}: {header:?}"));
        lines.iter().map(|cells| cells[at].parse().unwrap()).collect()
    };
    assert_eq!(cells("probe.latency_cycles"), [0, 0, 20_000, 20_000]);
    let full = cells("counters.probe.full");
    // The latency delays the termination of pixels, so that more passes the probe.
    assert!(full[0] > 0 && full[0] == full[2] && full[1] <= full[3], "{full:?}");
    let cycles = cells("cycles");
    assert!(cycles[2] >= cycles[0] + 20_000, "{cycles:?}");
}

#[test]
fn its_timeline_is_in_the_trace() {
    let vase = Synthetic::new(Recipe::Object, 1, 500, 0).unwrap();
    let (splats, camera) = (vase.splats(), vase.cameras()[0].resized(64, 36).unwrap());
    let view = PreparedView::new(
        &splats,
        &camera,
        &Profile::default(),
        SimdLevel::best(),
        &quadrille::Task::NEVER,
    )
    .unwrap();
    let (config, watch) = (probed(), Watch { timelines: true, ..Watch::default() });
    let machine = Machine::new(&config, Method::Pipeline(Variant::BASELINE), watch).unwrap();
    let run = VariantRun {
        outcome: machine.run(&view, &quadrille::Task::NEVER).unwrap().outcome,
        host: Duration::ZERO,
        output: None,
        against_reference: None,
        frame: None,
        energy: None,
    };
    let simulated = Simulated {
        scene: &SceneFacts::default(),
        view: ViewFacts::default(),
        profile: "inria",
        config: &config,
        preset: "vr-pipe",
        host: [Duration::ZERO; 2],
        mesh_draw: None,
        runs: vec![run],
    };
    let mut trace = Vec::new();
    quadrille::write_trace(&mut trace, &simulated).unwrap();
    assert!(String::from_utf8(trace).unwrap().contains(" probe\""));
}
