//! Pictures: files, 8-bit conversion, and comparison.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quadrille::{Error, Frame, PictureFormat, Protocol, compare_with_map};
use quadrille_base::choice::Choice;
use quadrille_base::image::metrics::ssimulacra2;
use quadrille_base::image::{ColourCorrection, to_8_bit};
use quadrille_evaluation::{LpipsKind, LpipsMetrics};

use crate::arrays::{Floats, array, array_of_frame, frame_of_array};
use crate::errors::to_python;
use crate::run::run;

/// Reads a picture file as an array [H, W, 4] of premultiplied RGBA.
#[pyfunction]
pub(crate) fn read_picture(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    array_of_frame(py, &run(py, |_| quadrille::read_picture(&path))?)
}

/// Writes a picture to a file in the format of its extension.
#[pyfunction]
pub(crate) fn save_picture(py: Python<'_>, rgba: Floats<'_>, path: PathBuf) -> PyResult<()> {
    let frame = frame_of_array("picture", &rgba)?;
    run(py, |_| quadrille::write_picture(&path, &frame))
}

/// Encodes a picture in the format of the extension of `name`; returns the bytes of the file.
#[pyfunction]
pub(crate) fn encode_picture<'py>(
    py: Python<'py>,
    rgba: Floats<'_>,
    name: PathBuf,
) -> PyResult<Bound<'py, PyBytes>> {
    let frame = frame_of_array("picture", &rgba)?;
    let bytes = run(py, |_| {
        let format = PictureFormat::of_name(&name).ok_or_else(|| {
            Error::argument(
                "name",
                "a name that ends in .png, .exr, .npy, .jpg or .webp",
                name.display().to_string(),
            )
        })?;
        let mut bytes = Vec::new();
        let encoded = quadrille::encode_picture(&mut bytes, format, &frame);
        encoded.map_err(|reason| Error::write(Path::new("picture"), reason))?;
        Ok(bytes)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Composites a picture over an opaque colour; returns an array [H, W, 4].
#[pyfunction]
pub(crate) fn over<'py>(
    py: Python<'py>,
    rgba: Floats<'_>,
    colour: [f32; 3],
) -> PyResult<Bound<'py, PyAny>> {
    let frame = frame_of_array("picture", &rgba)?;
    array_of_frame(py, &run(py, |_| Ok(frame.over(colour)))?)
}

/// Composites a picture over an opaque colour; returns an array [H, W, 3] of u8, rounded as in PNG files.
#[pyfunction]
pub(crate) fn rgb8<'py>(
    py: Python<'py>,
    rgba: Floats<'_>,
    colour: [f32; 3],
) -> PyResult<Bound<'py, PyAny>> {
    let frame = frame_of_array("picture", &rgba)?;
    let bytes = run(py, |_| {
        let over = frame.over(colour);
        Ok(over.pixels().iter().flat_map(|p| [p[0], p[1], p[2]].map(to_8_bit)).collect())
    })?;
    array::<u8>(py, bytes, &[frame.height() as usize, frame.width() as usize, 3])
}

/// LPIPS networks of the last comparison, with their names and the path of the weights. Kept so that many comparisons
/// read the weights once.
type KnownNets = Option<((Vec<String>, Option<PathBuf>), Arc<LpipsMetrics>)>;
static NETS: Mutex<KnownNets> = Mutex::new(None);

/// Loads the LPIPS networks called `names`, unless they are the networks of the last comparison.
fn nets(names: Vec<String>, weights: Option<PathBuf>) -> PyResult<Arc<LpipsMetrics>> {
    let mut known = NETS.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = (names, weights);
    if let Some((_, nets)) = known.as_ref().filter(|(own, _)| *own == wanted) {
        return Ok(Arc::clone(nets));
    }
    let kinds = wanted.0.iter().map(|name| LpipsKind::named(name));
    let kinds = kinds.collect::<Result<Vec<_>, Error>>();
    let kinds = kinds.map_err(|error| to_python(error.about("lpips")))?;
    let nets = Arc::new(LpipsMetrics::load(&kinds, wanted.1.as_deref()).map_err(to_python)?);
    *known = Some((wanted, Arc::clone(&nets)));
    Ok(nets)
}

/// Compares two pictures. Returns the metrics as JSON, and the FLIP error of every pixel. `lpips` holds names of
/// networks for LPIPS. `b` is the original of SSIMULACRA2.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    a: Floats<'_>,
    b: Floats<'_>,
    protocol: &str,
    colour_correction: Option<&str>,
    lpips: Vec<String>,
    weights: Option<PathBuf>,
    has_ssimulacra2: bool,
) -> PyResult<(String, Bound<'py, PyAny>)> {
    let protocol = Protocol::named(protocol).map_err(|error| to_python(error.about("protocol")))?;
    let [a, b] = [("a", a), ("b", b)].map(|(name, rgba)| frame_of_array(name, &rgba));
    let (a, b): (Frame, Frame) = (a?, b?);
    let correction = colour_correction.map(ColourCorrection::named).transpose();
    let correction = correction.map_err(|error| to_python(error.about("colour_correction")))?;
    let nets = nets(lpips, weights)?;
    let (comparison, map, distances, score) = run(py, |_| {
        let corrected =
            correction.map(|map| map.corrected([&a, &b], [0.0; 3], None)).transpose()?;
        let [a, b] = corrected.as_ref().map_or([&a, &b], |[a, b]| [a, b]);
        let (comparison, map) = compare_with_map(a, b, protocol)?;
        let score = has_ssimulacra2.then(|| ssimulacra2(b, a, protocol)).transpose()?;
        Ok((comparison, map, nets.measure([a, b], protocol)?, score))
    })?;
    let mut document = serde_json::json!(comparison);
    let distances = serde_json::json!(distances);
    for (key, distance) in distances.as_object().into_iter().flatten() {
        document[key] = distance.clone();
    }
    if let Some(score) = score {
        document["ssimulacra2"] = score.into();
    }
    document["protocol"] = serde_json::json!(protocol);
    Ok((document.to_string(), array(py, map, &[a.height() as usize, a.width() as usize])?))
}
