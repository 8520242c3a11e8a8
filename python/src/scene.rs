//! Python class of scenes, and functions that load or generate scenes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadrille::convert::{Action, Condition};
use quadrille::{
    Distribution, Error, LoadOptions, OutputFormat, Profile, Recipe, Renderer, Scene, SceneInput,
    SceneStatistics, Splat, SplatArrays, SplatAxes, SplatSlices, SplatTable, Splats, Synthetic,
    Task, WriteOptions,
};
use quadrille_base::choice::Choice;
use quadrille_base::shading::SplatOrder;
use quadrille_render::viewpoint::framing;
use quadrille_scene::cameras::ViewSpec;
use quadrille_scene::{SplatModel, rest_coefficients};
use rayon::prelude::*;

use crate::arrays::{Floats, array, array_of_rows, numbers, rows};
use crate::camera::RawCamera;
use crate::errors::to_python;
use crate::run::{Call, run};

/// Python class of a scene.
#[pyclass(frozen, module = "quadrille._quadrille", name = "Scene")]
#[derive(Debug)]
pub(crate) struct RawScene {
    /// The scene, which a viewer shares.
    pub(crate) scene: Arc<Scene>,
    /// Idle renderer, whose memory the next frame reuses.
    renderer: Mutex<Renderer>,
}

impl From<Arc<Scene>> for RawScene {
    fn from(scene: Arc<Scene>) -> Self {
        Self { scene, renderer: Mutex::default() }
    }
}

impl From<Scene> for RawScene {
    fn from(scene: Scene) -> Self {
        Arc::new(scene).into()
    }
}

impl From<Splats> for RawScene {
    fn from(splats: Splats) -> Self {
        Scene::from(splats).into()
    }
}

/// Arrays of splats: means, quaternions, scales, opacities, spherical harmonics.
type Arrays<'py> = (Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>);

fn slices<'a>((means, quats, scales, opacities, sh): &'a Arrays<'_>) -> PyResult<SplatSlices<'a>> {
    Ok(SplatSlices {
        means: rows("means", means)?,
        rotations: rows("quats", quats)?,
        scales: rows("scales", scales)?,
        opacities: numbers("opacities", opacities)?,
        sh: rows("sh", sh)?,
    })
}

/// Creates splats with exactly the values of `slices`. Quaternions must have length 1, since they are not normalised.
fn restored(slices: &SplatSlices<'_>, sh_degree: u8) -> Splats {
    let per_splat = rest_coefficients(sh_degree) + 1;
    let splats = (0..slices.means.len()).map(|i| {
        let mut sh = [[0.0; 3]; 25];
        sh[..per_splat].copy_from_slice(&slices.sh[i * per_splat..][..per_splat]);
        Splat {
            mean: slices.means[i],
            scale: slices.scales[i],
            rotation: slices.rotations[i],
            opacity: slices.opacities[i],
            sh,
        }
    });
    Splats::from_splats(sh_degree, splats)
}

fn options(axes: Option<&str>, lod: u32) -> PyResult<LoadOptions> {
    let axes = axes.map(str::parse::<SplatAxes>).transpose();
    Ok(LoadOptions::new(axes.map_err(|error| to_python(error.about("axes")))?, lod))
}

