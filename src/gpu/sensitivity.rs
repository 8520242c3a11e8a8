//! Sensitivity of speedups to unpublished values: assumed and calibrated numbers times a quarter, a half, two and four,
//! and switches toggled.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::config::Config;
use super::machine::Machine;
use super::method::Method;
use super::view::PreparedView;
use super::wiring::Watch;
use quadrille_base::{Result, Task};
use quadrille_machine::{Cycle, Field, Source};

/// Presets that differ from the default in values that decide early termination.
const EXAMPLES: [&str; 2] = ["emerald-example", "measured-rop"];
/// Factors of a number, as `[times, over]`.
const FACTORS: [[u64; 2]; 4] = [[1, 4], [1, 2], [2, 1], [4, 1]];

/// Simulated cycles with a changed value of one field.
#[derive(Debug, Clone)]
pub struct ChangedField {
    /// Changed value as text, in the form that [`Config::with`] takes.
    pub value: String,
    /// Simulated cycles of each method, in the order of the methods.
    pub cycles: Vec<Cycle>,
}

/// Results at a quarter, half, twice and four times the value of a field, or with a switch toggled.
#[derive(Debug, Clone)]
pub struct FieldSensitivity {
    /// The field, with its value in the unchanged configuration.
    pub field: Field,
    /// Changed values in rising order, without those outside the field's bounds; the other value of a switch.
    pub changes: Vec<ChangedField>,
}

impl FieldSensitivity {
    /// Speedups of method `method` over method 0 with each of the [changes](Self::changes), or the cycles of a single
    /// method.
    pub fn speedups(&self, method: usize) -> impl Iterator<Item = f64> {
        self.changes.iter().map(move |change| speedup(&change.cycles, method))
    }

    /// Largest relative change of a method's speedup, or of the cycles of a single method. `at_default` holds these numbers
    /// of the unchanged configuration.
    pub fn swing(&self, at_default: &[f64]) -> f64 {
        let changes = at_default.iter().enumerate().flat_map(|(method, &default)| {
            self.speedups(method).map(move |speedup| (speedup / default - 1.0).abs())
        });
        changes.fold(0.0, f64::max)
    }
}

/// Speedup of a method over method 0; a single method has its cycles instead, since it is compared with no other.
fn speedup(cycles: &[Cycle], method: usize) -> f64 {
    if let [cycles] = cycles {
        return *cycles as f64;
    }
    cycles[0] as f64 / cycles[method].max(1) as f64
}

fn speedups(cycles: &[Cycle]) -> Vec<f64> {
    (0..cycles.len()).map(|m| speedup(cycles, m)).collect()
}

/// Sensitivity of the speedups of several methods on one view.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// Speedups of the methods over method 0 with the unchanged configuration, or the cycles of a single method.
    pub speedups: Vec<f64>,
    /// Names of presets, and the speedups with all values by which each differs from the default.
    pub examples: Vec<(&'static str, Vec<f64>)>,
    /// Varied fields by decreasing [swing](FieldSensitivity::swing).
    pub fields: Vec<FieldSensitivity>,
}

impl Sensitivity {
    /// Simulates `view` with `config` and with each changed field. The first method is the reference of the speedups.
    /// Progress counts fields. `begin` receives the number of runs and the host time of the first configuration.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) if a field of `config` does not fit, and
    /// [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
    pub fn of(
        view: &PreparedView<'_>,
        config: &Config,
        methods: &[Method],
        task: &Task,
        begin: &mut dyn FnMut(usize, Duration),
    ) -> Result<Self> {
        let run = |config: &Config| -> Result<Vec<Cycle>> {
            let machines = Machine::all(config, methods, Watch::default())?;
            let runs = machines.iter().map(|m| m.run(view, task));
            runs.map(|run| Ok(run?.outcome.cycles())).collect()
        };
        let varied = varied_fields(config, methods);
        let changed = varied.iter().flat_map(|field| changed_values(config, field));
        let start = Instant::now();
        let at_default = speedups(&run(config)?);
        // One more: the unchanged configuration.
        let configurations = 1 + EXAMPLES.len() + changed.count();
        begin(configurations * methods.len(), start.elapsed());
        let examples = EXAMPLES
            .into_iter()
            .map(|preset| Ok((preset, speedups(&run(&with_values_of(preset, config)?)?))));
        let examples = examples.collect::<Result<_>>()?;
        let steps = task.steps(varied.len() as u64);
        let fields = varied.into_par_iter().map(|field| {
            let changes = changed_values(config, &field).into_iter().map(|value| {
                let changed = config.with(&format!("{}={value}", field.name))?;
                Ok(ChangedField { value, cycles: run(&changed)? })
            });
            let changes = changes.collect::<Result<_>>()?;
            steps.advance(1)?;
            Ok(FieldSensitivity { field, changes })
        });
        let mut fields: Vec<_> = fields.collect::<Result<_>>()?;
        fields.sort_by(|a, b| b.swing(&at_default).total_cmp(&a.swing(&at_default)));
        Ok(Self { speedups: at_default, examples, fields })
    }
}

