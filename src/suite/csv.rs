//! Rows as comma-separated values (RFC 4180): one line per row and method, one column per number.

use std::collections::{BTreeSet, HashMap};
use std::iter::repeat;

use serde_json::Value;

use super::row::Row;
use super::rows::MethodRow;
use super::run_row::MeshRunRow;
use quadrille_gpu::config::Config;

/// Key that the documents of all commands have, and rows of results have not.
const DOCUMENT_MARK: &str = "quadrille";

/// A table that gains a column the first time a cell names it.
#[derive(Debug, Default)]
pub struct Columns {
    /// Names of the columns.
    pub names: Vec<String>,
    index: HashMap<String, usize>,
    /// Cells of each line; a line may be shorter than the table is wide.
    pub lines: Vec<Vec<String>>,
}

impl Columns {
    fn set(&mut self, name: &str, cell: String) {
        if !self.index.contains_key(name) {
            self.index.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
        }
        let column = self.index[name];
        if let Some(line) = self.lines.last_mut() {
            if line.len() <= column {
                line.resize(column + 1, String::new());
            }
            line[column] = cell;
        }
    }

    /// Sets the cells of a value. Objects get a column per key and arrays one per index from 0, with names joined by dots.
    fn set_value(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let key = reason_alone(name, key);
                    self.set_value(&format!("{name}.{key}"), value);
                }
            }
            Value::Array(counts) if counts.iter().all(Value::is_number) => {
                for (number, count) in counts.iter().enumerate() {
                    self.set_value(&format!("{name}.{number}"), count);
                }
            }
            Value::Null => self.set(name, String::new()),
            Value::String(text) => self.set(name, text.clone()),
            other => self.set(name, other.to_string()),
        }
    }

    /// Formats the table as comma-separated values with a header line.
    pub fn text(&self) -> String {
        let lines = [&self.names].into_iter().chain(&self.lines);
        let empty = String::new();
        lines.map(|cells| line(cells.iter().chain(repeat(&empty)).take(self.names.len()))).collect()
    }
}

/// Reduces an idle reason to its first word, so that all methods have the same columns: `starved` for
/// `starved by cores`, `full` for `full vertex_buffer`.
fn reason_alone<'a>(name: &str, key: &'a str) -> &'a str {
    if !name.ends_with(".idle") {
        return key;
    }
    key.split_once(' ').map_or(key, |(reason, _)| reason)
}

/// First characters with which spreadsheets begin a formula, and the mark before a text that begins with one of them.
const FORMULA: [char; 7] = ['=', '+', '-', '@', '\t', '\r', TEXT_MARK];
const TEXT_MARK: char = '\'';

