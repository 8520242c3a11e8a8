//! The table of a sweep: the cycles and speedups of several configurations below each other.

use std::collections::BTreeMap;

use super::checks::unique;
use super::row::Row;
use crate::report::table::{TextTable, or_dash};
use quadrille_machine::spec::shown_size;

/// Identification of rows that are averaged together: the name, preset and changes of their configuration, and the width
/// of their pictures if a view occurs at several sizes.
pub type ConfigurationKey<'a> =
    (&'a Option<String>, &'a String, &'a BTreeMap<String, String>, Option<u32>);

/// Groups rows by configuration, and by width if a view of a scene occurs at several sizes.
pub fn configurations<'a>(rows: &[&'a Row]) -> Vec<(ConfigurationKey<'a>, Vec<&'a Row>)> {
    let mut sizes = BTreeMap::new();
    let has_sizes = rows.iter().any(|Row { key, .. }| {
        let size = [key.view.width, key.view.height];
        *sizes.entry((&key.scene, key.seed, &key.view.name)).or_insert(size) != size
    });
    groups(rows, |Row { key, .. }| {
        let width = has_sizes.then_some(key.view.width);
        (&key.configuration, &key.preset, &key.changed, width)
    })
}

/// Groups rows by a key, in order of appearance.
pub fn groups<'a, K: PartialEq>(
    rows: &[&'a Row],
    key: impl Fn(&'a Row) -> K,
) -> Vec<(K, Vec<&'a Row>)> {
    let mut groups: Vec<(K, Vec<&Row>)> = Vec::new();
    for row in rows {
        let of_row = key(row);
        match groups.iter_mut().find(|(key, _)| *key == of_row) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((of_row, vec![row])),
        }
    }
    groups
}

/// Whether rows are of several configurations or sizes.
pub fn is_sweep(rows: &[Row]) -> bool {
    configurations(&rows.iter().collect::<Vec<_>>()).len() > 1
}

