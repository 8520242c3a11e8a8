//! The pages of `sim`: the methods of the pipeline side by side, in at most 25 lines of 100 columns for five of them.
//! Further ones follow on pages of their own, and then the other methods.

use std::time::Duration;

use super::accelerator;
use super::columns::{CELL, COLUMNS_PER_PAGE, LINE, name, row, short};
use super::estimates;
use super::mesh::limit;
use super::ratios::{self, Ratios, times};
use super::simulated::{SceneFacts, Simulated, VariantRun, ViewFacts};
use super::software;
use crate::rows::{DrawnMeshRow, MeshDrawRow};
use quadrille_base::math::whole;
use quadrille_gpu::config::Config;
use quadrille_gpu::in_shader::{InShader, InterlockOutcome, ShaderBlendOutcome};
use quadrille_gpu::relief::rates_of;
use quadrille_gpu::result::SimulationResult;
use quadrille_machine::{PortKind, UnitCycles};

/// Meaning of the rows of a page.
pub const LEGEND: &str = "the rows of the page:
fragments, quads  blended; a factor (x) is the baseline's number divided by the method's
limited by        ports whose items, with waits for their data, need the largest share of the cycles;
                  none: latency and bursts limit the draw, and the port with the largest share is named
bars              share of the cycles in which a unit works, without these waits
--relief prints the cycles that more of each part saves, with the fields of the part";

const BAR: usize = 10;
const KEY: &str = "█ works  ░ held up";

/// Formats results of one draw as the page that `quadrille sim` prints, below `title`.
pub fn simulation_page(title: &str, config: &Config, results: Vec<SimulationResult>) -> String {
    let (mut view, mut runs) = (ViewFacts::default(), Vec::new());
    for outcome in results {
        let layout = outcome.framebuffer.layout;
        (view.width, view.height) = (layout.width, layout.height);
        view.splats_in_frustum = outcome.raster.splats;
        runs.push(VariantRun {
            outcome: outcome.into(),
            host: Duration::ZERO,
            output: None,
            against_reference: None,
            frame: None,
            energy: None,
        });
    }
    let scene = SceneFacts { path: title.to_owned(), ..SceneFacts::default() };
    pages(&Simulated {
        scene: &scene,
        view,
        profile: "",
        config,
        preset: "",
        host: [Duration::ZERO; 2],
        mesh_draw: None,
        runs,
    })
}

/// Names of the ports that limit the pipeline, each with the fields of its rate.
pub fn fields_of_limits(simulated: &Simulated<'_>) -> Vec<(&'static str, String)> {
    let units = simulated.pipelines().map(|(_, outcome)| &outcome.units);
    let names = units.flat_map(|units| UnitCycles::limiting(units)).map(|port| port.name);
    let of_port = |name: &'static str| {
        if name == "crop" {
            return (name, simulated.config.crop.limit().1.to_owned());
        }
        (name, rates_of(name).collect::<Vec<_>>().join(", "))
    };
    let named = crate::checks::unique(names).into_iter().map(of_port);
    named.filter(|(_, fields)| !fields.is_empty()).collect()
}

/// Formats the results of a view as the pages that `quadrille sim` prints.
pub fn pages(simulated: &Simulated<'_>) -> String {
    let runs: Vec<_> = simulated.pipelines().collect();
    let pages = runs.chunks(COLUMNS_PER_PAGE).map(|runs| page(simulated, runs));
    let facts = title(simulated, "");
    let pages = pages.chain(software::pages(&facts, simulated));
    let pages = pages.chain(accelerator::page(&facts, simulated));
    pages.chain(estimates::pages(&facts, simulated)).collect::<Vec<_>>().join("\n")
}

fn page(simulated: &Simulated<'_>, runs: &[(&VariantRun, &SimulationResult)]) -> String {
    let baseline = simulated.baseline();
    let ratio = |(run, _): &(&VariantRun, &SimulationResult), pick: fn(&Ratios) -> Option<f64>| {
        times(baseline.map(|b| Ratios::between(b, &run.outcome)).as_ref(), pick)
    };
    let mut text = title(simulated, KEY);
    text.extend(simulated.mesh_draw.iter().flat_map(lines_of_meshes));
    row(&mut text, "", runs, |(run, _)| name(run));
    row(&mut text, "cycles", runs, |run| {
        let speedup = ratio(run, |r| r.speedup);
        format!("{} {speedup}", short(run.1.cycles))
    });
    row(&mut text, "frame ms", runs, |run| format!("{:>8.3}", simulated.ms(run.1.cycles)));
    if let Some(draw) = &simulated.mesh_draw {
        let of_all = |outcome: &SimulationResult| draw.cycles + outcome.cycles;
        row(&mut text, "with meshes", runs, |(_, outcome)| {
            let speedup = baseline.map(|b| ratios::ratio(of_all(b), of_all(outcome)));
            format!("{} {}", short(of_all(outcome)), speedup.map_or(String::new(), ratios::factor))
        });
    }
    row(&mut text, "fragments", runs, |run| {
        let times = ratio(run, |r| r.fragments);
        format!("{} {times}", short(run.1.fragments.blended))
    });
    row(&mut text, "quads", runs, |run| {
        let times = ratio(run, |r| r.quads);
        format!("{} {times}", short(run.1.quads.blended))
    });
    if runs.iter().any(|(_, outcome)| outcome.passes.len() > 1) {
        text.push_str(&rows_of_passes(runs));
    }
    if runs.iter().any(|(_, outcome)| outcome.in_shader.is_some()) {
        text.push_str(&rows_of_blending_in_shaders(runs));
    }
    let limits: Vec<_> = runs.iter().map(|run| limits(&run.1.units)).collect();
    row(&mut text, "limited by", &limits, |[first, _]| first.clone());
    if limits.iter().any(|[_, others]| !others.is_empty()) {
        row(&mut text, "", &limits, |[_, others]| others.clone());
    }
    for unit in unit_names(runs) {
        row(&mut text, unit, runs, |run| {
            let ports = (run.1.units.iter()).filter(|port| unit_of(port) == unit);
            ports.max_by(|a, b| a.occupancy().total_cmp(&b.occupancy())).map_or("-".to_owned(), bar)
        });
    }
    text
}

