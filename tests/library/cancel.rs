//! Long calls end soon after they are cancelled, and leave no file.

use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use quadrille::convert::Action;
use quadrille::suite::{Configuration, Event, Plan, Row, Suite, read_rows};
use quadrille::{
    Config, Error, LoadOptions, Method, OutputFormat, Recipe, RenderSettings, Renderer, Result,
    SimdLevel, Simulation, SplatTable, Splats, Synthetic, Task,
};

/// Time in which a call ends after it is cancelled.
const PROMPT: Duration = Duration::from_millis(50);
/// Time after which calls are cancelled, while they still run.
const BEFORE: Duration = Duration::from_millis(40);

fn world() -> &'static Synthetic {
    static WORLD: OnceLock<Synthetic> = OnceLock::new();
    WORLD.get_or_init(|| Synthetic::new(Recipe::World, 1, 300_000, 0).unwrap())
}

fn splats() -> &'static Splats {
    static SPLATS: OnceLock<Splats> = OnceLock::new();
    SPLATS.get_or_init(|| world().splats())
}

fn table() -> SplatTable {
    SplatTable::from_slices(&splats().to_arrays().as_slices()).unwrap()
}

/// Cancels `call` while it runs, and checks that it ends promptly. The best of three attempts counts,
/// since the machine may be busy with other tests.
fn cancelled<T>(mut call: impl FnMut(&Task) -> Result<T>) {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let task = Task::new();
        let canceller = task.clone();
        let cancelling = thread::spawn(move || {
            thread::sleep(BEFORE);
            canceller.cancel();
            Instant::now()
        });
        let result = call(&task);
        let ended = Instant::now();
        assert!(matches!(result, Err(Error::Cancelled)), "not cancelled");
        let at = cancelling.join().unwrap();
        best = best.min(ended.saturating_duration_since(at));
        if best <= PROMPT {
            return;
        }
    }
    panic!("ended {best:?} after it was cancelled");
}

#[test]
fn loading_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.ply");
    quadrille::write_table(&path, &table(), OutputFormat::Ply).unwrap();
    cancelled(|task| {
        // One scene is read faster than the cancellation arrives.
        (0..1000)
            .try_for_each(|_| quadrille::load_task(&path, LoadOptions::default(), task).map(drop))
    });
}

#[test]
fn rendering_is_cancelled() {
    let cameras = vec![world().cameras()[0].resized(3200, 2400).unwrap(); 100];
    let settings = RenderSettings::default();
    cancelled(|task| {
        Renderer::default().render_many(splats(), &cameras, &settings, task, |_, _| Ok(()))
    });
}

#[test]
fn simulations_are_cancelled() {
    let camera = world().cameras()[0].resized(1600, 1200).unwrap();
    for name in ["het+qm", "compute", "multipass:4"] {
        let simulation = Simulation::new(Config::default(), [Method::parse(name).unwrap()]);
        cancelled(|task| {
            quadrille::simulate(splats(), &camera, &simulation.clone().with_task(task))
        });
    }
}

#[test]
fn conversion_is_cancelled() {
    let table = table();
    let actions = [Action::DropFloaters(8.0)];
    cancelled(|task| Action::apply_all(&actions, &mut table.clone(), Path::new("world"), task));
}

/// Plans a suite of one scene of `splats` splats, `width` pixels wide, in two configurations.
fn suite(splats: u32, width: u32) -> Plan {
    let text = format!(
        "methods = ['baseline', 'het+qm']\n[matrix]\ntc.bins = [8, 32]\n[[scene]]\nname = 'vase'\n\
         recipe = 'object'\nsplats = {splats}\nviews = '0'\nwidth = {width}"
    );
    let suite = Suite::parse(&text, Path::new("suite.toml")).unwrap();
    let bases = [Configuration::default()];
    suite.plan(&bases, quadrille::PROGRAM, &mut |_| {}).unwrap()
}

#[test]
fn a_suite_is_cancelled() {
    let plan = suite(20_000, 3200);
    cancelled(|task| plan.run_task(None, SimdLevel::best(), task, &mut |_| {}));
}

#[test]
fn a_cancelled_suite_keeps_its_rows_and_continues() {
    let (plan, level) = (suite(500, 48), SimdLevel::best());
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("rows.jsonl");
    let (task, mut begun) = (Task::new(), 0);
    let stopped = plan.run_task(Some(&results), level, &task, &mut |event| {
        begun += u32::from(matches!(event, Event::Begun(_)));
        if begun == 2 {
            task.cancel();
        }
    });
    assert!(matches!(stopped, Err(Error::Cancelled)));
    assert_eq!(read_rows(&results).unwrap().len(), 1);
    let mut resumed = None;
    let rows = plan.run(Some(&results), level, &mut |event| {
        if let Event::Resumed { jobs, done } = event {
            resumed = Some((jobs, done));
        }
    });
    assert_eq!(resumed, Some((2, 1)));
    let cycles = |rows: Result<Vec<Row>>| {
        let rows = rows.unwrap().into_iter();
        let of_row = |row: Row| row.variants.into_iter().map(|m| m.count("cycles").unwrap());
        rows.flat_map(of_row).collect::<Vec<_>>()
    };
    let whole = plan.run(None, level, &mut |_| {});
    assert_eq!(cycles(rows), cycles(whole));
}
