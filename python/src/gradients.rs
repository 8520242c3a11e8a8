//! Gradients of gsplat's rasterization call, in the two phases of the library.

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use quadrille::backward::{
    CameraGradients, Gradients, PictureCotangents, RasterGradients, ScalarPicture, ScalarScene,
    ScalarShapes, ScalarValues,
};
use quadrille::{Camera, Error, Profile, RenderSettings};
use rayon::prelude::*;

use crate::arrays::{Floats, numbers};
use crate::errors::to_python;
use crate::gsplat::{Doubles, Drawing, Geometry, Views};
use crate::pairs::Named;
use crate::run::Call;

/// Pictures of a call with the gradients of a loss by their splats in the picture plane.
#[pyclass(frozen, module = "quadrille._quadrille", name = "PlaneGradients")]
pub(crate) struct RawPlaneGradients {
    pictures: Vec<(ScalarScene, RasterGradients)>,
    cameras: Vec<Camera>,
    profile: Profile,
    per_camera: bool,
    threads: Option<usize>,
}

/// Differentiates a loss by the splats in the picture planes, given its derivatives by colours [C, H, W, X] and alphas
/// [C, H, W, 1]. The other arguments are those of `rasterize`.
#[pyfunction]
pub(crate) fn raster_gradients(
    py: Python<'_>,
    geometry: Geometry<'_>,
    colors: Option<Floats<'_>>,
    cameras: (Doubles<'_>, Doubles<'_>),
    backgrounds: Option<Floats<'_>>,
    drawing: Drawing,
    cotangents: (Floats<'_>, Floats<'_>),
) -> PyResult<RawPlaneGradients> {
    let views = Views::of(&geometry, colors.as_ref(), &cameras, backgrounds.as_ref(), &drawing)?;
    let by_values = numbers("v_colors", &cotangents.0)?;
    let by_alphas = numbers("v_alphas", &cotangents.1)?;
    let pixels = drawing.pixels();
    let lengths = [pixels * views.channels(), pixels].map(|length| length * views.cameras.len());
    for (name, values, length) in
        [("v_colors", by_values, lengths[0]), ("v_alphas", by_alphas, lengths[1])]
    {
        let is_other = values.len() != length;
        Error::refuse_if(is_other, name, format!("{length} numbers"), values.len())
            .map_err(to_python)?;
    }
    let mut call = Call::default();
    call.threads = drawing.threads;
    let settings = RenderSettings { profile: views.profile, ..RenderSettings::default() };
    let pictures = call.run(py, |task| {
        let of_camera = |number: usize| {
            let (slices, degree, channels) = views.inputs(number);
            let scene = ScalarScene::new(slices, degree, &channels)?;
            let picture = ScalarPicture::draw(&scene, &views.cameras[number], &settings, task)?;
            let wide = |values: &[f32], length: usize| -> Vec<f64> {
                values[number * length..][..length].iter().copied().map(f64::from).collect()
            };
            let values = wide(by_values, pixels * scene.channels());
            let alphas = wide(by_alphas, pixels);
            let cotangents = PictureCotangents { values: &values, alphas: &alphas };
            let plane = picture.raster_gradients(&cotangents, task)?;
            Ok((scene, plane))
        };
        (0..views.cameras.len()).into_par_iter().with_max_len(1).map(of_camera).collect()
    })?;
    Ok(RawPlaneGradients {
        pictures,
        cameras: views.cameras,
        profile: views.profile,
        per_camera: drawing.per_camera,
        threads: drawing.threads,
    })
}

