//! Conversion of scene files, and tables of raw columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadrille::convert::{
    Action, Change, Conversion, ConversionHost, ConvertedFile, JUDGING_ORBIT, LOD_LEVELS, Step,
};
use quadrille::nalgebra::Matrix4;
use quadrille::{
    Camera, Error, LoadOptions, OutputFormat, SceneInput, SplatTable, Splats, Task, WriteOptions,
};
use quadrille_render::viewpoint::framing;
use quadrille_scene::Scalar;
use quadrille_scene::cameras::{ViewSpec, find_camera_file};
use quadrille_scene::table::{Column, ColumnValues};
use quadrille_scene::transform::Similarity;

use crate::camera::{RawCamera, warnings_of};
use crate::errors::to_python;
use crate::render::checked_near;
use crate::run::{Call, Stage, run};
use crate::scene::{RawScene, output_format};

/// Inputs, output and actions of a conversion.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Conversions {
    inputs: Vec<PathBuf>,
    output: PathBuf,
    /// Name and value of each action, in the order of application.
    actions: Vec<(String, String)>,
    format: Option<String>,
    report: bool,
    near: Option<f64>,
    drop_outside: bool,
}

/// Host of a conversion: provides views, and receives warnings and progress.
struct Host<'a> {
    inputs: &'a [PathBuf],
    cameras: Option<Vec<Camera>>,
    /// Description of the source of the views, for reports.
    source: String,
    warnings: Vec<String>,
    stage: Arc<Stage>,
    task: &'a Task,
}

impl ConversionHost for Host<'_> {
    fn warn(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }

    fn note(&mut self, text: &str) {
        self.warn(text);
    }

    fn has_read(
        &mut self,
        path: &Path,
        table: &SplatTable,
        _: &ConvertedFile,
    ) -> quadrille::Result<()> {
        let warnings = table.encoding.warnings.iter();
        self.warnings.extend(warnings.map(|warning| format!("{}: {warning}", path.display())));
        Ok(())
    }

    fn begin(&mut self, counted: &str) -> Task {
        self.stage.begin(counted);
        self.task.clone()
    }

    fn views(&mut self, splats: &Splats) -> quadrille::Result<Vec<Camera>> {
        if let Some(cameras) = &self.cameras {
            return Ok(cameras.clone());
        }
        let spec = ViewSpec { orbit: Some(JUDGING_ORBIT), ..ViewSpec::default() };
        let views = spec.views(None, || framing(splats, &spec, self.task))?;
        self.cameras = Some(views.cameras.clone());
        Ok(views.cameras)
    }

    fn source_of_views(&self) -> (String, bool) {
        (self.source.clone(), self.cameras.is_some())
    }
}

impl Host<'_> {
    /// If the caller passed no cameras, takes the cameras of the file beside the first input. If there is no such file, a
    /// report uses a circle of views around the content, and pruning is refused.
    fn find_views(&mut self, is_pruned: bool) -> quadrille::Result<()> {
        let beside = self.inputs.first().and_then(|input| find_camera_file(input));
        if let (None, Some(file)) = (&self.cameras, &beside) {
            let found = quadrille::load_cameras(file)?;
            self.warnings.extend(warnings_of(&found));
            self.source = file.display().to_string();
            self.cameras = Some(found.cameras);
        }
        if self.cameras.is_none() && is_pruned {
            let found = "none, and no camera file beside the first input";
            return Err(Error::argument("cameras", "cameras for the action prune", found));
        }
        Ok(())
    }
}

