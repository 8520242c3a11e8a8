use quadrille_base::units::cycles_to_ms;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::BufferEntries;
use super::units::{LimitRow, UnitRow, units};
use crate::key::ViewKey;
use quadrille_base::choice;
use quadrille_machine::{CacheCounters, L2Counters, PackCounters, UnitCycles};
use quadrille_mesh::merge::{MergeUnitKind, PmuCounters, PmuSettings, QfmCounters, QfmSettings};
use quadrille_mesh::result::{MeshResult, ratio};
use quadrille_mesh_pipeline::TimedMeshResult;
use quadrille_mesh_pipeline::colour::ColourCounters;
use quadrille_mesh_pipeline::grids::GridsCounters;

const BUSIEST_SHOWN: usize = 4;

choice! {
    /// Unit that merges quads before they are shaded, or Reyes, which shades no quads.
    pub enum MergingUnit {
        /// No unit: every quad is shaded
        None = "none",
        /// Quad-fragment merging
        Qfm = "qfm",
        /// Pixel merging
        Pmu = "pmu",
        /// No quads: grid vertices are shaded before the raster
        Reyes = "reyes",
    }
}

impl MergingUnit {
    /// The unit with its default buffer; Reyes has none.
    pub fn kind(self) -> MergeUnitKind {
        match self {
            Self::None | Self::Reyes => MergeUnitKind::None,
            Self::Qfm => MergeUnitKind::Qfm(QfmSettings::default()),
            Self::Pmu => MergeUnitKind::Pmu(PmuSettings::default()),
        }
    }
}

/// A view through a merging unit with one combination of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeshRow {
    /// Mesh as the command or the suite names it.
    pub mesh: String,
    /// The view and the size of its picture.
    pub view: ViewKey,
    /// Triangles of all grids.
    pub triangles: u64,
    /// Grids tessellated.
    pub grids: u64,
    /// Grids that are not hidden.
    pub grids_visible: u64,
    /// Vertices of visible grids. Reyes shades all of them.
    pub vertices_of_visible_grids: u64,
    /// Target area of triangles in pixels, if the mesh was tessellated.
    pub triangle_area_px: Option<f64>,
    /// Mean area in pixels of the triangles that are drawn, hidden or not; `None` if there are none.
    pub triangle_area_mean_px: Option<f64>,
    /// Samples per pixel.
    pub msaa: u32,
    /// Side of a shading pixel in pixels.
    pub coarse_pixel_px: u32,
    /// The merging unit.
    pub unit: MergingUnit,
    /// Entries of the unit's buffer; `None` without a buffer.
    pub buffer: Option<BufferEntries>,
    /// Quads by outcome.
    pub quads: MeshQuads,
    /// Runs of the shader: four per quad or, of Reyes, one per vertex.
    pub fragments_shaded: u64,
    /// Pixels with a sample that shows the mesh.
    pub pixels_covered: u64,
    /// Runs of the shader per covered pixel.
    pub fragments_per_covered_pixel: f64,
    /// Runs of the shader without a unit over runs with it.
    pub reduction: f64,
    /// Merged quads over all quads that reach the unit.
    pub savings: f64,
    /// Merged quads over quads with a partially covered shading pixel; `None` without such quads.
    pub efficiency: Option<f64>,
    /// PSNR against the unmerged picture in dB, if requested; infinite for equal pictures, which is null in JSON.
    pub psnr_vs_none_db: Option<f64>,
    /// Whether the picture equals the unmerged one, if they were compared.
    pub same_as_none: Option<bool>,
    /// PSNR against the unmerged picture over the covered pixels alone; merging changes no others.
    pub psnr_vs_none_covered_db: Option<f64>,
    /// PSNR against 64 shaded samples per pixel in dB, if requested.
    pub psnr_vs_truth_db: Option<f64>,
    /// Counters of the unit.
    pub unit_counters: UnitCounters,
    /// The frame in cycles, if requested.
    pub timed: Option<TimedMeshRow>,
    /// Milliseconds on the host.
    pub host_ms: FrameHostMs,
}

/// Quads by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshQuads {
    /// Quads with a sample, of grids that are not hidden.
    pub rasterized: u64,
    /// Quads that reach the unit and have a partially covered shading pixel.
    pub partial: u64,
    /// Quads without a sample that passes the depth test.
    pub culled: u64,
    /// Quads merged into another one; 0 for Reyes.
    pub merged: u64,
    /// Quads shaded; 0 for Reyes.
    pub shaded: u64,
}

/// Counters of merging units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCounters {
    /// Quads whose shader bars pixel merging.
    pub barred: u64,
    /// Counters of quad-fragment merging, if that is the unit.
    pub qfm: Option<QfmCounters>,
    /// Counters of the pixel merge unit, if that is the unit.
    pub pmu: Option<PmuCounters>,
}

/// Milliseconds on the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameHostMs {
    /// From tessellation to the depth test.
    pub visibility: f64,
    /// Merging.
    pub merging: f64,
}

