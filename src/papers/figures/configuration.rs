//! Tables of the paper and its Figure 3: the configuration, the scenes, and the storage of the additions.

use super::results::{PAPER_PRESET, Results, ViewResult};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Sheet, largest};
use quadrille_gpu::coalesce::quad_reorder::QruSpec;
use quadrille_gpu::config::{Config, PRESETS};
use quadrille_suite::details::PixelCounts;

const KB: f64 = 1024.0;
/// Megabyte of the 3.6 MB of SRAM in a GPC.
const MB: f64 = 1e6;
/// L1 cache and shared memory of a core of the Orin (NVIDIA's technical brief of the Jetson AGX Orin series: 192 KB).
const ORIN_L1_BYTES: u64 = 192 * 1024;
/// Bytes of a register.
const REGISTER_BYTES: u64 = 4;

/// Register files and L1 caches of the cores of a GPC of the Orin, a lower bound on its SRAM.
fn sram_of_orin_bytes() -> Option<u64> {
    let orin = Config::preset("orin").ok()?;
    let registers = REGISTER_BYTES * orin.compute.registers_per_core;
    Some(orin.cores.cores * (registers + ORIN_L1_BYTES))
}

/// Presets of whole GPUs: those with a graphics pipeline.
pub(super) fn presets(results: &Results) -> impl Iterator<Item = (&'static str, Config)> {
    let all = PRESETS.iter().filter_map(|preset| match preset.name {
        PAPER_PRESET => Some((PAPER_PRESET, results.config.clone())),
        name => Some((name, Config::preset(name).ok()?)),
    });
    all.filter(|(_, config)| config.gpu.graphics)
}

pub(super) fn figure_3(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet =
        Sheet::labelled(figure, presets(results), "GPUs", "preset", |(name, _)| (*name).to_owned());
    sheet
        .whole("gpcs", "GPCs", |(_, c)| Some(c.gpu.gpcs as f64))
        .whole("cores_per_gpc", "cores per GPC", |(_, c)| Some(c.cores.cores as f64))
        .whole("schedulers_per_core", "schedulers per core", |(_, c)| {
            Some(c.cores.schedulers as f64)
        })
        .whole("clock_mhz", "MHz", |(_, c)| Some(c.gpu.clock_mhz))
        .whole("raster_tiles_per_cycle", "raster tiles per cycle and GPC", |(_, c)| {
            Some(c.coarse.tiles_per_cycle.in_cycles(1))
        })
        .whole("l2_kb", "L2 (KB)", |(_, c)| Some((c.l2.bytes / 1024) as f64))
        .whole("dram_gb_per_s", "DRAM (GB/s)", |(_, c)| Some(c.dram.gb_per_s));
    sheet.finish()
}

