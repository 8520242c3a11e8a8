//! The fields of a results file: one line per row and method, one column per field, as `bench --csv` prints them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use quadrille_base::error::{Error, Result, shown};
use quadrille_base::image::files::read_planes;
use quadrille_base::words::edit_distance;
use quadrille_suite::report::table::TextTable;
use quadrille_suite::{RunRow, csv as rows_csv, newest, read_rows, read_rows_from, unique};

/// Path of standard input.
const STDIN: &str = "-";
/// Name of the field that distinguishes the lines of several files.
const FILE: &str = "file";
const NEAREST: usize = 3;
const EXAMPLES: usize = 3;
const AFTER_KEYS: [&str; 2] = ["profile", "commit"];
const METHODS_OF_MESHES: [&str; 2] = ["unit", "pipeline"];
const RESULTS: [&str; 4] = ["commit", "fingerprint", "limiting_unit", "critical_unit"];

/// Table of results: a column per field, and a line per row and method.
#[derive(Debug, Default)]
pub struct Fields {
    names: Vec<String>,
    lines: Vec<Vec<String>>,
    /// Rows of earlier versions of a scene, the machine or the program, which are left out.
    older: usize,
}

/// Fields with the position of a tile or a pixel in the picture; pictures begin at the top.
pub(crate) const PICTURE_AXES: [[&str; 2]; 2] = [["tile_x", "tile_y"], ["pixel_x", "pixel_y"]];
/// Most pixels of an array: a picture of 1920 x 1080.
const MAX_PIXELS: u64 = 1 << 21;

/// Largest magnitude of a number, so that sums and ratios stay finite.
const LARGEST: f64 = 1e150;

pub(crate) fn number(cell: &str) -> Option<f64> {
    let number = cell.parse().ok();
    number.filter(|number: &f64| number.abs() <= LARGEST)
}