/// Loads a scene file.
#[pyfunction]
pub(crate) fn load(
    py: Python<'_>,
    path: PathBuf,
    axes: Option<&str>,
    lod: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<RawScene> {
    let options = options(axes, lod)?;
    let scene = Call::watched("load", progress)
        .run(py, |task| quadrille::load(SceneInput::file(&path).options(options).task(task)))?;
    Ok(scene.into())
}

/// Loads a scene from the bytes of a file called `name`.
#[pyfunction]
pub(crate) fn loads(
    py: Python<'_>,
    data: &[u8],
    name: PathBuf,
    axes: Option<&str>,
    lod: u32,
) -> PyResult<RawScene> {
    let options = options(axes, lod)?;
    let scene = run(py, |task| {
        quadrille::load(SceneInput::bytes(data).named(&name).options(options).task(task))
    })?;
    Ok(scene.into())
}

/// Generates a procedural scene and its cameras.
#[pyfunction]
pub(crate) fn synth(
    py: Python<'_>,
    recipe: &str,
    splats: u64,
    seed: u64,
    sh_degree: u8,
) -> PyResult<(RawScene, Vec<RawCamera>)> {
    let recipe = Recipe::named(recipe).map_err(|error| to_python(error.about("recipe")))?;
    let made = Synthetic::new(recipe, seed, splats, sh_degree).map_err(to_python)?;
    let cameras = made.cameras().iter().cloned().map(RawCamera).collect();
    let splats = run(py, |task| {
        let splats = made.with_task(task).splats();
        task.check().map(|()| splats)
    })?;
    Ok((splats.into(), cameras))
}

#[pymethods]
impl RawScene {
    #[staticmethod]
    fn from_arrays(arrays: Arrays<'_>, raw: bool) -> PyResult<Self> {
        let slices = slices(&arrays)?;
        if !raw {
            return Ok(Splats::from_slices(&slices).map_err(to_python)?.into());
        }
        let table = SplatTable::from_raw_slices(&slices);
        Ok(table.and_then(|table| table.splats()).map_err(to_python)?.0.into())
    }

    /// Restores a pickled scene from `arrays`, which [`Self::attribute`] returned.
    #[staticmethod]
    fn restore(
        arrays: Arrays<'_>,
        sh_degree: u8,
        origin: [f64; 3],
        profile_hint: Option<&str>,
        model: Option<&str>,
        order: Option<&str>,
    ) -> PyResult<Self> {
        let slices = slices(&arrays)?;
        // Checks lengths and values, since the pickle may be damaged.
        let checked = Splats::from_slices(&slices).map_err(to_python)?;
        if checked.sh_degree() != sh_degree && !checked.is_empty() {
            let expected = format!("coefficients of degree {sh_degree}");
            let found = format!("degree {}", checked.sh_degree());
            return Err(to_python(Error::argument("sh", expected, found)));
        }
        let names = Profile::ALL.map(|profile| profile.name);
        let model = model.and_then(|name| SplatModel::named(name).ok());
        let order = order.and_then(|name| name.parse().ok());
        let hint = names.into_iter().find(|name| Some(*name) == profile_hint);
        let splats = restored(&slices, sh_degree).with_origin(origin).with_order(order);
        let mut scene = Scene::from(splats);
        (scene.profile_hint, scene.encoding.model) = (hint, model);
        Ok(scene.into())
    }

    #[getter]
    fn origin(&self) -> [f64; 3] {
        self.splats().origin()
    }

    #[getter]
    fn order(&self) -> Option<&'static str> {
        self.splats().order().map(SplatOrder::name)
    }

    fn __len__(&self) -> usize {
        self.splats().len()
    }

    #[getter]
    fn sh_degree(&self) -> u8 {
        self.splats().sh_degree()
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.scene.format.name()
    }

    #[getter]
    pub(crate) fn profile_hint(&self) -> Option<&'static str> {
        self.scene.profile_hint
    }

    #[getter]
    fn model(&self) -> Option<&'static str> {
        self.scene.encoding.model.map(SplatModel::name)
    }

    /// Numbers of dropped rows of the file, by reason.
    #[getter]
    fn dropped(&self) -> Vec<(&'static str, u64)> {
        self.scene.dropped.by_reason().to_vec()
    }

    #[getter]
    fn comments(&self) -> Vec<String> {
        self.scene.comments.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scene.encoding.warnings.clone()
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.splats().size_bytes()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let splats = self.splats();
        let found = run(py, |_| Ok(SceneStatistics::of(splats)))?;
        let document = PyDict::new(py);
        document.set_item("probabilities", SceneStatistics::PROBABILITIES)?;
        document.set_item("bounds", found.bounds)?;
        document.set_item("central_bounds", found.central_bounds)?;
        let distributions =
            [("opacity", found.opacity), ("scale", found.scale), ("anisotropy", found.anisotropy)];
        for (name, distribution) in distributions {
            document.set_item(name, distribution.map(|d| of_distribution(py, d)).transpose()?)?;
        }
        Ok(document)
    }

    /// Returns a scene of the splats at the indices `rows`, in this order.
    fn select(&self, rows: PyReadonlyArray1<'_, u64>) -> PyResult<Self> {
        let rows = rows.as_slice()?;
        let len = self.splats().len();
        if let Some(row) = rows.iter().find(|row| **row >= len as u64) {
            let expected = format!("numbers below {len}, the number of splats");
            return Err(to_python(Error::argument("index", expected, row.to_string())));
        }
        Ok(self.selected(rows.iter().filter_map(|row| usize::try_from(*row).ok())))
    }

    /// Returns a scene of the splats that meet a condition, in the syntax of `convert --where`.
    fn where_(&self, py: Python<'_>, condition: &str) -> PyResult<Self> {
        let condition = Condition::parse(condition);
        let condition = condition.map_err(|error| to_python(error.about("condition")))?;
        let rows = run(py, |_| condition.rows(&self.table()?))?;
        Ok(self.selected(rows.into_iter().map(|row| row as usize)))
    }

    /// Writes the splats to a file, in `format` or the format of its extension. Returns warnings about data that the
    /// format cannot hold.
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<Vec<String>> {
        let format = output_format(&path, format)?;
        run(py, |task| {
            let table = self.table()?;
            quadrille::write_table(&path, &table, WriteOptions::new(format).task(task))?;
            Ok(format.losses(&table))
        })
    }

    /// Returns an attribute of all splats as an array of activated values; means are relative to the origin.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match name {
            "means" => array_of_rows(py, self.each(py, |splat| splat.mean)?),
            "quats" => array_of_rows(py, self.each(py, |splat| splat.rotation)?),
            "scales" => array_of_rows(py, self.each(py, |splat| splat.scale)?),
            "opacities" => array(py, self.each(py, |splat| splat.opacity)?, &[self.splats().len()]),
            _ => array_of_sh(py, run(py, |_| Ok(self.splats().to_arrays().sh))?, self.splats()),
        }
    }
}