#[pymethods]
impl RawPlaneGradients {
    /// Returns the derivatives by the projected centres [C, N, 2], per pixel, and the sums of their absolute values.
    fn means2d<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 2]> {
        let splats = self.pictures.first().map_or(0, |(scene, _)| scene.len());
        let mut arrays = [0, 1].map(|_| vec![0.0_f64; self.pictures.len() * splats * 2]);
        for (camera, (_, plane)) in self.pictures.iter().enumerate() {
            for splat in &plane.splats {
                let at = (camera * splats + splat.index) * 2;
                arrays[0][at..at + 2].copy_from_slice(&splat.mean2d);
                arrays[1][at..at + 2].copy_from_slice(&splat.absolute_mean2d);
            }
        }
        let shape = vec![self.pictures.len(), splats, 2];
        let [means, absolute] = arrays.map(|values| values.into_pyarray(py).reshape(shape.clone()));
        Ok([means?.into_any(), absolute?.into_any()])
    }

    /// Differentiates by the inputs of the call, given the derivatives by the projected centres [C, N, 2]. Returns flat
    /// arrays of f64 by name.
    fn project<'py>(&self, py: Python<'py>, means2d: Doubles<'py>) -> PyResult<Named<'py>> {
        let means2d = numbers("means2d", &means2d)?;
        let splats = self.pictures.first().map_or(0, |(scene, _)| scene.len());
        let length = self.pictures.len() * splats * 2;
        let is_other = means2d.len() != length;
        let expected = format!("{length} numbers");
        Error::refuse_if(is_other, "means2d", expected, means2d.len()).map_err(to_python)?;
        let mut call = Call::default();
        call.threads = self.threads;
        let settings = RenderSettings { profile: self.profile, ..RenderSettings::default() };
        let (sums, poses, backgrounds) = call.run(py, |task| {
            let mut sums: Vec<Gradients> = Vec::new();
            let (mut poses, mut backgrounds): (Vec<CameraGradients>, Vec<f64>) = Default::default();
            for (number, (scene, plane)) in self.pictures.iter().enumerate() {
                if sums.is_empty() || self.per_camera {
                    sums.push(Gradients::zeros(scene));
                }
                let mut plane = plane.clone();
                for splat in &mut plane.splats {
                    let at = (number * splats + splat.index) * 2;
                    splat.mean2d = [means2d[at], means2d[at + 1]];
                }
                let picture =
                    ScalarPicture::project(scene, &self.cameras[number], &settings, task)?;
                if let Some(sum) = sums.last_mut() {
                    poses.push(picture.project_gradients(&plane, sum, task)?);
                }
                backgrounds.extend(plane.background);
            }
            Ok((sums, poses, backgrounds))
        })?;
        let total = |of: &dyn Fn(&Gradients) -> Vec<f64>| {
            let mut parts = sums.iter().map(of);
            let mut total = parts.next().unwrap_or_default();
            parts.for_each(|part| total.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
            total.into_pyarray(py).into_any()
        };
        let colors: Vec<f64> = sums
            .iter()
            .flat_map(|sum| match &sum.values {
                ScalarValues::None => Vec::new(),
                ScalarValues::Colours { sh, .. } => sh.as_flattened().to_vec(),
                ScalarValues::Rows { values, .. } => values.clone(),
            })
            .collect();
        let poses: Vec<f64> =
            poses.iter().flat_map(|pose| pose.view_from_world.as_flattened().to_vec()).collect();
        Ok(vec![
            ("means", total(&|sum| sum.means.as_flattened().to_vec())),
            ("quats", total(&|sum| axes(&sum.shapes)[0].to_vec())),
            ("scales", total(&|sum| axes(&sum.shapes)[1].to_vec())),
            ("opacities", total(&|sum| sum.opacities.clone())),
            ("colors", colors.into_pyarray(py).into_any()),
            ("viewmats", poses.into_pyarray(py).into_any()),
            ("backgrounds", backgrounds.into_pyarray(py).into_any()),
        ])
    }
}

/// Rotations and scales of the splats of a call, which have axes, never covariances.
fn axes(shapes: &ScalarShapes) -> [&[f64]; 2] {
    match shapes {
        ScalarShapes::Axes { scales, rotations } => {
            [rotations.as_flattened(), scales.as_flattened()]
        }
        ScalarShapes::Covariances(_) => [&[]; 2],
    }
}
