//! Text tables: aligned columns without borders.

use std::fmt;

use comfy_table::{CellAlignment, Table, TableStyle};

/// A table whose columns are aligned to the right, but for those that hold words.
pub(crate) struct TextTable(Table);

impl TextTable {
    /// A table with these columns; a heading that begins with `<` is that of words, which are
    /// aligned to the left.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        table.set_header(
            headings
                .iter()
                .map(|heading| heading.trim_start_matches('<')),
        );
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
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0
            .add_row(cells.into_iter().map(Into::into).collect::<Vec<String>>());
    }
}

/// Every line ends in a line feed, none in a blank.
impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .lines()
            .try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}

/// The number in a cell, or a dash for none.
pub(crate) fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

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