impl RawScene {
    pub(crate) fn splats(&self) -> &Splats {
        &self.scene.splats
    }

    fn selected(&self, rows: impl Iterator<Item = usize>) -> Self {
        let splats = self.splats();
        let selected = Splats::from_splats(splats.sh_degree(), rows.map(|row| splats.splat(row)));
        let selected = selected.with_origin(splats.origin()).with_order(splats.order());
        self.scene.with_splats(selected).into()
    }

    /// Computes a value for every splat in parallel; `of` gets no spherical harmonics.
    fn each<T: Send>(&self, py: Python<'_>, of: impl Fn(Splat) -> T + Sync) -> PyResult<Vec<T>> {
        let splats = (0..self.splats().len()).into_par_iter();
        run(py, |_| Ok(splats.map(|index| of(self.splats().geometry(index))).collect()))
    }

    /// Takes the scene's idle renderer; a concurrent call gets a new one.
    pub(crate) fn take_renderer(&self) -> Renderer {
        std::mem::take(&mut self.renderer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a renderer to the scene, so that the next frame reuses its arrays.
    pub(crate) fn give_renderer(&self, renderer: Renderer) {
        *self.renderer.lock().unwrap_or_else(PoisonError::into_inner) = renderer;
    }

    fn stored_arrays(&self) -> SplatArrays {
        match self.splats().origin() == [0.0; 3] {
            true => self.splats().to_arrays(),
            false => self.splats().clone().with_origin([0.0; 3]).to_arrays(),
        }
    }

    /// Returns the splats of a table, with the metadata of this scene.
    pub(crate) fn with_table(&self, table: &SplatTable, task: &Task) -> quadrille::Result<Self> {
        let (splats, _) = table.splats_with(task)?;
        Ok(self.scene.with_splats(splats).into())
    }

    /// Converts the splats to a table of raw columns; positions are in f64 if f32 cannot hold them.
    pub(crate) fn table(&self) -> quadrille::Result<SplatTable> {
        let mut table = SplatTable::from_slices(&self.stored_arrays().as_slices())?;
        let origin = self.splats().origin();
        if origin != [0.0; 3] {
            Action::Translate(origin).apply(&mut table, Path::new("scene"), &Task::NEVER)?;
        }
        table.profile_hint = self.scene.profile_hint;
        table.encoding.model = self.scene.encoding.model;
        table.encoding.order = self.splats().order();
        table.comments.clone_from(&self.scene.comments);
        Ok(table)
    }
}

/// Copies spherical harmonics coefficients to an array [N, K, 3].
fn array_of_sh<'py>(
    py: Python<'py>,
    sh: Vec<[f32; 3]>,
    splats: &Splats,
) -> PyResult<Bound<'py, PyAny>> {
    array(py, sh.into_flattened(), &[splats.len(), rest_coefficients(splats.sh_degree()) + 1, 3])
}

fn of_distribution<'py>(
    py: Python<'py>,
    distribution: Distribution,
) -> PyResult<Bound<'py, PyDict>> {
    let document = PyDict::new(py);
    document.set_item("quantiles", distribution.quantiles)?;
    document.set_item("edges", distribution.edges)?;
    document.set_item("counts", distribution.counts)?;
    Ok(document)
}

/// Returns the output format called `name` or, without a name, of the extension of `path`.
pub(crate) fn output_format(path: &Path, name: Option<&str>) -> PyResult<OutputFormat> {
    if let Some(name) = name {
        return OutputFormat::named(name).map_err(|error| to_python(error.about("format")));
    }
    OutputFormat::of_name(path).ok_or_else(|| {
        let expected = "a name that ends in .ply, .compressed.ply, .spz, .sog, .ssog, .splat, .glb, .usdz, \
                        /meta.json or /lod-meta.json, or a format";
        to_python(Error::argument("path", expected, path.display().to_string()))
    })
}

/// Returns `count` views on a circle around the scene's content or, for `None`, one view chosen to show it well.
#[pyfunction]
pub(crate) fn views(
    py: Python<'_>,
    scene: &RawScene,
    count: Option<u32>,
    size: (u32, u32),
) -> PyResult<Vec<RawCamera>> {
    let (width, height) = (Some(size.0), Some(size.1));
    let spec = ViewSpec { orbit: count, width, height, ..ViewSpec::default() };
    let splats = scene.splats();
    let views = run(py, |task| spec.views(None, || framing(splats, &spec, task)))?;
    Ok(views.cameras.into_iter().map(RawCamera).collect())
}
