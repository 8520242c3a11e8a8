//! LCC, a grid of cells that have levels of detail, and LCC2, a tree over SOG or SPZ files.
//!
//! Data Organization Format originated from XGRIDS (github.com/xgrids/LCCWhitepaper and LCC2Whitepaper). Splats have the
//! axes right, forward, up. A level of detail is read together with the environment, which has one level.

mod beside;
mod grid;
mod records;
mod tree;

use std::path::{Path, PathBuf};

pub(super) use grid::FORMAT as GRID;
pub(super) use tree::FORMAT as TREE;

/// Names of the files that a description needs or may have beside it; none for other content.
pub(super) fn files_of(description: &[u8]) -> Vec<String> {
    if (TREE.has_mark)(description) {
        return tree::parsed(description)
            .map_or(Vec::new(), |document| tree::file_names(&document));
    }
    let is_grid = (GRID.has_mark)(description);
    let names = is_grid.then_some(grid::FILES).into_iter().flatten().flatten();
    names.map(str::to_owned).collect()
}

/// Description in a folder: the first by name, of LCC2 if there are both.
pub(super) fn description_in(folder: &Path) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).collect();
    files.sort();
    let has = |extension: &str| {
        let mut files = files.iter();
        files.find(|file| file.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension)))
    };
    has("lcc2").or_else(|| has("lcc")).cloned()
}
