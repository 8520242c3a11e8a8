//! Suites of runs, and plots of their results.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quadrille::Method;
use quadrille::suite::{Configuration, Event, RunOptions, Suite};
use quadrille_base::choice::Choice;
use quadrille_base::output::write_bytes;
use quadrille_charts::PrintFormat;
use quadrille_plots::{Combine, Fields, Filter, Plot, PlotFormat, PlotKind, Spread};

use crate::run::{Call, run};

/// A suite, and what is run of it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SuiteJob {
    /// Path of the suite file, or the name that stands for it in errors.
    path: PathBuf,
    /// JSON document of the suite; `None` for the content of the file.
    document: Option<String>,
    /// Methods in place of those of the suite, if there are any.
    methods: Vec<String>,
    /// Results file, whose rows are used and to which rows are appended.
    results: Option<PathBuf>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
}

/// Runs a suite; returns its rows as JSON, and warnings.
#[pyfunction]
pub(crate) fn bench(py: Python<'_>, job: SuiteJob) -> PyResult<(String, Vec<String>)> {
    let text = job.document.as_deref().map(toml_of).transpose()?;
    let mut call = Call::watched("runs", job.progress);
    call.threads = job.threads;
    let (path, methods, results) = (job.path, job.methods, job.results);
    let (rows, warnings) = call.run(py, |task| {
        let suite = match text {
            Some(text) => Suite::parse(&text, &path)?,
            None => Suite::read(&path)?,
        };
        let mut warnings = suite.remarks().to_vec();
        let methods = if methods.is_empty() { Ok(Vec::new()) } else { Method::parse_all(&methods) };
        let suite = suite.with_methods(methods.map_err(|error| error.about("methods"))?);
        let mut warn = |text: String| warnings.push(text);
        let bases = [Configuration::default()];
        let plan = suite.plan(&bases, quadrille::PROGRAM, task, &mut warn)?;
        let options = RunOptions { results: results.as_deref(), task, ..RunOptions::default() };
        let found = Mutex::new(Vec::new());
        let mut watch = |event: Event<'_>| {
            if let (Event::Warning(text), Ok(mut found)) = (event, found.lock()) {
                found.push(text);
            }
        };
        let rows = plan.run(&options, &mut watch)?;
        warnings.extend(found.into_inner().unwrap_or_default());
        Ok((rows, warnings))
    })?;
    let rows = serde_json::to_string(&rows);
    Ok((rows.map_err(|error| PyValueError::new_err(error.to_string()))?, warnings))
}

/// Converts a JSON document to the text of a suite.
fn toml_of(document: &str) -> PyResult<String> {
    let error = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("suite: {error}"));
    let table: toml::Table = serde_json::from_str(document).map_err(|e| error(&e))?;
    toml::to_string(&table).map_err(|e| error(&e))
}

/// Fields, conditions and looks of a plot.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[allow(clippy::struct_excessive_bools, reason = "settings that are on or off")]
pub(crate) struct PlotJob {
    results: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
    x: String,
    y: String,
    value: Option<String>,
    series: Vec<String>,
    filters: Vec<String>,
    kind: Option<String>,
    combine: String,
    spread: Option<String>,
    summary: Option<String>,
    marks: Vec<f64>,
    log: [bool; 2],
    fit: [bool; 2],
    title: Option<String>,
    labels: [Option<String>; 3],
    names: Vec<[String; 2]>,
    size_mm: (f64, Option<f64>),
    text_pt: f64,
}

/// Plots fields of results files; returns the plotted numbers as CSV, and remarks.
#[pyfunction]
pub(crate) fn plot(py: Python<'_>, job: PlotJob) -> PyResult<(String, Vec<String>)> {
    run(py, |_| {
        let outputs = job.outputs.iter().map(|path| {
            let format = PlotFormat::of(path).map_err(|error| error.about("output"))?;
            Ok((format, path))
        });
        let outputs: Vec<_> = outputs.collect::<quadrille::Result<_>>()?;
        let filter = |text: &String| text.parse::<Filter>().map_err(|error| error.about("where"));
        let filters = job.filters.iter().map(filter);
        let combine = |name: &String| Combine::named(name);
        let of_kind = |name: &String| PlotKind::named(name);
        let plot = Plot {
            kind: job.kind.as_ref().map(of_kind).transpose().map_err(|e| e.about("kind"))?,
            value: job.value,
            series: job.series,
            filters: filters.collect::<quadrille::Result<_>>()?,
            combine: combine(&job.combine).map_err(|error| error.about("combine"))?,
            spread: job
                .spread
                .as_deref()
                .map(Spread::named)
                .transpose()
                .map_err(|e| e.about("spread"))?,
            names: job.names,
            summary: job
                .summary
                .as_ref()
                .map(combine)
                .transpose()
                .map_err(|e| e.about("summary"))?,
            is_log: job.log,
            is_fitted: job.fit,
            marks: job.marks,
            labels: job.labels,
            title: job.title.clone(),
            ..Plot::new(&job.x, &job.y)
        };
        let plotted = plot.draw(&Fields::read(&job.results)?)?;
        let drawing = plotted.on_paper(&PrintFormat {
            width_mm: job.size_mm.0,
            height_mm: job.size_mm.1,
            text_pt: job.text_pt,
            heading: job.title.unwrap_or_default(),
        })?;
        for (format, path) in outputs {
            write_bytes(path, &format.bytes(&drawing, path)?)?;
        }
        Ok((plotted.csv(), plotted.remarks))
    })
}