/// A line for each mesh that is drawn before the splats.
fn lines_of_meshes(draw: &MeshDrawRow) -> impl Iterator<Item = String> {
    draw.meshes.iter().map(|DrawnMeshRow { mesh, timed }| {
        let (cycles, ms) = (timed.cycles, timed.frame_ms);
        let mesh = mesh.rsplit('/').next().unwrap_or(mesh);
        format!(
            "before the splats: {mesh}, {cycles} cycles, {ms:.3} ms, limited {}\n",
            limit(timed)
        )
    })
}

/// Rows about the passes of each run: their number, the cycles of the stencil updates and of the gaps between
/// draws, and the pixels that the updates terminated. Empty for runs of a single pass.
fn rows_of_passes(runs: &[(&VariantRun, &SimulationResult)]) -> String {
    let mut text = String::new();
    let mut of_passes = |label: &str, count: fn(&SimulationResult) -> u64| {
        row(&mut text, label, runs, |(_, outcome)| {
            if outcome.passes.len() > 1 { short(count(outcome)) } else { String::new() }
        });
    };
    of_passes("passes", |outcome| outcome.passes.len() as u64);
    of_passes("update cycles", |outcome| {
        outcome.passes.iter().map(|pass| pass.update_cycles).sum()
    });
    of_passes("gap cycles", |outcome| {
        let drawn = outcome.passes.iter().map(|pass| pass.draw_cycles + pass.update_cycles);
        outcome.cycles.saturating_sub(drawn.sum())
    });
    of_passes("terminated px", |outcome| outcome.stencil_updates.terminated);
    text
}

fn rows_of_blending_in_shaders(runs: &[(&VariantRun, &SimulationResult)]) -> String {
    let mut text = String::new();
    let mut of_counts = |label: &str, cell: fn(&InShader) -> Option<String>| {
        let cells = runs.iter().map(|(_, outcome)| outcome.in_shader.as_ref());
        let cells: Vec<_> = cells.map(|counts| counts.and_then(cell)).collect();
        if cells.iter().any(Option::is_some) {
            row(&mut text, label, &cells, |cell| cell.clone().unwrap_or_default());
        }
    };
    of_counts("lost updates", |counts| Some(short(unordered(counts)?.lost_updates)));
    of_counts("vs baseline", |counts| {
        let psnr_db = unordered(counts)?.psnr_vs_baseline_db;
        Some(psnr_db.map_or("   exact".to_owned(), |db| format!("{db:>8.1} dB")))
    });
    of_counts("conflicts", |counts| Some(short(interlocked(counts)?.conflict_flushes)));
    of_counts("handoffs", |counts| Some(short(interlocked(counts)?.handoffs)));
    of_counts("wait cycles", |counts| Some(short(interlocked(counts)?.wait_cycles)));
    text
}

fn unordered(counts: &InShader) -> Option<&ShaderBlendOutcome> {
    if let InShader::Unordered(counts) = counts { Some(counts) } else { None }
}

fn interlocked(counts: &InShader) -> Option<&InterlockOutcome> {
    if let InShader::Interlocked(counts) = counts { Some(counts) } else { None }
}

fn title(simulated: &Simulated<'_>, key: &str) -> String {
    let path = &simulated.scene.path;
    let file = path.rsplit('/').next().unwrap_or(path);
    let view = &simulated.view;
    let gpu = &simulated.config.gpu;
    let facts = format!(
        "{file} {} {}x{}  {} {} MHz  {} splats",
        view.name, view.width, view.height, simulated.preset, gpu.clock_mhz, view.splats_in_frustum
    );
    let room = LINE - key.chars().count() - 2;
    let facts: String = if facts.chars().count() > room {
        facts.chars().take(room - 1).chain(['…']).collect()
    } else {
        facts
    };
    format!("{}\n", format!("{facts:room$}  {key}").trim_end())
}

