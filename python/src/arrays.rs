//! Conversion of arrays between numpy and the library.

use numpy::{
    IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use quadrille::{Error, Frame};

use crate::errors::to_python;

/// Array of f32 in C order; the Python package converts its arguments to this form.
pub(crate) type Floats<'py> = PyReadonlyArrayDyn<'py, f32>;

/// Borrows the elements of an array; an error names the argument if the array is not in C order.
pub(crate) fn numbers<'a, T: numpy::Element>(
    name: &str,
    array: &'a PyReadonlyArrayDyn<'_, T>,
) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| {
        let found = format!("strides {:?}", array.strides());
        to_python(Error::argument(name, "an array in C order", found))
    })
}

/// Borrows an array in C order as rows of `N` elements; the last axis must have length `N`.
pub(crate) fn rows<'a, const N: usize>(
    name: &str,
    array: &'a Floats<'_>,
) -> PyResult<&'a [[f32; N]]> {
    match array.shape().last() {
        Some(&last) if last == N => Ok(bytemuck::cast_slice(numbers(name, array)?)),
        _ => {
            let expected = format!("a last axis of {N}");
            Err(to_python(Error::argument(name, expected, format!("{:?}", array.shape()))))
        }
    }
}

/// Creates an array of `shape` from `values` without a copy.
pub(crate) fn array<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let flat: Bound<'py, PyArray1<T>> = values.into_pyarray(py);
    Ok(flat.reshape(shape.to_vec())?.into_any())
}

/// Creates an array of `shape` with arbitrary values. numpy allocates the memory without clearing it, in huge pages for
/// large arrays.
pub(crate) fn empty<'py, T: numpy::Element>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    allocated(py, intern!(py, "empty"), shape)
}

/// Size in bytes of a huge page, and the least size of an array of zeros that gets some.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Creates an array of zeros: a large one in huge pages that the system clears when they are first written. numpy's own
/// zeros have pages of 4 KiB, whose faults cost several times the clearing.
pub(crate) fn zeros<'py, T: numpy::Element>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let count: usize = shape.iter().product();
    let bytes = count.saturating_mul(size_of::<T>());
    if bytes >= HUGE_PAGE_BYTES
        && let Some(pages) = huge_pages(py, bytes)?
    {
        let numpy = py.import(intern!(py, "numpy"))?;
        let flat =
            numpy.call_method1(intern!(py, "frombuffer"), (pages, T::get_dtype(py), count))?;
        let shaped = flat.call_method1(intern!(py, "reshape"), (PyTuple::new(py, shape)?,))?;
        return Ok(shaped.cast_into()?);
    }
    allocated(py, intern!(py, "zeros"), shape)
}

/// Maps at least `bytes` zeros in huge pages; `None` if Python's `mmap` has none on this system.
fn huge_pages<'py>(py: Python<'py>, bytes: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mmap = py.import(intern!(py, "mmap"))?;
    let Some(advice) = mmap.getattr_opt(intern!(py, "MADV_HUGEPAGE"))? else { return Ok(None) };
    let flag = |name: &Bound<'py, PyString>| mmap.getattr(name)?.extract::<i32>();
    let flags = flag(intern!(py, "MAP_PRIVATE"))? | flag(intern!(py, "MAP_ANONYMOUS"))?;
    // Linux starts mappings of whole huge pages at the border of one.
    let whole = bytes.checked_next_multiple_of(HUGE_PAGE_BYTES).unwrap_or(bytes);
    let Ok(pages) = mmap.call_method1(intern!(py, "mmap"), (-1, whole, flags)) else {
        return Ok(None);
    };
    // Without huge pages, access is slower but correct.
    let _ = pages.call_method1(intern!(py, "madvise"), (advice,));
    Ok(Some(pages))
}

fn allocated<'py, T: numpy::Element>(
    py: Python<'py>,
    function: &Bound<'py, PyString>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let numpy = py.import(intern!(py, "numpy"))?;
    let shape = PyTuple::new(py, shape)?;
    Ok(numpy.call_method1(function, (shape, T::get_dtype(py)))?.cast_into()?)
}

/// Creates an array of `shape`, passes its elements to `fill`, and returns it with the result of `fill`.
pub(crate) fn filled<'py, T: numpy::Element, R>(
    py: Python<'py>,
    shape: &[usize],
    fill: impl FnOnce(&mut [T]) -> PyResult<R>,
) -> PyResult<(Bound<'py, PyAny>, R)> {
    let array = empty::<T>(py, shape)?;
    let result = fill(array.readwrite().as_slice_mut()?)?;
    Ok((array.into_any(), result))
}

/// Creates an array [len, N] from rows of `N` numbers.
pub(crate) fn array_of_rows<'py, const N: usize>(
    py: Python<'py>,
    rows: Vec<[f32; N]>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = [rows.len(), N];
    array(py, rows.into_flattened(), &shape)
}

/// Copies a frame to an array [height, width, 4] of premultiplied RGBA.
pub(crate) fn array_of_frame<'py>(py: Python<'py>, frame: &Frame) -> PyResult<Bound<'py, PyAny>> {
    let shape = [frame.height() as usize, frame.width() as usize, 4];
    array(py, frame.pixels().as_flattened().to_vec(), &shape)
}

/// Copies an array [height, width, 4] of premultiplied RGBA to a frame.
pub(crate) fn frame_of_array(name: &str, rgba: &Floats<'_>) -> PyResult<Frame> {
    let pixels = rows::<4>(name, rgba)?;
    let sides = match *rgba.shape() {
        [height, width, _] => [width, height],
        _ => [0, 0],
    };
    let [Ok(width), Ok(height)] = sides.map(u32::try_from) else {
        return Err(to_python(Error::argument(name, "[H, W, 4]", format!("{:?}", rgba.shape()))));
    };
    if width == 0 || height == 0 {
        return Err(to_python(Error::argument(name, "[H, W, 4]", format!("{:?}", rgba.shape()))));
    }
    Ok(Frame::from_pixels(width, height, pixels.to_vec()))
}
