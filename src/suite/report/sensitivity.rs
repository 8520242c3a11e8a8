//! The table and the document of `sim --sensitivity`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::table::TextTable;
use quadrille_gpu::method::Method;
use quadrille_gpu::sensitivity::{FieldSensitivity, Sensitivity};

use quadrille_machine::Source;

/// Least relative change of a speedup for which a field gets a row.
const LEAST_SWING: f64 = 0.005;

/// Formats the fields of which a changed value changes a speedup by at least 0.5 %, the most influential first.
pub fn table(view: &str, methods: &[Method], sensitivity: &Sensitivity) -> String {
    // A single method has cycles instead of speedups.
    let is_single = methods.len() == 1;
    let compared: Vec<_> = (0..methods.len()).skip(usize::from(!is_single)).collect();
    let shown_number = |number: f64| match is_single {
        true => format!("{number:.0}"),
        false => format!("{number:.3}"),
    };
    let names: Vec<_> = compared.iter().map(|&v| methods[v].to_string()).collect();
    let headings = ["<field", "<source", "value", "changed"].into_iter();
    let headings: Vec<_> = headings.chain(names.iter().map(String::as_str)).collect();
    let mut table = TextTable::new(&headings);
    let examples = sensitivity.examples.iter();
    let examples =
        examples.map(|(preset, speedups)| (format!("(values of preset {preset})"), speedups));
    let configured = ("(as configured)".to_owned(), &sensitivity.speedups);
    for (name, speedups) in std::iter::once(configured).chain(examples) {
        let speedups = compared.iter().map(|&v| shown_number(speedups[v]));
        table.row([name].into_iter().chain(vec![String::new(); 3]).chain(speedups));
    }
    let swings = |field: &&FieldSensitivity| field.swing(&sensitivity.speedups) >= LEAST_SWING;
    let shown: Vec<_> = sensitivity.fields.iter().filter(swings).collect();
    for field in &shown {
        let values = field.changes.iter().map(|change| change.value.as_str());
        let described = [
            field.field.name.clone(),
            kind(field).to_owned(),
            field.field.value.clone(),
            values.collect::<Vec<_>>().join(", "),
        ];
        let speedups = compared.iter().map(|&v| {
            let speedups = field.speedups(v).map(shown_number);
            speedups.collect::<Vec<_>>().join(", ")
        });
        table.row(described.into_iter().chain(speedups));
    }
    let left = sensitivity.fields.len() - shown.len();
    let numbers = match is_single {
        true => format!("cycles of {}", methods[0]),
        false => format!("speedups over {}", methods[0]),
    };
    let number = if is_single { "cycles" } else { "speedup" };
    format!(
        "{view}: {numbers}, at a quarter, half, twice and four times a number, and at the other value of a switch\n{table}\
         {left} more fields change no {number} by 0.5 %\n"
    )
}

fn kind(field: &FieldSensitivity) -> &'static str {
    match field.field.source {
        Source::Published(_) => "published",
        Source::Assumed(_) => "assumed",
        Source::Calibrated(_) => "calibrated",
    }
}

/// All fields with the cycles of all methods.
pub fn document(view: &str, methods: &[Method], sensitivity: &Sensitivity) -> Value {
    let fields = sensitivity.fields.iter().map(|field| {
        let changes = field.changes.iter().map(|c| json!({ "value": c.value, "cycles": c.cycles }));
        json!({
            "field": field.field.name,
            "source": kind(field),
            "value": field.field.value,
            "swing": field.swing(&sensitivity.speedups),
            "changes": changes.collect::<Vec<_>>(),
        })
    });
    json!({
        "view": view,
        "methods": methods.iter().map(ToString::to_string).collect::<Vec<_>>(),
        (if methods.len() == 1 { "cycles" } else { "speedups" }): sensitivity.speedups,
        "presets": sensitivity.examples.iter().cloned().collect::<BTreeMap<_, _>>(),
        "fields": fields.collect::<Vec<_>>(),
    })
}
