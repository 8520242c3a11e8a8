//! Comparisons of both simulators.

use std::time::Instant;

use quadrille::gpu::variant::Variant;
use rand::SeedableRng;
use rand_pcg::Pcg32;
use rayon::prelude::*;

use super::draws::{config, draw};
use super::machine::Machine;
use super::probe;
use crate::support::skipped;

/// Random draws where agreement is exact.
const DRAWS: u64 = 10_000;
/// Random draws for each bound.
const BOUNDED_DRAWS: u64 = 500;

/// A random draw on both simulators.
struct Comparison {
    /// Cycles of the fast simulator and of the reference.
    cycles: [u64; 2],
    /// The draw, the configuration and the first difference, if there is one.
    difference: Option<String>,
}

/// Runs random draw `seed` with `changes` to its configuration.
fn compare(seed: u64, changes: &str) -> Comparison {
    let random = &mut Pcg32::seed_from_u64(seed);
    let variant = Variant::ALL[seed as usize % Variant::ALL.len()];
    let (draw, scene) = draw(random);
    let (config, choices) = config(random);
    let config = config.overlaid(changes, "changes").unwrap();
    let fast = probe::run(&draw, &config, variant);
    let reference = Machine::new(&scene, &config, variant).run();
    let splats = scene.splats.len();
    let (width, height) = (scene.width, scene.height);
    let difference = fast.difference(&reference).map(|difference| {
        format!(
            "seed {seed}, {variant}, {splats} splats on {width}x{height}: {difference}\n  {choices}"
        )
    });
    Comparison { cycles: [fast.count("cycles"), reference.count("cycles")], difference }
}

fn compare_all(draws: u64, changes: &str) -> Vec<Comparison> {
    let seeds = (0..draws).into_par_iter();
    seeds.map(|seed| compare(seed, changes)).collect()
}

/// Events, counts and pictures are the same where the fast simulator is exact.
#[test]
fn random_draws_agree_to_the_cycle() {
    let start = Instant::now();
    let draws = skipped::part_of(DRAWS);
    let runs = compare_all(draws, "");
    let differences: Vec<_> = runs.iter().filter_map(|r| r.difference.as_ref()).collect();
    for difference in differences.iter().take(5) {
        println!("{difference}");
    }
    let cycles: u64 = runs.iter().map(|r| r.cycles[1]).sum();
    println!(
        "{draws} random draws of {cycles} cycles compared in {:.1?}, {} differ",
        start.elapsed(),
        differences.len()
    );
    assert!(differences.is_empty(), "{} draws differ", differences.len());
}

/// Compares cycles under `changes`, and asserts that at least `exact` of the draws take the same, that all
/// are off by at most `mean` of their cycles on average, and none by more than `most` of them or 300.
fn assert_bounded(what: &str, changes: &str, exact: usize, mean: f64, most: f64) {
    let runs = compare_all(BOUNDED_DRAWS, changes);
    let off = |run: &Comparison| run.cycles[0] as f64 - run.cycles[1] as f64;
    let share = |run: &Comparison| off(run) / run.cycles[1] as f64;
    let same = runs.iter().filter(|run| off(run) == 0.0).count();
    let average = runs.iter().map(share).sum::<f64>() / runs.len() as f64;
    let long = runs.iter().filter(|run| off(run).abs() > 300.0);
    let largest = long.map(|run| share(run).abs()).fold(0.0, f64::max);
    let farthest = runs.iter().map(|run| off(run).abs()).fold(0.0, f64::max);
    println!(
        "{what}: {same} of {} draws take the same cycles, {:+.2} % on average; {farthest} cycles at most, \
         and {:.1} % where it is more than 300",
        runs.len(),
        100.0 * average,
        100.0 * largest,
    );
    assert!(same >= exact, "{what}: only {same} exact");
    assert!(average.abs() <= mean, "{what}: {average} on average");
    assert!(largest <= most, "{what}: {largest} at most");
}

/// Fragment warps pay for the issue slots of vertex warps that were pushed before them, not of those that
/// ran before them.
#[test]
fn issue_slots_of_vertex_warps_are_within_a_bound() {
    assert_bounded("vertex warps", "vertex.instructions = 16", 350, 0.01, 0.06);
}

/// A full queue of updates is taken to drain at the rate of the updates alone, while tests may hold the
/// port, and a blend that waits for a place is held up a blend too early.
#[test]
fn full_queues_of_updates_are_within_a_bound() {
    assert_bounded("updates", "zrop.update_queue = 2", 380, 0.01, 0.3);
}
