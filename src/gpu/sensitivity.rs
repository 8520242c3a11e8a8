//! Sensitivity of a view's cycles to the values that no publication states: every assumed and every
//! calibrated number of the configuration, halved and doubled, and every switch at its other value, one at a time.

use rayon::prelude::*;

use super::compute::program::ComputeSpec;
use super::compute::stream::KernelsSpec;
use super::config::Config;
use super::energy::EnergySpec;
use super::frame::FrameSpec;
use super::gscore::spec::GscoreSpec;
use super::variant::Variant;
use super::view::PreparedView;
use super::warp::interlock::InterlockSpec;
use super::warp::shader_blend::ShaderBlendSpec;
use super::wiring::Simulator;
use super::zrop::framebuffer::Tests;
use quadrille_base::error::Result;
use quadrille_base::task::Task;
use quadrille_machine::{Cycle, Field, Source};

/// Units that no variant of the pipeline reads.
const OTHER_UNITS: [&str; 7] = [
    ComputeSpec::UNIT,
    KernelsSpec::UNIT,
    GscoreSpec::UNIT,
    FrameSpec::UNIT,
    EnergySpec::UNIT,
    ShaderBlendSpec::UNIT,
    InterlockSpec::UNIT,
];

/// A changed value of a field, and the cycles that follow.
#[derive(Debug, Clone)]
pub struct Change {
    /// Value of the field.
    pub value: String,
    /// Cycles by variant.
    pub cycles: Vec<Cycle>,
}

/// A field, and the results with half and with twice its value, or with the other value of a switch.
#[derive(Debug, Clone)]
pub struct FieldSensitivity {
    /// The field at the value of the configuration.
    pub field: Field,
    /// Half and twice the value; `None` where the bounds of the field exclude it. A switch has its other value in
    /// the place of twice the value.
    pub changes: [Option<Change>; 2],
}

impl FieldSensitivity {
    /// Speedups of variant `variant` over variant 0 with each of the [changes](Self::changes).
    pub fn speedups(&self, variant: usize) -> [Option<f64>; 2] {
        let of = |change: &Change| speedup(&change.cycles, variant);
        self.changes.each_ref().map(|c| c.as_ref().map(of))
    }

    /// Largest change of any variant's speedup, as a fraction of its speedup `at_default`.
    pub fn swing(&self, at_default: &[f64]) -> f64 {
        let variants = at_default.iter().enumerate();
        let changes = variants.flat_map(|(variant, &default)| {
            let speedups = self.speedups(variant).into_iter().flatten();
            speedups.map(move |speedup| (speedup / default - 1.0).abs())
        });
        changes.fold(0.0, f64::max)
    }
}

/// Speedup of `variant`: the cycles of variant 0 divided by its cycles.
fn speedup(cycles: &[Cycle], variant: usize) -> f64 {
    cycles[0] as f64 / cycles[variant].max(1) as f64
}

/// Sensitivity of a view on some variants.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// Speedups of the variants over variant 0 with the configuration as it is.
    pub speedups: Vec<f64>,
    /// Fields in order of falling [swing](FieldSensitivity::swing).
    pub fields: Vec<FieldSensitivity>,
}

impl Sensitivity {
    /// Simulates `view` on `variants`, once as configured and once for each changed value of a field. The first variant
    /// is the reference for the others. The task's progress is in fields.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) naming a field of `config` that does not fit, and
    /// [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
    pub fn of(
        view: &PreparedView<'_>,
        config: &Config,
        variants: &[Variant],
        task: &Task,
    ) -> Result<Self> {
        config.validate()?;
        let run = |config: &Config| -> Vec<Cycle> {
            let simulators = variants.iter();
            let simulators = simulators.map(|v| Simulator::unchecked(config, *v).under(task));
            let runs = simulators.map(|s| view.run(&s, &Tests::default()).outcome.cycles);
            runs.collect()
        };
        let cycles = run(config);
        let speedups: Vec<_> = (0..variants.len()).map(|v| speedup(&cycles, v)).collect();
        task.check()?;
        let varied = varied_fields(config);
        let steps = task.steps(varied.len() as u64);
        let mut fields: Vec<_> = varied
            .into_par_iter()
            .map(|field| {
                let changes = changed_values(config, &field).map(|value| {
                    let value = value?;
                    let changed = config.with(&format!("{}={value}", field.name)).ok()?;
                    let cycles = run(&changed);
                    Some(Change { value, cycles })
                });
                steps.advance(1)?;
                Ok(FieldSensitivity { field, changes })
            })
            .collect::<Result<_>>()?;
        fields.sort_by(|a, b| b.swing(&speedups).total_cmp(&a.swing(&speedups)));
        Ok(Self { speedups, fields })
    }
}

