//! The call of gsplat: splats in arrays of the caller, from several cameras at once.

use std::path::PathBuf;
use std::sync::Mutex;

use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use quadrille::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
use quadrille::nalgebra::{Matrix3, Vector3};
use quadrille::{
    Camera, Intrinsics, Profile, RenderSettings, Renderer, SplatRows, SplatSlices, SplatTable,
};
use quadrille_base::image::check_memory;

use crate::arrays::{Floats, array, numbers, rows};
use crate::errors::to_python;
use crate::pairs::{Named, Pairs};
use crate::run::{Call, run};
use crate::scene::output_format;

/// Doubles in C order.
type Doubles<'py> = PyReadonlyArrayDyn<'py, f64>;

/// Most splats with which a call leaves its renderer to the next one, which need not touch fresh memory then. The arrays take
/// 76 bytes per splat, so that 305 MB at most stay with the process.
const KEPT_SPLATS: usize = 4_000_000;
/// The renderer of an earlier call. In a child forked while it was taken, the lock stays taken, and calls make their own.
static IDLE: Mutex<Option<Renderer>> = Mutex::new(None);

/// An idle renderer, or a new one.
fn renderer() -> Renderer {
    let idle = IDLE.try_lock().ok().and_then(|mut idle| idle.take());
    idle.unwrap_or_default()
}

/// Means [N, 3], quaternions [N, 4], scales [N, 3] and opacities [N].
type Geometry<'py> = (Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>);

/// How splats are drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Drawing {
    profile: String,
    size: (u32, u32),
    near: f64,
    far: f64,
    least_radius: f64,
    low_pass: f64,
    /// Degree of the coefficients in `colors`; without it, colours are rows of values.
    sh_degree: Option<u8>,
    /// Whether each camera has its own colours.
    per_camera: bool,
    /// `sum` or `mean`.
    depth: Option<String>,
    meta: bool,
    packed: bool,
    threads: Option<usize>,
}

impl Drawing {
    fn profile(&self) -> quadrille::Result<Profile> {
        Ok(Profile {
            near: self.near,
            far: self.far,
            least_radius_px: self.least_radius,
            low_pass_px2: self.low_pass,
            ..Profile::named(&self.profile)?
        })
    }

    fn depth(&self) -> Option<ChannelDepth> {
        self.depth.as_deref().map(|depth| match depth {
            "mean" => ChannelDepth::Mean,
            _ => ChannelDepth::Sum,
        })
    }
}

/// The cameras of matrices [C, 4, 4] and [C, 3, 3].
fn cameras_of(
    views: &[f64],
    lenses: &[f64],
    (width, height): (u32, u32),
) -> quadrille::Result<Vec<Camera>> {
    let cameras = views.chunks_exact(16).zip(lenses.chunks_exact(9));
    let camera = |(view, lens): (&[f64], &[f64])| {
        let lens = Intrinsics {
            width,
            height,
            focal_px: [lens[0], lens[4]],
            principal_px: [lens[2], lens[5]],
        };
        let rotation = Matrix3::from_fn(|row, column| view[row * 4 + column]);
        let translation = Vector3::from_fn(|row, _| view[row * 4 + 3]);
        Camera::new("", lens, rotation, translation)
    };
    cameras.map(camera).collect()
}

/// Channels [C, H, W, X], alphas [C, H, W, 1], arrays of `meta`, and the number of rows that were left out.
type Rasterized<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Named<'py>, u64);