/// A frame as the emulated pipeline ran it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimedMeshRow {
    /// Cycles of the frame.
    pub cycles: u64,
    /// Duration of `cycles` at the emulated clock in milliseconds.
    pub frame_ms: f64,
    /// The port that limits the frame.
    #[serde(flatten)]
    pub limits: LimitRow,
    /// Counters of warps.
    pub warps: PackCounters,
    /// Counters of grids.
    pub grids: GridsCounters,
    /// Raster tiles that Hi-Z dropped.
    pub raster_tiles_hidden: u64,
    /// Counters of the colour unit and its cache.
    pub crop: ColourRow,
    /// Counters of the depth cache.
    pub zrop_cache: CacheCounters,
    /// Counters of the L2.
    pub l2: L2Counters,
    /// Bytes read from and written to DRAM.
    pub dram_bytes: u64,
    /// Cycles of units by name.
    pub units: BTreeMap<String, UnitRow>,
    /// Counters that do not add up, one sentence each.
    pub discrepancies: Vec<String>,
    /// Milliseconds on the host.
    pub host_ms: f64,
    /// Names and utilisation of the busiest units, for tables.
    #[serde(skip)]
    pub busiest: String,
}

/// Counters of the colour unit and its cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColourRow {
    /// Quads and samples by outcome.
    #[serde(flatten)]
    pub counts: ColourCounters,
    /// Counters of the cache.
    #[serde(flatten)]
    pub cache: CacheCounters,
}

impl MeshRow {
    /// Describes a frame that was shaded through `unit` with `entries` in its buffer, without the name of the mesh, the
    /// target area, comparisons and times.
    pub fn new(
        outcome: &MeshResult,
        unit: MergingUnit,
        buffer: Option<BufferEntries>,
        view: ViewKey,
        msaa: u32,
    ) -> Self {
        let merging = &outcome.merging;
        let (shadings, merged, shaded) = match unit {
            MergingUnit::Reyes => (outcome.vertices, 0, 0),
            _ => {
                let shaded = outcome.quads_shaded;
                (4 * shaded, outcome.quads_merged(), shaded)
            }
        };
        Self {
            mesh: String::new(),
            view,
            triangles: outcome.triangles,
            grids: outcome.grids,
            grids_visible: outcome.grids_visible,
            vertices_of_visible_grids: outcome.vertices,
            triangle_area_px: None,
            triangle_area_mean_px: outcome.mean_area_px,
            msaa,
            coarse_pixel_px: outcome.shading_pixel_px,
            unit,
            buffer,
            quads: MeshQuads {
                rasterized: merging.rasterized,
                partial: merging.partial,
                culled: merging.culled,
                merged,
                shaded,
            },
            fragments_shaded: shadings,
            pixels_covered: outcome.pixels_covered,
            fragments_per_covered_pixel: ratio(shadings, outcome.pixels_covered),
            reduction: match shadings {
                0 => 1.0,
                shadings => ratio(4 * merging.tested(), shadings),
            },
            savings: ratio(merged, merging.tested()),
            efficiency: (merging.partial > 0).then(|| ratio(merged, merging.partial)),
            psnr_vs_none_db: None,
            same_as_none: None,
            psnr_vs_none_covered_db: None,
            psnr_vs_truth_db: None,
            unit_counters: UnitCounters {
                barred: merging.barred,
                qfm: merging.qfm,
                pmu: merging.pmu,
            },
            timed: None,
            host_ms: FrameHostMs::default(),
        }
    }

    /// Sets the PSNR against the unmerged picture in dB, which is infinite for equal pictures. Pictures of nothing have none.
    pub fn compare_with_none(&mut self, db: f64) {
        if self.pixels_covered == 0 {
            return;
        }
        let pixels = u64::from(self.view.width) * u64::from(self.view.height);
        let share = ratio(self.pixels_covered, pixels);
        self.psnr_vs_none_db = Some(db);
        self.same_as_none = Some(db.is_infinite());
        self.psnr_vs_none_covered_db = Some(db + 10.0 * share.log10());
    }

    /// Name of the combination of settings in the names of files.
    pub fn variant_name(&self) -> String {
        let mut name = self.unit.name().to_owned();
        if let Some(buffer) = self.buffer {
            name += &format!("-{buffer}");
        }
        name += &format!("-{}x", self.msaa);
        if let Some(area) = self.triangle_area_px {
            name += &format!("-{area}px");
        }
        name
    }
}

impl TimedMeshRow {
    /// Describes a frame in cycles of a clock of `clock_mhz` that took `host_ms` on the host.
    pub fn new(outcome: &TimedMeshResult, clock_mhz: f64, host_ms: f64) -> Self {
        Self {
            cycles: outcome.cycles,
            frame_ms: cycles_to_ms(outcome.cycles, clock_mhz),
            limits: LimitRow::of(&outcome.units),
            raster_tiles_hidden: outcome.tiles_hidden,
            dram_bytes: outcome.dram_bytes,
            units: units(&outcome.units),
            discrepancies: outcome.discrepancies(),
            busiest: busiest(&outcome.units),
            warps: outcome.warps.clone(),
            grids: outcome.grids.clone(),
            crop: ColourRow { counts: outcome.colour.clone(), cache: outcome.colour_cache.clone() },
            zrop_cache: outcome.z_cache.clone(),
            l2: outcome.l2.clone(),
            host_ms,
        }
    }
}

fn busiest(units: &[UnitCycles]) -> String {
    let mut units: Vec<_> = units.iter().collect();
    units.sort_by(|a, b| b.utilisation().total_cmp(&a.utilisation()));
    let busiest = units.iter().take(BUSIEST_SHOWN);
    let busiest = busiest.map(|u| format!("{} {:.0} %", u.name, 100.0 * u.utilisation()));
    busiest.collect::<Vec<_>>().join(", ")
}
