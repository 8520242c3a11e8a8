//! Details of a run that figures need beside the report of its method: the scene, times of the frame, energy,
//! counts per pixel, and the work of every unit over time.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use quadrille_gpu::compute::renderer::SceneCounts;
use quadrille_gpu::config::Config;
use quadrille_gpu::energy::{Energy, EnergyEstimate};
use quadrille_gpu::estimates;
use quadrille_gpu::frame::FrameTimes;
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::relief::{MethodRelief, PartKind};
use quadrille_gpu::variant::Variant;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Watch;
use quadrille_machine::maps::MapKind;
use quadrille_machine::timing::Timeline;

const MAP_WIDTH: u32 = 240;
const MOST_WINDOWS: u64 = 128;
/// Histogram bins of counts per pixel above 0: two per doubling.
const BINS: u32 = 28;

/// Selects the maps and timelines that a run of `method` records for the figures.
pub fn watch(method: Method) -> Watch {
    let is = |variant| method == Method::Pipeline(variant);
    Watch {
        maps: is(Variant::BASELINE) || is(Variant::HET),
        timelines: is(Variant::BASELINE) || is(Variant::HET_QM),
        ..Watch::default()
    }
}

/// Details of a run in addition to its counts; each is `None` if the run did not record it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureDetails {
    /// Size of the scene that was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<DrawnScene>,
    /// Modelled times of the frame, unless stages overlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameTimes>,
    /// Modelled energy in mJ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<EnergyDetails>,
    /// Fragments blended per pixel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments_per_pixel: Option<PixelCounts>,
    /// Work of each unit over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Vec<UnitActivity>>,
    /// Share of the cycles that the relief of each part saves, in suites with `relief`; `limit` is the relief of the ports
    /// that limit the run, together.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub relief: BTreeMap<String, f64>,
}

/// Size of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnScene {
    /// Splats of the scene.
    pub splats: u64,
    /// Degree of the spherical harmonics.
    pub sh_degree: u8,
}

/// Energy of a draw in mJ, with the energies at the bounds of the constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnergyDetails {
    /// Sum of the parts in mJ.
    pub total: f64,
    /// Energy by part in mJ, with the configured constants.
    pub parts: Energy,
    /// Total in mJ for every combination of the constants' lower and upper bounds.
    pub corners: Vec<f64>,
}

impl EnergyDetails {
    /// The details of an estimate.
    pub fn of(estimate: &EnergyEstimate) -> Self {
        Self {
            total: estimate.energy.total_mj,
            parts: estimate.energy,
            corners: estimate.corners_mj().to_vec(),
        }
    }
}

/// Work of a unit over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitActivity {
    /// Name of the unit.
    pub unit: String,
    /// Share of busy cycles in equal windows, in per mille.
    pub busy_per_mille: Vec<u64>,
}

impl FigureDetails {
    /// Keeps the gains of a relief.
    pub(crate) fn with_relief(self, relief: &MethodRelief) -> Self {
        let gains = relief.parts.iter().map(|part| {
            let is_limit = part.kind == PartKind::Limit;
            (if is_limit { "limit".to_owned() } else { part.name.clone() }, part.gain)
        });
        Self { relief: gains.collect(), ..self }
    }

    /// Computes the details of a run of `view` on `config`.
    pub fn of(outcome: &Outcome, view: &PreparedView<'_>, config: &Config) -> Self {
        let SceneCounts { splats, sh_degree, .. } = view.scene_counts();
        let energy = estimates::energy(outcome, config);
        Self {
            scene: Some(DrawnScene { splats, sh_degree }),
            frame: estimates::frame_times(outcome, &view.workload(), config),
            energy_mj: energy.as_ref().map(EnergyDetails::of),
            fragments_per_pixel: fragments_per_pixel(outcome),
            timeline: timeline(outcome),
            relief: BTreeMap::new(),
        }
    }
}

/// Counts per pixel of a picture, at a lower resolution, and their histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PixelCounts {
    /// Mean over all pixels.
    pub mean: f64,
    /// 95th percentile of all pixels.
    pub p95: u32,
    /// Mean over pixels with a count.
    pub mean_covered: f64,
    /// 95th percentile of pixels with a count.
    pub p95_covered: u32,
    /// Pixels without a count, then pixels by bin; see [`bin_starts`].
    pub histogram: Vec<u64>,
    /// Width and height of the map in cells.
    pub size: [u32; 2],
    /// Mean of each cell, rounded: 16-bit numbers, least byte first, in base64.
    cells: String,
}

/// The least count of each bin of the histogram above 0, in ascending order: 1, 2, 3, 4, 6, 8, 12 and so on. The
/// last bin is open.
pub fn bin_starts() -> impl Iterator<Item = u32> {
    std::iter::once(1).chain((0..BINS / 2).flat_map(|power| [2_u32 << power, 3 << power]))
}