/// Ports that limit a run, or the closest one if none does, on two lines: the port of the highest demand, with its demand if
/// that fits, and the others in the order of their demands.
fn limits(units: &[UnitCycles]) -> [String; 2] {
    let mut critical = UnitCycles::critical(units);
    critical.sort_by(|a, b| b.demand().total_cmp(&a.demand()));
    let Some((highest, others)) = critical.split_first() else {
        return ["-".to_owned(), String::new()];
    };
    let is_limited = !UnitCycles::limiting(units).is_empty();
    let name = format!("{}{}", if is_limited { "" } else { "none, " }, highest.name);
    let with_demand = format!("{name} {:.0}%", highest.demand() * 100.0);
    let others = if is_limited { others } else { &[] };
    let names = UnitCycles::names(others).unwrap_or_default();
    let rest = match others {
        [first, .., _] if names.len() > CELL => {
            format!("{}, {} more", first.name, others.len() - 1)
        }
        _ => names,
    };
    [if with_demand.len() <= CELL { with_demand } else { name }, rest]
}

/// Unit of a port; a unit with an output port has a line for both.
fn unit_of(port: &UnitCycles) -> &'static str {
    port.name.strip_suffix("_out").unwrap_or(port.name)
}

/// Units of all runs in pipeline order, without cache ports and storages.
fn unit_names(runs: &[(&VariantRun, &SimulationResult)]) -> Vec<&'static str> {
    // Variants differ in optional units only, so the run with the most units has all of them.
    let units = runs.iter().map(|(_, outcome)| &outcome.units);
    let all = units.max_by_key(|units| units.len()).into_iter().flatten();
    let shown = all.filter(|port| !matches!(port.kind, PortKind::Cache | PortKind::Storage));
    let mut names: Vec<_> = shown.map(unit_of).collect();
    names.dedup();
    names
}

/// Bar of a unit: full blocks for its share of busy cycles, shaded ones for stalls other than a lack of work, then the
/// busy share as a number.
fn bar(unit: &UnitCycles) -> String {
    let total = unit.total();
    let held_up: u64 = (unit.idle.iter())
        .filter(|(reason, _)| {
            !(reason.starts_with("starved") || ["drained", "unused"].contains(&reason.as_str()))
        })
        .map(|(_, cycles)| cycles)
        .sum();
    let length = |cycles: u64| cycles as f64 / total.max(1) as f64 * BAR as f64;
    let eighths = whole::<usize>((length(unit.busy) * 8.0).round());
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]);
    let drawn = bar.chars().count();
    let end = whole::<usize>(length(unit.busy + held_up).round());
    bar.push_str(&"░".repeat(end.min(BAR).saturating_sub(drawn)));
    format!("{bar:BAR$} {:>3.0}%", unit.utilisation() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(busy: u64, idle: &[(&str, u64)]) -> UnitCycles {
        UnitCycles {
            name: "crop",
            kind: PortKind::Pipeline,
            instances: 1,
            busy,
            idle: idle.iter().map(|(r, c)| ((*r).to_owned(), *c)).collect(),
            moved: 0,
            rate: None,
            holds_items: false,
            needed: busy,
            busiest: busy + idle.iter().filter(|(r, _)| *r == "full").map(|(_, c)| c).sum::<u64>(),
            timeline: None,
        }
    }

    /// What does not fit into a cell is left out rather than cut, and ports stand in the order of their demands.
    #[test]
    fn limits_fit_into_two_cells() {
        let waits = |name, full| UnitCycles {
            name,
            kind: PortKind::Storage,
            ..unit(0, &[("full", full), ("unused", 100 - full)])
        };
        let port = |name, busy| UnitCycles { name, ..unit(busy, &[("drained", 100 - busy)]) };
        assert_eq!(limits(&[waits("vertex_fetch", 99)]), ["vertex_fetch 99%", ""]);
        assert_eq!(limits(&[waits("vertex_buffer", 93)]), ["vertex_buffer", ""]);
        assert_eq!(limits(&[port("zrop", 93), port("crop", 95)]), ["crop 95%", "zrop"]);
        let four = [port("zrop", 93), port("crop", 95), port("coarse", 92), port("tc_out", 91)];
        assert_eq!(limits(&four), ["crop 95%", "zrop, 2 more"]);
        assert_eq!(limits(&[port("zrop", 20), port("crop", 40)]), ["none, crop 40%", ""]);
        assert_eq!(limits(&[]), ["-", ""]);
    }

    #[test]
    fn bars_have_ten_characters() {
        assert_eq!(bar(&unit(100, &[])), "██████████ 100%");
        assert_eq!(bar(&unit(0, &[("drained", 7)])), "             0%");
        assert_eq!(bar(&unit(50, &[("miss", 25), ("starved by cores", 25)])), "█████░░░    50%");
        assert_eq!(bar(&unit(999, &[("miss", 1)])), "██████████ 100%");
        assert_eq!(bar(&unit(1, &[("blocked by it", 999)])).chars().count(), 15);
    }
}
