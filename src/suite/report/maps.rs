//! Maps of counts per pixel, and their files.

use std::path::Path;

use super::heat::{self, HeatMap, VIRIDIS};
use super::scale::{Curve, Scale};
use super::simulated::Simulated;
use quadrille_base::error::Result;
use quadrille_base::image::files;
use quadrille_gpu::result::SimulationResult;
use quadrille_gpu::zrop::framebuffer::NEVER;
use quadrille_machine::MapKind::{self, Blended, Late, Merged, Shaded, UntilTerminated};

/// Counts of each map (`None` for the cycle in which the termination bit was written), its name in file
/// names, its title, and the meaning of pixels without a count.
const MAPS: [(Option<MapKind>, [&str; 3]); 6] = {
    let late = "late fragments: blended past the threshold";
    let until = "blends_until_termination";
    let cycle = "termination: cycle of the bit";
    [
        (Some(Shaded), ["shaded", "fragments shaded", "none"]),
        (Some(Blended), ["blended", "fragments blended", "none"]),
        (
            Some(Merged),
            ["merged", "fragments merged into another", "none"],
        ),
        (Some(Late), ["late", late, "none"]),
        (
            Some(UntilTerminated),
            [until, "blends until termination", "never"],
        ),
        (None, ["termination_cycle", cycle, "never"]),
    ]
};

/// Counts of a run, row by row; `None` where the variant keeps no such count: merges need quad
/// reordering, terminations early termination.
fn counts(kind: Option<MapKind>, outcome: &SimulationResult) -> Option<Vec<u32>> {
    let maps = outcome.maps.as_ref()?;
    let applies = match kind {
        Some(Shaded | Blended) => true,
        Some(Merged) => outcome.variant.qru(),
        _ => outcome.variant.het(),
    };
    applies.then(|| match kind {
        Some(kind) => maps.pixels(kind, outcome.framebuffer.layout),
        None => termination_cycles(outcome),
    })
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
/// [`quadrille_base::error::Error::Write`] when a file cannot be written, and [`quadrille_base::error::Error::Argument`] when a picture
/// with its legend is too large.
pub fn write(folder: &Path, simulated: &Simulated<'_>) -> Result<()> {
    for (kind, [name, title, nothing]) in MAPS {
        // Counts range over decades, times do not.
        let curve = kind.map_or(Curve::Linear, |_| Curve::SquareRoot);
        let runs = simulated.pipelines();
        let counted: Vec<_> = runs
            .filter_map(|(run, outcome)| Some((run.name(), counts(kind, outcome)?)))
            .collect();
        let scales = counted
            .iter()
            .map(|(_, counts)| Scale::covering(counts, curve));
        let Some(scale) = scales.max_by_key(|scale| scale.top) else {
            continue;
        };
        let size = [simulated.view.width, simulated.view.height];
        for (variant, counts) in &counted {
            let file = variant.replace(':', "-");
            let stem = format!("{}.{file}.{name}", simulated.view.name);
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
