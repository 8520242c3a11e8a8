//! Results of `mesh`: tables and JSON.

use serde_json::{Value, json};

use super::json::{joined, limits, units};
use super::table::{TextTable, or_dash};
use quadrille_gpu::mesh_pipeline::TimedMeshResult;
use quadrille_mesh::result::{MeshResult, ratio};

/// Number of busiest units in the table.
const BUSIEST_SHOWN: usize = 4;

/// A frame as the emulated pipeline ran it.
#[derive(Debug)]
pub struct TimedFrame {
    /// Result of the frame in cycles.
    pub outcome: TimedMeshResult,
    /// Clock of the units in MHz.
    pub clock_mhz: f64,
    /// Milliseconds on the host.
    pub host_ms: f64,
}

impl TimedFrame {
    fn frame_ms(&self) -> f64 {
        self.outcome.cycles as f64 / (self.clock_mhz * 1e3)
    }

    /// Names and utilisation of the busiest units.
    fn busiest(&self) -> String {
        let mut units: Vec<_> = self.outcome.units.iter().collect();
        units.sort_by(|a, b| b.utilisation().total_cmp(&a.utilisation()));
        let busiest = units.iter().take(BUSIEST_SHOWN);
        let busiest = busiest.map(|u| format!("{} {:.0} %", u.name, 100.0 * u.utilisation()));
        busiest.collect::<Vec<_>>().join(", ")
    }

    fn json(&self) -> Value {
        let o = &self.outcome;
        let time = json!({ "cycles": o.cycles, "frame_ms": self.frame_ms() });
        let counts = json!({
            "warps": o.warps,
            "grids": o.grids,
            "raster_tiles_hidden": o.tiles_hidden,
            "crop": joined([json!(o.colour), json!(o.colour_cache)]),
            "zrop_cache": o.z_cache,
            "l2": o.l2,
            "dram_bytes": o.dram_bytes,
            "units": units(&o.units),
            "discrepancies": o.discrepancies(),
            "host_ms": self.host_ms,
        });
        joined([time, limits(&o.units), counts])
    }
}

/// One combination of settings and its results.
#[derive(Debug)]
pub struct MeshRow {
    /// Mesh as named on the command line.
    pub mesh: String,
    /// Name of the view.
    pub view: String,
    /// Target area of triangles in pixels, if the mesh was tessellated.
    pub area_px: Option<f64>,
    /// Samples per pixel.
    pub msaa: u32,
    /// Name of the merging unit.
    pub unit: &'static str,
    /// Entries of the unit's buffer, or "unbounded"; `None` without a buffer.
    pub buffer: Option<String>,
    /// Whether grid vertices are shaded instead of quads (Reyes).
    pub shades_vertices: bool,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Counts and picture of the frame.
    pub outcome: MeshResult,
    /// PSNR against the unmerged picture in dB, if requested; infinite for identical pictures.
    pub psnr_db: Option<f64>,
    /// PSNR against 64 shaded samples per pixel in dB, if requested.
    pub psnr_vs_truth_db: Option<f64>,
    /// The frame in cycles, if requested.
    pub timed: Option<TimedFrame>,
    /// Host time in milliseconds: from tessellation to depth test, and of merging.
    pub host_ms: [f64; 2],
}

impl MeshRow {
    /// Returns the row as a JSON object.
    pub fn json(&self) -> Value {
        let o = &self.outcome;
        let buffer = self.buffer.as_ref().map(|b| match b.parse::<u64>() {
            Ok(entries) => json!(entries),
            Err(_) => json!(b),
        });
        json!({
            "mesh": self.mesh,
            "view": {"name": self.view, "width": self.size[0], "height": self.size[1]},
            "triangles": o.triangles,
            "grids": o.grids,
            "grids_visible": o.grids_visible,
            "vertices_of_visible_grids": o.vertices,
            "triangle_area_px": self.area_px,
            "triangle_area_mean_px": o.mean_area_px,
            "msaa": self.msaa,
            "coarse_pixel_px": o.shading_pixel_px,
            "unit": self.unit,
            "buffer": buffer,
            "quads": {
                "rasterized": o.merging.rasterized,
                "partial": o.merging.partial,
                "culled": o.merging.culled,
                "merged": self.merged(),
                "shaded": if self.shades_vertices { 0 } else { o.quads_shaded },
            },
            "fragments_shaded": self.shadings(),
            "pixels_covered": o.pixels_covered,
            "fragments_per_covered_pixel": self.shadings_per_covered_pixel(),
            "reduction": self.reduction(),
            "savings": self.savings(),
            "efficiency": self.efficiency(),
            "psnr_vs_none_db": self.psnr_db.filter(|db| db.is_finite()),
            "same_as_none": self.psnr_db.map(f64::is_infinite),
            "psnr_vs_none_covered_db": self.covered_db().filter(|db| db.is_finite()),
            "psnr_vs_truth_db": self.psnr_vs_truth_db.filter(|db| db.is_finite()),
            "unit_counters": {
                "barred": o.merging.barred,
                "qfm": o.merging.qfm,
                "pmu": o.merging.pmu,
            },
            "timed": self.timed.as_ref().map(TimedFrame::json),
            "host_ms": { "visibility": self.host_ms[0], "merging": self.host_ms[1] },
        })
    }

