//! Maps of counts per pixel, and their files.

use std::path::Path;

use super::heat::{self, HeatMap, VIRIDIS};
use super::scale::{Curve, Scale};
use super::simulated::Simulated;
use crate::error::Result;
use crate::gpu::result::SimulationResult;
use crate::gpu::zrop::framebuffer::NEVER;
use crate::image::files;
use crate::pipeline::maps::MapKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PixelMap {
    /// Counts that the pipeline kept.
    Count(MapKind),
    /// Cycle in which the pixel's termination bit was written; 0 where it was not.
    TerminationCycle,
}

impl PixelMap {
    const ALL: [Self; 6] = [
        Self::Count(MapKind::Shaded),
        Self::Count(MapKind::Blended),
        Self::Count(MapKind::Merged),
        Self::Count(MapKind::Late),
        Self::Count(MapKind::UntilTerminated),
        Self::TerminationCycle,
    ];

    /// Name of the map in file names.
    fn name(self) -> &'static str {
        match self {
            Self::Count(MapKind::Shaded) => "shaded",
            Self::Count(MapKind::Blended) => "blended",
            Self::Count(MapKind::Merged) => "merged",
            Self::Count(MapKind::Late) => "late",
            Self::Count(MapKind::UntilTerminated) => "blends_until_termination",
            Self::TerminationCycle => "termination_cycle",
        }
    }

    /// Title, and the meaning of pixels without a count.
    fn legend(self) -> [&'static str; 2] {
        match self {
            Self::Count(MapKind::Shaded) => ["fragments shaded", "none"],
            Self::Count(MapKind::Blended) => ["fragments blended", "none"],
            Self::Count(MapKind::Merged) => ["fragments merged into another", "none"],
            Self::Count(MapKind::Late) => ["late fragments: blended past the threshold", "none"],
            Self::Count(MapKind::UntilTerminated) => ["blends until termination", "never"],
            Self::TerminationCycle => ["termination: cycle of the bit", "never"],
        }
    }

    /// Counts range over decades, times do not.
    fn curve(self) -> Curve {
        match self {
            Self::Count(_) => Curve::SquareRoot,
            Self::TerminationCycle => Curve::Linear,
        }
    }

    /// Counts of a run, row by row; `None` where the variant keeps no such count: merges need quad
    /// reordering, terminations early termination.
    fn of(self, outcome: &SimulationResult) -> Option<Vec<u32>> {
        let maps = outcome.maps.as_ref()?;
        let applies = match self {
            Self::Count(MapKind::Shaded | MapKind::Blended) => true,
            Self::Count(MapKind::Merged) => outcome.variant.qru(),
            _ => outcome.variant.het(),
        };
        let kind = match self {
            _ if !applies => return None,
            Self::Count(kind) => kind,
            Self::TerminationCycle => return Some(termination_cycles(outcome)),
        };
        Some(maps.pixels(kind, outcome.framebuffer.layout))
    }
}

/// Cycles above the range of u32, seven seconds at 612 MHz, are clamped to it.
fn termination_cycles(outcome: &SimulationResult) -> Vec<u32> {
    let cycles = outcome.framebuffer.termination_cycles().into_iter();
    let cycles = cycles.map(|at| if at == NEVER { 0 } else { at });
    cycles
        .map(|at| u32::try_from(at).unwrap_or(u32::MAX))
        .collect()
}

/// Writes all maps of all variants of a view that kept counts into `folder`, as `VIEW.VARIANT.MAP.png`
/// and `.npy`. A map has one scale in all variants, so that their pictures are comparable.
///
/// # Errors
/// [`crate::Error::Write`] when a file cannot be written, and [`crate::Error::Argument`] when a picture
/// with its legend is too large.
pub fn write(folder: &Path, simulated: &Simulated<'_>) -> Result<()> {
    for map in PixelMap::ALL {
        let runs = simulated.runs.iter().map(|run| &run.outcome);
        let counted: Vec<_> = runs
            .filter_map(|outcome| Some((outcome.variant.to_string(), map.of(outcome)?)))
            .collect();
        let scales = counted
            .iter()
            .map(|(_, counts)| Scale::covering(counts, map.curve()));
        let Some(scale) = scales.max_by_key(|scale| scale.top) else {
            continue;
        };
        let size = [simulated.view.width, simulated.view.height];
        let [title, nothing] = map.legend();
        for (variant, counts) in &counted {
            let stem = format!("{}.{variant}.{}", simulated.view.name, map.name());
            files::write_counts(&folder.join(format!("{stem}.npy")), size, counts)?;
            let picture = heat::picture(&HeatMap {
                title: format!("{variant}: {title}"),
                nothing,
                size,
                counts,
                scale,
                scale_end: "99.9th percentile",
                palette: VIRIDIS,
            });
            files::write(folder.join(format!("{stem}.png")), &picture)?;
        }
    }
    Ok(())
}
