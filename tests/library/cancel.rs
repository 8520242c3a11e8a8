//! Long calls end soon after they are cancelled, and leave no file.

use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use quadrille::convert::Action;
use quadrille::suite::{Configuration, Suite};
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

#[test]
fn a_suite_is_cancelled_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let (file, results) = (
        folder.path().join("suite.toml"),
        folder.path().join("rows.jsonl"),
    );
    let text =
        "variants = [\"baseline\"]\n[[scene]]\nname = \"w\"\nrecipe = \"world\"\nsplats = 300000\n";
    std::fs::write(&file, text).unwrap();
    let plan = Suite::read(&file).unwrap();
    let plan = plan
        .plan(&[Configuration::default()], quadrille::PROGRAM, &mut |_| {})
        .unwrap();
    let task = Task::new();
    task.cancel();
    let run = plan.run_task(Some(&results), SimdLevel::best(), &task, &mut |_| {});
    assert!(matches!(run, Err(Error::Cancelled)));
    assert!(!results.exists());
}
