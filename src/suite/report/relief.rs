//! The table and the document of `sim --relief`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::table::{TextTable, or_dash};
use quadrille_gpu::relief::{MethodRelief, PartKind, PartRelief};

/// Least gain for which a part has a line, as a share of the cycles.
const LEAST_GAIN: f64 = 0.005;

/// Formats the ports that limit each method, the gain of relieving these ports, and the gain of each part that gains at
/// least 0.5 % in one of the methods, the largest first.
pub fn table(view: &str, methods: &[MethodRelief]) -> String {
    let names: Vec<_> = methods.iter().map(|relief| relief.method.to_string()).collect();
    let headings = ["<part", "<kind", "<changed"].into_iter();
    let headings: Vec<_> = headings.chain(names.iter().map(String::as_str)).collect();
    let mut table = TextTable::new(&headings);
    let limits = methods.iter().map(|relief| {
        let named = relief.limiting.as_deref();
        match relief.of_limit() {
            Some(part) if named.is_none() => format!("none, {} {}", part.name, percent(part)),
            Some(part) => format!("{} {}", part.name, percent(part)),
            None => named.unwrap_or("none").to_owned(),
        }
    });
    let first = ["limited by", "", ""].map(str::to_owned).into_iter();
    table.row(first.chain(limits));
    let mut parts: BTreeMap<(PartKind, &str), Vec<Option<&PartRelief>>> = BTreeMap::new();
    for (at, relief) in methods.iter().enumerate() {
        for part in relief.parts.iter().filter(|part| part.kind != PartKind::Limit) {
            let of_methods = parts.entry((part.kind, &part.name));
            of_methods.or_insert_with(|| vec![None; methods.len()])[at] = Some(part);
        }
    }
    let largest = |of: &[Option<&PartRelief>]| {
        of.iter().flatten().map(|part| part.gain).fold(f64::NEG_INFINITY, f64::max)
    };
    let mut shown: Vec<_> =
        parts.iter().filter(|(_, of_methods)| largest(of_methods) >= LEAST_GAIN).collect();
    shown.sort_by(|a, b| largest(b.1).total_cmp(&largest(a.1)));
    for ((kind, name), of_methods) in &shown {
        let changes = of_methods.iter().flatten().max_by_key(|part| part.changes.len());
        let changes = changes.map_or(String::new(), |part| changed(part));
        let gains = of_methods.iter().map(|part| or_dash(*part, percent));
        table.row([(*name).to_owned(), kind.name().to_owned(), changes].into_iter().chain(gains));
    }
    format!(
        "{view}: cycles saved by twice the rates of a unit, twice a storage, or half a latency\n{table}{} more parts save less \
         than 0.5 %\n",
        parts.len() - shown.len()
    )
}

fn percent(part: &PartRelief) -> String {
    format!("{:.1}%", part.gain * 100.0)
}

/// The changed fields without the name of the unit.
fn changed(part: &PartRelief) -> String {
    match part.kind {
        PartKind::Group => String::new(),
        _ => {
            let fields = part.changes.iter().map(|(field, value)| format!("{field}={value}"));
            fields.collect::<Vec<_>>().join(" ")
        }
    }
}

/// All parts with the cycles of all methods.
pub fn document(view: &str, methods: &[MethodRelief]) -> Value {
    let of_method = methods.iter().map(|relief| {
        let parts = relief.parts.iter().map(|part| {
            json!({
                "part": part.name,
                "kind": part.kind,
                "changes": part.changes.iter().cloned().collect::<BTreeMap<_, _>>(),
                "cycles": part.cycles,
                "gain": part.gain,
            })
        });
        json!({
            "name": relief.method.to_string(),
            "cycles": relief.cycles,
            "limiting_unit": relief.limiting,
            "relief": parts.collect::<Vec<_>>(),
        })
    });
    json!({ "view": view, "methods": of_method.collect::<Vec<_>>() })
}