/// The fields that [`Sensitivity::of`] varies: numbers above 0 and switches whose default is assumed or
/// calibrated, of the graphics pipeline.
pub fn varied_fields(config: &Config) -> Vec<Field> {
    let is_of_others = |field: &Field| {
        let unit = field.name.split('.').next();
        unit.is_some_and(|unit| OTHER_UNITS.contains(&unit))
    };
    let is_varied = |field: &Field| {
        !matches!(field.source, Source::Published(_))
            && !is_of_others(field)
            && match field.value.parse::<f64>() {
                Ok(value) => value > 0.0,
                Err(_) => ratio(field).is_some() || other_value(field).is_some(),
            }
    };
    config.fields().into_iter().filter(is_varied).collect()
}

/// A rate that is not a whole number of items per cycle: items and cycles.
fn ratio(field: &Field) -> Option<[u64; 2]> {
    let (items, cycles) = field.value.trim_matches('"').split_once('/')?;
    Some([items.parse().ok()?, cycles.parse().ok()?])
}

/// The other value of a switch: of a field that is on or off, or of one with two names.
fn other_value(field: &Field) -> Option<String> {
    if let Ok(on) = field.value.parse::<bool>() {
        return Some((!on).to_string());
    }
    let [one, two] = field.names else {
        return None;
    };
    let is_configured = field.value.trim_matches('"') == *one;
    Some(if is_configured { two } else { one }.to_string())
}

/// Half and twice the value of a field, a whole number if that is one and half of it need not be a ratio; the
/// other value of a switch alone.
fn changed_values(config: &Config, field: &Field) -> [Option<String>; 2] {
    if let Some([items, cycles]) = ratio(field) {
        return [[items, cycles * 2], [items * 2, cycles]].map(|[i, c]| Some(format!("{i}/{c}")));
    }
    match field.value.parse::<u64>() {
        Ok(whole) => {
            let half = format!("{whole}/2");
            let is_rate = config.with(&format!("{}={half}", field.name)).is_ok();
            let half = if is_rate && whole % 2 == 1 {
                half
            } else {
                (whole / 2).to_string()
            };
            [half, (whole * 2).to_string()].map(Some)
        }
        Err(_) => match field.value.parse::<f64>() {
            Ok(value) => [value / 2.0, value * 2.0].map(|v| Some(format!("{v:?}"))),
            Err(_) => [None, other_value(field)],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A switch, a field of two names, the rates that decide early termination, and a bandwidth that the paper
    /// does not state; no field that it does.
    #[test]
    fn all_that_no_publication_states_is_varied() {
        let config = Config::default();
        let changes: Vec<_> = (varied_fields(&config).iter())
            .map(|field| (field.name.clone(), changed_values(&config, field)))
            .collect();
        let of = |name: &str| changes.iter().find(|(field, _)| field == name);
        for (name, values) in [
            ("crop.fast_clear", [None, Some("false")]),
            ("tgc.evict", [None, Some("least-recently-used")]),
            ("coarse.tiles_per_cycle", [Some("1"), Some("4")]),
            ("hi_z.tiles_per_cycle", [Some("1"), Some("4")]),
            ("fine.tiles_per_cycle", [Some("1"), Some("4")]),
            ("tc.quads_in_per_cycle", [Some("8"), Some("32")]),
            ("dram.gb_per_s", [Some("51.2"), Some("204.8")]),
        ] {
            let expected = values.map(|value| value.map(str::to_owned));
            assert_eq!(
                of(name).map(|(_, values)| values),
                Some(&expected),
                "{name}"
            );
        }
        assert!(of("tc.bins").is_none() && of("tc.evict").is_none());
    }
}