/// Converts scene files; returns the document of `convert --json`, and warnings.
#[pyfunction]
pub(crate) fn convert(
    py: Python<'_>,
    job: Conversions,
    cameras: Option<Vec<PyRef<'_, RawCamera>>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let conversion = Conversion {
        reading: LoadOptions::default(),
        steps: steps(&job.actions)?,
        drop_outside: job.drop_outside.then(|| "drop_outside".to_owned()),
        format: output_format(&job.output, job.format.as_deref())?,
        compression_level: None,
        lod_levels: LOD_LEVELS,
        is_compared: job.report,
        near: checked_near(job.near)?,
        keeps_cameras: false,
        inputs: job.inputs,
        output: job.output,
    };
    let cameras = cameras.map(|all| all.iter().map(|camera| camera.0.clone()).collect());
    let call = Call::watched("convert", progress);
    let stage = call.stage();
    let (converted, warnings) = call.run(py, |task| {
        refuse_inputs(&conversion)?;
        let mut host = Host {
            inputs: &conversion.inputs,
            source: match cameras {
                Some(_) => "cameras".to_owned(),
                None => format!("orbit {JUDGING_ORBIT}"),
            },
            cameras,
            warnings: Vec::new(),
            stage,
            task,
        };
        if is_pruned(&conversion) || conversion.is_compared {
            host.find_views(is_pruned(&conversion))?;
        }
        Ok((conversion.run(&mut host)?, host.warnings))
    })?;
    let document = serde_json::to_string(&converted);
    Ok((document.map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?, warnings))
}

/// Applies actions to a scene in memory; returns the new scene, and warnings.
#[pyfunction]
pub(crate) fn convert_scene(
    py: Python<'_>,
    scene: &RawScene,
    actions: Vec<(String, String)>,
    cameras: Option<Vec<PyRef<'_, RawCamera>>>,
    near: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(RawScene, Vec<String>)> {
    apply(py, scene, steps(&actions)?, cameras, near, progress)
}

/// Moves a scene by the matrix of a similarity transform; returns the new scene, and warnings.
#[pyfunction]
pub(crate) fn transform(
    py: Python<'_>,
    scene: &RawScene,
    matrix: [[f64; 4]; 4],
) -> PyResult<(RawScene, Vec<String>)> {
    let by = Similarity::of_matrix(&Matrix4::from_fn(|row, column| matrix[row][column]));
    let change = Change::Action(Action::Transform(by.map_err(to_python)?));
    let step = Step { input: None, text: "transform".to_owned(), change };
    apply(py, scene, vec![step], None, None, None)
}

fn apply(
    py: Python<'_>,
    scene: &RawScene,
    steps: Vec<Step>,
    cameras: Option<Vec<PyRef<'_, RawCamera>>>,
    near: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(RawScene, Vec<String>)> {
    let conversion = Conversion {
        inputs: Vec::new(),
        reading: LoadOptions::default(),
        steps,
        drop_outside: None,
        output: PathBuf::new(),
        format: OutputFormat::Ply,
        compression_level: None,
        lod_levels: 1,
        is_compared: false,
        near: checked_near(near)?,
        keeps_cameras: false,
    };
    let cameras = cameras.map(|all| all.iter().map(|camera| camera.0.clone()).collect());
    let call = Call::watched("convert", progress);
    let stage = call.stage();
    call.run(py, |task| {
        let source = "cameras".to_owned();
        let mut host = Host { inputs: &[], cameras, source, warnings: Vec::new(), stage, task };
        if is_pruned(&conversion) && host.cameras.is_none() {
            return Err(Error::argument("cameras", "cameras for the action prune", "none"));
        }
        let table = conversion.apply(scene.table()?, &mut host)?;
        Ok((scene.with_table(&table, task)?, host.warnings))
    })
}

fn steps(actions: &[(String, String)]) -> PyResult<Vec<Step>> {
    let step = |(name, value): &(String, String)| {
        let change = Change::parse(name, value)?;
        let text = format!("{name} {value}").trim_end().to_owned();
        Ok(Step { input: None, text, change })
    };
    let steps: quadrille::Result<Vec<Step>> = actions.iter().map(step).collect();
    steps.map_err(to_python)
}

fn is_pruned(conversion: &Conversion) -> bool {
    conversion.steps.iter().any(|step| matches!(step.change, Change::Prune(_)))
}

/// Refuses an output that is one of the inputs, which a failed conversion could destroy.
fn refuse_inputs(conversion: &Conversion) -> quadrille::Result<()> {
    let inputs: Vec<&Path> = conversion.inputs.iter().map(PathBuf::as_path).collect();
    quadrille_base::output::refuse_input(&conversion.output, &inputs)
}

/// Python class of a table: the raw columns of a scene file, before activation.
#[pyclass(frozen, module = "quadrille._quadrille", name = "Table")]
#[derive(Debug)]
pub(crate) struct RawTable(SplatTable);

/// Loads the raw columns of a scene file.
#[pyfunction]
pub(crate) fn load_table(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<RawTable> {
    let call = Call::watched("load", progress);
    Ok(RawTable(call.run(py, |task| quadrille::load_table(SceneInput::file(&path).task(task)))?))
}

#[pymethods]
impl RawTable {
    #[getter]
    fn comments(&self) -> Vec<String> {
        self.0.comments.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.encoding.warnings.clone()
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.0.format.name()
    }

    /// Returns the columns by name, with the element types of the file.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for column in &self.0.columns {
            columns.set_item(&column.name, array_of_column(py, &column.values)?)?;
        }
        Ok(columns)
    }

    /// Writes the given columns and comments to a file, in `format` or the format of its extension. Returns warnings
    /// about data that the format cannot hold.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        columns: Vec<(String, ColumnArray<'_>)>,
        comments: Vec<String>,
    ) -> PyResult<Vec<String>> {
        let format: OutputFormat = output_format(&path, format)?;
        let columns: PyResult<Vec<Column>> = columns
            .into_iter()
            .map(|(name, array)| {
                let values = array.values()?;
                Ok(Column { name, values })
            })
            .collect();
        let columns = columns?;
        let rows = columns.first().map_or(0, |column| column.values.len());
        let mut table = self.0.clone();
        table.replace_columns(rows, columns);
        table.comments = comments;
        run(py, |task| {
            quadrille::write_table(&path, &table, WriteOptions::new(format).task(task))?;
            Ok(format.losses(&table))
        })
    }
}

