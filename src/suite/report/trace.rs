//! Chrome traces (JSON object format), which Perfetto opens. Each method is a process; each unit is a counter track
//! with the percentage of every window in each state. The software renderer has a bar per kernel instead, one after the
//! other, and the accelerator a bar per stage, all at the same time. Times are in microseconds at the configured clock.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::simulated::{Simulated, VariantRun};
use quadrille_base::units::cycles_to_ms;
use quadrille_gpu::compute::stream::KernelName;
use quadrille_gpu::outcome::Outcome;
use quadrille_machine::{STATES, StallReason, Timeline, UnitCycles};

const MAX_WINDOWS: usize = 512;
/// Limit on samples over all units and methods: at most 200 bytes each, so a file stays below 8 MB.
const MAX_SAMPLES: usize = 40_000;

/// Writes the trace of a view whose runs kept timelines.
pub fn write(out: &mut dyn Write, simulated: &Simulated<'_>) -> io::Result<()> {
    let units_of: Vec<_> = simulated.runs.iter().map(|r| r.outcome.units()).collect();
    let units: usize = units_of.iter().map(Vec::len).sum();
    let most = MAX_WINDOWS.min(MAX_SAMPLES / units.max(1)).max(1);
    // Methods differ in optional units only, so the run with the most units numbers all of them.
    let all = units_of.iter().max_by_key(|units| units.len());
    let all: Vec<_> = all.into_iter().flatten().map(|unit| unit.name).collect();
    let number = |name| all.iter().position(|n| *n == name).map_or(0, |index| index + 1);
    let mut first = true;
    let mut event = |out: &mut dyn Write, event: &Value| {
        let separator = if first { "\n" } else { ",\n" };
        first = false;
        write!(out, "{separator}{event}")
    };
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    for ((run, units), pid) in simulated.runs.iter().zip(&units_of).zip(1..) {
        for metadata in frame_events(simulated, run, pid) {
            event(out, &metadata)?;
        }
        for unit in units {
            let Some(timeline) = &unit.timeline else { continue };
            let track = Track {
                pid,
                // Perfetto sorts tracks by name; the number keeps them in pipeline order.
                name: format!("{:02} {}", number(unit.name), unit.name),
                us_per_cycle: 1.0 / simulated.config.gpu.clock_mhz,
                end: run.outcome.cycles(),
            };
            for sample in track.samples(unit, timeline, most) {
                event(out, &sample)?;
            }
        }
    }
    writeln!(out, "\n]}}")
}

/// Names of the process and its tracks, and a bar for the draw, or for each kernel or stage of other methods.
fn frame_events(simulated: &Simulated<'_>, run: &VariantRun, pid: u32) -> Vec<Value> {
    let name = run.name();
    let clock_mhz = simulated.config.gpu.clock_mhz;
    let named = |tid: usize, what: &str, args: Value| json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args});
    let bar = |tid: usize, name: &str, [start, cycles]: [u64; 2], clock_mhz: f64, args: Value| {
        let us = |cycles| cycles_to_ms(cycles, clock_mhz) * 1e3;
        json!({"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": us(start), "dur": us(cycles), "args": args})
    };
    let mut events = vec![
        named(0, "process_name", json!({"name": format!("{name} ({})", simulated.view.name)})),
        named(0, "process_sort_index", json!({"sort_index": pid})),
    ];
    match &run.outcome {
        Outcome::Pipeline(..) => {
            let cycles = run.outcome.cycles();
            events.push(named(0, "thread_name", json!({"name": "draw"})));
            events.push(bar(0, &name, [0, cycles], clock_mhz, json!({"cycles": cycles})));
        }
        Outcome::Compute(result) => {
            events.push(named(0, "thread_name", json!({"name": "kernels"})));
            let counts = &result.counts;
            let mut start = 0;
            for kernel in &counts.kernels {
                let mut args = json!(kernel);
                if kernel.name == KernelName::Raster {
                    args["rounds"] = json!(counts.rounds);
                    args["cycles_by_reason"] = json!(counts.cycles_by_reason);
                }
                events.push(bar(0, kernel.name.name(), [start, kernel.cycles], clock_mhz, args));
                start += kernel.cycles;
            }
        }
        Outcome::Gscore(result) => {
            let counts = &result.counts;
            for (tid, stage) in counts.stages.iter().enumerate() {
                let name = stage.name.name();
                events.push(named(tid, "thread_name", json!({"name": name})));
                events.push(bar(tid, name, [0, stage.cycles], counts.clock_mhz, json!(stage)));
            }
        }
    }
    events
}

struct Track {
    pid: u32,
    name: String,
    us_per_cycle: f64,
    end: u64,
}

impl Track {
    /// Samples at windows whose shares differ from the previous window, and one at the end.
    fn samples(&self, unit: &UnitCycles, timeline: &Timeline, most: usize) -> Vec<Value> {
        let group = timeline.windows.len().div_ceil(most).max(1);
        let windows: Vec<_> = timeline.windows.chunks(group).map(sum).collect();
        // States that did not occur are left out.
        let totals = sum(&windows);
        let states: Vec<_> = (0..STATES).filter(|&state| totals[state] > 0).collect();
        let mut samples = Vec::new();
        let mut last: Option<Vec<u64>> = None;
        for (window, number) in windows.iter().zip(0_u64..) {
            let start = number * timeline.window * group as u64;
            let shares = per_mille(window, &states);
            if last.as_ref() != Some(&shares) {
                samples.push(self.sample(start, &states, &shares));
                last = Some(shares);
            }
        }
        debug_assert!(samples.len() <= most, "{} samples", unit.name);
        samples.push(self.sample(self.end, &states, &vec![0; states.len()]));
        samples
    }

    fn sample(&self, cycle: u64, states: &[usize], per_mille: &[u64]) -> Value {
        let values = states.iter().zip(per_mille);
        let percent = |(&state, &share)| (state_name(state), json!(share as f64 / 10.0));
        let values: Map<_, _> = values.map(percent).collect();
        // Rounded to a nanosecond.
        let us = (cycle as f64 * self.us_per_cycle * 1e3).round() / 1e3;
        json!({"ph": "C", "pid": self.pid, "name": self.name, "ts": us, "args": values})
    }
}

fn sum(windows: &[[u64; STATES]]) -> [u64; STATES] {
    std::array::from_fn(|state| windows.iter().map(|window| window[state]).sum())
}

fn per_mille(window: &[u64; STATES], states: &[usize]) -> Vec<u64> {
    let total = window.iter().sum::<u64>().max(1);
    let share = |&state: &usize| (window[state] * 1000 + total / 2) / total;
    states.iter().map(share).collect()
}

fn state_name(state: usize) -> String {
    match state.checked_sub(1) {
        None => "busy".to_owned(),
        Some(reason) => format!("{:?}", StallReason::ALL[reason]).to_lowercase(),
    }
}
