//! The pages of `sim`: the variants of a view side by side, in at most 24 lines of 100 columns for five
//! variants. Further variants follow on pages of their own.

use std::fmt::Write;
use std::time::Duration;

use super::ratios::Ratios;
use super::simulated::{SceneFacts, Simulated, VariantRun, ViewFacts};
use crate::gpu::config::Config;
use crate::gpu::result::SimulationResult;
use crate::pipeline::collect::UnitCycles;

/// Characters of a line.
const LINE: usize = 100;
/// Characters of a label.
const LABEL: usize = 13;
/// Characters of a variant's column.
const COLUMN: usize = 17;
/// Variants per page.
const VARIANTS_PER_PAGE: usize = (LINE - LABEL) / COLUMN;
/// Characters of a bar.
const BAR: usize = 10;
/// Meaning of the bars.
const KEY: &str = "█ works  ░ held up";

/// Formats results of one draw as the page that `quadrille sim` prints, below `title`.
#[must_use]
pub fn simulation_page(title: &str, config: &Config, results: Vec<SimulationResult>) -> String {
    let (mut view, mut runs) = (ViewFacts::default(), Vec::new());
    for outcome in results {
        let layout = outcome.framebuffer.layout;
        (view.width, view.height) = (layout.width, layout.height);
        view.splats_in_frustum = outcome.raster.splats;
        runs.push(VariantRun {
            outcome,
            host: Duration::ZERO,
            output: None,
            against_reference: None,
        });
    }
    let scene = SceneFacts {
        path: title.to_owned(),
        ..SceneFacts::default()
    };
    pages(&Simulated {
        scene: &scene,
        view,
        profile: "",
        config,
        preset: "",
        host: [Duration::ZERO; 2],
        runs,
    })
}

/// Formats the results of a view as the pages that `quadrille sim` prints.
#[must_use]
pub fn pages(simulated: &Simulated<'_>) -> String {
    let pages = simulated.runs.chunks(VARIANTS_PER_PAGE);
    let pages: Vec<_> = pages.map(|runs| page(simulated, runs)).collect();
    pages.join("\n")
}

fn page(simulated: &Simulated<'_>, runs: &[VariantRun]) -> String {
    let baseline = simulated.baseline();
    let ratio = |run: &VariantRun, pick: fn(&Ratios) -> Option<f64>| {
        let ratios = baseline.map(|b| Ratios::between(b, &run.outcome));
        let ratio = ratios.as_ref().and_then(pick);
        ratio.map_or(String::new(), |r| format!("{r:>5.2}x"))
    };
    let mut text = title(simulated);
    row(&mut text, "", runs, name);
    row(&mut text, "cycles", runs, |run| {
        let speedup = ratio(run, |r| r.speedup);
        format!("{} {speedup}", short(run.outcome.cycles))
    });
    row(&mut text, "frame ms", runs, |run| {
        format!("{:>8.3}", simulated.ms(run.outcome.cycles))
    });
    row(&mut text, "fragments", runs, |run| {
        let times = ratio(run, |r| r.fragments);
        format!("{} {times}", short(run.outcome.fragments.blended))
    });
    row(&mut text, "quads", runs, |run| {
        let times = ratio(run, |r| r.quads);
        format!("{} {times}", short(run.outcome.quads.blended))
    });
    row(&mut text, "limited by", runs, |run| {
        let critical = run.outcome.critical_unit();
        critical.map_or("-".to_owned(), limit)
    });
    for unit in unit_names(runs) {
        row(&mut text, unit, runs, |run| {
            let ports = (run.outcome.units.iter()).filter(|port| unit_of(port) == unit);
            let critical = ports.max_by(|a, b| a.occupancy().total_cmp(&b.occupancy()));
            critical.map_or("-".to_owned(), bar)
        });
    }
    text
}

/// The first line: scene, view, GPU, and the meaning of the bars.
fn title(simulated: &Simulated<'_>) -> String {
    let path = &simulated.scene.path;
    let file = path.rsplit('/').next().unwrap_or(path);
    let view = &simulated.view;
    let gpu = &simulated.config.gpu;
    let facts = format!(
        "{file} {} {}x{}  {} {} MHz  {} splats",
        view.name, view.width, view.height, simulated.preset, gpu.clock_mhz, view.splats_in_frustum
    );
    let room = LINE - KEY.chars().count() - 2;
    let facts: String = if facts.chars().count() > room {
        facts.chars().take(room - 1).chain(['…']).collect()
    } else {
        facts
    };
    format!("{facts:room$}  {KEY}\n")
}

