//! The files of a report: the page, and the tables, charts and documents of figures.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::page;
use crate::report::Report;
use crate::table::Table;
use crate::typeset;
use quadrille_base::error::Result;
use quadrille_base::output::write_whole;
use quadrille_base::task::Task;

/// Result of [`write()`].
#[derive(Debug)]
pub struct Written {
    /// The page.
    pub index: PathBuf,
    /// Results that the chosen figures lack, each once.
    pub missing: Vec<String>,
}

/// Writes the page, the numbers beside the published ones, and the files of the figures into a folder; charts as PDF too
/// if `has_pdf`.
pub fn write(report: &Report<'_>, folder: &Path, has_pdf: bool) -> Result<Written> {
    let mut missing: Vec<String> = Vec::new();
    let sections = report.chapters.iter().flat_map(|chapter| &chapter.sections);
    for section in sections {
        let new = section.missing.iter().filter(|text| !missing.contains(*text));
        let new: Vec<String> = new.cloned().collect();
        missing.extend(new);
        let document = section.content.json(section.figure, &section.command, &section.missing);
        let id = &section.figure.id;
        write_files(folder, id, &section.content.table, &document)?;
        let charts = &section.content.charts;
        for (chart, number) in charts.iter().zip(1..) {
            let name = match charts.len() {
                1 => id.clone(),
                _ => format!("{id}-{number}"),
            };
            let drawing = chart.drawings.wide();
            let file = drawing.svg();
            write_whole(&folder.join(format!("{name}.svg")), &Task::NEVER, |out| {
                out.write_all(file.as_bytes())
            })?;
            if has_pdf {
                write_whole(&folder.join(format!("{name}.pdf")), &Task::NEVER, |out| {
                    out.write_all(&drawing.pdf()?)
                })?;
            }
        }
    }
    let table = report.comparison();
    let summaries = report.chapters.iter().map(|c| (c.paper.id.clone(), json!(c.summary)));
    let document = json!({
        "command": format!("quadrille figures {}", report.inputs.command),
        "summaries": Value::Object(summaries.collect()),
        "rows": table.json(),
    });
    write_files(folder, "summary", &table, &document)?;
    let index = folder.join("index.html");
    let html = page::html(report);
    write_whole(&index, &Task::NEVER, |out| out.write_all(html.as_bytes()))?;
    Ok(Written { index, missing })
}

fn write_files(folder: &Path, name: &str, table: &Table, document: &Value) -> Result<()> {
    let csv = table.csv();
    write_whole(&folder.join(format!("{name}.csv")), &Task::NEVER, |out| {
        out.write_all(csv.as_bytes())
    })?;
    write_whole(&folder.join(format!("{name}.json")), &Task::NEVER, |out| {
        writeln!(out, "{document:#}")
    })?;
    if table.shown().is_empty() {
        return Ok(());
    }
    for (extension, text) in [("md", typeset::markdown(table)), ("tex", typeset::latex(table))] {
        write_whole(&folder.join(format!("{name}.{extension}")), &Task::NEVER, |out| {
            out.write_all(text.as_bytes())
        })?;
    }
    Ok(())
}
