//! Results of `mesh`: tables.

use super::table::{TextTable, or_dash};
use crate::rows::{MergingUnit, MeshRow, TimedMeshRow, UnitCounters};
use quadrille_base::units::percent;
use quadrille_mesh::result::ratio;

#[derive(Clone, Copy)]
struct Column {
    heading: &'static str,
    meaning: &'static str,
    cell: fn(&MeshRow) -> String,
    /// Cell text, besides a dash, that also counts as no value.
    nothing: &'static str,
}

const fn column(
    heading: &'static str,
    meaning: &'static str,
    cell: fn(&MeshRow) -> String,
) -> Column {
    Column { heading, meaning, cell, nothing: "-" }
}

const SETTINGS: [Column; 5] = [
    column("<view", "name of the camera", |r| r.view.name.clone()),
    column("area px", "target area of the tessellated triangles, in pixels", |r| {
        or_dash(r.triangle_area_px, |area| area.to_string())
    }),
    column("msaa", "samples per pixel", |r| r.msaa.to_string()),
    column("unit", "unit that merges quads before they are shaded", |r| r.unit.to_string()),
    column("buffer", "entries of the unit's buffer", |r| {
        or_dash(r.buffer, |buffer| buffer.to_string())
    }),
];
const RESULTS: [Column; 11] = [
    column("triangles", "triangles of the mesh after tessellation", |r| r.triangles.to_string()),
    column("quads", "2x2-pixel blocks in which a triangle covers a sample", |r| {
        of_quads(r, r.quads.rasterized)
    }),
    column("partial", "quads that reach the unit with a partially covered pixel", |r| {
        of_quads(r, r.quads.partial)
    }),
    Column {
        nothing: "0",
        ..column("culled", "quads that the depth test removes before the unit", |r| {
            of_quads(r, r.quads.culled)
        })
    },
    column("shaded", "quads sent to the shader; of reyes, vertices", |r| match r.unit {
        MergingUnit::Reyes => r.vertices_of_visible_grids.to_string(),
        _ => r.quads.shaded.to_string(),
    }),
    column("per px", "shader executions (four per quad) per covered pixel", |r| {
        format!("{:.2}", r.fragments_per_covered_pixel)
    }),
    Column {
        nothing: "1.00x",
        ..column("less", "shader executions without a unit over executions with it", |r| {
            format!("{:.2}x", r.reduction)
        })
    },
    Column {
        nothing: NO_SHARE,
        ..column("saved", "merged quads as a share of the quads that reach the unit", |r| {
            of_quads(r, percent(r.savings))
        })
    },
    Column {
        nothing: NO_SHARE,
        ..column("effic.", "efficiency: merged quads as a share of the partial quads", |r| {
            or_dash(r.efficiency, |share| of_quads(r, percent(share)))
        })
    },
    column("PSNR dB", "PSNR against the picture without a unit", |r| {
        or_dash(r.psnr_vs_none_db, decibels)
    }),
    column("truth dB", "PSNR against a picture with 64 shaded samples per pixel", |r| {
        or_dash(r.psnr_vs_truth_db, decibels)
    }),
];
const CYCLES: [Column; 5] = [
    column("cycles", "length of the frame in cycles of the emulated GPU", |r| {
        or_dash(r.timed.as_ref(), |t| t.cycles.to_string())
    }),
    column("frame ms", "length of the frame at the clock of the emulated GPU", |r| {
        or_dash(r.timed.as_ref(), |t| format!("{:.3}", t.frame_ms))
    }),
    column("warps", "fragment warps of up to eight quads that the shader cores run", |r| {
        or_dash(r.timed.as_ref(), |t| t.warps.warps.to_string())
    }),
    Column {
        nothing: "0",
        ..column("hi-z", "raster tiles behind all that is drawn, which Hi-Z drops", |r| {
            or_dash(r.timed.as_ref(), |t| t.raster_tiles_hidden.to_string())
        })
    },
    column("<busiest units", "busiest units with their shares of busy cycles", |r| {
        or_dash(r.timed.as_ref(), |t| t.busiest.clone())
    }),
];
const NO_SHARE: &str = "0.0 %";

/// Cell about quads; a dash for Reyes, which has no quads.
fn of_quads(row: &MeshRow, text: impl ToString) -> String {
    or_dash((row.unit != MergingUnit::Reyes).then_some(text), |t| t.to_string())
}

