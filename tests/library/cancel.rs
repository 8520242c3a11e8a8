//! Long calls end soon after they are cancelled, and leave no file.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quadrille::convert::{Action, Amount};
use quadrille::deferred::camera::{lens::Lens, motion::SceneMotion, shutter::ShutterView};
use quadrille::deferred::simulate::PipelineRun;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::surface::ProceduralScene;
use quadrille::geometry::tessellate::{TessellateSettings, Tessellated};
use quadrille::mesh::frame::{Cull, Faces, FrameSettings, MEMORY_BYTES};
use quadrille::mesh::merge::{MergeUnitKind, PmuSettings};
use quadrille::mesh_pipeline::{self, MeshConfig};
use quadrille::raster::samples::SamplePattern;
use quadrille::suite::microbench::Microbenchmark;
use quadrille::suite::{Configuration, Event, Plan, Row, RunOptions, RunRow, Suite, read_rows};
use quadrille::{
    Camera, Config, DeferredDrawSettings, Error, MeshDrawSettings, Method, OutputFormat, Recipe,
    RenderSettings, Renderer, Result, SceneInput, SimdLevel, Simulation, SplatTable, Splats,
    Synthetic, Task, WriteOptions,
};

/// Processor time in which a call ends after it is cancelled.
const PROMPT: Duration = Duration::from_millis(50);
/// The same as time of the clock, when other programs take most of the processors.
const PROMPT_UNDER_LOAD: Duration = Duration::from_millis(400);
/// Times after which calls are cancelled, so that several of their stages are.
const BEFORE_MS: [u64; 3] = [10, 50, 200];
/// Attempts of which the best one counts, since the machine may be busy with other programs.
const ATTEMPTS: usize = 8;
/// Lets one test run at a time, so that tests do not disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn world() -> &'static Synthetic {
    static WORLD: OnceLock<Synthetic> = OnceLock::new();
    WORLD.get_or_init(|| Synthetic::new(Recipe::World, 1, 100_000, 1).unwrap())
}

fn splats() -> &'static Splats {
    static SPLATS: OnceLock<Splats> = OnceLock::new();
    SPLATS.get_or_init(|| world().splats())
}

fn table() -> &'static SplatTable {
    static TABLE: OnceLock<SplatTable> = OnceLock::new();
    TABLE.get_or_init(|| SplatTable::from_slices(&splats().to_arrays().as_slices()).unwrap())
}

/// Processor time of this process, in steps of 10 ms; `None` where the system does not tell.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time are fields 14 and 15; the second field is a name in parentheses, which may hold anything.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(14)? + ticks(15)?)))
}

/// Repeats `call` until it is cancelled; returns the time from then to its end, which does not count while other programs
/// have the processors.
fn time_to_end<T>(call: &mut impl FnMut(&Task) -> Result<T>, before: Duration) -> Duration {
    let task = Task::new();
    let canceller = task.clone();
    let cancelling = thread::spawn(move || {
        thread::sleep(before);
        let at = (Instant::now(), processor_time());
        canceller.cancel();
        at
    });
    let error = loop {
        match call(&task) {
            Ok(result) => drop(result),
            Err(error) => break error,
        }
    };
    let (ended, used) = (Instant::now(), processor_time());
    assert!(matches!(error, Error::Cancelled), "{error}");
    let (at, used_before) = cancelling.join().unwrap();
    let waited = ended.saturating_duration_since(at);
    match (used, used_before) {
        (Some(used), Some(before)) if waited <= PROMPT_UNDER_LOAD => {
            waited.min(used.saturating_sub(before))
        }
        _ => waited,
    }
}

/// Cancels `call` while it runs, at several times, and checks that it ends promptly.
fn cancelled<T>(name: &str, mut call: impl FnMut(&Task) -> Result<T>) {
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for before in BEFORE_MS {
        let mut best = Duration::MAX;
        for _ in 0..ATTEMPTS {
            best = best.min(time_to_end(&mut call, Duration::from_millis(before)));
            if best <= PROMPT {
                break;
            }
        }
        println!("{name}, cancelled after {before} ms: ends in {best:.1?}");
        assert!(best <= PROMPT, "{name}: ended {best:?} after it was cancelled");
    }
}

/// The bytes of a `.ksplat` without compression.
fn ksplat(splats: u32) -> Vec<u8> {
    let mut bytes = vec![0; 4096 + 1024];
    (bytes[1], bytes[4]) = (1, 1);
    for at in [4096, 4100] {
        bytes[at..at + 4].copy_from_slice(&splats.to_le_bytes());
    }
    bytes.extend(vec![0x3e; 44 * splats as usize]);
    bytes
}

/// Cancels loading of a file, as splats and as a table.
fn load_is_cancelled(name: &str, path: &Path) {
    cancelled(&format!("load {name}"), |task| quadrille::load(SceneInput::file(path).task(task)));
    cancelled(&format!("table of {name}"), |task| {
        quadrille::load_table(SceneInput::file(path).task(task))
    });
}

