//! Tables of figures in Markdown files, between markers:
//!
//! ```text
//! <!-- figures: qfm-fig13 -->
//! | scene | ... |
//! <!-- figures end -->
//! ```

use std::fs;
use std::path::Path;

use crate::report::Report;
use crate::typeset::markdown;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_bytes;

// Markers begin a line.
const BEGIN: &str = "\n<!-- figures: ";
const CLOSE: &str = " -->\n";
const END: &str = "<!-- figures end -->";

/// Writes the tables of the complete figures of a report into the marked places of all Markdown files in a folder.
///
/// # Errors
/// Errors of reading and writing the files, and [`Error::Malformed`] for a marker without an end.
pub fn update(report: &Report<'_>, folder: &Path) -> Result<()> {
    let unread = |e| Error::read(folder, e);
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|e| Error::read(&path, e))?;
        let new = rewritten(&text, &|id| {
            let mut sections = report.chapters.iter().flat_map(|chapter| &chapter.sections);
            let section = sections.find(|section| section.figure.id == id)?;
            section.missing.is_empty().then(|| markdown(&section.content.table))
        });
        let new = new.ok_or_else(|| {
            let expected = "<!-- figures: FIG --> and <!-- figures end -->";
            Error::malformed(&path, "a marker", expected, "no end")
        })?;
        if new != text {
            write_bytes(&path, new)?;
        }
    }
    Ok(())
}

/// Replaces the marked tables by `table`'s result for their figures; `None` if a marker has no end.
fn rewritten(text: &str, table: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (id, after) = after.split_once(CLOSE)?;
        let (old, after) = after.split_once(END)?;
        let table = table(id).unwrap_or_else(|| old.to_owned());
        new += &[before, BEGIN, id, CLOSE, &table, END].concat();
        rest = after;
    }
    Some(new + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Column, Table};

    #[test]
    fn marked_tables_are_replaced() {
        let mut table = Table::default();
        table.push(Column::new("scene", "scene"), ["a|b".into()]);
        table.push(Column::hidden("files"), [Cell::from(1.0)]);
        table.push(Column::share("share", "share"), [Cell::from(0.25)]);
        let text = "a\n<!-- figures: fig1 -->\nold\n<!-- figures end -->\nb\n<!-- figures: fig2 -->\nkept\n<!-- figures end -->";
        let new = rewritten(text, &|id| (id == "fig1").then(|| markdown(&table))).unwrap();
        let expected = text.replace("old\n", "| scene | share |\n|---|---|\n| a\\|b | 25.0 % |\n");
        assert_eq!(new, expected);
        assert_eq!(rewritten(&new, &|_| None).as_deref(), Some(&*expected));
        assert_eq!(rewritten("a\n<!-- figures: fig1 -->\nopen", &|_| None), None);
    }
}
