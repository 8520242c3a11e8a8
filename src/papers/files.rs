//! The files of a report: the page, and the tables, charts and documents of figures.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::page;
use crate::report::Report;
use crate::table::Table;
use crate::typeset;
use quadrille_base::error::Result;
use quadrille_base::output::{write_bytes, write_whole};
use quadrille_base::task::Task;
use quadrille_suite::unique;

/// Output of [`write()`].
#[derive(Debug)]
pub struct Written {
    /// Path of the page.
    pub index: PathBuf,
    /// Results that the chosen figures lack, each once.
    pub missing: Vec<String>,
}

/// Writes the page, the numbers beside the published ones, and the files of the figures into a folder; charts as PDF too
/// if `has_pdf`.
pub fn write(report: &Report<'_>, folder: &Path, has_pdf: bool) -> Result<Written> {
    let sections = || report.chapters.iter().flat_map(|chapter| &chapter.sections);
    let missing = unique(sections().flat_map(|section| section.missing.iter().cloned()));
    let write = |name: &str, extension: &str, bytes: &[u8]| -> Result<PathBuf> {
        let path = folder.join(format!("{name}.{extension}"));
        write_bytes(&path, bytes)?;
        Ok(path)
    };
    let write_table = |name: &str, table: &Table, document: &Value| -> Result<()> {
        write(name, "csv", table.csv().as_bytes())?;
        write(name, "json", format!("{document:#}\n").as_bytes())?;
        if !table.shown().is_empty() {
            write(name, "md", typeset::markdown(table).as_bytes())?;
            write(name, "tex", typeset::latex(table).as_bytes())?;
        }
        Ok(())
    };
    for section in sections() {
        let document = section.content.json(section.figure, &section.command, &section.missing);
        let id = &section.figure.id;
        write_table(id, &section.content.table, &document)?;
        let charts = &section.content.charts;
        for (chart, number) in charts.iter().zip(1..) {
            let name = if charts.len() == 1 { id.clone() } else { format!("{id}-{number}") };
            let drawing = chart.drawings.wide();
            write(&name, "svg", drawing.svg().as_bytes())?;
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
    write_table("summary", &table, &document)?;
    let index = write("index", "html", page::html(report).as_bytes())?;
    Ok(Written { index, missing })
}
