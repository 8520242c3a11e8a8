//! Fields of a configuration that move emulated rates.

use rayon::prelude::*;

use super::measured::Measurement;
use quadrille_base::{Result, Task};
use quadrille_gpu::config::Config;
use quadrille_gpu::method::Method;
use quadrille_gpu::sensitivity::{scaled, varied_fields};
use quadrille_gpu::variant::Variant;
use quadrille_gpu::warp::shader_blend::ShaderOrder;

/// Least relative change of a rate that counts as an effect.
const LEAST_EFFECT: f64 = 0.03;
/// Number of fields that are named for a rate.
const MOST_FIELDS: usize = 3;

/// Relative change of a rate with a changed field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldEffect {
    /// Field with its changed value, in the form that [`Config::with`] takes.
    pub change: String,
    /// Rate with the change, relative to the unchanged one, less 1.
    pub effect: f64,
}

/// Finds the fields without a published source that move each of `items` the most, by doubling each field (or halving,
/// where its bounds exclude twice the value). Rates of draws move relative to `reference`, if it is given.
///
/// # Errors
/// [`Error::Cancelled`](quadrille_base::Error::Cancelled) if `task` is cancelled.
pub fn moving_fields(
    items: &[&Measurement],
    reference: Option<&Measurement>,
    config: &Config,
    task: &Task,
) -> Result<Vec<Vec<FieldEffect>>> {
    let methods = [
        Method::Pipeline(Variant::BASELINE),
        Method::InShader(ShaderOrder::Unordered),
        Method::InShader(ShaderOrder::Interlocked),
    ];
    let rates = |config: &Config| -> Vec<Option<f64>> {
        let reference = reference.and_then(|one| one.modelled_rate(config));
        let rate = |one: &&Measurement| {
            let over = reference.filter(|_| one.quantity.is_of_draws()).unwrap_or(1.0);
            Some(one.modelled_rate(config)? / over)
        };
        items.par_iter().map(rate).collect()
    };
    let unchanged = rates(config);
    let fields = if items.is_empty() { Vec::new() } else { varied_fields(config, &methods) };
    let steps = task.steps(fields.len() as u64);
    let changed = fields.into_par_iter().map(|field| {
        let values = [[2, 1], [1, 2]].into_iter();
        let value = values.filter_map(|ratio| scaled(config, &field, ratio)).next();
        let change = format!("{}={}", field.name, value.unwrap_or_default());
        let rates = config.with(&change).ok().map(|config| rates(&config));
        steps.advance(1)?;
        Ok(rates.map(|rates| (change, rates)))
    });
    let changed: Vec<_> = changed.collect::<Result<_>>()?;
    let effects = unchanged.into_iter().enumerate().map(|(at, before)| {
        let effects = changed.iter().flatten().filter_map(|(change, rates)| {
            let effect = rates[at]? / before? - 1.0;
            let change = change.clone();
            (effect.abs() >= LEAST_EFFECT).then_some(FieldEffect { change, effect })
        });
        let mut effects: Vec<_> = effects.collect();
        effects.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
        effects.truncate(MOST_FIELDS);
        effects
    });
    Ok(effects.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A latency moves with its own field alone, and blends that wait for each other through the L2 move against it.
    #[test]
    fn a_rate_names_the_fields_that_move_it() {
        let text = "item,scene,view,width,height,value,unit\nl2-latency,,,,,1,ns\n\
                    interlock-stacked-32,,,,,1,Gpixel/s\n";
        let all = Measurement::read_all(text, Path::new("gpu.csv")).unwrap();
        let items: Vec<_> = all.iter().collect();
        let found = moving_fields(&items, None, &Config::default(), &Task::NEVER).unwrap();
        let [latency] = &found[0][..] else { panic!("{found:?}") };
        assert!(
            latency.change.starts_with("l2.latency_ns=") && (latency.effect - 1.0).abs() < 1e-9
        );
        let most = &found[1][0];
        assert!(most.change.starts_with("l2.latency_ns=") && most.effect < -0.4, "{found:?}");
    }
}
