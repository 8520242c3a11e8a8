//! Ctrl-C in the middle of a write.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::program::Place;

/// No measure of speed, only what tells a hang.
const TIME_LIMIT: Duration = Duration::from_secs(60);

#[test]
fn an_interrupt_leaves_no_part_of_a_file() {
    let place = Place::new();
    let before = place.names();
    let mut program = Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .args(["synth", "world", "--splats", "1000000000", "-o", "big.ply"])
        .current_dir(place.path("."))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while place.names() == before {
        assert!(start.elapsed() < TIME_LIMIT, "nothing is written");
        sleep(Duration::from_millis(20));
    }
    let id = program.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    assert_eq!(program.wait().unwrap().code(), Some(130));
    assert_eq!(place.names(), before);
}
