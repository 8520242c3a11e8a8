//! Losses of pictures, with their gradients.

use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use quadrille::{Error, LossPadding, LossPictures, LossTerms};
use quadrille_base::choice::Choice;

use crate::arrays::{Floats, array, numbers};
use crate::errors::to_python;
use crate::run::Call;

/// Returns the mean absolute difference and the SSIM of two arrays [..., H, W, C], and the derivatives of the loss that is
/// their sum times `factors`, by the first and by the second array as far as they are wanted.
#[pyfunction]
pub(crate) fn loss<'py>(
    py: Python<'py>,
    pictures: (Floats<'py>, Floats<'py>),
    padding: &str,
    factors: (f64, f64),
    wanted: [bool; 2],
    threads: Option<usize>,
) -> PyResult<([f64; 2], Vec<Bound<'py, PyAny>>)> {
    let padding = LossPadding::named(padding);
    let padding = padding.map_err(|error| to_python(error.about("padding")))?;
    let shape: &[usize] = pictures.0.shape();
    let &[.., height, width, channels] = shape else {
        let expected = "[..., H, W, C]";
        return Err(to_python(Error::argument("a", expected, format!("{shape:?}"))));
    };
    let (a, b) = (numbers("a", &pictures.0)?, numbers("b", &pictures.1)?);
    let both = LossPictures { a, b, width, height, channels, padding };
    let mut call = Call::default();
    call.threads = threads;
    let (terms, gradients) = call.run(py, |_| {
        let factors = LossTerms { mean_absolute: factors.0, ssim: factors.1 };
        both.gradients(&factors, wanted)
    })?;
    let asked = gradients.into_iter().zip(wanted).filter(|of| of.1);
    let arrays = asked.map(|(values, _)| array(py, values, shape)).collect::<PyResult<_>>()?;
    Ok(([terms.mean_absolute, terms.ssim], arrays))
}
