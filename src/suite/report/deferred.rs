//! Results of `deferred`: tables and bars.

use super::bars::{self, Bar};
use super::table::{TextTable, or_dash};
use crate::rows::{DeferredRow, ShadingGridKind};
use quadrille_base::image::Frame;
use quadrille_deferred::memory::traffic::PipelineTraffic;
use quadrille_mesh::result::ratio;

type Column = (&'static str, fn(&DeferredRow) -> String);

const VIEW: Column = ("<view", |r| r.view.clone());
const COLUMNS: [Column; 10] = [
    ("<pipeline", |r| r.pipeline.to_string()),
    ("<grid", |r| r.grid.to_string()),
    ("tile", |r| or_dash(r.tile_px, |tile| tile.to_string())),
    ("memo", |r| or_dash(r.memo_quads, |quads| quads.to_string())),
    ("triangles", |r| r.triangles.to_string()),
    ("Gops", |r| format!("{:.2}", r.raster.gops.total)),
    ("STE", |r| format!("{:.0} %", 100.0 * r.raster.efficiency)),
    ("quads", |r| r.shading.quads.to_string()),
    ("per px", |r| format!("{:.2}", r.shading.per_pixel)),
    ("ms", |r| {
        let ms = &r.host_ms;
        format!("{:.0}", ms.geometry + ms.raster + ms.pipeline)
    }),
];
const TRAFFIC: [Column; 2] = [
    ("MB", |r| or_dash(r.traffic_bytes, |t| format!("{:.1}", ratio(t.total, 1_000_000)))),
    ("SPID bits", |r| or_dash(r.spid, |spid| format!("{:.1}", spid.bits))),
];
const AREA: Column = ("area px", |r| or_dash(r.triangle_area_px, |area| area.to_string()));
const TRUTH: Column = ("truth dB", |r| or_dash(r.psnr_db, |db| format!("{db:.2}")));

/// Formats the table of all rows and, below it, the blur of each view.
pub fn table(rows: &[DeferredRow]) -> String {
    let has_views = rows.windows(2).any(|pair| pair[0].view != pair[1].view);
    let has_areas =
        rows.windows(2).any(|pair| pair[0].triangle_area_px != pair[1].triangle_area_px);
    let has_traffic = rows.iter().any(|row| row.traffic_bytes.is_some());
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
    let is_same = |a: &DeferredRow, b: &DeferredRow| {
        (&a.view, a.triangle_area_px) == (&b.view, b.triangle_area_px)
    };
    for row in rows.chunk_by(is_same).map(|rows| &rows[0]) {
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
    let names = PipelineTraffic::default().buffers().map(|(name, _)| name);
    let measured = rows.iter().filter_map(|row| Some((row, row.traffic_bytes?)));
    let bars = measured.map(|(row, traffic)| {
        let mut label = row.pipeline.to_string();
        let tile = row.tile_px.map(|tile| format!(" {tile}"));
        let memo = row.memo_quads.map(|quads| format!(" {quads}"));
        label.extend([tile, memo].into_iter().flatten());
        if row.grid != ShadingGridKind::Pixel {
            label += &format!(" {}", row.grid);
        }
        if let Some(area) = row.triangle_area_px {
            label += &format!(" {area} px");
        }
        Bar { label, bytes: traffic.buffers.buffers().map(|(_, buffer)| buffer.bytes()).to_vec() }
    });
    bars::picture(title, &names, &bars.collect::<Vec<_>>())
}
