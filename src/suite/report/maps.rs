//! Maps of counts per pixel and per screen tile, tables of counters per tile, and their files.

use std::fmt::Write;
use std::path::Path;

use super::heat::{self, HeatMap, VIRIDIS};
use super::scale::{Curve, Scale};
use super::simulated::Simulated;
use quadrille_base::error::Result;
use quadrille_base::image::{Frame, files};
use quadrille_base::output::write_whole;
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_base::task::Task;
use quadrille_gpu::result::SimulationResult;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::zrop::framebuffer::NEVER;
use quadrille_machine::MapKind::{self, Blended, Late, Merged, Shaded, UntilTerminated};

/// A kind of map with a count for every pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelMap {
    /// `None` for the cycle in which the termination bit was written.
    kind: Option<MapKind>,
    /// Name in file names and JSON.
    pub name: &'static str,
    /// Title above a picture.
    pub title: &'static str,
    /// Meaning of pixels without a count.
    pub nothing: &'static str,
}

impl PixelMap {
    /// The maps of `sim --maps`, in their order.
    pub const ALL: [Self; 6] = {
        const fn map(kind: Option<MapKind>, [name, title, nothing]: [&'static str; 3]) -> PixelMap {
            PixelMap { kind, name, title, nothing }
        }
        let late = "late fragments: blended past the threshold";
        let until = "blends_until_termination";
        [
            map(Some(Shaded), ["shaded", "fragments shaded", "none"]),
            map(Some(Blended), ["blended", "fragments blended", "none"]),
            map(Some(Merged), ["merged", "fragments merged into another", "none"]),
            map(Some(Late), ["late", late, "none"]),
            map(Some(UntilTerminated), [until, "blends until termination", "never"]),
            map(None, ["termination_cycle", "termination: cycle of the bit", "never"]),
        ]
    };

    /// Counts of a run, row by row from the top; pixels without a count are 0. `None` where the method keeps no such count.
    pub fn counts(&self, outcome: &SimulationResult) -> Option<Vec<u32>> {
        let maps = outcome.maps.as_ref()?;
        self.is_of(outcome.variant).then(|| match self.kind {
            Some(kind) => maps.pixels(kind, outcome.framebuffer.layout),
            None => termination_cycles(outcome),
        })
    }

    /// Whether a variant keeps the counts: merges need quad reordering, terminations early termination.
    pub fn is_of(&self, variant: Variant) -> bool {
        match self.kind {
            Some(Shaded | Blended) => true,
            Some(Merged) => variant.qru(),
            _ => variant.het(),
        }
    }

    /// The scale of the map's colours, which ends at the 99.9th percentile of the counts above 0.
    pub fn scale(&self, counts: &[u32]) -> Scale {
        // Counts range over decades, times do not.
        Scale::covering(counts, self.kind.map_or(Curve::Linear, |_| Curve::SquareRoot))
    }
}

/// The maps that a run kept: the name of each in file names, and its counts per pixel, row by row from the top. Pixels
/// without a count are 0.
pub fn pixel_counts(outcome: &SimulationResult) -> Vec<(&'static str, Vec<u32>)> {
    PixelMap::ALL.into_iter().filter_map(|map| Some((map.name, map.counts(outcome)?))).collect()
}

/// Cycles above the range of u32, seven seconds at 612 MHz, are clamped.
fn termination_cycles(outcome: &SimulationResult) -> Vec<u32> {
    let cycles = outcome.framebuffer.termination_cycles().into_iter();
    let cycles = cycles.map(|at| if at == NEVER { 0 } else { at });
    cycles.map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect()
}

/// Writes all maps of all methods of a view that kept counts into `folder`, as `VIEW.METHOD.MAP.png` and `.npy`. A map
/// has one scale for all methods, so that their pictures are comparable.
///
/// # Errors
/// Errors of writing the files, and of a picture that is too large with its legend.
pub fn write(folder: &Path, simulated: &Simulated<'_>) -> Result<()> {
    for map in PixelMap::ALL {
        let runs = simulated.pipelines();
        let counted: Vec<_> =
            runs.filter_map(|(run, outcome)| Some((run.name(), map.counts(outcome)?))).collect();
        let scales = counted.iter().map(|(_, counts)| map.scale(counts));
        let Some(scale) = scales.max_by_key(|scale| scale.top) else { continue };
        let size = [simulated.view.width, simulated.view.height];
        for (method, counts) in &counted {
            let file = folder.join(stem(simulated, method, map.name));
            files::write_counts(&file.with_added_extension("npy"), size, counts)?;
            files::write(
                file.with_added_extension("png"),
                &picture(&map, method, size, counts, scale),
            )?;
        }
    }
    write_tiles(folder, simulated)
}

/// The picture of a map of a method, with its title and scale.
pub fn picture(
    map: &PixelMap,
    method: &str,
    size: [u32; 2],
    counts: &[u32],
    scale: Scale,
) -> Frame {
    titled(format!("{method}: {}", map.title), map.nothing, size, counts, scale)
}

fn titled(
    title: String,
    nothing: &'static str,
    size: [u32; 2],
    counts: &[u32],
    scale: Scale,
) -> Frame {
    let scale_end = "99.9th percentile";
    heat::picture(&HeatMap { title, nothing, size, counts, scale, scale_end, palette: VIRIDIS })
}

fn stem(simulated: &Simulated<'_>, method: &str, name: &str) -> String {
    let method = method.replace(':', "-");
    format!("{}.{method}.{name}", simulated.view.name)
}

/// Name and title of each map of tiles, and the suffixes of the counters that it adds up.
const TILE_MAPS: [(&str, &str, &[&str]); 7] = [
    ("tile_cycles", "busy cycles of CROP per tile", &["units.crop.busy"]),
    ("tile_quads", "quads rasterized per tile", &["fine.quads"]),
    (
        "tile_flushes",
        "flushes of tile coalescing per tile",
        &["tc.full", "tc.evicted", "tc.timeout", "tc.end", "tc.conflict", "tc.span"],
    ),
    ("tile_terminated_quads", "quads terminated per tile", &["zrop.quads.terminated"]),
    ("tile_terminated_fragments", "fragments terminated per tile", &["zrop.fragments.terminated"]),
    (
        "tile_l2_bytes",
        "bytes between caches and L2 per tile",
        &["l2_read_bytes", "l2_written_bytes"],
    ),
    (
        "tile_dram_bytes",
        "bytes between L2 and DRAM per tile",
        &["dram_read_bytes", "dram_written_bytes"],
    ),
];

/// Writes the counters per tile of all methods that kept them, as `VIEW.METHOD.tiles.csv`, and maps of them.
/// A map of zeros is left out.
fn write_tiles(folder: &Path, simulated: &Simulated<'_>) -> Result<()> {
    for (run, outcome) in simulated.pipelines() {
        let name = stem(simulated, &run.name(), "tiles");
        let table = tile_table(outcome);
        write_whole(&folder.join(format!("{name}.csv")), &Task::NEVER, |out| {
            out.write_all(table.as_bytes())
        })?;
    }
    for (name, title, ends) in TILE_MAPS {
        let runs = simulated.pipelines();
        let counted: Vec<_> = runs
            .map(|(run, outcome)| (run.name(), outcome, tile_sums(outcome, ends)))
            .filter(|(_, _, counts)| counts.iter().any(|&count| count > 0))
            .collect();
        let scales =
            counted.iter().map(|(_, _, counts)| Scale::covering(counts, Curve::SquareRoot));
        let Some(scale) = scales.max_by_key(|scale| scale.top) else { continue };
        let size = [simulated.view.width, simulated.view.height];
        for (method, outcome, counts) in &counted {
            let file = folder.join(stem(simulated, method, name));
            let across = outcome.framebuffer.layout.tiles_across;
            let in_tiles = size.map(|side| side.div_ceil(TILE_PX));
            files::write_counts(&file.with_added_extension("npy"), in_tiles, counts)?;
            let rows = (0..size[1]).map(|y| y / TILE_PX * across);
            let pixels = rows.flat_map(|first| (0..size[0]).map(move |x| first + x / TILE_PX));
            let pixels: Vec<_> = pixels.map(|tile| counts[tile as usize]).collect();
            let picture = titled(format!("{method}: {title}"), "none", size, &pixels, scale);
            files::write(file.with_added_extension("png"), &picture)?;
        }
    }
    Ok(())
}

/// Sum by tile of the counters with one of these suffixes, at most `u32::MAX`.
fn tile_sums(outcome: &SimulationResult, ends: &[&str]) -> Vec<u32> {
    let mut sums = vec![0_u32; outcome.framebuffer.layout.tiles()];
    for record in &outcome.records {
        let is_counted: Vec<_> = (record.columns.iter())
            .map(|column| ends.iter().any(|end| column.name.ends_with(end)))
            .collect();
        for (sum, row) in sums.iter_mut().zip(record.tiles()) {
            let counted = row.iter().zip(&is_counted).filter(|(_, counted)| **counted);
            let change: u64 = counted.map(|(change, _)| change).sum();
            *sum = sum.saturating_add(u32::try_from(change).unwrap_or(u32::MAX));
        }
    }
    sums
}

/// Counters per tile as CSV: rows in picture order, and a column per counter whose counts all belong to tiles.
fn tile_table(outcome: &SimulationResult) -> String {
    let layout = outcome.framebuffer.layout;
    let across = layout.tiles_across as usize;
    let mut heading = "tile_x,tile_y".to_owned();
    let mut rows: Vec<_> =
        (0..layout.tiles()).map(|tile| format!("{},{}", tile % across, tile / across)).collect();
    for record in &outcome.records {
        let are_of_tiles = record.are_of_tiles();
        let kept = || (0..are_of_tiles.len()).filter(|column| are_of_tiles[*column]);
        for column in kept() {
            let _ = write!(heading, ",{}", record.columns[column].name);
        }
        let mut tiles = record.tiles();
        for row in &mut rows {
            // Nothing is recorded of a unit without work.
            let changes = tiles.next();
            for column in kept() {
                let _ = write!(row, ",{}", changes.map_or(0, |changes| changes[column]));
            }
        }
    }
    format!("{heading}\n{}\n", rows.join("\n"))
}
