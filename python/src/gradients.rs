//! Gradients of gsplat's rasterization call, in the two phases of the library.

use std::sync::{LazyLock, Mutex, PoisonError};

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use quadrille::backward::{CameraGradients, GradientRows, PictureCotangents, RasterSums};
use quadrille::channels::ChannelValues;
use quadrille::{Error, SplatRows};

use crate::arrays::{Floats, Recycled, array, array_of_rows, numbers, rows, zeros};
use crate::errors::to_python;
use crate::gsplat::{RasterCall, RawSavedPictures, Views};
use crate::pairs::Named;
use crate::run::Call;

/// Derivatives of a loss by the splats of a call in the picture planes.
#[pyclass(frozen, module = "quadrille._quadrille", name = "PlaneGradients")]
pub(crate) struct RawPlaneGradients {
    sums: Mutex<Vec<RasterSums>>,
}

/// Items of an object while a call uses them. They are taken out, not locked: a thread that waited for the lock would hold
/// the interpreter, which the call needs.
struct Taken<'a, T> {
    place: &'a Mutex<Vec<T>>,
    items: Vec<T>,
}

impl<'a, T> Taken<'a, T> {
    /// Takes the items of `place`, one per camera.
    fn new(place: &'a Mutex<Vec<T>>, cameras: usize) -> PyResult<Self> {
        let items = std::mem::take(&mut *place.lock().unwrap_or_else(PoisonError::into_inner));
        let taken = Self { place, items };
        if taken.items.len() == cameras {
            Ok(taken)
        } else {
            let found = taken.items.len();
            let expected = format!("pictures of {cameras} cameras that no other thread uses");
            Err(to_python(Error::argument("gradients", expected, found)))
        }
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        if !self.items.is_empty() {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) =
                std::mem::take(&mut self.items);
        }
    }
}

/// Refuses an array of another length than that of a call.
fn check_length(name: &str, expected: usize, found: usize) -> PyResult<()> {
    let is_other = found != expected;
    Error::refuse_if(is_other, name, format_args!("{expected} numbers"), found).map_err(to_python)
}

#[pymethods]
impl RawSavedPictures {
    /// Differentiates a loss by the splats in the picture planes, given its derivatives by colours [C, H, W, X] and alphas
    /// [C, H, W, 1].
    fn raster_gradients(
        &self,
        py: Python<'_>,
        call: RasterCall<'_>,
        cotangents: (Floats<'_>, Floats<'_>),
        is_absolute: bool,
    ) -> PyResult<RawPlaneGradients> {
        let (views, drawing) = (Views::of(&call)?, &call.4);
        let by_values = numbers("v_colors", &cotangents.0)?;
        let by_alphas = numbers("v_alphas", &cotangents.1)?;
        let (pixels, count) = (drawing.pixels(), views.channels());
        check_length("v_colors", views.cameras.len() * pixels * count, by_values.len())?;
        check_length("v_alphas", views.cameras.len() * pixels, by_alphas.len())?;
        let mut pictures = Taken::new(&self.pictures, views.cameras.len())?;
        let mut run = Call::default();
        run.threads = drawing.threads;
        let mut sums = Vec::with_capacity(pictures.items.len());
        for (number, picture) in pictures.items.iter_mut().enumerate() {
            let (_, _, channels) = views.inputs(number);
            let cotangents = PictureCotangents {
                values: &by_values[number * pixels * count..][..pixels * count],
                alphas: &by_alphas[number * pixels..][..pixels],
            };
            sums.push(run.run(py, |task| {
                picture.raster_gradients(&channels, &cotangents, is_absolute, task)
            })?);
        }
        Ok(RawPlaneGradients { sums: Mutex::new(sums) })
    }

    /// Differentiates by the inputs called `names`, given the derivatives by the projected centres of all splats,
    /// [C, N, 2], or of the drawn ones, [n, 2]. Returns flat arrays by name.
    fn project_gradients<'py>(
        &self,
        py: Python<'py>,
        call: RasterCall<'py>,
        plane: &RawPlaneGradients,
        means2d: Floats<'py>,
        names: Vec<String>,
    ) -> PyResult<Named<'py>> {
        let (views, drawing) = (Views::of(&call)?, &call.4);
        let mut sums = Taken::new(&plane.sums, views.cameras.len())?;
        let pictures = Taken::new(&self.pictures, views.cameras.len())?;
        let is_packed = means2d.shape().len() == 2;
        set_means2d(&mut sums.items, rows("means2d", &means2d)?, self.splats, is_packed)?;
        let outputs = Outputs::new(py, &views, &names)?;
        let mut run = Call::default();
        run.threads = drawing.threads;
        let mut poses: Vec<CameraGradients> = Vec::with_capacity(pictures.items.len());
        for (number, (picture, sums)) in pictures.items.iter().zip(&sums.items).enumerate() {
            let (slices, degree, channels) = views.inputs(number);
            poses.push(outputs.with(&views, number, |gradients| {
                run.run(py, |task| {
                    let rows = SplatRows::new(slices, degree)?;
                    picture.project_gradients(&rows, &channels, sums, gradients, task)
                })
            })?);
        }
        let mut named = outputs.named();
        let has = |name: &str| names.iter().any(|wanted| wanted == name);
        if has("viewmats") {
            let poses = poses.iter().flat_map(|pose| pose.view_from_world.as_flattened().to_vec());
            let poses: Vec<f64> = poses.collect();
            let length = poses.len();
            named.push(("viewmats", array(py, poses, &[length])?));
        }
        if has("backgrounds") {
            let backgrounds: Vec<f32> =
                sums.items.iter().flat_map(|sums| sums.background.clone()).collect();
            let length = backgrounds.len();
            named.push(("backgrounds", array(py, backgrounds, &[length])?));
        }
        Ok(named)
    }
}