impl Fields {
    /// Reads results files that `bench` has written, CSV (by the extension .csv), documents with rows that `mesh` and
    /// `deferred` print (.json), or arrays of pixels (.npy).
    /// With several files, a field `file` has their names without extension, or their whole paths if two files would share a name.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Argument`] for a file that is given twice, and [`Error::Malformed`] for a line that does
    /// not fit, which it names, or a file without rows.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let known: Vec<_> = paths.iter().map(|path| path.canonicalize().ok()).collect();
        let is_repeated = |at: &usize| known[*at].is_some() && known[..*at].contains(&known[*at]);
        if let Some(at) = (1..paths.len()).find(is_repeated) {
            let found = format!("{} twice", shown(&paths[at]));
            return Err(Error::argument("results", "each file once", found));
        }
        let stem =
            |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let have_names = unique(paths.iter().map(|path| stem(path))).len() == paths.len();
        let mut all = Self::default();
        for path in paths {
            let mut fields = Self::of_file(path)?;
            let expected = "rows of results, as `bench` writes them";
            Error::malformed_if(fields.lines.is_empty(), path, "content", expected, "none")?;
            if paths.len() > 1 {
                let name = if have_names { stem(path) } else { shown(path) };
                fields.prepend(FILE, &name);
            }
            all.append(fields);
        }
        Ok(all)
    }

    fn of_file(path: &Path) -> Result<Self> {
        if path == Path::new(STDIN) {
            return Self::of_stdin(path);
        }
        if path.extension().is_some_and(|extension| extension == "csv") {
            let file = File::open(path).map_err(|e| Error::read(path, e))?;
            return Self::parse_csv(file, path);
        }
        if path.extension().is_some_and(|extension| extension == "npy") {
            return Self::of_pixels(path);
        }
        if path.extension().is_some_and(|extension| extension == "json") {
            let content = std::fs::read(path).map_err(|e| Error::read(path, e))?;
            return Self::of_json(&content, path);
        }
        Ok(Self::of_rows(read_rows(path)?))
    }

    /// Reads lines of results or, if it has rows, a document that a command has printed.
    fn of_json(content: &[u8], path: &Path) -> Result<Self> {
        let Some(columns) = rows_csv::columns_of_document(content) else {
            return Ok(Self::of_rows(read_rows_from(content, path)?));
        };
        let expected = "the rows of `mesh --json` or `deferred --json` (`sim`, `bench` and `compare` have --csv)";
        Error::malformed_if(columns.lines.is_empty(), path, "document", expected, "no rows")?;
        Ok(Self { names: columns.names, lines: columns.lines, older: 0 })
    }

    /// Reads standard input: results files begin with a JSON object, all other text is CSV.
    fn of_stdin(path: &Path) -> Result<Self> {
        let mut content = Vec::new();
        std::io::stdin().read_to_end(&mut content).map_err(|e| Error::read(path, e))?;
        match content.first() {
            Some(b'{') => Self::of_json(&content, path),
            _ => Self::parse_csv(&content[..], path),
        }
    }

    /// Reads an array of counts or of a layer, as `--maps`, `--heat` and `--aov` write them: a line per pixel.
    fn of_pixels(path: &Path) -> Result<Self> {
        let planes = read_planes(path)?;
        let [width, height] = planes.first().map_or([0; 2], |plane| plane.size);
        let pixels = u64::from(width) * u64::from(height);
        Error::check_limit(format!("{}: pixels of an array", shown(path)), MAX_PIXELS, pixels)?;
        let position = PICTURE_AXES[1].map(str::to_owned);
        let values = planes.iter().map(|plane| match plane.name.as_str() {
            "" => "value".to_owned(),
            name => format!("value.{name}"),
        });
        let line = |at: usize| {
            let across = width as usize;
            let position = [at % across, at / across].map(|at| at.to_string());
            let values = planes.iter().map(|plane| plane.values[at].to_string());
            position.into_iter().chain(values).collect()
        };
        let count = planes.first().map_or(0, |plane| plane.values.len());
        Ok(Self {
            names: position.into_iter().chain(values).collect(),
            lines: (0..count).map(line).collect(),
            older: 0,
        })
    }

    fn of_rows(rows: Vec<RunRow>) -> Self {
        let (rows, older) = newest(rows);
        let (views, meshes) = RunRow::split(rows);
        let columns = rows_csv::columns(&views, &meshes);
        Self { names: columns.names, lines: columns.lines, older }
    }

    /// Reads comma-separated values with a heading, from a source that `path` names in errors.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the line that does not fit.
    pub fn parse_csv(source: impl Read, path: &Path) -> Result<Self> {
        let unread = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            Error::malformed(path, format!("line {line}"), "comma-separated values", error)
        };
        let mut reader = csv::Reader::from_reader(source);
        let cells = |record: &csv::StringRecord| {
            record.iter().map(|cell| rows_csv::unmarked(cell).to_owned()).collect()
        };
        let mut names: Vec<String> = cells(reader.headers().map_err(unread)?);
        // In rows of meshes, `variant` is the variant of the mesh; in rows of splats, an old name of the method.
        if !names.iter().any(|name| name == "study" || name == "method") {
            let old = names.iter_mut().filter(|name| *name == "variant");
            old.for_each(|name| *name = "method".to_owned());
        }
        if let Some(name) = names.iter().enumerate().find_map(|(at, name)| {
            let is_known = names[..at].contains(name);
            (is_known || name.is_empty()).then_some(name)
        }) {
            let expected = "a name of its own for each column";
            return Err(Error::malformed(path, "line 1", expected, format!("\"{name}\"")));
        }
        let lines = reader.records().map(|record| Ok(cells(&record?)));
        let lines: std::result::Result<_, csv::Error> = lines.collect();
        Ok(Self { names, lines: lines.map_err(unread)?, older: 0 })
    }

    fn prepend(&mut self, name: &str, value: &str) {
        self.names.insert(0, name.to_owned());
        for line in &mut self.lines {
            line.insert(0, value.to_owned());
        }
    }

    fn append(&mut self, other: Self) {
        self.older += other.older;
        let place = |name: String| {
            self.names.iter().position(|one| *one == name).unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            })
        };
        let places: Vec<usize> = other.names.into_iter().map(place).collect();
        for cells in other.lines {
            let mut line = Vec::new();
            for (cell, at) in cells.into_iter().zip(&places) {
                if line.len() <= *at {
                    line.resize(at + 1, String::new());
                }
                line[*at] = cell;
            }
            self.lines.push(line);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn cell(&self, line: usize, column: usize) -> &str {
        self.lines[line].get(column).map_or("", String::as_str)
    }

    pub(crate) fn name(&self, column: usize) -> &str {
        &self.names[column]
    }

    pub(crate) fn column(&self, name: &str) -> Result<usize> {
        let place = |name: &str| self.names.iter().position(|one| one == name);
        let renamed = || place(Self::renamed(name)?);
        // Rows of meshes name their method after its kind.
        let of_mesh =
            || (name == "method").then(|| METHODS_OF_MESHES.into_iter().find_map(place))?;
        place(name).or_else(renamed).or_else(of_mesh).ok_or_else(|| {
            let count = name.split(',').count();
            if count > 1 && name.split(',').all(|one| place(one.trim()).is_some()) {
                let expected = "one field; a plot of each has a call of its own";
                return Error::argument("field", expected, format!("{count} fields, {name}"));
            }
            let nearest = self.nearest(name).join(", ");
            let expected = format!(
                "a field of the results, such as {nearest} (--list-fields lists them; a field of the configuration is one if \
                 a row changes it)"
            );
            Error::argument("field", expected, name)
        })
    }

    /// The name of a field that earlier releases called `old`.
    fn renamed(old: &str) -> Option<&'static str> {
        (old == "variant").then_some("method")
    }

    /// Remarks on rows that are left out, and on names of earlier releases, with the names of today.
    pub(crate) fn remarks<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let older = (self.older > 0).then(|| {
            format!(
                "rows of earlier versions of a scene, the machine or the program that are left out: {}",
                self.older
            )
        });
        let is_old = |name: &&str| !self.names.iter().any(|one| one == name);
        let old = names.filter(is_old).filter_map(|old| Some((old, Self::renamed(old)?)));
        let old = old.map(|(old, new)| format!("the field {old} is called {new} now"));
        older.into_iter().chain(old).collect()
    }

    /// Names nearest to a word; names that contain it come first.
    fn nearest(&self, word: &str) -> Vec<&str> {
        let word = word.to_lowercase();
        let distance = |name: &&String| {
            let lower = name.to_lowercase();
            let last = lower.rsplit('.').next().unwrap_or_default();
            let is_part = !word.is_empty() && lower.contains(&word);
            let by_letters = edit_distance(&word, &lower).min(edit_distance(&word, last) + 1);
            (!is_part, by_letters, lower.len())
        };
        let mut names: Vec<&String> = self.names.iter().collect();
        names.sort_by_cached_key(distance);
        names.into_iter().take(NEAREST).map(String::as_str).collect()
    }

    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let cells = || (0..self.len()).map(|line| self.cell(line, column));
        let mut filled = cells().filter(|cell| !cell.is_empty()).peekable();
        filled.peek().is_some() && filled.all(|cell| number(cell).is_some())
    }

    /// Columns that identify a line: those before the counters, and settings that are names.
    pub(crate) fn keys(&self) -> Vec<usize> {
        let is_after = |name: &String| AFTER_KEYS.contains(&name.as_str());
        let first = self.names.iter().position(is_after).unwrap_or(0);
        let all = 0..self.names.len();
        let is_key = |at: &usize| {
            !RESULTS.contains(&self.names[*at].as_str()) && (*at < first || !self.is_numeric(*at))
        };
        all.filter(is_key).collect()
    }

    /// Lists all fields with the number of distinct values, and the least and largest value or the first names.
    pub fn list(&self) -> String {
        let mut table = TextTable::new(&["<field", "values", "<from", "<to"]);
        for (column, name) in self.names.iter().enumerate() {
            let mut values: Vec<&str> = Vec::new();
            let mut seen = std::collections::HashSet::new();
            for line in 0..self.len() {
                let cell = self.cell(line, column);
                if !cell.is_empty() && seen.insert(cell) {
                    values.push(cell);
                }
            }
            let count = values.len().to_string();
            if self.is_numeric(column) {
                let by_size = |a: &&&str, b: &&&str| {
                    let [a, b] = [a, b].map(|cell| number(cell).unwrap_or(0.0));
                    a.total_cmp(&b)
                };
                let ends = [values.iter().min_by(by_size), values.iter().max_by(by_size)];
                let [from, to] = ends.map(|end| end.copied().unwrap_or_default().to_owned());
                table.row([name.clone(), count, from, to]);
            } else {
                let more = if values.len() > EXAMPLES { ", ..." } else { "" };
                values.truncate(EXAMPLES);
                table.row([name.clone(), count, values.join(", ") + more, String::new()]);
            }
        }
        table.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Fields> {
        Fields::parse_csv(text.as_bytes(), Path::new("rows.csv"))
    }

    #[test]
    fn unknown_fields_name_the_nearest() {
        let fields = parsed("scene,tc.bins,commit,units.crop.utilisation\na,8,x,0.5\n").unwrap();
        let error = fields.column("utilisation").unwrap_err().to_string();
        assert!(error.contains("such as units.crop.utilisation,"), "{error}");
        let error = fields.column("tc.bin").unwrap_err().to_string();
        assert!(error.contains("such as tc.bins,"), "{error}");
        assert_eq!(fields.column("tc.bins").unwrap(), 1);
        assert_eq!(fields.keys(), [0, 1]);
        let list = fields.list();
        assert!(list.contains("units.crop.utilisation       1  0.5   0.5"), "{list}");
    }

    #[test]
    fn the_methods_of_meshes_are_methods() {
        for kind in ["unit", "pipeline"] {
            let fields = parsed(&format!("mesh,{kind},commit\na,none,x\n")).unwrap();
            assert_eq!(fields.column("method").unwrap(), 1);
        }
        assert_eq!(parsed("scene,unit,method\na,b,c\n").unwrap().column("method").unwrap(), 2);
    }

    #[test]
    fn tables_of_other_columns_are_joined_by_name() {
        let mut all = parsed("a,b\n1,2\n").unwrap();
        all.append(parsed("b,c\n3,4\n").unwrap());
        assert_eq!(all.names, ["a", "b", "c"]);
        let cells = |line| (0..3).map(|c| all.cell(line, c)).collect::<Vec<_>>();
        assert_eq!((cells(0), cells(1)), (vec!["1", "2", ""], vec!["", "3", "4"]));
        all.prepend("file", "x");
        assert_eq!(all.cell(1, 3), "4");
    }

    #[test]
    fn wrong_tables_are_refused_by_line() {
        for (text, words) in [
            ("a,b\n1,2\n3\n", ["rows.csv: line 3", "comma-separated"]),
            ("a,a\n1,2\n", ["line 1", "\"a\""]),
            ("a,\n1,2\n", ["line 1", "\"\""]),
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }

    #[test]
    fn methods_were_once_called_variants() {
        let fields = parsed("scene,variant,cycles\nisland,het,5\n").unwrap();
        assert_eq!(fields.name(1), "method");
        assert_eq!([fields.column("method").unwrap(), fields.column("variant").unwrap()], [1; 2]);
        let remarks = fields.remarks(["scene", "variant"].into_iter());
        assert_eq!(remarks, ["the field variant is called method now"]);
        // In rows of meshes, the variant of the mesh keeps its name.
        let meshes = parsed("study,mesh,variant\nareas,plane,bumps\n").unwrap();
        assert_eq!((meshes.column("variant").unwrap(), meshes.name(2)), (2, "variant"));
        assert!(meshes.column("method").is_err());
    }
}
