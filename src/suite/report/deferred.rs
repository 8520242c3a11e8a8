//! Results of `deferred`: table and JSON.

use serde_json::{Value, json};

use super::bars::{self, Bar};
use super::table::{TextTable, or_dash};
use quadrille_base::image::Frame;
use quadrille_deferred::backend::tiles::TiledCounters;
use quadrille_deferred::forward::memo::MemoCounters;
use quadrille_deferred::memory::traffic::{CodecCounts, Traffic};
use quadrille_deferred::outcome::{BlurAmounts, GridCounts, Quantiles};
use quadrille_deferred::raster::cost::{RasterCost, RasterCounters};
use quadrille_mesh::result::ratio;

/// Bits of an identifier.
const SPID_BITS: f64 = 64.0;

/// One combination of settings and its results.
#[derive(Debug, Clone)]
pub struct DeferredRow {
    /// Mesh as named on the command line.
    pub mesh: String,
    /// Name of the view.
    pub view: String,
    /// Target area of triangles in pixels, if the mesh was tessellated.
    pub area_px: Option<f64>,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Triangles of the scene.
    pub triangles: u64,
    /// Samples per pixel.
    pub samples: u32,
    /// Name of the pipeline.
    pub pipeline: &'static str,
    /// Name of the shading grid.
    pub grid: &'static str,
    /// Side of the tiles, or "whole"; `None` without tiles.
    pub tile: Option<String>,
    /// Quads of the memo, or "unbounded"; `None` without a memo.
    pub memo_quads: Option<String>,
    /// Blur of the picture in pixels.
    pub blur: BlurAmounts,
    /// Shading grids by kind.
    pub grids: GridCounts,
    /// Counters of all rasters of the pipeline.
    pub raster: RasterCounters,
    /// Work of the rasterizer.
    pub cost: RasterCost,
    /// Vertices whose attributes are shaded.
    pub vertex_attributes: u64,
    /// Quads shaded.
    pub quads: u64,
    /// Pixels with a sample that shows the scene.
    pub pixels_covered: u64,
    /// Counters of the second pass.
    pub tiled: Option<TiledCounters>,
    /// Counters of the memoization cache, of pipelines that have one.
    pub memo: Option<MemoCounters>,
    /// Bytes between chip and memory.
    pub traffic: Option<Traffic>,
    /// Blocks of shading point identifiers by their compression.
    pub spid_blocks: Option<CodecCounts>,
    /// PSNR against the mean of other seeds in dB, if requested.
    pub psnr_db: Option<f64>,
    /// Host times of the tessellation and set-up, the raster and the pipeline, in milliseconds.
    pub host_ms: [f64; 3],
}

impl DeferredRow {
    fn executions(&self) -> u64 {
        4 * self.quads
    }

    fn pixels(&self) -> u64 {
        self.size.iter().copied().map(u64::from).product()
    }

    /// Returns the row as a JSON object.
    pub fn json(&self) -> Value {
        let number = |text: &Option<String>| {
            text.as_ref().map(|text| match text.parse::<u64>() {
                Ok(number) => json!(number),
                Err(_) => json!(text),
            })
        };
        json!({
            "mesh": self.mesh,
            "view": self.view,
            "width": self.size[0],
            "height": self.size[1],
            "triangle_area_px": self.area_px,
            "triangles": self.triangles,
            "samples": self.samples,
            "blur": {
                "motion_px": quantiles(self.blur.motion_px),
                "coc_px": quantiles(self.blur.coc_px),
            },
            "grids": {
                "visible": self.grids.visible,
                "barycentric": self.grids.barycentric,
                "coarsened": self.grids.coarsened,
            },
            "pipeline": self.pipeline,
            "grid": self.grid,
            "tile_px": number(&self.tile),
            "memo_quads": number(&self.memo_quads),
            "raster": self.raster_json(),
            "shading": {
                "quads": self.quads,
                "executions": self.executions(),
                "per_pixel": ratio(self.executions(), self.pixels()),
                "per_covered_pixel": ratio(self.executions(), self.pixels_covered),
            },
            "pixels_covered": self.pixels_covered,
            "vertices": {
                "positions": self.raster.vertices,
                "attributes": self.vertex_attributes,
            },
            "draws_skipped": self.tiled.map(|t| t.draws_skipped),
            "memo": self.memo,
            "spid": self.spid_json(),
            "sort": self.tiled.map(|t| json!({
                "tiles": t.sort.tiles,
                "passes_mean": t.sort.passes_mean(),
                "on_chip_bytes": (t.sort.packed_bytes > 0).then_some(t.sort.packed_bytes),
                "raw_bytes": t.sort.raw_bytes,
            })),
            "traffic_bytes": self.traffic.map(|t| json!({
                "depth": t.depth,
                "colour": t.colour,
                "spid": t.spid,
                "headers": t.headers,
                "resolve": t.resolve,
                "total": t.total(),
                "raw": t.raw(),
            })),
            "psnr_db": self.psnr_db.filter(|db| db.is_finite()),
            "host_ms": {
                "geometry": self.host_ms[0],
                "raster": self.host_ms[1],
                "pipeline": self.host_ms[2],
            },
        })
    }