/// The port that limits a run and its occupancy, or that none does and which comes closest.
fn limit(critical: &UnitCycles) -> String {
    let port = format!(
        "{} {:.0}%",
        critical.name,
        critical.limiting_share() * 100.0
    );
    if critical.is_limiting() {
        port
    } else {
        format!("none, {port}")
    }
}

/// Name of the unit that a port belongs to: a unit with an output port of its own has a line for both.
fn unit_of(port: &UnitCycles) -> &'static str {
    port.name.strip_suffix("_out").unwrap_or(port.name)
}

/// Units of all runs, in pipeline order.
fn unit_names(runs: &[VariantRun]) -> Vec<&'static str> {
    // Variants differ in optional units only, so the run with the most units has all of them.
    let units = runs.iter().map(|run| &run.outcome.units);
    let all = units.max_by_key(|units| units.len());
    let mut names: Vec<_> = all.into_iter().flatten().map(unit_of).collect();
    names.dedup();
    names
}

fn name(run: &VariantRun) -> String {
    match run.against_reference {
        None => run.name(),
        Some(against) => match against.psnr_db {
            Some(db) => format!("{} {db:.1} dB", run.name()),
            None => format!("{} exact", run.name()),
        },
    }
}

fn row(text: &mut String, label: &str, runs: &[VariantRun], cell: impl Fn(&VariantRun) -> String) {
    let mut line = format!("{label:LABEL$}");
    for run in runs {
        let cell: String = cell(run).chars().take(COLUMN - 1).collect();
        let _ = write!(line, "{cell:COLUMN$}");
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Draws the share of cycles in which a unit worked, the share in which it was held up by anything but
/// a lack of work, and the first as a number.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of a bar of ten characters"
)]
fn bar(unit: &UnitCycles) -> String {
    let total = unit.total();
    let held_up: u64 = (unit.idle.iter())
        .filter(|(reason, _)| {
            !(reason.starts_with("starved") || ["drained", "unused"].contains(&reason.as_str()))
        })
        .map(|(_, cycles)| cycles)
        .sum();
    let length = |cycles: u64| cycles as f64 / total.max(1) as f64 * BAR as f64;
    let eighths = (length(unit.busy) * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]);
    let drawn = bar.chars().count();
    let end = length(unit.busy + held_up).round() as usize;
    bar.push_str(&"░".repeat(end.min(BAR).saturating_sub(drawn)));
    format!("{bar:BAR$} {:>3.0}%", unit.utilisation() * 100.0)
}

/// Formats a count in eight characters; counts of a million and more, in millions.
fn short(count: u64) -> String {
    if count < 1_000_000 {
        return format!("{count:>8}");
    }
    let millions = count as f64 / 1e6;
    let digits = match millions {
        m if m < 10.0 => 3,
        m if m < 100.0 => 2,
        m if m < 1000.0 => 1,
        _ => 0,
    };
    format!("{:>8}", format!("{millions:.digits$} M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(busy: u64, idle: &[(&str, u64)]) -> UnitCycles {
        UnitCycles {
            name: "crop",
            instances: 1,
            busy,
            idle: idle.iter().map(|(r, c)| ((*r).to_owned(), *c)).collect(),
            moved: 0,
            rate: None,
            timeline: None,
        }
    }

    #[test]
    fn bars_have_ten_characters() {
        assert_eq!(bar(&unit(100, &[])), "██████████ 100%");
        assert_eq!(bar(&unit(0, &[("drained", 7)])), "             0%");
        assert_eq!(
            bar(&unit(50, &[("miss", 25), ("starved by cores", 25)])),
            "█████░░░    50%"
        );
        assert_eq!(bar(&unit(999, &[("miss", 1)])), "██████████ 100%");
        assert_eq!(bar(&unit(1, &[("blocked by it", 999)])).chars().count(), 15);
    }

    #[test]
    fn counts_take_eight_characters() {
        for (count, text) in [
            (0, "       0"),
            (999_999, "  999999"),
            (1_234_567, " 1.235 M"),
            (12_345_678, " 12.35 M"),
            (123_456_789, " 123.5 M"),
            (12_345_678_901, " 12346 M"),
        ] {
            assert_eq!(short(count), text);
        }
    }
}