/// Column that distinguishes configurations: heading, and cell per configuration.
struct Label {
    heading: String,
    of: Box<dyn Fn(&ConfigurationKey<'_>) -> String>,
}

fn labels(configurations: &[ConfigurationKey<'_>]) -> Vec<Label> {
    let name = Label {
        heading: "<configuration".to_owned(),
        of: Box::new(|(name, ..)| name.as_ref().map_or("-".to_owned(), Clone::clone)),
    };
    let preset =
        Label { heading: "<preset".to_owned(), of: Box::new(|(_, preset, ..)| (*preset).clone()) };
    let width = Label {
        heading: "width".to_owned(),
        of: Box::new(|(.., width)| or_dash(*width, |width| width.to_string())),
    };
    let mut fields: Vec<&String> = configurations.iter().flat_map(|c| c.2.keys()).collect();
    fields.sort();
    fields.dedup();
    let fields = fields.into_iter().map(|field| {
        let name = field.clone();
        Label {
            heading: field.clone(),
            of: Box::new(move |(_, preset, changed, _)| {
                let value = match changed.get(&name) {
                    Some(value) => value.trim_matches('"').to_owned(),
                    None => super::csv::preset_value(preset, &name).unwrap_or_default(),
                };
                shown_size(&name, &value).unwrap_or(value)
            }),
        }
    });
    let all = [name, preset, width].into_iter().chain(fields);
    let differs = |label: &Label| {
        let cells: Vec<_> = configurations.iter().map(|c| (label.of)(c)).collect();
        cells.iter().any(|cell| *cell != cells[0])
    };
    all.filter(differs).collect()
}

/// Mean cycles and mean speedup of each method, over the means of the scenes; no speedup of the baseline. Views without
/// splats count in neither.
fn numbers(rows: &[&Row], methods: &[&str]) -> Vec<Option<f64>> {
    let mean = |values: Vec<f64>| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let scenes = groups(rows, |row| row.key.scene.as_str());
    let over_scenes = |of: &dyn Fn(&Row) -> Option<f64>| {
        let of_scene =
            |(_, rows): &(&str, Vec<&Row>)| mean(rows.iter().filter_map(|row| of(row)).collect());
        mean(scenes.iter().filter_map(of_scene).collect())
    };
    let columns = methods.iter().flat_map(|name| {
        let cycles = over_scenes(&|row| Some(row.shown()?.method(name)?.cycles as f64));
        let is_compared = *name != "baseline";
        let speedup =
            is_compared.then(|| over_scenes(&|row| row.shown()?.ratios.get(*name)?.speedup));
        [Some(cycles), speedup].into_iter().flatten()
    });
    columns.collect()
}

/// Formats the mean cycles and speedups of every scene in every configuration. Two configurations are
/// followed by the first's numbers divided by the second's. `heading` stands above the names of scenes.
pub fn table(rows: &[Row], heading: &str) -> String {
    let rows: Vec<&Row> = rows.iter().collect();
    let configured = configurations(&rows);
    let keys: Vec<_> = configured.iter().map(|(key, _)| *key).collect();
    let labels = labels(&keys);
    let methods = rows.iter().flat_map(|row| &row.methods).map(|method| method.name.as_str());
    let methods = unique(methods);
    let mut headings = vec![format!("<{heading}")];
    headings.extend(labels.iter().map(|label| label.heading.clone()));
    headings.push("views".to_owned());
    for name in &methods {
        headings.push(format!("cycles\n{name}"));
        if *name != "baseline" {
            headings.push(format!("speedup\n{name}"));
        }
    }
    let headings: Vec<_> = headings.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&headings);
    let is_speedup: Vec<bool> =
        headings[labels.len() + 2..].iter().map(|heading| heading.starts_with("speedup")).collect();
    let scenes = groups(&rows, |row| row.key.scene.as_str());
    let together = (scenes.len() > 1).then_some(None);
    for scene in scenes.iter().map(|(scene, _)| Some(*scene)).chain(together) {
        let of_scene = configured.iter().map(|(key, rows)| {
            let rows = rows.iter().copied();
            let rows = rows.filter(|row| scene.is_none_or(|scene| row.key.scene == scene));
            (key, rows.collect::<Vec<_>>())
        });
        let mut seen: Vec<Vec<Option<f64>>> = Vec::new();
        for (key, rows) in of_scene.filter(|(_, rows)| !rows.is_empty()) {
            let numbers = numbers(&rows, &methods);
            let name = scene.unwrap_or("all scenes");
            let mut cells = vec![if seen.is_empty() { name } else { "" }.to_owned()];
            cells.extend(labels.iter().map(|label| (label.of)(key)));
            cells.push(rows.len().to_string());
            cells.extend(numbers.iter().zip(&is_speedup).map(|(number, is_speedup)| {
                let decimals = if *is_speedup { 3 } else { 0 };
                or_dash(*number, |number| format!("{number:.decimals$}"))
            }));
            table.row(cells);
            seen.push(numbers);
        }
        if let [first, second] = seen.as_slice() {
            let mut cells = vec!["first / second".to_owned()];
            cells.resize(labels.len() + 2, String::new());
            cells.extend(first.iter().zip(second).map(|(first, second)| {
                let ratio = first.zip(*second).filter(|(_, second)| *second > 0.0);
                or_dash(ratio, |(first, second)| format!("{:.3}", first / second))
            }));
            table.row(cells);
        }
    }
    let blank = rows.iter().filter(|row| row.shown().is_none()).count();
    let left_out = match blank {
        0 => String::new(),
        count => format!("Rows of views that show no splat, which are in no mean: {count}.\n"),
    };
    let without_effect = match fields_without_effect(&rows).as_slice() {
        [] => String::new(),
        fields => format!(
            "All cycles are the same at all values of {}: another field limits the draws. `sim --relief` finds it.\n",
            fields.join(" and of ")
        ),
    };
    format!(
        "{table}Arithmetic means over the views of a scene, and over the scenes; speedups are over the baseline.\n\
         {without_effect}{}{left_out}",
        remark_on_clocks(&rows)
    )
}

/// Remark that cycles of different lengths are not compared as times; empty if all rows have one clock.
fn remark_on_clocks(rows: &[&Row]) -> String {
    const CLOCK: &str = "gpu.clock_mhz";
    let clock = |row: &&Row| {
        let changed = row.key.changed.get(CLOCK).cloned();
        changed.or_else(|| super::csv::preset_value(&row.key.preset, CLOCK)).unwrap_or_default()
    };
    let clocks = unique(rows.iter().map(clock));
    if clocks.len() < 2 {
        return String::new();
    }
    format!(
        "The clocks differ ({} MHz): the column frame_ms of `--csv` has times to compare in place of cycles.\n",
        clocks.join(", ")
    )
}

/// Fields of the configuration with several values, none of which changes a cycle of any method.
fn fields_without_effect(rows: &[&Row]) -> Vec<String> {
    let mut fields: Vec<&String> = rows.iter().flat_map(|row| row.key.changed.keys()).collect();
    fields.sort();
    fields.dedup();
    let is_without = |field: &&String| {
        let mut varies = false;
        let without = |row: &Row| {
            let mut key = row.key.clone();
            key.changed.remove(*field);
            // The name of a configuration may be all that two values differ by.
            (key.scene, key.seed, key.view, key.preset, key.changed)
        };
        let is_same = groups(rows, without).iter().all(|(_, rows)| {
            let cycles = |row: &Row| -> Vec<_> {
                row.methods.iter().map(|method| (method.name.clone(), method.cycles)).collect()
            };
            let value = |row: &Row| row.key.changed.get(*field).cloned();
            varies |= rows.iter().any(|row| value(row) != value(rows[0]));
            rows.iter().all(|row| cycles(row) == cycles(rows[0]))
        });
        varies && is_same
    };
    fields.into_iter().filter(is_without).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn sizes_have_their_unit() {
        let mut rows = ["0", "1"].map(|view| row("a", view, [600, 300, 200]));
        let changed = &mut rows[1].key.changed;
        changed.insert("crop.cache_bytes".to_owned(), "8192".to_owned());
        changed.insert("l2.bytes".to_owned(), "3145728".to_owned());
        let text = table(&rows, "scene");
        assert!(text.contains("8 KiB") && text.contains("3 MiB"), "{text}");
        assert!(!text.contains("8192"), "{text}");
    }

    #[test]
    fn fields_that_change_no_cycle_are_named() {
        let numbers = [[600, 300, 200], [600, 300, 200], [600, 300, 150], [600, 300, 150]];
        let mut rows = numbers.map(|cycles| row("a", "0", cycles));
        for (row, [quads, bytes]) in rows.iter_mut().zip([[1, 64], [8, 64], [1, 128], [8, 128]]) {
            row.key.changed.insert("crop.quads_per_cycle".to_owned(), quads.to_string());
            row.key.changed.insert("crop.bytes_per_cycle".to_owned(), bytes.to_string());
        }
        let text = table(&rows, "scene");
        assert!(text.contains("at all values of crop.quads_per_cycle: another field"), "{text}");
        assert!(!text.contains("The clocks differ"), "{text}");
        for (row, clock) in rows.iter_mut().zip(["612.0", "612.0", "1224.0", "612.0"]) {
            row.key.changed.insert("gpu.clock_mhz".to_owned(), clock.to_owned());
        }
        let clocked = table(&rows, "scene");
        assert!(clocked.contains("The clocks differ (612.0, 1224.0 MHz)"), "{clocked}");
        for row in &mut rows {
            row.key.changed.remove("gpu.clock_mhz");
        }
        // One value of a field says nothing about it.
        let text = table(&rows[..1], "scene");
        assert!(!text.contains("at all values"), "{text}");
        rows[3].methods[0].cycles += 1;
        let text = table(&rows, "scene");
        assert!(!text.contains("at all values"), "{text}");
    }

    #[test]
    fn views_without_splats_are_in_no_mean() {
        let mut rows = ["0", "1"].map(|view| row("a", view, [600, 300, 200])).to_vec();
        let mut blank = row("a", "away", [0; 3]);
        blank.splats = 0;
        rows.push(blank);
        let mut second = rows.clone();
        second.iter_mut().for_each(|row| row.key.preset = "orin".to_owned());
        rows.extend(second);
        let text = table(&rows, "scene");
        let line: Vec<_> = text.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(line, ["a", "vr-pipe", "3", "600", "300", "2.000", "200", "3.000"], "{text}");
        assert!(text.ends_with("no splat, which are in no mean: 2.\n"), "{text}");
    }

    #[test]
    fn two_configurations_stand_below_each_other_with_their_ratio() {
        let mut rows = vec![
            row("a", "0", [600, 300, 200]),
            row("a", "1", [200, 100, 100]),
            row("a", "0", [300, 300, 100]),
            row("a", "1", [100, 100, 100]),
        ];
        for row in &mut rows[2..] {
            row.key.changed.insert("tc.bins".to_owned(), "8".to_owned());
            row.key.changed.insert("crop.format".to_owned(), "\"rgba8\"".to_owned());
        }
        assert!(is_sweep(&rows) && !is_sweep(&rows[..2]));
        let text = table(&rows, "scene");
        let cells =
            |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        let lines: Vec<_> = text.lines().map(cells).collect();
        assert_eq!(lines[0][..4], ["scene", "crop.format", "tc.bins", "views"]);
        assert_eq!(lines[2], ["a", "rgba16f", "32", "2", "400", "200", "2.000", "150", "2.500"]);
        assert_eq!(lines[3], ["rgba8", "8", "2", "200", "200", "1.000", "100", "2.000"]);
        assert_eq!(lines[4], ["first", "/", "second", "2.000", "1.000", "2.000", "1.500", "1.250"]);
    }
}
