//! Python class of meshes among the splats of a scene.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use quadrille::nalgebra::Matrix4;
use quadrille_base::choice::Choice;
use quadrille_scene::transform::Similarity;
use quadrille_suite::Messages;
use quadrille_suite::mesh_input::{LightChoice, LookSettings, MeshPlacement, PlacedMeshes};

use crate::errors::to_python;
use crate::run::run;

/// Python class of meshes with their places and their light.
#[pyclass(frozen, module = "quadrille._quadrille", name = "Meshes")]
pub(crate) struct RawMeshes(pub(crate) PlacedMeshes);

/// Keeps warnings for Python; remarks are dropped.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Messages for Warnings {
    fn warn(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn remark(&self, _: &str) {}
}

/// Loads meshes, each moved by the matrix with its index, and returns them with the warnings of their readers.
#[pyfunction]
pub(crate) fn load_meshes(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    transforms: Vec<[[f64; 4]; 4]>,
    samples: u32,
    light: &str,
    exposure: Option<f32>,
) -> PyResult<(RawMeshes, Vec<String>)> {
    let placed = |rows: &[[f64; 4]; 4]| {
        let by = Similarity::of_matrix(&Matrix4::from_fn(|row, column| rows[row][column]));
        by.map(MeshPlacement).map_err(|error| error.about("transforms"))
    };
    let placements = transforms.iter().map(placed).collect::<quadrille::Result<Vec<_>>>();
    let placements = placements.map_err(to_python)?;
    let light = LightChoice::named(light).map_err(|error| to_python(error.about("light")))?;
    let look = LookSettings { light, exposure, ..LookSettings::default() };
    let warnings = Warnings::default();
    let meshes = run(py, |_| PlacedMeshes::load(&paths, &placements, samples, &look, &warnings))?;
    Ok((RawMeshes(meshes), warnings.0.into_inner().unwrap_or_else(PoisonError::into_inner)))
}
