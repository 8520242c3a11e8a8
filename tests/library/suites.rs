//! Results files of suites: which rows another build of the program runs again.

use std::path::Path;

use quadrille::suite::mesh_suite::MeshRunFiles;
use quadrille::suite::{Configuration, Event, Program, Suite};
use quadrille::{SimdLevel, Task};

/// Builds of the program, the last two of the same sources.
const SOURCES: [&str; 3] = ["older", "newer", "newer"];
/// Rows that each build finds in the results file: a build of other sources may compute other numbers.
const FOUND: [Option<usize>; 3] = [Some(0), Some(0), Some(2)];

/// A suite of splats of two jobs.
const SPLATS: &str = "method = ['baseline']\n[matrix]\ntc.bins = [8, 32]\n[[scene]]\nname = 'vase'\n\
    recipe = 'object'\nsplats = 200\nview = '0'\nwidth = 32";
/// A suite of deferred frames of two jobs.
const MESHES: &str = "workload = 'deferred'\n[[mesh]]\nname = 'plane'\nmesh = 'plane'\ntessellate = 60\n\
    width = 32\nheight = 24\n[[study]]\nname = 'scene'\n[[study.axis]]\nname = 'grid'\n\
    points = [{ name = 'pixel' }, { name = 'adaptive', grid = 'adaptive' }]";

fn program(sources: &'static str) -> Program {
    Program { sources, ..quadrille::PROGRAM }
}

/// Number of jobs that a run found done; `run` passes its events to the closure.
fn done(run: impl FnOnce(&mut dyn FnMut(Event<'_>))) -> Option<usize> {
    let mut found = None;
    run(&mut |event| {
        if let Event::Resumed { jobs, done } = event {
            assert_eq!(jobs, 2);
            found = Some(done);
        }
    });
    found
}

#[test]
fn another_program_runs_a_suite_of_splats_again() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("rows.jsonl");
    let suite = Suite::parse(SPLATS, Path::new("suite.toml")).unwrap();
    let bases = [Configuration::default()];
    let found = SOURCES.map(|sources| {
        let plan = suite.plan(&bases, program(sources), &Task::NEVER, &mut |_| {});
        let plan = plan.unwrap();
        done(|watch| drop(plan.run(Some(&results), SimdLevel::best(), watch).unwrap()))
    });
    assert_eq!(found, FOUND);
}

#[test]
fn another_program_runs_a_suite_of_meshes_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = MeshRunFiles { results: &folder.path().join("rows.jsonl"), others: &[] };
    let host = (SimdLevel::best(), &Task::NEVER);
    let found = SOURCES.map(|sources| {
        let suite = Suite::parse(MESHES, Path::new("suite.toml")).unwrap().meshes().clone();
        let plan = suite.plan(program(sources), false);
        done(|watch| plan.run(files, None, &|_| true, host, watch).unwrap())
    });
    assert_eq!(found, FOUND);
}