#[test]
fn loading_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    for format in OutputFormat::all() {
        let name = format!("world-{}{}", format.name(), format.extension());
        let path = folder.path().join(name);
        quadrille::write_table(&path, table(), format).unwrap();
        load_is_cancelled(format.name(), &path);
    }
    let path = folder.path().join("world.ksplat");
    std::fs::write(&path, ksplat(1 << 18)).unwrap();
    load_is_cancelled("ksplat", &path);
}

#[test]
fn writing_is_cancelled_and_leaves_no_file() {
    for format in OutputFormat::all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world");
        cancelled(&format!("write {}", format.name()), |task| {
            let written =
                quadrille::write_table(&path, table(), WriteOptions::new(format).task(task));
            if written.is_err() {
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
                return written;
            }
            // A file that is written before the task is cancelled stays.
            let removed = std::fs::remove_file(&path);
            removed.or_else(|_| std::fs::remove_dir_all(&path)).unwrap();
            Ok(())
        });
    }
}

#[test]
fn a_cancelled_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.ply");
    std::fs::write(&path, "old").unwrap();
    let task = Task::new();
    task.cancel();
    let written =
        quadrille::write_table(&path, table(), WriteOptions::new(OutputFormat::Ply).task(&task));
    assert!(matches!(written, Err(Error::Cancelled)));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn rendering_is_cancelled() {
    let cameras = vec![world().cameras()[0].resized(3200, 2400).unwrap(); 100];
    let settings = RenderSettings::default();
    cancelled("render", |task| {
        Renderer::default().render_many(splats(), &cameras, &settings, task, |_, _| Ok(()))
    });
}

#[test]
fn the_search_for_a_view_is_cancelled() {
    cancelled("default camera", |task| quadrille::default_camera(splats(), task));
}

#[test]
fn simulations_are_cancelled() {
    let camera = world().cameras()[0].resized(1600, 1200).unwrap();
    for name in ["het+qm", "compute", "multipass:4"] {
        let simulation = Simulation::new(Config::default(), [Method::parse(name).unwrap()]);
        cancelled(&format!("simulate {name}"), |task| {
            quadrille::simulate(splats(), &camera, &simulation.clone().with_task(task))
        });
    }
}

#[test]
fn conversion_is_cancelled() {
    for (name, action) in [
        ("drop floaters", Action::DropFloaters(8.0)),
        ("decimate", Action::Decimate(Amount::Share(0.2))),
        ("rotate", Action::Rotate([10.0, 20.0, 30.0])),
        ("order", Action::Morton),
    ] {
        cancelled(name, |task| {
            let actions = [action.clone()];
            Action::apply_all(&actions, &mut table().clone(), Path::new("world"), task)
        });
    }
}

/// The ARCADE scene in small triangles, and a view of it.
fn arcade() -> &'static (Tessellated, Camera) {
    static ARCADE: OnceLock<(Tessellated, Camera)> = OnceLock::new();
    ARCADE.get_or_init(|| {
        let scene = ProceduralScene::Arcade;
        let hall = Tessellated::new(scene.surface(1), TessellateSettings::default()).unwrap();
        let camera = scene.viewpoint().camera("hall", 1280, 960).unwrap();
        (hall, camera)
    })
}

#[test]
fn deferred_frames_are_cancelled() {
    let (hall, camera) = arcade();
    let lens = Lens::from_blur_at_infinity(4.0, camera.focal_px[0], 10.0).unwrap();
    let view = ShutterView::new(camera, 0.05, lens, SceneMotion::NONE).unwrap();
    let sorted = DeferredDrawSettings::default();
    let compared = DeferredDrawSettings {
        pipelines: vec![
            PipelineRun::Sds { tile_px: Some(128) },
            PipelineRun::CachedDecoupled { memo_quads: Some(1024), has_prepass: true },
        ],
        traffic: true,
        ..DeferredDrawSettings::default()
    };
    for (name, settings) in [("sorted", sorted), ("compared", compared)] {
        cancelled(&format!("deferred, {name}"), |task| {
            let settings = DeferredDrawSettings { task: task.clone(), ..settings.clone() };
            quadrille::draw_deferred(hall, &view, &settings)
        });
    }
}

/// A bumpy plane of 320,000 triangles in front of the camera.
fn plane() -> Mesh {
    const SIDE: u32 = 400;
    let mut text = String::new();
    for row in 0..=SIDE {
        for column in 0..=SIDE {
            let [x, y] = [column, row].map(|v| f64::from(v) / f64::from(SIDE) * 4.0 - 2.0);
            text += &format!("v {x} {y} {}\n", 3.0 + 0.1 * (x * 9.0).sin() * (y * 7.0).cos());
        }
    }
    for row in 0..SIDE {
        for column in 0..SIDE {
            let first = row * (SIDE + 1) + column + 1;
            text += &format!("f {} {} {}\n", first, first + SIDE + 1, first + 1);
            text += &format!("f {} {} {}\n", first + 1, first + SIDE + 1, first + SIDE + 2);
        }
    }
    let no_files = &mut |name: &str| unreachable!("{name}");
    let loaded =
        quadrille::geometry::files::parse(text.as_bytes(), Path::new("plane.obj"), no_files);
    loaded.unwrap().mesh
}

