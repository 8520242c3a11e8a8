//! Extension module `quadrille._quadrille`, which only the Python package calls. The package checks arguments and
//! passes f32 arrays in C order.

#![allow(
    clippy::needless_pass_by_value,
    reason = "functions own the arguments that come from Python"
)]

mod arrays;
mod camera;
mod convert;
mod errors;
mod gradients;
mod gsplat;
mod losses;
mod meshes;
mod pairs;
mod picture;
mod render;
mod run;
mod scene;
mod simulate;
mod suite;
#[cfg(feature = "view")]
mod viewer;

use pyo3::prelude::*;

/// Private module of the Python package.
#[pymodule(gil_used = false)]
mod _quadrille {
    #[pymodule_export]
    use super::camera::{RawCamera, load_cameras};
    #[pymodule_export]
    use super::convert::{RawTable, convert, convert_scene, load_table, transform};
    #[pymodule_export]
    use super::errors::{FormatError, LimitError};
    #[pymodule_export]
    use super::gradients::{RawPlaneGradients, axes_of_covariances};
    #[pymodule_export]
    use super::gsplat::{RawSavedPictures, rasterize, write_raw};
    #[pymodule_export]
    use super::losses::loss;
    #[pymodule_export]
    use super::meshes::{RawMeshes, load_meshes};
    #[pymodule_export]
    use super::picture::{compare, encode_picture, over, read_picture, rgb8, save_picture};
    #[pymodule_export]
    use super::render::{profiles, render};
    #[pymodule_export]
    use super::scene::{RawScene, load, loads, synth, views};
    #[pymodule_export]
    use super::simulate::{presets, simulate};
    #[pymodule_export]
    use super::suite::{bench, plot};
    #[cfg(feature = "view")]
    #[pymodule_export]
    use super::viewer::RawViewer;
    #[pymodule_export]
    use super::{build_info, main, set_threads};
}

/// Sets the default number of threads of calls; 0 means one per core.
#[pyfunction]
fn set_threads(threads: usize) -> PyResult<()> {
    run::set_threads(threads)
}

/// Returns names and values of the version, the commit and the hash of the sources.
#[pyfunction]
fn build_info() -> [(&'static str, &'static str); 3] {
    let program = quadrille::PROGRAM;
    [("version", program.version), ("commit", program.commit), ("sources", program.sources)]
}

/// Runs the command-line program; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| quadrille::cli::run_from(arguments))
}