/// Formats one line with its line feed; cells are quoted where RFC 4180 requires it. A text that a spreadsheet would run as
/// a formula, such as a scene named `=1+1`, begins with an apostrophe, which [`unmarked`] removes.
pub fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted = cells.into_iter().map(|cell| {
        let cell = cell.as_ref();
        let is_formula =
            cell.len() > 1 && cell.starts_with(FORMULA) && cell.parse::<f64>().is_err();
        let mark = if is_formula { TEXT_MARK.to_string() } else { String::new() };
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{mark}{}\"", cell.replace('"', "\"\""))
        } else {
            mark + cell
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

/// A cell that was read, without the apostrophe that [`line()`] has put before it.
pub fn unmarked(cell: &str) -> &str {
    match cell.strip_prefix(TEXT_MARK) {
        Some(text) if text.len() > 1 && text.starts_with(FORMULA) => text,
        _ => cell,
    }
}

/// Formats rows of splats and of meshes as CSV, with a heading. Nested keys are joined by dots as in
/// `units.crop.utilisation`; fields of the configuration in which a row differs from its preset have a
/// column such as `tc.bins`, filled in every line; cells without a value are empty.
pub fn text(views: &[Row], meshes: &[MeshRunRow]) -> String {
    columns(views, meshes).text()
}

/// Collects the header and cells of [`text`] without formatting them.
pub fn columns(views: &[Row], meshes: &[MeshRunRow]) -> Columns {
    let fields: BTreeSet<&String> = views.iter().flat_map(|row| row.key.changed.keys()).collect();
    let mut preset_values: HashMap<(&str, &str), String> = HashMap::new();
    let mut columns = Columns::default();
    for row in views {
        for method in &row.methods {
            columns.lines.push(Vec::new());
            key_cells(row, &mut columns);
            for field in &fields {
                let preset = row.key.preset.as_str();
                let cell = match row.key.changed.get(*field) {
                    Some(value) => value.trim_matches('"').to_owned(),
                    None => preset_values
                        .entry((preset, field.as_str()))
                        .or_insert_with(|| preset_value(preset, field).unwrap_or_default())
                        .clone(),
                };
                columns.set(field, cell);
            }
            method_cells(row, method, &mut columns);
        }
    }
    for run in meshes {
        mesh_cells(run, &mut columns);
    }
    columns
}

/// Collects the cells of an array of objects, such as the rows of `mesh --json`: a line per object.
pub fn columns_of(rows: &Value) -> Columns {
    let mut columns = Columns::default();
    for row in rows.as_array().into_iter().flatten() {
        columns.lines.push(Vec::new());
        for (key, value) in row.as_object().into_iter().flatten() {
            columns.set_value(key, value);
        }
    }
    columns
}

/// [`columns_of`] the rows of a JSON document that a command has printed; `None` for other text. A document without rows gives
/// no columns.
pub fn columns_of_document(content: &[u8]) -> Option<Columns> {
    let document: Value = serde_json::from_slice(content).ok()?;
    document.get(DOCUMENT_MARK)?;
    Some(columns_of(&document["rows"]))
}

fn mesh_cells(run: &MeshRunRow, columns: &mut Columns) {
    let key = serde_json::to_value(&run.key).unwrap_or_default();
    let rows = serde_json::to_value(&run.rows).unwrap_or_default();
    for row in rows["rows"].as_array().into_iter().flatten() {
        columns.lines.push(Vec::new());
        for name in ["study", "mesh", "variant"] {
            columns.set_value(name, &key[name]);
        }
        for (axis, point) in &run.key.settings {
            columns.set(axis, point.clone());
        }
        columns.set("commit", run.commit.clone());
        columns.set("fingerprint", run.fingerprint.clone());
        // Call the row's "mesh", a path, "path": the column "mesh" holds the name of the key.
        for (key, value) in row.as_object().into_iter().flatten() {
            let key = if key == "mesh" { "path" } else { key };
            columns.set_value(key, value);
        }
    }
}

fn key_cells(row: &Row, columns: &mut Columns) {
    let key = &row.key;
    for (name, cell) in [
        ("scene", key.scene.clone()),
        ("seed", key.seed.map_or(String::new(), |seed| seed.to_string())),
        ("view", key.view.name.clone()),
        ("width", key.view.width.to_string()),
        ("height", key.view.height.to_string()),
        ("configuration", key.configuration.clone().unwrap_or_default()),
        ("preset", key.preset.clone()),
    ] {
        columns.set(name, cell);
    }
    if let Some(frame) = key.frame {
        columns.set("frame", frame.to_string());
    }
}

fn method_cells(row: &Row, method: &MethodRow, columns: &mut Columns) {
    let ratios = row.ratios.get(&method.name);
    let number = |n: Option<f64>| n.map_or(String::new(), |n| n.to_string());
    for (name, cell) in [
        ("profile", row.profile.clone()),
        ("commit", row.commit.clone()),
        ("fingerprint", row.fingerprint.clone()),
        ("splats", row.splats.to_string()),
        ("method", method.name.clone()),
        ("cycles", method.cycles.to_string()),
        ("frame_ms", method.frame_ms.to_string()),
        ("host_s", method.host_s.to_string()),
        ("speedup", number(ratios.and_then(|r| r.speedup))),
        ("fragments_ratio", number(ratios.and_then(|r| r.fragments))),
        ("quads_ratio", number(ratios.and_then(|r| r.quads))),
        ("overdraw", number(row.overdraw)),
    ] {
        columns.set(name, cell);
    }
    if let Some(draw) = &row.mesh_draw {
        let sums = draw.with_splats(method.cycles, method.frame_ms);
        let sums = serde_json::to_value(sums).unwrap_or_default();
        for (key, value) in sums.as_object().into_iter().flatten() {
            columns.set_value(key, value);
        }
        columns.set("mesh_draw.cycles", draw.cycles.to_string());
        for (number, mesh) in draw.meshes.iter().enumerate() {
            let mesh = serde_json::to_value(mesh).unwrap_or_default();
            columns.set_value(&format!("mesh_draw.{number}"), &mesh);
        }
    }
    let counts = serde_json::to_value(&method.counts).unwrap_or_default();
    let details = serde_json::to_value(&method.details).unwrap_or_default();
    for (key, value) in [counts, details].iter().filter_map(Value::as_object).flatten() {
        columns.set_value(key, value);
    }
}

/// Value of a field in a preset; `None` if the preset or the field does not exist.
pub(super) fn preset_value(preset: &str, field: &str) -> Option<String> {
    let found = Config::preset(preset).ok()?.fields().into_iter().find(|f| f.name == field)?;
    Some(found.value.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;
    use quadrille_gpu::frame::FrameTimes;

    #[test]
    fn texts_that_spreadsheets_would_run_are_marked_and_read_back() {
        for text in ["=1+1", "+a", "-b", "@SUM(A1)", "\tx", "\rx", "'=1", "''a", "=\"a\",1"] {
            let written = line([text]);
            let inner = written.trim_end_matches('\n').trim_matches('"').replace("\"\"", "\"");
            assert!(inner.starts_with('\''), "{text} {written}");
            assert_eq!(unmarked(&inner), text);
        }
        for text in ["-1.5", "+2e9", "-", "", "a=b", "-inf", "1'2", "'"] {
            assert_eq!(line([text]), format!("{text}\n"));
            assert_eq!(unmarked(text), text);
        }
    }

    #[test]
    fn lines_are_rows_and_methods_and_cells_are_quoted() {
        let mut rows = [row("a, \"b\"", "0", [600, 300, 200]), row("c", "0", [600, 300, 200])];
        let bins = ("tc.bins".to_owned(), "8".to_owned());
        rows[0].key.changed.extend([bins]);
        rows[1].key.seed = Some(7);
        rows[1].methods[2].details.frame = Some(FrameTimes::new([612, 0, 0], 612.0));
        let text = text(&rows, &[]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 6);
        assert!(
            lines[0].starts_with("scene,seed,view,width,height,configuration,preset,tc.bins,"),
            "{text}"
        );
        assert!(lines[1].starts_with("\"a, \"\"b\"\"\",,0,8,8,,vr-pipe,8,inria,"));
        assert!(lines[6].starts_with("c,7,0,8,8,,vr-pipe,32,inria,"), "{text}");
        let column = |name: &str| lines[0].split(',').position(|n| n == name).unwrap();
        let cell = |line: usize, name: &str| lines[line].split(',').nth(column(name)).unwrap();
        assert_eq!(cell(5, "method"), "het");
        assert_eq!(cell(5, "speedup"), "2");
        assert_eq!(cell(5, "fragments.blended"), "600");
        assert_eq!(cell(5, "units.crop.idle.starved"), "3");
        assert_eq!((cell(5, "frame.preprocess_ms"), cell(6, "frame.preprocess_ms")), ("", "0.001"));
        let width = |line: &&str| line.split(',').count();
        assert!(lines[4..].iter().all(|line| width(line) == width(&lines[0])));
    }
}
