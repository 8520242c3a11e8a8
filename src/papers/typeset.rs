//! Tables of figures as Markdown and LaTeX, with the columns and number formats of the page.

use crate::table::{Cell, Table};
use quadrille_suite::report::typeset::Typeset;

fn shown(table: &Table) -> Typeset {
    let columns = table.shown();
    let heading = |at: &usize| table.columns[*at].heading.clone().unwrap_or_default();
    let has_words = |at: &usize| {
        let is_word = |row: &Vec<Cell>| matches!(row[*at], Cell::Text(_));
        table.rows.iter().any(is_word)
    };
    let rows = table.rows.iter().map(|row| {
        let cells = columns.iter().map(|at| table.columns[*at].shown(&row[*at]));
        cells.collect()
    });
    Typeset {
        headings: columns.iter().map(heading).collect(),
        has_words: columns.iter().map(has_words).collect(),
        rows: rows.collect(),
    }
}

pub(crate) fn markdown(table: &Table) -> String {
    shown(table).markdown()
}

pub(crate) fn latex(table: &Table) -> String {
    shown(table).latex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn tables_are_typeset() {
        let mut table = Table::default();
        table.push(Column::new("scene", "scene"), ["a_b & 50 %|{x}\\".into()]);
        table.push(Column::hidden("files"), [Cell::from(1.0)]);
        table.push(Column::share("share", "share"), [Cell::from(0.25)]);
        assert_eq!(
            latex(&table),
            "\\begin{tabular}{lr}\n\\hline\nscene & share \\\\\n\\hline\n\
             a\\_b \\& 50 \\%|\\{x\\}\\textbackslash{} & 25.0 \\% \\\\\n\\hline\n\\end{tabular}\n"
        );
        let expected = "| scene | share |\n|---|---|\n| a_b & 50 %\\|{x}\\ | 25.0 % |\n";
        assert_eq!(markdown(&table), expected);
    }
}
