//! Frame times and energy on the pages and in the document of `sim`, for runs that have them.

use serde::Serialize;

use super::columns::{COLUMNS_PER_PAGE, name, row};
use super::simulated::{Simulated, VariantRun};
use super::table::or_dash;
use quadrille_gpu::compute::outcome::ComputeMethod;
use quadrille_gpu::energy::{Energy, EnergyEstimate, EnergyEvents};
use quadrille_gpu::frame::FrameTimes;
use quadrille_gpu::method::Method;
use quadrille_gpu::variant::Variant;

type FrameLine = (&'static str, fn(&FrameTimes) -> f64);
type EnergyLine = (&'static str, fn(&Energy) -> f64);

const TIMES: [FrameLine; 4] = [
    ("preprocess ms", |frame| frame.preprocess_ms),
    ("sort ms", |frame| frame.sort_ms),
    ("raster ms", |frame| frame.raster_ms),
    ("total ms", |frame| frame.total_ms),
];
const PARTS: [EnergyLine; 6] = [
    ("static mJ", |energy| energy.static_mj),
    ("shader mJ", |energy| energy.shader_mj),
    ("caches mJ", |energy| energy.caches_mj),
    ("rop mJ", |energy| energy.rop_mj),
    ("dram mJ", |energy| energy.dram_mj),
    ("total mJ", |energy| energy.total_mj),
];

pub(super) fn pages(title: &str, simulated: &Simulated<'_>) -> Vec<String> {
    let runs = simulated.runs.iter();
    let runs: Vec<_> = runs.filter(|run| run.frame.is_some() || run.energy.is_some()).collect();
    runs.chunks(COLUMNS_PER_PAGE).map(|runs| page(title, simulated, runs)).collect()
}

fn page(title: &str, simulated: &Simulated<'_>, runs: &[&VariantRun]) -> String {
    let mut text = title.to_owned();
    row(&mut text, "", runs, |run| name(run));
    if runs.iter().any(|run| run.frame.is_some()) {
        add_frame(&mut text, simulated, runs);
    }
    if runs.iter().any(|run| run.energy.is_some()) {
        add_energy(&mut text, simulated, runs);
    }
    text
}

/// Adds a row with a cell per run: a dash without an estimate or without the number.
fn add<T>(
    text: &mut String,
    label: &str,
    estimates: &[Option<T>],
    cell: impl Fn(&T) -> Option<String>,
) {
    row(text, label, estimates, |one| or_dash(one.as_ref().and_then(&cell), |text| text));
}

fn add_frame(text: &mut String, simulated: &Simulated<'_>, runs: &[&VariantRun]) {
    let frames: Vec<_> = runs.iter().map(|run| run.frame).collect();
    text.push_str("whole frame, modelled\n");
    for (label, ms) in TIMES {
        add(text, label, &frames, |frame| Some(format!("{:>8.3}", ms(frame))));
    }
    add(text, "fps", &frames, |frame| Some(format!("{:>8.1}", frame.fps?)));
    add(text, "raster share", &frames, |frame| {
        Some(format!("{:>7.1}%", frame.raster_share? * 100.0))
    });
    let software = Method::Compute(ComputeMethod::ORIENTED);
    for (label, other) in [("over compute", software), ("over baseline", baseline())] {
        if let Some(other) = run_of(simulated, other).and_then(|run| run.frame) {
            add(text, label, &frames, |frame| {
                Some(format!("{:>8}", format!("{:.2}x", times_of(&other, frame)?)))
            });
        }
    }
}

fn add_energy(text: &mut String, simulated: &Simulated<'_>, runs: &[&VariantRun]) {
    let energies: Vec<_> = runs.iter().map(|run| run.energy).collect();
    let spec = &simulated.config.energy;
    let percent = |share: f64| share * 100.0;
    text.push_str(&format!(
        "energy of the draw, assumed; band: static {:.0}..{:.0} % of the rail, DRAM {}..{} pJ per bit, others 1/{}..{}\n",
        percent(spec.static_share_low),
        percent(spec.static_share_high),
        spec.dram_pj_per_bit_low,
        spec.dram_pj_per_bit_high,
        spec.uncertainty,
        spec.uncertainty,
    ));
    for (label, mj) in PARTS {
        add(text, label, &energies, |e| Some(format!("{:>8.3}", mj(&e.energy))));
    }
    add(text, " band", &energies, |e| {
        let [low, high] = e.band_mj();
        Some(format!("{low:>8.3}..{high:.3}"))
    });
    add(text, "W, no DRAM", &energies, |e| Some(format!("{:>8.3}", e.watts_without_dram)));
    let Some(other) = run_of(simulated, baseline()).and_then(|run| run.energy) else { return };
    add(text, "over baseline", &energies, |e| {
        let [ratio, ..] = e.ratio_of(&other)?;
        Some(format!("{:>8}", format!("{ratio:.2}x")))
    });
    add(text, " band", &energies, |e| {
        let [_, low, high] = e.ratio_of(&other)?;
        Some(format!("{low:>7.2}x..{high:.2}x"))
    });
}

#[derive(Debug, Serialize)]
struct EnergyWithBand {
    #[serde(flatten)]
    energy: Energy,
    total_low: f64,
    total_high: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct EnergyReport {
    energy_mj: EnergyWithBand,
    energy_events: EnergyEvents,
    power_without_dram_w: f64,
    rail_w: f64,
}

impl From<&EnergyEstimate> for EnergyReport {
    fn from(estimate: &EnergyEstimate) -> Self {
        let [total_low, total_high] = estimate.band_mj();
        Self {
            energy_mj: EnergyWithBand { energy: estimate.energy, total_low, total_high },
            energy_events: estimate.events,
            power_without_dram_w: estimate.watts_without_dram,
            rail_w: estimate.rail_w,
        }
    }
}

/// Time of the baseline's frame divided by the time of a run's frame, null for a frame without time.
#[derive(Debug, Serialize)]
pub(super) struct FrameRatio {
    frame: Option<f64>,
}

/// The baseline's energy divided by a run's: as configured, and the bounds; null if one takes no energy.
#[derive(Debug, Serialize)]
pub(super) struct EnergyRatios {
    energy: Option<f64>,
    energy_low: Option<f64>,
    energy_high: Option<f64>,
}

pub(super) fn frame_ratio(simulated: &Simulated<'_>, run: &VariantRun) -> Option<FrameRatio> {
    Some(FrameRatio { frame: times_of(&run_of(simulated, baseline())?.frame?, &run.frame?) })
}

pub(super) fn energy_ratios(simulated: &Simulated<'_>, run: &VariantRun) -> Option<EnergyRatios> {
    let ratios = run.energy?.ratio_of(&run_of(simulated, baseline())?.energy?);
    let [energy, energy_low, energy_high] = [0, 1, 2].map(|at| ratios.map(|ratios| ratios[at]));
    Some(EnergyRatios { energy, energy_low, energy_high })
}

/// Time of `other` as a multiple of the time of `frame`; `None` for a frame without time.
fn times_of(other: &FrameTimes, frame: &FrameTimes) -> Option<f64> {
    (frame.total_ms > 0.0).then(|| other.total_ms / frame.total_ms)
}

fn baseline() -> Method {
    Method::Pipeline(Variant::BASELINE)
}

fn run_of<'a>(simulated: &'a Simulated<'_>, method: Method) -> Option<&'a VariantRun> {
    simulated.runs.iter().find(|run| run.outcome.method() == method)
}
