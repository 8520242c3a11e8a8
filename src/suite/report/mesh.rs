//! Results of `mesh`: tables.

use super::table::{TextTable, or_dash};
use crate::rows::{MergingUnit, MeshRow};

/// Heading and cell of a column.
type Column = (&'static str, fn(&MeshRow) -> String);

const VIEW: Column = ("<view", |r| r.view.name.clone());
const TRUTH: Column = ("truth dB", |r| or_dash(r.psnr_vs_truth_db, decibels));
/// Number of columns about settings, which come first.
const SETTINGS: usize = 4;
const COLUMNS: [Column; 14] = [
    ("area px", |r| {
        or_dash(r.triangle_area_px, |area| area.to_string())
    }),
    ("msaa", |r| r.msaa.to_string()),
    ("unit", |r| r.unit.to_string()),
    ("buffer", |r| or_dash(r.buffer, |buffer| buffer.to_string())),
    ("triangles", |r| r.triangles.to_string()),
    ("quads", |r| of_quads(r, r.quads.rasterized)),
    ("partial", |r| of_quads(r, r.quads.partial)),
    ("culled", |r| of_quads(r, r.quads.culled)),
    ("shaded", |r| match r.unit {
        MergingUnit::Reyes => r.vertices_of_visible_grids.to_string(),
        _ => r.quads.shaded.to_string(),
    }),
    ("per px", |r| {
        format!("{:.2}", r.fragments_per_covered_pixel)
    }),
    ("less", |r| format!("{:.2}x", r.reduction)),
    ("saved", |r| of_quads(r, percent(r.savings))),
    ("effic.", |r| of_quads(r, percent(r.efficiency))),
    ("PSNR dB", |r| or_dash(r.psnr_vs_none_db, decibels)),
];

const CYCLES: [Column; 4] = [
    ("cycles", |r| {
        or_dash(r.timed.as_ref(), |t| t.cycles.to_string())
    }),
    ("frame ms", |r| {
        or_dash(r.timed.as_ref(), |t| format!("{:.3}", t.frame_ms))
    }),
    ("warps", |r| {
        or_dash(r.timed.as_ref(), |t| t.warps.warps.to_string())
    }),
    ("<busiest units", |r| {
        or_dash(r.timed.as_ref(), |t| t.busiest.clone())
    }),
];

/// A cell about quads; a dash for Reyes, which has no quads.
fn of_quads(row: &MeshRow, text: impl ToString) -> String {
    or_dash((row.unit != MergingUnit::Reyes).then_some(text), |t| {
        t.to_string()
    })
}

/// Formats the table of all rows and, below it, the table of the rows in cycles.
pub fn tables(rows: &[MeshRow]) -> String {
    let has_views = rows
        .windows(2)
        .any(|pair| pair[0].view.name != pair[1].view.name);
    let has_truth = rows.iter().any(|row| row.psnr_vs_truth_db.is_some());
    let view = has_views.then_some(VIEW).into_iter();
    let columns = view
        .clone()
        .chain(COLUMNS)
        .chain(has_truth.then_some(TRUTH));
    let mut text = table(rows.iter(), &columns.collect::<Vec<_>>());
    let in_cycles = rows.iter().filter(|row| row.timed.is_some());
    if in_cycles.clone().next().is_some() {
        let columns = view
            .chain(COLUMNS[..SETTINGS].iter().copied())
            .chain(CYCLES);
        text += "\n";
        text += &table(in_cycles, &columns.collect::<Vec<_>>());
    }
    text
}

fn table<'r>(rows: impl Iterator<Item = &'r MeshRow>, columns: &[Column]) -> String {
    let headings: Vec<_> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut table = TextTable::new(&headings);
    rows.for_each(|row| table.row(columns.iter().map(|(_, cell)| cell(row))));
    table.to_string()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn decibels(db: f64) -> String {
    if db.is_infinite() {
        "same".to_owned()
    } else {
        format!("{db:.2}")
    }
}
