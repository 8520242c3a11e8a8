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

/// A name in at most 40 characters: the middle of a longer one is left out.
pub(crate) fn shortened(name: &str) -> String {
    const MOST: usize = 40;
    let count = name.chars().count();
    if count <= MOST {
        return name.to_owned();
    }
    let start = name.chars().take(MOST / 2);
    let end = name.chars().skip(count - (MOST / 2 - 1));
    start.chain(['…']).chain(end).collect()
}

/// The number in a cell, or a dash for none.
pub(crate) fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
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