/// Formats the table of all rows and, below it, the table of the rows in cycles with a sentence about each unit, the
/// values that all rows share, and the meaning of the columns.
pub fn tables(rows: &[MeshRow]) -> String {
    let varies = |column: &Column| {
        let cells = rows.windows(2).map(|pair| (column.cell)(&pair[0]) != (column.cell)(&pair[1]));
        cells.into_iter().any(|differs| differs)
    };
    let says_something = |column: &Column| {
        rows.iter().map(column.cell).any(|cell| cell != "-" && cell != column.nothing)
    };
    let settings: Vec<_> = SETTINGS.into_iter().filter(varies).collect();
    let results = RESULTS.into_iter().filter(says_something);
    let results = results.filter(|column| rows.len() < 2 || varies(column));
    let mut shown: Vec<_> = settings.iter().copied().chain(results).collect();
    let mut text = table(rows.iter(), &shown);
    let idle = rows
        .iter()
        .filter(|row| row.buffer.is_some() && row.quads.merged == 0 && row.quads.partial > 0);
    for row in idle {
        let buffer = or_dash(row.buffer, |buffer| buffer.to_string());
        text += &format!(
            "{} {buffer} merges none of {} partial quads: {}.\n",
            row.unit,
            row.quads.partial,
            why_idle(row)
        );
    }
    let in_cycles: Vec<_> = rows.iter().filter(|row| row.timed.is_some()).collect();
    if !in_cycles.is_empty() {
        let of_cycles: Vec<_> = CYCLES.into_iter().filter(says_something).collect();
        let columns: Vec<_> = settings.into_iter().chain(of_cycles.iter().copied()).collect();
        text += "\n";
        text += &table(in_cycles.iter().copied(), &columns);
        for row in &in_cycles {
            text += &effect_of_unit(row, &in_cycles).unwrap_or_default();
        }
        shown.extend(of_cycles);
    }
    text += "\n";
    let is_shown = |column: &Column| shown.iter().any(|shown| shown.heading == column.heading);
    let all = SETTINGS.into_iter().chain(RESULTS);
    let constant = all.filter(|column| !is_shown(column) && says_something(column));
    let constant: Vec<_> = constant.collect();
    if let Some(row) = rows.first() {
        let cells =
            constant.iter().map(|column| format!("{} {}", heading(column), (column.cell)(row)));
        text += &format!("in all rows: {}\n", cells.collect::<Vec<_>>().join(", "));
    }
    for column in shown.iter().chain(&constant) {
        text += &format!("{:15}{}\n", heading(column), column.meaning);
    }
    text
}

fn heading(column: &Column) -> &'static str {
    column.heading.trim_start_matches('<')
}

fn table<'r>(rows: impl Iterator<Item = &'r MeshRow>, columns: &[Column]) -> String {
    let headings: Vec<_> = columns.iter().map(|column| column.heading).collect();
    let mut table = TextTable::new(&headings);
    rows.for_each(|row| table.row(columns.iter().map(|column| (column.cell)(row))));
    table.to_string()
}

/// The cycles of a unit beside the cycles of the same frame without one, and which ports limit both; `None` if the
/// row has no unit, or no row shows the frame without one.
fn effect_of_unit(row: &MeshRow, rows: &[&MeshRow]) -> Option<String> {
    let frame =
        |row: &MeshRow| (row.view.clone(), row.triangle_area_px.map(f64::to_bits), row.msaa);
    let without = rows.iter().find(|r| r.unit == MergingUnit::None && frame(r) == frame(row))?;
    if row.unit == MergingUnit::None {
        return None;
    }
    let [with, without] = [row.timed.as_ref()?, without.timed.as_ref()?];
    let unit = row.unit.name();
    let [cores_with, cores_without] = [with, without].map(|timed| {
        let cores = timed.units.get("cores");
        or_dash(cores, |cores| format!("{:.0}", 100.0 * cores.utilisation))
    });
    let buffer = or_dash(row.buffer, |buffer| buffer.to_string());
    let mut text = format!(
        "\n{unit} ({buffer} entries) shades {:.2} times less in {:.2} times the cycles: the frame is limited {}, and \
         without the unit {}. The shader cores work in {cores_with} % of the cycles, and in {cores_without} % without it.",
        row.reduction,
        ratio(with.cycles, without.cycles),
        limit(with),
        limit(without),
    );
    let critical = with.limits.critical_unit.as_deref().unwrap_or_default();
    if critical.split(", ").any(|port| port == unit) {
        text += &format!(" --set {unit}.quads_per_cycle=N changes the rate of the unit.");
    }
    Some(text + "\n")
}

/// Port that limits a frame, with its share of the cycles, or the closest one if none does.
pub(super) fn limit(timed: &TimedMeshRow) -> String {
    let limits = &timed.limits;
    let share = or_dash(limits.critical_occupancy, |share| format!("{:.0} %", 100.0 * share));
    match (&limits.limiting_unit, &limits.critical_unit) {
        (Some(unit), _) => format!("by {unit} ({share})"),
        (None, Some(unit)) => {
            format!("by no unit alone ({unit} comes closest, {share})")
        }
        (None, None) => "by no unit".to_owned(),
    }
}

fn decibels(db: f64) -> String {
    if db.is_infinite() { "same".to_owned() } else { format!("{db:.2}") }
}

/// Why the unit of a row merges nothing, by its counters.
fn why_idle(row: &MeshRow) -> String {
    let UnitCounters { qfm, pmu, .. } = &row.unit_counters;
    let mut refused: Vec<String> = Vec::new();
    if let Some(counters) = qfm {
        let reasons = [
            (counters.facing_away, "face away from each other"),
            (counters.overlapping, "cover the same samples"),
            (counters.apart, "share no edge"),
        ];
        let seen = reasons.into_iter().filter(|(count, _)| *count > 0);
        refused = seen.map(|(count, reason)| format!("{count} {reason}")).collect();
    }
    match pmu.map_or(0, |counters| counters.cell_merges) {
        0 if refused.is_empty() => {
            "no partners are in its buffer together; a larger --buffer keeps quads longer"
                .to_owned()
        }
        0 => format!("of those that meet in its buffer, {}", refused.join(", ")),
        merged => format!(
            "{merged} of their shading pixels are merged, but every quad keeps one that is full or has no partner"
        ),
    }
}
