//! Points: lines that agree in x and in the series, combined.

use crate::combine::{Combine, Spread, standard_deviation};
use crate::fields::{Fields, number};
use quadrille_base::error::{Error, Result};

/// Joins the values of several fields in the name of a series.
pub(crate) const SEPARATOR: &str = ", ";

/// Text of a cell, and its number if it is one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) number: Option<f64>,
}

impl Key {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), number: number(text) }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    pub(crate) values: Vec<f64>,
    pub(crate) lines: Vec<usize>,
}

/// Values by two keys: a row per series and a column per x.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    pub(crate) x: Vec<Key>,
    pub(crate) series: Vec<Key>,
    pub(crate) cells: Vec<Vec<Cell>>,
}

/// Keys in numerical order or, if one is a name, in order of their first lines.
fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    if keys.iter().all(|key| key.number.is_some()) {
        keys.sort_by(|a, b| {
            let [a, b] = [a, b].map(|key| key.number.unwrap_or(0.0));
            a.total_cmp(&b)
        });
    }
    keys
}

/// Index of a key, which is added if it is new. Keys with the same number, such as 8 and 8.0, are equal.
fn index(keys: &mut Vec<Key>, key: Key) -> usize {
    let is_same = |one: &Key| match (one.number, key.number) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => one.text == key.text,
    };
    keys.iter().position(is_same).unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    })
}

impl Grid {
    /// Groups lines by x and series. Lines that lack x, series or value are left out, and so are series and x without a
    /// line. `limit` bounds the number of cells.
    pub(crate) fn new(
        fields: &Fields,
        lines: &[usize],
        x: usize,
        series: &[usize],
        y: usize,
        limit: usize,
    ) -> Result<Self> {
        let (mut xs, mut names, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for &line in lines {
            let at = fields.cell(line, x);
            let value = value(fields, line, y)?;
            let Some(value) = value.filter(|_| !at.is_empty()) else { continue };
            let name: Vec<&str> = series.iter().map(|c| fields.cell(line, *c)).collect();
            let name = Key::new(&name.join(SEPARATOR));
            found.push((index(&mut xs, Key::new(at)), index(&mut names, name), line, value));
            if xs.len().saturating_mul(names.len()) > limit {
                let expected = format!("at most {limit} points; --where chooses rows");
                let found = format!("{} values of {} and more", xs.len(), fields.name(x));
                return Err(Error::argument("points", expected, found));
            }
        }
        let (old_x, old_series) = (xs.clone(), names.clone());
        let (x, series) = (sorted(xs), sorted(names));
        let mut cells = vec![vec![Cell::default(); x.len()]; series.len()];
        let place = |keys: &[Key], key: &Key| keys.iter().position(|one| one == key).unwrap_or(0);
        let x_places: Vec<usize> = old_x.iter().map(|key| place(&x, key)).collect();
        let series_places: Vec<usize> = old_series.iter().map(|key| place(&series, key)).collect();
        for (x, name, line, value) in found {
            let cell = &mut cells[series_places[name]][x_places[x]];
            cell.values.push(value);
            cell.lines.push(line);
        }
        Ok(Self { x, series, cells })
    }

    pub(crate) fn combined(&self, series: usize, combine: Combine) -> Vec<Option<f64>> {
        self.cells[series].iter().map(|cell| combine.of(&cell.values)).collect()
    }

    /// Key columns that vary within a point, and the largest number of lines of a point.
    pub(crate) fn varying(&self, fields: &Fields) -> (Vec<String>, usize) {
        let cells = || self.cells.iter().flatten();
        let most = cells().map(|cell| cell.lines.len()).max().unwrap_or(0);
        let differs = |column: &usize| {
            cells().any(|cell| {
                let mut values = cell.lines.iter().map(|line| fields.cell(*line, *column));
                let first = values.next();
                values.any(|value| Some(value) != first)
            })
        };
        let mut keys: Vec<usize> = fields.keys().into_iter().filter(differs).collect();
        if keys.is_empty() {
            // Rows of one run, of another version of a scene or of the program.
            keys.extend(fields.column("fingerprint").ok().filter(differs));
        }
        (keys.into_iter().map(|column| fields.name(column).to_owned()).collect(), most)
    }
}

impl Cell {
    pub(crate) fn band(&self, spread: Spread) -> Option<[f64; 2]> {
        match spread {
            Spread::Range => self.ends(),
            Spread::Sd => {
                let mean = Combine::Mean.of(&self.values)?;
                standard_deviation(&self.values).map(|sd| [mean - sd, mean + sd])
            }
        }
    }

    pub(crate) fn ends(&self) -> Option<[f64; 2]> {
        let [least, most] = [Combine::Min, Combine::Max].map(|end| end.of(&self.values));
        least.zip(most).filter(|_| self.values.len() > 1).map(|(least, most)| [least, most])
    }
}

pub(crate) fn value(fields: &Fields, line: usize, column: usize) -> Result<Option<f64>> {
    let cell = fields.cell(line, column);
    match (number(cell), cell.is_empty()) {
        (None, false) => {
            let expected = format!("numbers in the field {}", fields.name(column));
            Err(Error::argument("field", expected, format!("\"{cell}\"")))
        }
        (number, _) => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_grouped_and_sorted() {
        let text =
            "bins,method,seed,commit,y\n16,het,0,c,2\n8,het,0,c,1\n8,qm,0,c,\n8.0,het,1,c,3\n";
        let fields = Fields::parse_csv(text.as_bytes(), "a.csv".as_ref()).unwrap();
        let grid = Grid::new(&fields, &[0, 1, 2, 3], 0, &[1], 4, 10).unwrap();
        let texts = |keys: &[Key]| keys.iter().map(|k| k.text.clone()).collect::<Vec<_>>();
        assert_eq!(
            (texts(&grid.x), texts(&grid.series)),
            (vec!["8".to_owned(), "16".into()], vec!["het".to_owned()])
        );
        assert_eq!(grid.combined(0, Combine::Mean), [Some(2.0), Some(2.0)]);
        assert_eq!(grid.cells[0][0].ends(), Some([1.0, 3.0]));
        assert_eq!(grid.cells[0][1].ends(), None);
        // `bins` varies as text: 8 and 8.0 are one x.
        assert_eq!(grid.varying(&fields), (vec!["bins".to_owned(), "seed".into()], 2));
        assert!(Grid::new(&fields, &[0, 1], 0, &[1], 4, 1).is_err());
        assert!(Grid::new(&fields, &[0], 0, &[], 1, 9).is_err());
    }
}