    fn raster_json(&self) -> Value {
        let (r, ops) = (&self.raster, self.raster.ops(&self.cost));
        let giga = |ops: u64| ratio(ops, 1_000_000_000);
        json!({
            "set_up": r.triangles,
            "culled": r.culled(),
            "not_finite": r.not_finite,
            "tile_tests": r.tile_tests,
            "sample_tests": r.sample_tests,
            "hits": r.hits,
            "efficiency": ratio(r.hits, r.sample_tests),
            "gops": {
                "setup": giga(ops.set_up),
                "tile": giga(ops.tile),
                "sample": giga(ops.sample),
                "hit": giga(ops.hit),
                "total": giga(ops.total()),
            },
        })
    }

    fn spid_json(&self) -> Option<Value> {
        let share = self.traffic?.spid.ratio()?;
        Some(json!({
            "ratio": share,
            "bits": share * SPID_BITS,
            "blocks": self.spid_blocks,
        }))
    }
}

fn quantiles(quantiles: Quantiles) -> Value {
    json!({ "median": quantiles.median, "p95": quantiles.p95 })
}

/// Heading and cell of a column.
type Column = (&'static str, fn(&DeferredRow) -> String);

const VIEW: Column = ("<view", |r| r.view.clone());
const COLUMNS: [Column; 10] = [
    ("<pipeline", |r| r.pipeline.to_owned()),
    ("<grid", |r| r.grid.to_owned()),
    ("tile", |r| or_dash(r.tile.clone(), |tile| tile)),
    ("memo", |r| or_dash(r.memo_quads.clone(), |quads| quads)),
    ("triangles", |r| r.triangles.to_string()),
    ("Gops", |r| {
        format!("{:.2}", ratio(r.raster.ops(&r.cost).total(), 1_000_000_000))
    }),
    ("STE", |r| {
        format!(
            "{:.0} %",
            100.0 * ratio(r.raster.hits, r.raster.sample_tests)
        )
    }),
    ("quads", |r| r.quads.to_string()),
    ("per px", |r| {
        format!("{:.2}", ratio(r.executions(), r.pixels()))
    }),
    ("ms", |r| format!("{:.0}", r.host_ms.iter().sum::<f64>())),
];
const TRAFFIC: [Column; 2] = [
    ("MB", |r| {
        or_dash(r.traffic, |t| format!("{:.1}", ratio(t.total(), 1_000_000)))
    }),
    ("SPID bits", |r| {
        let share = r.traffic.and_then(|t| t.spid.ratio());
        or_dash(share, |share| format!("{:.1}", share * SPID_BITS))
    }),
];
const AREA: Column = ("area px", |r| or_dash(r.area_px, |area| area.to_string()));
const TRUTH: Column = ("truth dB", |r| or_dash(r.psnr_db, |db| format!("{db:.2}")));

/// Formats the table of all rows and, below it, the blur of each view.
pub fn table(rows: &[DeferredRow]) -> String {
    let has_views = rows.windows(2).any(|pair| pair[0].view != pair[1].view);
    let has_areas = rows
        .windows(2)
        .any(|pair| pair[0].area_px != pair[1].area_px);
    let has_traffic = rows.iter().any(|row| row.traffic.is_some());
    let has_truth = rows.iter().any(|row| row.psnr_db.is_some());
    let columns = has_views.then_some(VIEW).into_iter();
    let columns = columns.chain(has_areas.then_some(AREA)).chain(COLUMNS);
    let columns = columns.chain(TRAFFIC.into_iter().filter(|_| has_traffic));
    let columns: Vec<_> = columns.chain(has_truth.then_some(TRUTH)).collect();
    let headings: Vec<_> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut table = TextTable::new(&headings);
    for row in rows {
        table.row(columns.iter().map(|(_, cell)| cell(row)));
    }
    let mut text = table.to_string();
    let mut last: Option<(&str, Option<f64>)> = None;
    for row in rows {
        if last == Some((&row.view, row.area_px)) {
            continue;
        }
        last = Some((&row.view, row.area_px));
        let [motion, coc] = [row.blur.motion_px, row.blur.coc_px];
        text += &format!(
            "\nview {}: median motion {:.1} px (95 %: {:.1} px), median circle of confusion {:.1} px \
             (95 %: {:.1} px)\n",
            row.view, motion.median, motion.p95, coc.median, coc.p95
        );
    }
    text
}

/// Draws the traffic of rows as bars, stacked by buffer.
pub fn traffic_bars(title: &str, rows: &[&DeferredRow]) -> Frame {
    let names = Traffic::default().buffers().map(|(name, _)| name);
    let measured = rows.iter().filter_map(|row| Some((row, row.traffic?)));
    let bars = measured.map(|(row, traffic)| {
        let parts = [Some(&row.tile), Some(&row.memo_quads)];
        let parts = parts.into_iter().flatten().flatten();
        let mut label = row.pipeline.to_owned();
        parts.for_each(|part| label += &format!(" {part}"));
        if row.grid != "pixel" {
            label += &format!(" {}", row.grid);
        }
        if let Some(area) = row.area_px {
            label += &format!(" {area} px");
        }
        Bar {
            label,
            bytes: traffic.buffers().map(|(_, buffer)| buffer.bytes()).to_vec(),
        }
    });
    bars::picture(title, &names, &bars.collect::<Vec<_>>())
}
