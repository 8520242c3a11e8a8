//! Tables of figures for texts: Markdown and LaTeX, with the columns that the page shows and its formats.

use crate::table::{Cell, Table};

/// Characters that LaTeX reads as commands or lacks in its fonts, and their names there.
const LATEX: [(char, &str); 17] = [
    ('\\', "\\textbackslash{}"),
    ('{', "\\{"),
    ('}', "\\}"),
    ('&', "\\&"),
    ('%', "\\%"),
    ('$', "\\$"),
    ('#', "\\#"),
    ('_', "\\_"),
    ('~', "\\textasciitilde{}"),
    ('^', "\\textasciicircum{}"),
    ('<', "\\textless{}"),
    ('>', "\\textgreater{}"),
    ('–', "--"),
    ('…', "\\dots{}"),
    ('×', "\\ensuremath{\\times}"),
    ('µ', "\\ensuremath{\\mu}"),
    ('²', "\\ensuremath{^2}"),
];

/// Headings, and the cells of each row as the page shows them.
fn shown(table: &Table) -> (Vec<String>, Vec<Vec<String>>) {
    let columns = table.shown();
    let heading = |at: &usize| table.columns[*at].heading.clone().unwrap_or_default();
    let rows = table.rows.iter().map(|row| {
        let cells = columns.iter().map(|at| table.columns[*at].shown(&row[*at]));
        cells.collect()
    });
    (columns.iter().map(heading).collect(), rows.collect())
}

/// A table in Markdown.
pub(crate) fn markdown(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.replace('|', "\\|").replace('<', "&lt;"))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let (headings, rows) = shown(table);
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!(
        "{}|{}\n{rows}",
        line(&headings),
        "---|".repeat(headings.len())
    )
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars().filter(|c| !c.is_control()) {
        match LATEX.iter().find(|(known, _)| *known == character) {
            Some((_, name)) => escaped.push_str(name),
            None => escaped.push(character),
        }
    }
    escaped
}

/// A table in LaTeX, without packages: words to the left, numbers to the right.
pub(crate) fn latex(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let columns = table.shown();
    let letters = columns.iter().map(|at| {
        let is_word = |row: &Vec<Cell>| matches!(row[*at], Cell::Text(_));
        if table.rows.iter().any(is_word) {
            'l'
        } else {
            'r'
        }
    });
    let letters: String = letters.collect();
    let (headings, rows) = shown(table);
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!(
        "\\begin{{tabular}}{{{letters}}}\n\\hline\n{}\\hline\n{rows}\\hline\n\\end{{tabular}}\n",
        line(&headings)
    )
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
