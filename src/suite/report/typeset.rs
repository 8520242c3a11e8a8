//! Tables for texts: Markdown and LaTeX.

/// Characters that LaTeX reads as commands or lacks in its fonts, with their names.
const LATEX: [(char, &str); 18] = [
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
    ('±', "\\ensuremath{\\pm}"),
    ('µ', "\\ensuremath{\\mu}"),
    ('²', "\\ensuremath{^2}"),
];

/// A table whose cells are written as they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typeset {
    /// Headings of the columns.
    pub headings: Vec<String>,
    /// Whether a column holds words, which stand on the left; numbers stand on the right.
    pub has_words: Vec<bool>,
    /// Cells of each row.
    pub rows: Vec<Vec<String>>,
}

impl Typeset {
    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> =
                cells.iter().map(|cell| cell.replace('|', "\\|").replace('<', "&lt;")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        let rule = "---|".repeat(self.headings.len());
        format!("{}|{rule}\n{rows}", line(&self.headings))
    }

    /// The table in LaTeX: a `tabular` that needs no package.
    pub fn latex(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped_latex(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let letters = self.has_words.iter();
        let letters: String = letters.map(|words| if *words { 'l' } else { 'r' }).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!(
            "\\begin{{tabular}}{{{letters}}}\n\\hline\n{}\\hline\n{rows}\\hline\n\\end{{tabular}}\n",
            line(&self.headings)
        )
    }
}

/// Text in LaTeX.
pub fn escaped_latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars().filter(|c| !c.is_control()) {
        match LATEX.iter().find(|(known, _)| *known == character) {
            Some((_, name)) => escaped.push_str(name),
            None => escaped.push(character),
        }
    }
    escaped
}
