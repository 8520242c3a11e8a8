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
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        self.0.add_row(cells);
    }
}

/// Every line ends in a line feed, without blanks before it.
impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.0.lines();
        lines.try_for_each(|line| writeln!(f, "{}", line.trim_end()))
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
    let end = name.chars().skip(count - (MOST / 2 - 1));
    start.chain(['…']).chain(end).collect()
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
    fn words_stand_left_and_numbers_right() {
        let mut table = TextTable::new(&["<view", "splats", "<file"]);
        table.row(["bay", "12", "a.png"]);
        table.row(["lighthouse", "1234", "-"]);
        let expected =
            "view        splats  file\nbay             12  a.png\nlighthouse    1234  -\n";
        assert_eq!(table.to_string(), expected);
    }
}
