//! Results files of suites: which rows another build of the program runs again.

use std::path::Path;

use quadrille::Task;
use quadrille::suite::{Configuration, Event, Plan, Program, RunOptions, Suite, read_rows};

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

/// Number of runs that each build finds done in one results file; `plan` plans the suite for it.
fn done(plan: impl Fn(Program) -> Plan) -> [Option<usize>; 3] {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("rows.jsonl");
    let options = RunOptions { results: Some(&results), ..RunOptions::default() };
    let done = SOURCES.map(|sources| {
        let mut found = None;
        let rows = plan(program(sources)).run(&options, &mut |event| {
            if let Event::Resumed { jobs, done } = event {
                assert_eq!(jobs, 2);
                found = Some(done);
            }
        });
        assert_eq!(rows.unwrap().len(), 2);
        found
    });
    assert_eq!(read_rows(&results).unwrap().len(), 4);
    done
}

fn plan(text: &str, program: Program) -> Plan {
    let suite = Suite::parse(text, Path::new("suite.toml")).unwrap();
    suite.plan(&[Configuration::default()], program, &Task::NEVER, &mut |_| {}).unwrap()
}

#[test]
fn another_program_runs_a_suite_of_splats_again() {
    assert_eq!(done(|program| plan(SPLATS, program)), FOUND);
}

#[test]
fn another_program_runs_a_suite_of_meshes_again() {
    assert_eq!(done(|program| plan(MESHES, program)), FOUND);
}
