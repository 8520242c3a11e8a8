//! Tables of the paper: the configuration, the scenes, and the storage of the additions.

use super::results::{PAPER_PRESET, Results, largest};
use super::table::{Cell, Column, Table};
use super::{Claim, Content};
use crate::published::{self, PAPER_SCENES, Statistic};

/// Bytes of a KB.
const KB: f64 = 1024.0;

pub(super) fn table_1(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "The preset vr-pipe has the values of Table I; quadrille sim --config-dump prints every other field too, with its \
         source or the reason of the assumption.",
    );
    let config = &results.config;
    let cores = &config.cores;
    let lanes = cores.schedulers * 32 / cores.issue_cycles;
    let ours: [(&str, f64); 15] = [
        ("GPCs", config.gpu.gpcs as f64),
        ("SIMT cores", cores.cores as f64),
        ("lanes per SIMT core", lanes as f64),
        ("warp schedulers per SIMT core", cores.schedulers as f64),
        ("clock", config.gpu.clock_mhz),
        ("first-level cache", cores.l1_bytes as f64 / KB),
        ("L2", config.l2.bytes as f64 / KB),
        ("CROP cache", config.crop.cache_bytes as f64 / KB),
        (
            "side of a tile grid",
            config.tgc.grid_tiles as f64 * f64::from(quadrille_base::raster::tiles::TILE_PX),
        ),
        ("TGC bins", config.tgc.bins as f64),
        ("TGC bin size", config.tgc.bin_size as f64),
        ("TC bins", config.tc.bins as f64),
        ("TC bin size", config.tc.bin_size as f64),
        (
            "quads that CROP blends per cycle",
            crop_quads_per_cycle(results),
        ),
        (
            "DRAM bandwidth, 16 channels of LPDDR3-1600",
            config.dram.gb_per_s,
        ),
    ];
    content.table = Table::new(vec![
        Column::new("quantity", "quantity"),
        Column::new("published", "published"),
        Column::new("ours", "ours"),
        Column::new("unit", "unit"),
    ]);
    let mut equal = Vec::new();
    for (quantity, value) in ours {
        let found = published::of_figure("table1").find(|p| p.quantity == quantity);
        let stated = found.map(|p| p.value);
        let unit = found.map_or("", |p| p.unit);
        equal.push(stated.map(|stated| (stated - value).abs() <= 1e-9 * stated.abs()));
        content.table.row(vec![
            quantity.into(),
            stated.into(),
            value.into(),
            unit.into(),
        ]);
    }
    content.claims.push(Claim::count(
        "The preset has the published value.",
        "rows",
        equal,
    ));
    content
}

/// Quads of RGBA16F that CROP blends per cycle: four pixels of eight bytes each, at most the number that it
/// accepts.
fn crop_quads_per_cycle(results: &Results) -> f64 {
    const BYTES_OF_QUAD: f64 = 32.0;
    let crop = &results.config.crop;
    let rate = crop.quads_per_cycle;
    let accepted = f64::from(rate.items()) / f64::from(rate.cycles());
    accepted.min(crop.bytes_per_cycle as f64 / BYTES_OF_QUAD)
}

pub(super) fn table_2(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "The paper's scenes are not at hand; those of the suite take their place, and means over them can agree with the \
         paper's in their mechanism, not confirm them.",
    );
    content.table = Table::new(vec![
        Column::new("source", "source"),
        Column::new("scene", "scene"),
        Column::new("size", "size of the pictures"),
        Column::whole("splats", "splats"),
        Column::whole("most_in_view", "most in view"),
        Column::new("kind", "kind"),
        Column::new("views", "views"),
    ]);
    for scene in PAPER_SCENES {
        let [width, height] = scene.size;
        content.table.row(vec![
            "paper".into(),
            scene.name.into(),
            format!("{width}x{height}").into(),
            (f64::from(scene.thousands) * 1e3).into(),
            Cell::Missing,
            scene.kind.into(),
            Cell::Missing,
        ]);
    }
    let first = results.first(PAPER_PRESET);
    let scenes = results.all();
    let mut most = Vec::new();
    for scene in &scenes {
        let view = scene.views[0];
        let [width, height] = view.size;
        let in_view = largest(scene.views.iter().map(|v| Some(v.splats as f64)));
        most.push(in_view);
        let of_scene = first.iter().find(|v| v.scene == scene.name);
        let splats = of_scene.and_then(|v| v.number("baseline", "scene.splats"));
        let degree = of_scene.and_then(|v| v.number("baseline", "scene.sh_degree"));
        let kind = degree.map_or(Cell::Missing, |d| format!("SH degree {d}").into());
        content.table.row(vec![
            "suite".into(),
            scene.name.into(),
            format!("{width}x{height}").into(),
            splats.into(),
            in_view.into(),
            kind,
            (scene.views.len() as u64).into(),
        ]);
    }
    content.compare("table2", "splats in view", Statistic::Below, largest(most));
    content
}

pub(super) fn table_3(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Storage per GPC. The paper counts the bins of tile-grid coalescing and one set of registers of the reorder unit. \
         The model has more: a second buffer of the reorder unit, which fills while it works on the first, buffers for the \
         positions that the bins fetch, and the queues of ZROP.",
    );
    content.table = Table::new(vec![
        Column::new("part", "part"),
        Column::whole("published_bytes", "published (B)"),
        Column::whole("one_buffer_bytes", "ours, as the paper counts (B)"),
        Column::whole("bytes", "ours, all (B)"),
    ]);
    let config = &results.config;
    let tgc = config.tgc.storage_bytes();
    let single = quadrille_gpu::coalesce::quad_reorder::QruSpec {
        buffers: 1,
        ..config.qru.clone()
    };
    let qru = [single.storage_bytes(), config.qru.storage_bytes()];
    let fetch = config.tgc.fetch_bytes(config.vertex.position_bytes);
    let zrop = config.zrop.storage_bytes();
    let bytes = |quantity: &str| {
        let found = published::of_figure("table3").find(|p| p.quantity == quantity)?;
        Some(if found.unit == "KB" {
            found.value * KB
        } else {
            found.value
        })
    };
    let rows: [(&str, Option<u64>, u64); 5] = [
        ("tile-grid coalescing", Some(tgc), tgc),
        ("quad reordering", Some(qru[0]), qru[1]),
        ("positions that bins fetch", None, fetch),
        ("queues of ZROP", None, zrop),
        ("total", Some(tgc + qru[0]), tgc + qru[1] + fetch + zrop),
    ];
    for (part, counted, all) in rows {
        let counted = counted.map(|n| n as f64);
        content.table.row(vec![
            part.into(),
            bytes(part).into(),
            counted.into(),
            all.into(),
        ]);
    }
    let ours = [tgc as f64 / KB, qru[0] as f64, (tgc + qru[0]) as f64 / KB];
    for (quantity, ours) in ["tile-grid coalescing", "quad reordering", "total"]
        .into_iter()
        .zip(ours)
    {
        content.compare("table3", quantity, Statistic::Value, Some(ours));
    }
    content
}
