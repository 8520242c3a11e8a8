//! Ctrl-C in the middle of a command.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::program::{DONE, Place};

/// No measure of speed; tells a hang.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Exit code of an interrupted process.
const INTERRUPTED: Option<i32> = Some(130);

fn begin(place: &Place, arguments: &[&str]) -> Child {
    let mut program = Command::new(env!("CARGO_BIN_EXE_quadrille"));
    let program = program.args(arguments).current_dir(place.path("."));
    let program = program.stdin(Stdio::piped()).stderr(Stdio::piped());
    program.spawn().unwrap()
}

fn interrupt(program: &Child) {
    signal(program, "-INT");
}

fn signal(program: &Child, signal: &str) {
    let id = program.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

/// Waits until a file of the command appears.
fn wait_for_a_file(place: &Place, before: &BTreeSet<String>) {
    let start = Instant::now();
    while place.names() == *before {
        assert!(start.elapsed() < TIME_LIMIT, "nothing is written");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupt_cancels_the_command_and_leaves_no_part_of_a_file() {
    for sent in ["-INT", "-TERM"] {
        let place = Place::new();
        let before = place.names();
        let arguments = ["synth", "world", "--splats", "1000000000", "-o", "big.ply"];
        let program = begin(&place, &arguments);
        wait_for_a_file(&place, &before);
        signal(&program, sent);
        let ended = program.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), INTERRUPTED, "{sent}");
        // The command ended by its task, not by the end of the grace period.
        let messages = String::from_utf8(ended.stderr).unwrap();
        assert!(messages.contains("error: cancelled"), "{sent}: {messages}");
        assert_eq!(place.names(), before, "{sent}");
    }
}

#[test]
fn a_second_interrupt_ends_a_command_that_waits() {
    let place = Place::new();
    let mut patience = Duration::from_millis(500);
    loop {
        // Nobody writes to its standard input.
        let mut program = begin(&place, &["info", "-"]);
        // Until the handler is installed, an interrupt ends the process without an exit code.
        sleep(patience);
        interrupt(&program);
        sleep(patience / 5);
        interrupt(&program);
        let code = program.wait().unwrap().code();
        if code == INTERRUPTED {
            return;
        }
        assert!(code.is_none() && patience < TIME_LIMIT, "{code:?} after {patience:?}");
        patience *= 2;
    }
}

#[test]
fn an_interrupted_suite_tells_the_rows_that_it_keeps() {
    let place = Place::new();
    let suite = "method = ['baseline']\n[matrix]\nseed = [0, 1, 2, 3, 4, 5, 6, 7]\ntc.bins = '8..512*2'\n\
                 [[scene]]\nname = 'vase'\nrecipe = 'object'\nsplats = 20000\nwidth = 200\n";
    std::fs::write(place.path("suite.toml"), suite).unwrap();
    let program = begin(&place, &["bench", "suite.toml", "-o", "rows.jsonl"]);
    let start = Instant::now();
    let rows = || std::fs::read_to_string(place.path("rows.jsonl")).unwrap_or_default();
    while !rows().contains('\n') {
        assert!(start.elapsed() < TIME_LIMIT, "no row is written");
        sleep(Duration::from_millis(10));
    }
    interrupt(&program);
    let ended = program.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), INTERRUPTED);
    let messages = String::from_utf8(ended.stderr).unwrap();
    let kept = rows().lines().count();
    assert!(messages.contains(&format!("{kept} of ")), "{kept}: {messages}");
    assert!(messages.contains("rows are kept in rows.jsonl; the same command"), "{messages}");
}

#[test]
fn an_interrupted_sweep_prints_the_runs_that_are_done() {
    let place = Place::new();
    place.expect(DONE, &["synth", "object", "--splats", "20000", "-o", "vase.ply"]);
    let sweep = ["sim", "vase.ply", "--width", "200", "--method", "baseline", "--csv"];
    let sweep = [&sweep[..], &["--set", "tc.bins=4..1003"]].concat();
    let mut patience = Duration::from_secs(1);
    loop {
        let mut program = Command::new(env!("CARGO_BIN_EXE_quadrille"));
        let program = program.args(&sweep).current_dir(place.path("."));
        let program = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        sleep(patience);
        interrupt(&program);
        let ended = program.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), INTERRUPTED);
        let rows = String::from_utf8(ended.stdout).unwrap().lines().count();
        if rows > 1 {
            let messages = String::from_utf8(ended.stderr).unwrap();
            let done = format!("{} of 1000 runs are done and printed", rows - 1);
            assert!(messages.contains(&done), "{done}: {messages}");
            break;
        }
        patience *= 2;
        assert!(patience < TIME_LIMIT, "no run is done");
    }
}
