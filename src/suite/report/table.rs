//! Text tables: aligned columns without borders.

use std::fmt;

use comfy_table::{CellAlignment, Table, TableStyle};

/// A table of columns that are aligned to the right or, for words, to the left.
pub struct TextTable(Table);

impl TextTable {
    /// Creates a table without rows. A heading that begins with `<` aligns its column to the left.
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        table.set_header(headings.iter().map(|h| h.trim_start_matches('<')));
        for (column, heading) in table.column_iter_mut().zip(headings) {
            column.set_padding((0, 2));
            column.set_cell_alignment(if heading.starts_with('<') {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
        Self(table)
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0.add_row(cells.into_iter().map(Into::into).collect::<Vec<String>>());
    }
}

/// Lines end in a line feed, without trailing blanks.
impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.lines().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}

/// A table whose lines are printed one by one, before the later ones are known: the widths of columns are given.
pub struct LineTable {
    /// Alignment to the left, and width in characters.
    columns: Vec<(bool, usize)>,
}

impl LineTable {
    /// Creates a table, and its line of headings, from headings as in a [`TextTable`] and the widths in characters that
    /// the cells need. Longer cells move the later ones of their line.
    pub fn new(columns: &[(&str, usize)]) -> (Self, String) {
        let column = |(heading, width): &(&str, usize)| {
            (heading.starts_with('<'), heading.trim_start_matches('<').chars().count().max(*width))
        };
        let table = Self { columns: columns.iter().map(column).collect() };
        let headings = columns.iter().map(|(h, _)| h.trim_start_matches('<'));
        let headings = table.line(headings.map(str::to_owned));
        (table, headings)
    }

    /// The line of a row, with a line feed and without blanks before it.
    pub fn line(&self, cells: impl IntoIterator<Item = String>) -> String {
        let padded = self.columns.iter().zip(cells).map(|((is_left, width), cell)| match is_left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    }
}

/// Shortens a name to 40 characters by leaving out its middle.
pub fn shortened(name: &str) -> String {
    const MOST: usize = 40;
    let count = name.chars().count();
    if count <= MOST {
        return name.to_owned();
    }
    let start = name.chars().take(MOST / 2);
    start.chain(['…']).chain(name.chars().skip(count - (MOST / 2 - 1))).collect()
}

/// Formats the value of a cell, or a dash for none.
pub fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("bay"), "bay");
        let long = shortened(&("a".repeat(100) + "_end"));
        assert_eq!(long.chars().count(), 40);
        assert!(long.starts_with("aaa") && long.contains('…') && long.ends_with("_end"));
    }

    #[test]
    fn lines_that_fit_are_the_table_of_all_rows() {
        let rows = [["bay", "12", "a.png"], ["lighthouse", "1234", "-"]];
        let mut table = TextTable::new(&["<view", "splats", "<file"]);
        let (lines, mut text) = LineTable::new(&[("<view", 10), ("splats", 4), ("<file", 0)]);
        for row in rows {
            table.row(row);
            text += &lines.line(row.map(str::to_owned));
        }
        assert_eq!(text, table.to_string());
    }

    #[test]
    fn words_stand_left_and_numbers_right() {
        let mut table = TextTable::new(&["<view", "splats", "<file"]);
        table.row(["bay", "12", "a.png"]);
        table.row(["lighthouse", "1234", "-"]);
        let expected =
            "view        splats  file\nbay             12  a.png\nlighthouse    1234  -\n";
        assert_eq!(table.to_string(), expected);
    }
}
