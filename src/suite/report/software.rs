//! The software renderer on the pages of `sim`.

use super::columns::{COLUMNS_PER_PAGE, name, row, short};
use super::ratios::{Ratios, times};
use super::simulated::{Simulated, VariantRun};
use quadrille_gpu::compute::outcome::ComputeCounts;
use quadrille_gpu::outcome::Outcome;

type SoftwareRun<'a> = (&'a VariantRun, &'a ComputeCounts);

pub(super) fn pages(title: &str, simulated: &Simulated<'_>) -> Vec<String> {
    let runs = simulated.runs.iter().filter_map(|run| match &run.outcome {
        Outcome::Compute(outcome) => Some((run, &outcome.counts)),
        Outcome::Pipeline(..) | Outcome::Gscore(_) => None,
    });
    let runs: Vec<_> = runs.collect();
    runs.chunks(COLUMNS_PER_PAGE).map(|runs| page(title, simulated, runs)).collect()
}

fn page(title: &str, simulated: &Simulated<'_>, runs: &[SoftwareRun<'_>]) -> String {
    let against = |run: &VariantRun, pick: fn(&Ratios) -> Option<f64>| {
        times(simulated.baseline().map(|b| Ratios::between(b, &run.outcome)).as_ref(), pick)
    };
    let percent = |share: Option<f64>| {
        share.map_or("-".to_owned(), |share| format!("{:>7.1}%", share * 100.0))
    };
    let mut text = title.to_owned();
    row(&mut text, "", runs, |(run, _)| name(run));
    row(&mut text, "raster cycles", runs, |(run, _)| {
        let speedup = against(run, |r| r.speedup);
        format!("{} {speedup}", short(run.outcome.cycles()))
    });
    row(&mut text, "fragments", runs, |(run, outcome)| {
        let times = against(run, |r| r.fragments);
        format!("{} {times}", short(outcome.lanes.blended))
    });
    row(&mut text, "missed", runs, |(_, o)| short(o.fragments_missed));
    row(&mut text, "pairs", runs, |(_, o)| short(o.pairs));
    row(&mut text, "rounds", runs, |(_, o)| short(o.rounds));
    row(&mut text, "warp entries", runs, |(_, o)| short(o.warp_entries));
    row(&mut text, "lanes blend", runs, |(_, o)| percent(o.blending_share()));
    row(&mut text, " where any", runs, |(_, o)| percent(o.blending_share_of_blending()));
    for (index, (reason, _)) in runs[0].1.cycles_by_reason.named().into_iter().enumerate() {
        row(&mut text, reason, runs, |(run, outcome)| {
            let total = outcome.schedulers * run.outcome.cycles();
            let (_, cycles) = outcome.cycles_by_reason.named()[index];
            percent((total > 0).then(|| cycles as f64 / total as f64))
        });
    }
    for (index, kernel) in runs[0].1.kernels.iter().enumerate() {
        row(&mut text, &format!("{} ms", kernel.name), runs, |(_, outcome)| {
            format!("{:>8.3}", simulated.ms(outcome.kernels[index].cycles))
        });
    }
    row(&mut text, "all ms", runs, |(_, outcome)| {
        format!("{:>8.3}", simulated.ms(outcome.kernels.iter().map(|kernel| kernel.cycles).sum()))
    });
    text
}