#[test]
fn frames_of_meshes_are_cancelled() {
    let mesh = plane();
    let (_, camera) = arcade();
    cancelled("mesh", |task| {
        let settings = MeshDrawSettings {
            unit: MergeUnitKind::Pmu(PmuSettings::default()),
            task: task.clone(),
            ..MeshDrawSettings::default()
        };
        quadrille::draw_mesh(&mesh, camera, &settings)
    });
}

#[test]
fn meshes_in_cycles_are_cancelled() {
    let (hall, camera) = arcade();
    let view = MeshCamera::new(camera.clone(), 0.1);
    let settings = FrameSettings {
        size: [camera.width, camera.height],
        pattern: SamplePattern::standard(4).unwrap().shared(),
        faces: Faces::Material,
        cull: Cull::Quads,
        memory_bytes: MEMORY_BYTES,
        level: SimdLevel::best(),
    };
    let config = MeshConfig::default();
    cancelled("mesh in cycles", |task| {
        mesh_pipeline::run(hall, &view, &settings, &config, MergeUnitKind::None, task)
    });
}

#[test]
fn microbenchmarks_are_cancelled() {
    let benchmark = Microbenchmark::named("crop-footprint").unwrap();
    cancelled("microbenchmark", |task| benchmark.run(&Config::default(), task));
}

/// Plans a suite of one scene of `splats` splats, `width` pixels wide, in two configurations.
fn suite(splats: u32, width: u32, views: &str) -> Plan {
    let text = format!(
        "method = ['baseline', 'het+qm']\n[matrix]\ntc.bins = [8, 32]\n[[scene]]\nname = 'vase'\n\
         recipe = 'object'\nsplats = {splats}\nviews = '{views}'\nwidth = {width}"
    );
    let suite = Suite::parse(&text, Path::new("suite.toml")).unwrap();
    let bases = [Configuration::default()];
    let plan = suite.plan(&bases, quadrille::PROGRAM, &Task::NEVER, &mut |_| {});
    plan.unwrap()
}

#[test]
fn a_suite_is_cancelled() {
    // Splats that cover a large part of a large picture take long one by one.
    let plan = suite(5_000, 4000, "0");
    cancelled("suite", |task| plan.run(&RunOptions { task, ..RunOptions::default() }, &mut |_| {}));
}

#[test]
fn a_suite_of_meshes_is_cancelled() {
    let text = "workload = 'deferred'\n[[mesh]]\nname = 'hall'\nmesh = 'arcade'\nwidth = 1280\nheight = 960\n\
        [[study]]\nname = 'scene'\ncoc_px = 4\npipeline = ['sds', 'cached-decoupled+z']\ntraffic = true";
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("rows.jsonl");
    let suite = Suite::parse(text, Path::new("suite.toml")).unwrap();
    let bases = [Configuration::default()];
    cancelled("suite of meshes", |task| {
        // A row that was written before the task is cancelled stays, and its job is not run again.
        std::fs::write(&results, "").unwrap();
        let options = RunOptions { results: Some(&results), task, ..RunOptions::default() };
        let plan = suite.plan(&bases, quadrille::PROGRAM, &Task::NEVER, &mut |_| {})?;
        plan.run(&options, &mut |_| {})
    });
}

#[test]
fn a_cancelled_suite_keeps_its_rows_and_continues() {
    // Runs of a view are made together.
    let plan = suite(500, 48, "0..2");
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("rows.jsonl");
    let (task, mut begun) = (Task::new(), 0);
    let options = RunOptions { results: Some(&results), ..RunOptions::default() };
    let stopped = plan.run(&RunOptions { task: &task, ..options }, &mut |event| {
        begun += u32::from(matches!(event, Event::Begun(_)));
        if begun == 3 {
            task.cancel();
        }
    });
    assert!(matches!(stopped, Err(Error::Cancelled)));
    assert_eq!(read_rows(&results).unwrap().len(), 2);
    let mut resumed = None;
    let rows = plan.run(&options, &mut |event| {
        if let Event::Resumed { jobs, done } = event {
            resumed = Some((jobs, done));
        }
    });
    assert_eq!(resumed, Some((4, 2)));
    let cycles = |rows: Result<Vec<RunRow>>| {
        let rows = RunRow::split(rows.unwrap()).0.into_iter();
        let of_row = |row: Row| row.methods.into_iter().map(|m| m.cycles);
        rows.flat_map(of_row).collect::<Vec<_>>()
    };
    let whole = plan.run(&RunOptions::default(), &mut |_| {});
    assert_eq!(cycles(rows), cycles(whole));
}
