//! Rows in results files, whichever program made them.

use std::path::Path;

use crate::mesh_row::MeshRunRow;
use crate::results_file::{LineContent, Lines};
use quadrille_base::error::{Error, Result};

/// Reads all rows of meshes in a results file, whichever program wrote them. An incomplete last line is left out.
///
/// # Errors
/// [`Error::Read`], and [`Error::Malformed`] naming the first line that is not a row of meshes.
pub fn read_kept(path: &Path) -> Result<Vec<MeshRunRow>> {
    let lines = Lines::of_file(path)?.lines.into_iter();
    let rows = lines.map(|line| match line.content {
        LineContent::Mesh(row) => Ok(*row),
        LineContent::Row(_) => Err(not_of_meshes(path, line.place.line, "a row of splats")),
        LineContent::Other(value) => {
            let reason = serde_json::from_value::<MeshRunRow>(value).err();
            let found = reason.map_or_else(String::new, |reason| reason.to_string());
            Err(not_of_meshes(path, line.place.line, &found))
        }
    });
    rows.collect()
}

/// Whether the first row of a results file is a row of meshes.
///
/// # Errors
/// [`Error::Read`], and [`Error::Malformed`] for a line that is not a JSON object.
pub fn holds_meshes(path: &Path) -> Result<bool> {
    let lines = Lines::of_file(path)?.lines;
    let first = lines.first().map(|line| &line.content);
    Ok(match first {
        Some(LineContent::Mesh(_)) => true,
        Some(LineContent::Other(value)) => value.get("workload").is_some(),
        _ => false,
    })
}

fn not_of_meshes(path: &Path, line: usize, found: &str) -> Error {
    let place = format!("line {line}");
    Error::malformed(path, place, "a row of a suite of meshes of this version", found)
}