/// Replaces the derivatives by the centres, given for all splats [C, N, 2] or, packed, for the drawn ones.
fn set_means2d(
    sums: &mut [RasterSums],
    means2d: &[[f32; 2]],
    splats: usize,
    is_packed: bool,
) -> PyResult<()> {
    let drawn: usize = sums.iter().map(|sums| sums.indices.len()).sum();
    let expected = if is_packed { drawn } else { sums.len() * splats };
    check_length("means2d", 2 * expected, 2 * means2d.len())?;
    let mut first = 0;
    for sums in sums {
        if is_packed {
            let count = sums.indices.len();
            sums.means2d.copy_from_slice(&means2d[first..][..count]);
            first += count;
        } else {
            for (by, index) in sums.means2d.iter_mut().zip(&sums.indices) {
                *by = means2d[first + *index as usize];
            }
            first += splats;
        }
    }
    Ok(())
}

/// Quaternions [N, 4] and scales [N, 3] of covariances [N, 6].
#[pyfunction]
pub(crate) fn axes_of_covariances<'py>(
    py: Python<'py>,
    covars: Floats<'py>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let covariances = rows("covars", &covars)?;
    let (scales, rotations) =
        Call::default().run(py, |task| quadrille::axes_of_covariances(covariances, task))?;
    Ok((array_of_rows(py, rotations)?, array_of_rows(py, scales)?))
}

#[pymethods]
impl RawPlaneGradients {
    /// Returns the derivatives by the projected centres, per pixel, and the sums of their absolute values, for all `splats`
    /// splats, [C, N, 2], or for the drawn ones.
    #[pyo3(signature = (splats = None))]
    fn means2d<'py>(
        &self,
        py: Python<'py>,
        splats: Option<usize>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let both = |of: fn(&RasterSums) -> &Vec<[f32; 2]>| match splats {
            None => {
                let all: Vec<[f32; 2]> = sums.iter().flat_map(of).copied().collect();
                array_of_rows(py, all)
            }
            Some(splats) => {
                let array = zeros::<f32>(py, &[sums.len(), splats, 2])?;
                let mut numbers = array.readwrite();
                let all: &mut [[f32; 2]] = bytemuck::cast_slice_mut(numbers.as_slice_mut()?);
                for (number, sums) in sums.iter().enumerate() {
                    let rows = &mut all[number * splats..][..splats];
                    for (index, by) in sums.indices.iter().zip(of(sums)) {
                        rows[*index as usize] = *by;
                    }
                }
                drop(numbers);
                Ok(array.into_any())
            }
        };
        Ok((both(|sums| &sums.means2d)?, both(|sums| &sums.absolute_means2d)?))
    }
}

/// Memory of the arrays of the last gradients.
static MEMORY: LazyLock<Mutex<Recycled>> = LazyLock::new(Mutex::default);

/// Arrays of gradients by name, for those that are wanted.
struct Outputs<'py> {
    arrays: Vec<(&'static str, Bound<'py, PyArrayDyn<f32>>)>,
}

impl<'py> Outputs<'py> {
    fn new(py: Python<'py>, views: &Views<'_>, names: &[String]) -> PyResult<Self> {
        let splats = views.splats();
        let lengths = [
            ("means", 3 * splats),
            ("quats", 4 * splats),
            ("scales", 3 * splats),
            ("covars", 6 * splats),
            ("opacities", splats),
            ("colors", views.color_numbers()),
        ];
        let wanted = lengths.into_iter().filter(|(name, _)| names.iter().any(|n| n == name));
        let locked = || MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, not locked, since numpy may let another thread have the interpreter.
        let mut memory = std::mem::take(&mut *locked());
        memory.begin(py);
        let arrays = wanted.map(|(name, length)| {
            // The first camera clears the arrays.
            let array = match views.cameras.is_empty() {
                true => zeros(py, &[length])?,
                false => memory.array(py, length)?,
            };
            Ok((name, array))
        });
        let arrays = arrays.collect::<PyResult<_>>();
        *locked() = memory;
        Ok(Self { arrays: arrays? })
    }

    /// Calls `add` with the arrays that take the gradients of camera `number`.
    fn with<R>(
        &self,
        views: &Views<'_>,
        number: usize,
        add: impl FnOnce(&mut GradientRows<'_>) -> PyResult<R>,
    ) -> PyResult<R> {
        let (_, _, channels) = views.inputs(number);
        let mut locks: Vec<_> =
            self.arrays.iter().map(|(name, array)| (*name, array.readwrite())).collect();
        let mut gradients = GradientRows { clears: number == 0, ..GradientRows::default() };
        for (name, array) in &mut locks {
            let all = array.as_slice_mut()?;
            match *name {
                "means" => gradients.means = bytemuck::cast_slice_mut(all),
                "quats" => gradients.rotations = bytemuck::cast_slice_mut(all),
                "scales" => gradients.scales = bytemuck::cast_slice_mut(all),
                "covars" => gradients.covariances = bytemuck::cast_slice_mut(all),
                "opacities" => gradients.opacities = all,
                _ => {
                    let total = all.len();
                    let of_camera = views.colors_of(number, all);
                    if number > 0 && of_camera.len() < total {
                        // A camera with colours of its own is the first to write them.
                        of_camera.fill(0.0);
                    }
                    match channels.values {
                        ChannelValues::Colours => gradients.sh = of_camera.as_chunks_mut().0,
                        _ => gradients.values = of_camera,
                    }
                }
            }
        }
        add(&mut gradients)
    }

    fn named(self) -> Named<'py> {
        self.arrays.into_iter().map(|(name, array)| (name, array.into_any())).collect()
    }
}
