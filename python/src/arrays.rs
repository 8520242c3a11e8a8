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

/// Size in bytes of a huge page, and the least size of an array that gets some.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Creates an array of zeros. numpy takes large ones from the system, whose pages are zero, without writing them.
pub(crate) fn zeros<'py, T: numpy::Element>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    allocated(py, intern!(py, "zeros"), shape)
}

/// Memory of large arrays, for the next arrays of the same size. The system clears fresh pages, which takes as long as the
/// gradients of a step that are then written into them.
#[derive(Default)]
pub(crate) struct Recycled {
    mappings: Vec<Mapping>,
    round: usize,
}

/// Memory of an array.
struct Mapping {
    pages: Py<PyAny>,
    /// Weak reference to the array; all views of it keep it alive.
    array: Py<PyAny>,
    /// Number of the round that used the memory last.
    used: usize,
}

impl Mapping {
    fn is_idle(&self, py: Python<'_>) -> bool {
        self.array.bind(py).call0().is_ok_and(|array| array.is_none())
    }
}

impl Recycled {
    /// Begins a round of arrays. Idle memory that the last round did not use goes back to the system.
    pub(crate) fn begin(&mut self, py: Python<'_>) {
        let last = self.round;
        self.mappings.retain(|mapping| mapping.used == last || !mapping.is_idle(py));
        self.round += 1;
    }

    /// Creates an array of `len` numbers of any value, in huge pages if it is large.
    pub(crate) fn array<'py, T: numpy::Element>(
        &mut self,
        py: Python<'py>,
        len: usize,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes < HUGE_PAGE_BYTES {
            return empty(py, &[len]);
        }
        let whole = bytes.checked_next_multiple_of(HUGE_PAGE_BYTES).unwrap_or(bytes);
        let fits = |mapping: &Mapping| {
            mapping.pages.bind(py).len().is_ok_and(|len| len == whole) && mapping.is_idle(py)
        };
        let known = self.mappings.iter().position(fits);
        let pages = match known {
            Some(at) => self.mappings.swap_remove(at).pages.into_bound(py),
            None => match huge_pages(py, whole)? {
                Some(pages) => pages,
                None => return empty(py, &[len]),
            },
        };
        let numpy = py.import(intern!(py, "numpy"))?;
        let arguments = (&pages, T::get_dtype(py), len);
        let array = numpy.call_method1(intern!(py, "frombuffer"), arguments)?;
        let weakref = py.import(intern!(py, "weakref"))?;
        let reference = weakref.call_method1(intern!(py, "ref"), (&array,))?.unbind();
        let used = self.round;
        self.mappings.push(Mapping { pages: pages.unbind(), array: reference, used });
        Ok(array.cast_into()?)
    }
}

/// Maps `bytes` zeros in huge pages; `None` if Python's `mmap` has none on this system, or the memory does not suffice.
fn huge_pages(py: Python<'_>, bytes: usize) -> PyResult<Option<Bound<'_, PyAny>>> {
    let mmap = py.import(intern!(py, "mmap"))?;
    let Some(advice) = mmap.getattr_opt(intern!(py, "MADV_HUGEPAGE"))? else { return Ok(None) };
    let flag = |name: &Bound<'_, PyString>| mmap.getattr(name)?.extract::<i32>();
    let flags = flag(intern!(py, "MAP_PRIVATE"))? | flag(intern!(py, "MAP_ANONYMOUS"))?;
    // Linux starts mappings of whole huge pages at the border of one.
    let Ok(pages) = mmap.call_method1(intern!(py, "mmap"), (-1, bytes, flags)) else {
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