fn with_values_of(preset: &str, config: &Config) -> Result<Config> {
    let mut pairs = Config::preset(preset)?.fields().into_iter().zip(Config::default().fields());
    pairs.try_fold(config.clone(), |config, (field, default)| {
        if field.value == default.value {
            return Ok(config);
        }
        config.with(&format!("{}={}", field.name, field.value))
    })
}

/// Fields that [`Sensitivity::of`] varies: assumed or calibrated numbers above 0 and switches that runs of `methods` read.
pub fn varied_fields(config: &Config, methods: &[Method]) -> Vec<Field> {
    let is_varied = |field: &Field| {
        !matches!(field.source, Source::Published(_))
            && config.is_read(field, methods)
            && match field.value.parse::<f64>() {
                Ok(value) => value > 0.0,
                Err(_) => rate(field).is_some() || other_value(field).is_some(),
            }
    };
    config.fields().into_iter().filter(is_varied).collect()
}

fn rate(field: &Field) -> Option<[u64; 2]> {
    let (items, cycles) = field.value.trim_matches('"').split_once('/')?;
    Some([items.parse().ok()?, cycles.parse().ok()?])
}

fn other_value(field: &Field) -> Option<String> {
    if let Ok(on) = field.value.parse::<bool>() {
        return Some((!on).to_string());
    }
    let [one, two] = field.names else { return None };
    let is_configured = field.value.trim_matches('"') == *one;
    Some(if is_configured { two } else { one }.to_string())
}

/// Other values of a field in rising order: the multiples of a number, or the other value of a switch.
fn changed_values(config: &Config, field: &Field) -> Vec<String> {
    if let Some(other) = other_value(field) {
        return vec![other];
    }
    let mut values: Vec<_> =
        FACTORS.into_iter().filter_map(|factor| scaled(config, field, factor)).collect();
    // A quarter and a half of a whole number can be the same.
    values.dedup();
    values
}

/// The value of a numeric field times the ratio of two numbers; whole unless the field accepts a rate. `None` for other
/// fields, and for values out of the field's bounds.
pub fn scaled(config: &Config, field: &Field, [times, over]: [u64; 2]) -> Option<String> {
    let is_valid = |value: &String| config.with(&format!("{}={value}", field.name)).is_ok();
    let value = match (rate(field), field.value.parse::<u64>(), field.value.parse::<f64>()) {
        (Some([items, cycles]), ..) => format!("{}/{}", items * times, cycles * over),
        (None, Ok(whole), _) => {
            // A quarter of 2 is 1/2, not 2/4.
            let common = if (whole * times).is_multiple_of(2) && over == 4 { 2 } else { 1 };
            let rate = format!("{}/{}", whole * times / common, over / common);
            let is_rate = whole * times % over != 0 && is_valid(&rate);
            if is_rate { rate } else { (whole * times / over).to_string() }
        }
        (None, Err(_), Ok(value)) => format!("{:?}", value * times as f64 / over as f64),
        (None, Err(_), Err(_)) => return None,
    };
    is_valid(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Switches, fields of two names, and rates and bandwidths that the paper does not state vary; published fields do not.
    /// Fields of the accelerator vary only if it is among the methods.
    #[test]
    fn all_that_no_publication_states_is_varied() {
        let config = Config::default();
        let methods = ["baseline", "qm", "het"].map(|name| Method::parse(name).unwrap());
        let changes: Vec<_> = (varied_fields(&config, &methods).iter())
            .map(|field| (field.name.clone(), changed_values(&config, field)))
            .collect();
        let of = |name: &str| changes.iter().find(|(field, _)| field == name);
        for (name, values) in [
            ("crop.fast_clear", "false"),
            ("tgc.evict", "least-recently-used"),
            ("coarse.tiles_per_cycle", "1/2 1 4 8"),
            ("tc.quads_in_per_cycle", "4 8 32"),
            ("crop.blend_cycles", "1 4 8"),
            ("zrop.update_cycles", "0 2 4"),
            ("crop.cache_ways", "16384 32768"),
            ("dram.gb_per_s", "25.6 51.2 204.8 409.6"),
        ] {
            let found = of(name).map(|(_, values)| values.join(" "));
            assert_eq!(found.as_deref(), Some(values), "{name}");
        }
        assert!(of("tc.bins").is_none() && of("tc.evict").is_none());
        assert!(changes.iter().all(|(name, _)| !name.starts_with("gscore.")));
        let with_gscore = varied_fields(&config, &[methods[0], Method::Gscore]);
        for name in ["cores", "units_per_core", "entry_bytes"] {
            let name = format!("gscore.{name}");
            assert!(with_gscore.iter().any(|field| field.name == name), "{name}");
        }
        assert!(with_gscore.iter().all(|field| field.name != "tgc.evict"));
    }
}
