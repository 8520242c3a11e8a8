//! Tables of rows as files: CSV, Markdown and LaTeX.

use quadrille_base::choice;

use super::columns::MetricColumn;
use super::conditions::Conditions;
use super::evaluated::Evaluated;
use super::summary::Summary;
use quadrille_suite::csv::line;
use quadrille_suite::report::typeset::escaped_latex;

choice! {
    /// Format of a table in a file.
    pub enum TableFormat {
        /// One line per pair with all digits, for other programs.
        Csv = "csv",
        /// A table for a README.
        Markdown = "markdown",
        /// A `tabular` of the package `booktabs`, for a paper.
        Latex = "latex",
    }
}

/// Formats the table of all pairs. CSV has every metric of every pair; the other formats have the metrics that papers
/// print, and the means. All mark pairs that were not compared or have pixels that are not finite.
pub fn table(
    format: TableFormat,
    evaluated: &Evaluated,
    columns: &[MetricColumn],
    summary: &Summary,
    conditions: &Conditions,
) -> String {
    match format {
        TableFormat::Csv => csv(evaluated, columns),
        TableFormat::Markdown => markdown(evaluated, columns, summary, conditions),
        TableFormat::Latex => latex(evaluated, columns, summary, conditions),
    }
}

fn csv(evaluated: &Evaluated, columns: &[MetricColumn]) -> String {
    let rows = &evaluated.rows;
    let has_masks = rows.iter().any(|row| row.mask_share.is_some());
    let share = has_masks.then_some("mask_share");
    let has_marks = evaluated.without_row().next().is_some() || evaluated.marks().next().is_some();
    let mark = has_marks.then_some("mark");
    let keys = columns.iter().map(|column| column.key);
    let mut text = String::new();
    let mut write = |cells: Vec<String>| text += &line(cells);
    let headings = ["name", "a", "b"].into_iter().chain(keys).chain(share).chain(mark);
    write(headings.map(str::to_owned).collect());
    for row in rows {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let numbers = columns.iter().map(|column| match (column.value)(row) {
            // The spelling that numpy and pandas read.
            None if column.is_psnr() => "inf".to_owned(),
            value => number(value),
        });
        let names = [&row.pair.name, &row.pair.a, &row.pair.b].map(String::clone);
        let share = has_masks.then(|| number(row.mask_share));
        let mark = has_marks.then(|| row.mark().unwrap_or_default());
        write(names.into_iter().chain(numbers).chain(share).chain(mark).collect());
    }
    for (pair, reason) in evaluated.without_row() {
        let numbers = vec![String::new(); columns.len() + usize::from(has_masks)];
        let names = [pair.name, pair.a, pair.b];
        write(names.into_iter().chain(numbers).chain([reason.to_owned()]).collect());
    }
    text
}

/// Columns that papers print, and the rows as text: one per pair, and the means of several.
fn paper_rows(
    evaluated: &Evaluated,
    columns: &[MetricColumn],
    summary: &Summary,
) -> (Vec<MetricColumn>, Vec<Vec<String>>) {
    let rows = &evaluated.rows;
    let is_printed = |column: &MetricColumn| column.is_in_papers || column.key == "flip";
    let printed: Vec<MetricColumn> = columns.iter().copied().filter(is_printed).collect();
    let mut lines: Vec<Vec<String>> = (rows.iter())
        .map(|row| {
            let numbers = printed.iter().map(|column| column.short_text((column.value)(row)));
            let name = match row.mark() {
                Some(mark) => format!("{} ({mark})", row.pair.name),
                None => row.pair.name.clone(),
            };
            std::iter::once(name).chain(numbers).collect()
        })
        .collect();
    lines.extend(evaluated.without_row().map(|(pair, reason)| {
        let dashes = printed.iter().map(|_| "-".to_owned());
        std::iter::once(format!("{} (not compared: {reason})", pair.name)).chain(dashes).collect()
    }));
    if rows.len() > 1 {
        let means = columns.iter().zip(&summary.mean).filter(|(column, _)| is_printed(column));
        let means = means.map(|(column, mean)| column.short_text(*mean));
        lines.push(std::iter::once("mean".to_owned()).chain(means).collect());
    }
    (printed, lines)
}

fn markdown(
    evaluated: &Evaluated,
    columns: &[MetricColumn],
    summary: &Summary,
    conditions: &Conditions,
) -> String {
    let (printed, lines) = paper_rows(evaluated, columns, summary);
    let arrow = |column: &MetricColumn| {
        if column.is_higher_better { "↑" } else { "↓" }
    };
    let headings = printed.iter().map(|column| format!("{} {}", column.heading, arrow(column)));
    let headings = headings.collect::<Vec<_>>().join(" | ");
    let mut text = format!("| | {headings} |\n|---|{}\n", "---:|".repeat(printed.len()));
    for line in lines {
        let cells = line.iter().map(|cell| cell.replace('|', "\\|"));
        text += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    text + "\n" + &conditions.sentence(summary) + ".\n"
}

fn latex(
    evaluated: &Evaluated,
    columns: &[MetricColumn],
    summary: &Summary,
    conditions: &Conditions,
) -> String {
    let (printed, lines) = paper_rows(evaluated, columns, summary);
    let arrow = |column: &MetricColumn| {
        if column.is_higher_better { "$\\uparrow$" } else { "$\\downarrow$" }
    };
    let headings = printed.iter().map(|column| {
        let heading = column.heading.replace("PSNR dB", "PSNR (dB)");
        format!(" & {} {}", escaped_latex(&heading), arrow(column))
    });
    let mut text = format!(
        "% {}\n% Needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{l{}}}\n\\toprule\n{} \\\\\n\\midrule\n",
        conditions.sentence(summary),
        "r".repeat(printed.len()),
        headings.collect::<String>()
    );
    let (last, others) = lines.split_last().map_or((None, &[][..]), |(l, o)| (Some(l), o));
    let line = |cells: &Vec<String>| {
        cells.iter().map(|cell| escaped_latex(cell)).collect::<Vec<_>>().join(" & ") + " \\\\\n"
    };
    text.extend(others.iter().map(line));
    if let Some(last) = last {
        let rule = if others.is_empty() { "" } else { "\\midrule\n" };
        text += &(rule.to_owned() + &line(last));
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

pub(super) fn escaped_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