    /// Quads sent to the shader, or vertices.
    fn shaded(&self) -> u64 {
        if self.shades_vertices {
            self.outcome.vertices
        } else {
            self.outcome.quads_shaded
        }
    }

    /// Runs of the shader: four per quad, or one per vertex.
    fn shadings(&self) -> u64 {
        self.shaded() * if self.shades_vertices { 1 } else { 4 }
    }

    fn shadings_per_covered_pixel(&self) -> f64 {
        ratio(self.shadings(), self.outcome.pixels_covered)
    }

    /// PSNR over the covered pixels only; merging changes no others.
    fn covered_db(&self) -> Option<f64> {
        let [width, height] = self.size.map(u64::from);
        let share = ratio(self.outcome.pixels_covered, width * height);
        self.psnr_db.map(|db| db + 10.0 * share.log10())
    }

    /// Shader runs without a unit over those with it.
    fn reduction(&self) -> f64 {
        match self.shadings() {
            0 => 1.0,
            shadings => ratio(4 * self.outcome.merging.tested(), shadings),
        }
    }

    /// Share of merged quads among those that reached the unit.
    fn savings(&self) -> f64 {
        ratio(self.merged(), self.outcome.merging.tested())
    }

    /// Merged quads over quads with a partially covered shading pixel.
    fn efficiency(&self) -> f64 {
        ratio(self.merged(), self.outcome.merging.partial)
    }

    fn merged(&self) -> u64 {
        if self.shades_vertices {
            0
        } else {
            self.outcome.quads_merged()
        }
    }

    /// A cell about quads; a dash for Reyes, which has no quads.
    fn of_quads(&self, text: impl ToString) -> String {
        or_dash((!self.shades_vertices).then_some(text), |t| t.to_string())
    }
}

/// Heading and cell of a column.
type Column = (&'static str, fn(&MeshRow) -> String);

const VIEW: Column = ("<view", |r| r.view.clone());
const TRUTH: Column = ("truth dB", |r| or_dash(r.psnr_vs_truth_db, decibels));
/// Number of columns about settings, which come first.
const SETTINGS: usize = 4;
const COLUMNS: [Column; 14] = [
    ("area px", |r| or_dash(r.area_px, |area| area.to_string())),
    ("msaa", |r| r.msaa.to_string()),
    ("unit", |r| r.unit.to_owned()),
    ("buffer", |r| or_dash(r.buffer.clone(), |buffer| buffer)),
    ("triangles", |r| r.outcome.triangles.to_string()),
    ("quads", |r| r.of_quads(r.outcome.merging.rasterized)),
    ("partial", |r| r.of_quads(r.outcome.merging.partial)),
    ("culled", |r| r.of_quads(r.outcome.merging.culled)),
    ("shaded", |r| r.shaded().to_string()),
    ("per px", |r| {
        format!("{:.2}", r.shadings_per_covered_pixel())
    }),
    ("less", |r| format!("{:.2}x", r.reduction())),
    ("saved", |r| r.of_quads(percent(r.savings()))),
    ("effic.", |r| r.of_quads(percent(r.efficiency()))),
    ("PSNR dB", |r| or_dash(r.psnr_db, decibels)),
];

const CYCLES: [Column; 4] = [
    ("cycles", |r| {
        or_dash(r.timed.as_ref(), |t| t.outcome.cycles.to_string())
    }),
    ("frame ms", |r| {
        or_dash(r.timed.as_ref(), |t| format!("{:.3}", t.frame_ms()))
    }),
    ("warps", |r| {
        or_dash(r.timed.as_ref(), |t| t.outcome.warps.warps.to_string())
    }),
    ("<busiest units", |r| {
        or_dash(r.timed.as_ref(), TimedFrame::busiest)
    }),
];

/// Formats the table of all rows and, below it, the table of the rows in cycles.
pub fn tables(rows: &[MeshRow]) -> String {
    let has_views = rows.windows(2).any(|pair| pair[0].view != pair[1].view);
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
