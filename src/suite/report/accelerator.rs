//! The accelerator on the pages of `sim`.

use std::fmt::Write;

use super::columns::name;
use super::ratios::{Ratios, times};
use super::simulated::Simulated;
use quadrille_gpu::outcome::Outcome;

pub(super) fn page(title: &str, simulated: &Simulated<'_>) -> Option<String> {
    let (run, outcome) = simulated.runs.iter().find_map(|run| {
        if let Outcome::Gscore(outcome) = &run.outcome { Some((run, outcome)) } else { None }
    })?;
    let ratios = simulated.baseline().map(|b| Ratios::between(b, &run.outcome));
    let speedup = times(ratios.as_ref(), |r| r.speedup);
    let mut text = format!("{title}{}, {} MHz\n", name(run), outcome.counts.clock_mhz);
    for (label, cycles, more) in [
        ("sort and render", outcome.counts.raster_cycles, speedup.as_str()),
        ("whole frame", outcome.counts.frame_cycles, ""),
    ] {
        let _ = writeln!(text, "{label:17}{:>9.3} ms{more}", outcome.ms(cycles));
    }
    for (label, value, unit) in [
        ("energy, raster", outcome.counts.raster_mj, "mJ"),
        ("energy, frame", outcome.counts.frame_mj, "mJ"),
        ("area", outcome.counts.area_mm2, "mm2"),
    ] {
        let _ = writeln!(text, "{label:17}{value:>9.3} {unit}");
    }
    for (label, count) in [
        ("pairs", outcome.counts.pairs),
        ("entries read", outcome.counts.entries),
        ("subtiles drawn", outcome.counts.subtiles),
        ("fragments", outcome.counts.fragments_blended),
    ] {
        let _ = writeln!(text, "{label:17}{count:>9}");
    }
    for stage in &outcome.counts.stages {
        let by = if stage.cycles > stage.unit_cycles { "memory" } else { "its units" };
        let ms = outcome.ms(stage.cycles);
        let _ = writeln!(text, "{:17}{ms:>9.3} ms  limited by {by}", stage.name);
    }
    Some(text)
}