fn of_table_1(config: &Config) -> [(&'static str, f64); 15] {
    let cores = &config.cores;
    let lanes = cores.schedulers * 32 / cores.issue_cycles;
    let tile_px = f64::from(quadrille_base::raster::tiles::TILE_PX);
    [
        ("GPCs", config.gpu.gpcs as f64),
        ("SIMT cores", cores.cores as f64),
        ("lanes per SIMT core", lanes as f64),
        ("warp schedulers per SIMT core", cores.schedulers as f64),
        ("clock", config.gpu.clock_mhz),
        ("first-level cache", cores.l1_bytes as f64 / KB),
        ("L2", config.l2.bytes as f64 / KB),
        ("CROP cache", config.crop.cache_bytes as f64 / KB),
        ("side of a tile grid", config.tgc.grid_tiles as f64 * tile_px),
        ("TGC bins", config.tgc.bins as f64),
        ("TGC bin size", config.tgc.bin_size as f64),
        ("TC bins", config.tc.bins as f64),
        ("TC bin size", config.tc.bin_size as f64),
        ("quads that CROP blends per cycle", crop_quads_per_cycle(config)),
        (
            "DRAM bandwidth, if the 16 channels of LPDDR3-1600 are 32 bits wide",
            config.dram.gb_per_s,
        ),
    ]
}

pub(super) fn table_1(figure: &'static Figure, results: &Results) -> Content {
    let published = |quantity: &str| figure.published.iter().find(|p| p.quantity == quantity);
    let rows = of_table_1(&results.config);
    let mut sheet =
        Sheet::labelled(figure, rows, "rows", "quantity", |(quantity, _)| (*quantity).to_owned());
    sheet
        .number("published", "published", |(quantity, _)| Some(published(quantity)?.value))
        .number("ours", "ours", |(_, ours)| Some(*ours))
        .text("unit", "unit", |(quantity, _)| {
            published(quantity).map_or(String::new(), |p| p.unit.clone())
        });
    sheet.judge("The preset has the published value.", |row| {
        let stated = row.of("published")?;
        Some((stated - row.of("ours")?).abs() <= 1e-9 * stated.abs())
    });
    sheet.finish()
}

/// Quads of RGBA16F that CROP blends per cycle: four pixels of eight bytes each, up to its quad rate.
fn crop_quads_per_cycle(config: &Config) -> f64 {
    const BYTES_OF_QUAD: f64 = 32.0;
    let rate = config.crop.quads_per_cycle;
    let accepted = f64::from(rate.items()) / f64::from(rate.cycles());
    accepted.min(config.crop.bytes_per_cycle as f64 / BYTES_OF_QUAD)
}

type Depth = fn(&PixelCounts) -> f64;

/// Columns of fragments blended per pixel.
const DEPTHS: [(&str, &str, Depth); 4] = [
    ("per_pixel", "fragments per pixel", |counts| counts.mean),
    ("per_pixel_p95", "95th percentile", |counts| f64::from(counts.p95)),
    ("per_covered_pixel", "per pixel with any", |counts| counts.mean_covered),
    ("per_covered_pixel_p95", "95th percentile of these", |counts| f64::from(counts.p95_covered)),
];

pub(super) fn table_2(figure: &'static Figure, results: &Results) -> Content {
    type NeededViews<'a> = Vec<&'a ViewResult>;
    let scene = |views: &NeededViews<'_>| views[0].scene().to_owned();
    let first = results.first(PAPER_PRESET);
    let details = |views: &NeededViews<'_>| {
        let first = first.iter().find(|view| view.scene() == views[0].scene())?;
        Some(&first.method("baseline")?.details)
    };
    let of_first = |views: &NeededViews<'_>| details(views)?.scene;
    let mut sheet = Sheet::new(figure, results.scenes(), "scenes", scene);
    sheet
        .text("source", "source", |_| "suite".to_owned())
        .text("scene", "scene", scene)
        .text("size", "size of the pictures", |views| {
            let view = &views[0].row.key.view;
            format!("{}x{}", view.width, view.height)
        })
        .whole("splats", "splats", |views| Some(of_first(views)?.splats as f64))
        .whole("most_in_view", "most in view", |views| {
            largest(views.iter().map(|view| Some(view.row.splats as f64)))
        })
        .word("kind", "kind", |views| Some(format!("SH degree {}", of_first(views)?.sh_degree)))
        .number("views", "views", |views| Some(views.len() as f64));
    for (key, heading, of) in DEPTHS {
        sheet.number(key, heading, |views| {
            Some(of(details(views)?.fragments_per_pixel.as_ref()?))
        });
    }
    sheet.finish()
}

pub(super) fn table_3(figure: &'static Figure, results: &Results) -> Content {
    let config = &results.config;
    let tgc = config.tgc.storage_bytes();
    let single = QruSpec { buffers: 1, ..config.qru.clone() };
    let qru = [single.storage_bytes(), config.qru.storage_bytes()];
    let fetch = config.tgc.fetch_bytes(config.vertex.position_bytes);
    let zrop = config.zrop.storage_bytes();
    let results = config.vertex_buffer_bytes();
    let rows: [(&str, Option<u64>, Option<u64>); 7] = [
        ("tile-grid coalescing", Some(tgc), Some(tgc)),
        ("quad reordering", Some(qru[0]), Some(qru[1])),
        ("positions that bins fetch", None, Some(fetch)),
        ("queues of ZROP", None, Some(zrop)),
        ("total", Some(tgc + qru[0]), Some(tgc + qru[1] + fetch + zrop)),
        ("lines of the L2 for vertex results", None, Some(results)),
        ("SRAM of a GPC of the Orin, at least", sram_of_orin_bytes(), None),
    ];
    let unit = |name: &str| match name {
        "KB" => KB,
        "MB" => MB,
        _ => 1.0,
    };
    let mut sheet = Sheet::labelled(figure, rows, "parts", "part", |(part, ..)| (*part).to_owned());
    sheet
        .whole("published_bytes", "published (B)", |(part, ..)| {
            let found = figure.published.iter().find(|p| p.quantity == *part)?;
            Some(found.value * unit(&found.unit))
        })
        .whole("one_buffer_bytes", "ours, as the paper counts (B)", |(_, counted, _)| {
            counted.map(|bytes| bytes as f64)
        })
        .whole("bytes", "ours, all (B)", |(.., all)| Some((*all)? as f64));
    for published in &figure.published {
        let part = rows.iter().find(|(part, ..)| *part == published.quantity);
        let bytes = part.and_then(|(_, counted, _)| *counted);
        let ours = bytes.map(|bytes| bytes as f64 / unit(&published.unit));
        sheet.ours(&published.quantity, ours);
    }
    sheet.finish()
}