impl PixelCounts {
    fn of(counts: &[u32], [width, height]: [u32; 2]) -> Self {
        let starts: Vec<u32> = bin_starts().collect();
        let mut histogram = vec![0; starts.len() + 1];
        for count in counts {
            histogram[starts.partition_point(|start| start <= count)] += 1;
        }
        let side = width.div_ceil(MAP_WIDTH).max(1);
        let size = [width, height].map(|n| n.div_ceil(side));
        let mut sums = vec![[0_u64; 2]; size[0] as usize * size[1] as usize];
        for (row, y) in counts.chunks(width.max(1) as usize).zip(0..) {
            for (count, x) in row.iter().zip(0..) {
                let cell: u32 = y / side * size[0] + x / side;
                let [sum, pixels] = &mut sums[cell as usize];
                *sum += u64::from(*count);
                *pixels += 1;
            }
        }
        let means = sums.iter().map(|[sum, pixels]| (sum + pixels / 2) / (*pixels).max(1));
        let means = means.map(|mean| u16::try_from(mean).unwrap_or(u16::MAX));
        let bytes: Vec<u8> = means.flat_map(u16::to_le_bytes).collect();
        let total: u64 = counts.iter().map(|c| u64::from(*c)).sum();
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        let covered = &sorted[sorted.partition_point(|count| *count == 0)..];
        let mean = |counts: &[u32]| total as f64 / counts.len().max(1) as f64;
        Self {
            mean: mean(&sorted),
            p95: percentile_95(&sorted),
            mean_covered: mean(covered),
            p95_covered: percentile_95(covered),
            histogram,
            size,
            cells: STANDARD.encode(bytes),
        }
    }

    /// Decodes the rounded means of the cells, row by row; `None` if the text is damaged or does not match `size`.
    pub fn cells(&self) -> Option<Vec<u32>> {
        let bytes = STANDARD.decode(&self.cells).ok()?;
        let cells = bytes.chunks_exact(2);
        let cells: Vec<u32> = cells.map(|b| u32::from(u16::from_le_bytes([b[0], b[1]]))).collect();
        let [width, height] = self.size.map(|side| side as usize);
        (bytes.len() == 2 * width * height && !cells.is_empty()).then_some(cells)
    }
}

/// 95th percentile of ascending counts by nearest rank; 0 without counts.
fn percentile_95(ascending: &[u32]) -> u32 {
    let rank = (ascending.len() * 95).div_ceil(100);
    ascending.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

fn fragments_per_pixel(outcome: &Outcome) -> Option<PixelCounts> {
    let result = outcome.pipeline()?;
    let layout = result.framebuffer.layout;
    let counts = result.maps.as_ref()?.pixels(MapKind::Blended, layout);
    Some(PixelCounts::of(&counts, [layout.width, layout.height]))
}

fn timeline(outcome: &Outcome) -> Option<Vec<UnitActivity>> {
    let strips = outcome.units().into_iter().filter_map(|unit| {
        let [cycles, instances] = [outcome.cycles(), unit.instances];
        let busy_per_mille = busy_per_mille(unit.timeline.as_ref()?, cycles, instances);
        Some(UnitActivity { unit: unit.name.to_owned(), busy_per_mille })
    });
    let strips: Vec<_> = strips.collect();
    (!strips.is_empty()).then_some(strips)
}

/// Mean share of work over `instances` of a unit in windows of a draw.
fn busy_per_mille(timeline: &Timeline, cycles: u64, instances: u64) -> Vec<u64> {
    let windows = cycles.div_ceil(timeline.window.max(1)).max(1);
    let group = windows.div_ceil(MOST_WINDOWS).max(1) * timeline.window;
    let groups = cycles.div_ceil(group).max(1);
    let mut busy = vec![0_u64; groups.try_into().unwrap_or_default()];
    for (states, at) in timeline.windows.iter().zip(0_u64..) {
        let group = usize::try_from(at * timeline.window / group).unwrap_or(usize::MAX);
        if let Some(busy) = busy.get_mut(group) {
            *busy += states[0];
        }
    }
    let shares = busy.iter().zip(0_u64..).map(|(busy, at)| {
        // The last group may be shorter than the others.
        let length = group.min(cycles.saturating_sub(at * group)).max(1);
        (busy * 1000 / (length * instances.max(1))).min(1000)
    });
    shares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_double_in_two_steps() {
        let starts: Vec<u32> = bin_starts().take(8).collect();
        assert_eq!(starts, [1, 2, 3, 4, 6, 8, 12, 16]);
    }

    #[test]
    fn counts_are_binned_and_averaged() {
        // 480 pixels in two rows become 240x1 cells of four pixels each.
        let mut counts = vec![0; 2 * 480];
        counts[0] = 5;
        counts[1] = 1;
        counts[480] = 3;
        let found = PixelCounts::of(&counts, [480, 2]);
        assert_eq!(found.size, [240, 1]);
        // 9 / 4 rounds to 2.
        assert_eq!(found.cells().unwrap()[..2], [2, 0]);
        assert_eq!(found.histogram[0], 957);
        assert_eq!(found.histogram[1..5], [1, 0, 1, 1]);
        assert!((found.mean - 9.0 / 960.0).abs() < 1e-15);
        assert_eq!((found.p95, found.mean_covered, found.p95_covered), (0, 3.0, 5));
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<PixelCounts>(&text).unwrap(), found);
        let torn = PixelCounts { size: [241, 1], ..found };
        assert_eq!(torn.cells(), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let counts: Vec<u32> = (1..=40).collect();
        assert_eq!(percentile_95(&counts), 38);
        assert_eq!([percentile_95(&[7]), percentile_95(&[])], [7, 0]);
    }

    #[test]
    fn timelines_cover_the_draw() {
        let mut timeline = Timeline { window: 10, windows: vec![Default::default(); 3] };
        timeline.windows[0][0] = 10;
        timeline.windows[2][0] = 5;
        assert_eq!(busy_per_mille(&timeline, 25, 1), [1000, 0, 1000]);
        assert_eq!(busy_per_mille(&timeline, 25, 4), [250, 0, 250]);
        let long = busy_per_mille(&timeline, 100_000, 1);
        assert!(long.len() as u64 <= MOST_WINDOWS, "{}", long.len());
    }
}