/// Draws splats from every camera.
#[pyfunction]
pub(crate) fn rasterize<'py>(
    py: Python<'py>,
    geometry: Geometry<'py>,
    colors: Option<Floats<'py>>,
    cameras: (Doubles<'py>, Doubles<'py>),
    backgrounds: Option<Floats<'py>>,
    drawing: Drawing,
) -> PyResult<Rasterized<'py>> {
    let profile = drawing.profile().map_err(to_python)?;
    let views = numbers("viewmats", &cameras.0)?;
    let lenses = numbers("Ks", &cameras.1)?;
    let cameras = cameras_of(views, lenses, drawing.size).map_err(to_python)?;
    let means = rows::<3>("means", &geometry.0)?;
    let splats = means.len();
    let colors = colors
        .as_ref()
        .map(|c| Colors::of(c, &drawing))
        .transpose()?;
    let backgrounds = backgrounds.as_ref();
    let backgrounds = backgrounds.map(|b| numbers("backgrounds", b)).transpose()?;
    let slices = SplatSlices {
        means,
        rotations: rows("quats", &geometry.1)?,
        scales: rows("scales", &geometry.2)?,
        opacities: numbers("opacities", &geometry.3)?,
        sh: &[],
    };
    let depth = drawing.depth();
    // Coefficients end in an axis of 3, which are the channels of the colour.
    let channels = colors.map_or(0, |colors| colors.last);
    let count = channels + usize::from(depth.is_some());
    let (width, height) = drawing.size;
    let bytes = (count + 1) * size_of::<f32>() * cameras.len();
    check_memory([width, height], bytes as u64).map_err(to_python)?;
    let pixels = width as usize * height as usize;
    let mut values = vec![0.0_f32; cameras.len() * pixels * count];
    let mut alphas = vec![0.0_f32; cameras.len() * pixels];
    let is_packed = drawing.packed || !drawing.meta;
    let mut pairs = match is_packed {
        true => Pairs::default(),
        false => Pairs::zeroed(cameras.len() * splats),
    };
    let mut call = Call::default();
    call.threads = drawing.threads;
    let pairs_of = &mut pairs;
    let invalid = call.run(py, |task| {
        let mut renderer = renderer();
        let settings = RenderSettings {
            profile,
            ..RenderSettings::default()
        };
        let mut invalid = 0;
        let outputs = values.chunks_exact_mut(pixels * count);
        let outputs = outputs.zip(alphas.chunks_exact_mut(pixels));
        for (index, (camera, (values, alphas))) in cameras.iter().zip(outputs).enumerate() {
            let of_camera = colors.map(|colors| colors.of_camera(index));
            let (values_of, sh) = match (of_camera, drawing.sh_degree) {
                (None, _) => (ChannelValues::None, &[][..]),
                (Some(sh), Some(_)) => (ChannelValues::Colours, sh.as_chunks().0),
                (Some(values), None) => (ChannelValues::Rows { values, channels }, &[][..]),
            };
            let degree = drawing.sh_degree.unwrap_or(0);
            let rows = SplatRows::new(SplatSlices { sh, ..slices }, degree)?;
            let channels = ChannelSettings {
                values: values_of,
                depth,
                background: backgrounds.map(|all| &all[index * channels..][..channels]),
            };
            let mut picture = ChannelPicture { values, alphas };
            let drawn = renderer.render_channels(
                (&rows, camera),
                &settings,
                &channels,
                &mut picture,
                task,
            )?;
            invalid = invalid.max(rows.invalid() + drawn.invalid_rows);
            if drawing.meta {
                match is_packed {
                    true => pairs_of.append(index, camera, &renderer),
                    false => pairs_of.write(index * splats, camera, &renderer),
                }
            }
        }
        if splats <= KEPT_SPLATS
            && let Ok(mut idle) = IDLE.try_lock()
        {
            *idle = Some(renderer);
        }
        Ok(invalid)
    })?;
    let meta = match drawing.meta {
        true => pairs.into_arrays(py, (!is_packed).then_some([cameras.len(), splats]))?,
        false => Vec::new(),
    };
    let shape = [cameras.len(), height as usize, width as usize];
    let with = |last: usize| [&shape[..], &[last]].concat();
    let values = array(py, values, &with(count))?;
    Ok((values, array(py, alphas, &with(1))?, meta, invalid))
}

/// Colours of splats: coefficients or rows of values.
#[derive(Clone, Copy)]
struct Colors<'a> {
    values: &'a [f32],
    /// Length of the last axis.
    last: usize,
    /// Numbers of each camera, if every camera has its own.
    of_one: Option<usize>,
}

impl<'a> Colors<'a> {
    fn of(colors: &'a Floats<'_>, drawing: &Drawing) -> PyResult<Self> {
        let values = numbers("colors", colors)?;
        let shape = colors.shape();
        let of_one = drawing.per_camera.then(|| shape.iter().skip(1).product());
        Ok(Self {
            values,
            last: shape.last().copied().unwrap_or(0),
            of_one,
        })
    }

    fn of_camera(&self, camera: usize) -> &'a [f32] {
        match self.of_one {
            Some(of_one) => &self.values[camera * of_one..][..of_one],
            None => self.values,
        }
    }
}

/// Writes raw splats to a file: logarithms of scales and logits of opacities.
#[pyfunction]
pub(crate) fn write_raw(
    py: Python<'_>,
    geometry: Geometry<'_>,
    sh: Floats<'_>,
    path: PathBuf,
    format: &str,
) -> PyResult<Vec<String>> {
    let format = output_format(&path, Some(format))?;
    let slices = SplatSlices {
        means: rows("means", &geometry.0)?,
        rotations: rows("quats", &geometry.1)?,
        scales: rows("scales", &geometry.2)?,
        opacities: numbers("opacities", &geometry.3)?,
        sh: rows("sh", &sh)?,
    };
    run(py, |task| {
        let table = SplatTable::from_raw_slices(&slices)?;
        format.check(&table, &path, task)?;
        quadrille::write_table_task(&path, &table, format, task)?;
        Ok(format.losses(&table))
    })
}