/// A numpy array of any element type of PLY.
#[derive(FromPyObject)]
pub(crate) enum ColumnArray<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
    I8(PyReadonlyArray1<'py, i8>),
    U8(PyReadonlyArray1<'py, u8>),
    I16(PyReadonlyArray1<'py, i16>),
    U16(PyReadonlyArray1<'py, u16>),
    I32(PyReadonlyArray1<'py, i32>),
    U32(PyReadonlyArray1<'py, u32>),
}

impl ColumnArray<'_> {
    fn values(&self) -> PyResult<ColumnValues> {
        fn wide<T: numpy::Element + Copy + Into<f64>>(
            scalar: Scalar,
            array: &PyReadonlyArray1<'_, T>,
        ) -> PyResult<ColumnValues> {
            let values = array.as_slice()?.iter().map(|value| (*value).into());
            Ok(ColumnValues::Other(scalar, values.collect()))
        }
        match self {
            Self::F32(array) => Ok(ColumnValues::F32(array.as_slice()?.to_vec())),
            Self::F64(array) => wide(Scalar::F64, array),
            Self::I8(array) => wide(Scalar::I8, array),
            Self::U8(array) => wide(Scalar::U8, array),
            Self::I16(array) => wide(Scalar::I16, array),
            Self::U16(array) => wide(Scalar::U16, array),
            Self::I32(array) => wide(Scalar::I32, array),
            Self::U32(array) => wide(Scalar::U32, array),
        }
    }
}

fn array_of_column<'py>(py: Python<'py>, values: &ColumnValues) -> PyResult<Bound<'py, PyAny>> {
    let (scalar, wide) = match values {
        ColumnValues::F32(values) => return Ok(values.clone().into_pyarray(py).into_any()),
        ColumnValues::Other(scalar, wide) => (scalar, wide.clone().into_pyarray(py)),
    };
    Ok(match scalar {
        Scalar::F64 => wide.into_any(),
        Scalar::F32 => wide.cast_array::<f32>(false)?.into_any(),
        Scalar::I8 => wide.cast_array::<i8>(false)?.into_any(),
        Scalar::U8 => wide.cast_array::<u8>(false)?.into_any(),
        Scalar::I16 => wide.cast_array::<i16>(false)?.into_any(),
        Scalar::U16 => wide.cast_array::<u16>(false)?.into_any(),
        Scalar::I32 => wide.cast_array::<i32>(false)?.into_any(),
        Scalar::U32 => wide.cast_array::<u32>(false)?.into_any(),
    })
}
