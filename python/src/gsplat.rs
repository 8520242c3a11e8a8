//! Rasterization call of gsplat: draws splats in the caller's arrays from several cameras at once.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use quadrille::backward::SavedPicture;
use quadrille::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
use quadrille::nalgebra::{Matrix3, Vector3};
use quadrille::{
    Camera, DistortedLens, DistortionModel, FisheyeLens, Intrinsics, Profile, Projection,
    RenderSettings, Renderer, RollingShutter, SplatOrder, SplatRows, SplatSlices, SplatTable, Task,
    WriteOptions,
};
use quadrille_base::image::check_memory;

use crate::arrays::{Floats, filled, numbers, rows};
use crate::errors::to_python;
use crate::pairs::{AllPairs, DrawnView, Named, joined};
use crate::run::{Call, run};
use crate::scene::output_format;

/// Array of f64 in C order.
pub(crate) type Doubles<'py> = PyReadonlyArrayDyn<'py, f64>;

/// Largest number of splats for which a call keeps its renderer, so that the next call reuses its memory. The arrays
/// take 76 bytes per splat, so the process keeps at most 305 MB, and after gradients 64 bytes per splat and tile.
const KEPT_SPLATS: usize = 4_000_000;
/// Idle renderer of an earlier call. A child forked while the lock is held can never take it, and creates renderers.
static IDLE: Mutex<Option<Renderer>> = Mutex::new(None);

/// Takes the idle renderer, or creates a renderer.
fn renderer() -> Renderer {
    IDLE.try_lock().ok().and_then(|mut idle| idle.take()).unwrap_or_default()
}

/// Keeps a renderer that has drawn `splats` splats for the next call.
fn keep(renderer: Renderer, splats: usize) {
    if splats <= KEPT_SPLATS
        && let Ok(mut idle) = IDLE.try_lock()
    {
        *idle = Some(renderer);
    }
}

/// A drawn picture: the renderer, or the picture that holds it.
#[expect(clippy::large_enum_variant, reason = "one exists at a time")]
enum Drawn {
    Plain(Renderer),
    Saved(SavedPicture),
}

impl Drawn {
    fn renderer(&self) -> &Renderer {
        match self {
            Self::Plain(renderer) => renderer,
            Self::Saved(picture) => picture.renderer(),
        }
    }
}

/// Means [N, 3], quaternions [N, 4], scales [N, 3] and opacities [N].
pub(crate) type Geometry<'py> = (Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>);

/// Options of a gsplat call.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[allow(clippy::struct_excessive_bools, reason = "options that are on or off")]
pub(crate) struct Drawing {
    profile: String,
    /// Model of the cameras: `pinhole`, `ortho` or `fisheye`.
    camera_model: String,
    size: (u32, u32),
    near: f64,
    far: f64,
    least_radius: f64,
    low_pass: f64,
    /// Whether footprints come from points of the splats (unscented transform).
    unscented: bool,
    /// Distortion of each camera, in the order of OpenCV: k1, k2, p1, p2, k3 to k6, s1 to s4; empty for pinholes.
    distortion: Vec<Vec<f64>>,
    /// Direction of a rolling shutter, and the view matrix [4, 4] of each camera at its end.
    rolling_shutter: Option<(String, Vec<Vec<f64>>)>,
    /// Degree of the spherical harmonics in `colors`; `None` if `colors` holds the values of channels.
    sh_degree: Option<u8>,
    /// Whether each camera has its own colours.
    pub(crate) per_camera: bool,
    /// Depth channel: `sum` (accumulated) or `mean` (expected); `None` for no depth.
    depth: Option<String>,
    /// Whether the median and the distortion of the last channel follow as two more channels.
    spread: bool,
    meta: bool,
    packed: bool,
    pub(crate) threads: Option<usize>,
}

impl Drawing {
    /// Number of pixels of a picture.
    pub(crate) fn pixels(&self) -> usize {
        self.size.0 as usize * self.size.1 as usize
    }

    fn profile(&self) -> quadrille::Result<Profile> {
        Ok(Profile {
            near: self.near,
            far: self.far,
            least_radius_px: self.least_radius,
            low_pass_px2: self.low_pass,
            is_unscented: self.unscented,
            // Of fisheyes too.
            order: Some(SplatOrder::Depth),
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

/// Creates cameras from view matrices [C, 4, 4] and intrinsics [C, 3, 3].
fn cameras_of(views: &[f64], lenses: &[f64], drawing: &Drawing) -> quadrille::Result<Vec<Camera>> {
    let (width, height) = drawing.size;
    let projection = |number: usize| match drawing.distortion.get(number) {
        Some(coefficients) => {
            DistortedLens::new(DistortionModel::OpenCv, coefficients).map(Projection::Distorted)
        }
        None if drawing.camera_model == "ortho" => Ok(Projection::Orthographic),
        None if drawing.camera_model == "fisheye" => {
            Ok(Projection::Fisheye(FisheyeLens::EQUIDISTANT))
        }
        None => Ok(Projection::Pinhole),
    };
    let cameras = views.chunks_exact(16).zip(lenses.chunks_exact(9)).enumerate();
    let camera = |(number, (view, lens)): (usize, (&[f64], &[f64]))| {
        let lens = Intrinsics {
            width,
            height,
            focal_px: [lens[0], lens[4]],
            principal_px: [lens[2], lens[5]],
        };
        let at = |view: &[f64]| {
            let rotation = Matrix3::from_fn(|row, column| view[row * 4 + column]);
            let translation = Vector3::from_fn(|row, _| view[row * 4 + 3]);
            Camera::new("", lens, rotation, translation)
        };
        let camera = at(view)?.with_projection(projection(number)?);
        match &drawing.rolling_shutter {
            Some((direction, ends)) => {
                let rolling = camera.rolling_to(&at(&ends[number])?, direction.parse()?);
                let rolling_shutter = rolling.rolling_shutter.map(RollingShutter::of_gsplat);
                Ok(Camera { rolling_shutter, ..rolling })
            }
            None => Ok(camera),
        }
    };
    cameras.map(camera).collect()
}

/// Pictures of a call, kept until the derivatives of a loss by them are known.
#[pyclass(frozen, module = "quadrille._quadrille", name = "SavedPictures")]
pub(crate) struct RawSavedPictures {
    pub(crate) pictures: Mutex<Vec<SavedPicture>>,
    pub(crate) splats: usize,
}

impl Drop for RawSavedPictures {
    fn drop(&mut self) {
        let pictures = self.pictures.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(picture) = pictures.pop() {
            keep(picture.into_renderer(), self.splats);
        }
    }
}

/// Arguments of a rasterization: geometry; colours; view matrices and intrinsics; backgrounds; options.
pub(crate) type RasterCall<'py> = (
    Geometry<'py>,
    Option<Floats<'py>>,
    (Doubles<'py>, Doubles<'py>),
    Option<Floats<'py>>,
    Drawing,
);

/// Channels [C, H, W, X], alphas [C, H, W, 1], arrays of `meta`, number of invalid rows left out, and the pictures for
/// their gradients.
type Rasterized<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Named<'py>, u64, Option<RawSavedPictures>);

/// Draws splats from every camera, as gsplat's `rasterization`. `saves` keeps the pictures for their gradients.
#[pyfunction]
pub(crate) fn rasterize<'py>(
    py: Python<'py>,
    call: RasterCall<'py>,
    saves: bool,
) -> PyResult<Rasterized<'py>> {
    let views = Views::of(&call)?;
    let mut saved = saves.then(Vec::new);
    let (values, alphas, meta, invalid) = views.rasterize(py, saved.as_mut())?;
    let splats = views.splats();
    let pictures = saved.map(|saved| RawSavedPictures { pictures: Mutex::new(saved), splats });
    Ok((values, alphas, meta, invalid, pictures))
}

/// Splats, colours, cameras and backgrounds of the caller, with the options of the call.
pub(crate) struct Views<'a> {
    slices: SplatSlices<'a>,
    colors: Option<Colors<'a>>,
    pub(crate) cameras: Vec<Camera>,
    backgrounds: Option<&'a [f32]>,
    pub(crate) profile: Profile,
    pub(crate) drawing: &'a Drawing,
}

impl<'a> Views<'a> {
    pub(crate) fn of(
        (geometry, colors, cameras, backgrounds, drawing): &'a RasterCall<'_>,
    ) -> PyResult<Self> {
        let (views, lenses) = (numbers("viewmats", &cameras.0)?, numbers("Ks", &cameras.1)?);
        Ok(Self {
            slices: SplatSlices {
                means: rows("means", &geometry.0)?,
                rotations: rows("quats", &geometry.1)?,
                scales: rows("scales", &geometry.2)?,
                opacities: numbers("opacities", &geometry.3)?,
                sh: &[],
            },
            colors: colors.as_ref().map(|colors| Colors::of(colors, drawing)).transpose()?,
            cameras: cameras_of(views, lenses, drawing).map_err(to_python)?,
            backgrounds: backgrounds.as_ref().map(|b| numbers("backgrounds", b)).transpose()?,
            profile: drawing.profile().map_err(to_python)?,
            drawing,
        })
    }

    /// Number of splats.
    pub(crate) fn splats(&self) -> usize {
        self.slices.means.len()
    }

    /// Number of all colours' numbers; 0 without colours.
    pub(crate) fn color_numbers(&self) -> usize {
        self.colors.map_or(0, |colors| colors.values.len())
    }

    /// The part of an array in the shape of the colours that belongs to camera `number`.
    pub(crate) fn colors_of<'b>(&self, number: usize, all: &'b mut [f32]) -> &'b mut [f32] {
        match self.colors.and_then(|colors| colors.of_one) {
            Some(of_one) => &mut all[number * of_one..][..of_one],
            None => all,
        }
    }

    /// Number of channels of a picture.
    pub(crate) fn channels(&self) -> usize {
        self.colors.map_or(0, |colors| colors.last)
            + usize::from(self.drawing.depth.is_some())
            + if self.drawing.spread { 2 } else { 0 }
    }

    /// Splats, degree of the spherical harmonics and channels of the picture of camera `number`.
    pub(crate) fn inputs(&self, number: usize) -> (SplatSlices<'a>, u8, ChannelSettings<'a>) {
        // For spherical harmonics, the last axis has the three colour channels.
        let channels = self.colors.map_or(0, |colors| colors.last);
        let of_camera = self.colors.map(|colors| colors.of_camera(number));
        let degree = self.drawing.sh_degree;
        let (values, sh) = match (of_camera, degree) {
            (None, _) => (ChannelValues::None, &[][..]),
            (Some(sh), Some(_)) => (ChannelValues::Colours, sh.as_chunks().0),
            (Some(values), None) => (ChannelValues::Rows { values, channels }, &[][..]),
        };
        let background = self.backgrounds.map(|all| &all[number * channels..][..channels]);
        let (depth, has_spread) = (self.drawing.depth(), self.drawing.spread);
        let settings = ChannelSettings { values, depth, background, has_spread };
        (SplatSlices { sh, ..self.slices }, degree.unwrap_or(0), settings)
    }

    /// Draws all pictures; keeps them in `saved` if it is there.
    fn rasterize<'py>(
        &self,
        py: Python<'py>,
        saved: Option<&mut Vec<SavedPicture>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Named<'py>, u64)> {
        let (cameras, count) = (&self.cameras, self.channels());
        let (width, height) = self.drawing.size;
        let bytes = (count + 1) * size_of::<f32>() * cameras.len();
        check_memory([width, height], bytes as u64).map_err(to_python)?;
        let pixels = self.drawing.pixels();
        let mut call = Call::default();
        call.threads = self.drawing.threads;
        let shape = [cameras.len(), height as usize, width as usize];
        let with = |last: usize| [&shape[..], &[last]].concat();
        let (values, (alphas, (meta, invalid))) = filled(py, &with(count), |values| {
            filled(py, &with(1), |alphas| {
                let outputs = values.chunks_exact_mut(pixels * count);
                let outputs = outputs.zip(alphas.chunks_exact_mut(pixels));
                let pictures = outputs.map(|(values, alphas)| ChannelPicture { values, alphas });
                self.draw(py, &call, cameras.iter().zip(pictures), saved)
            })
        })?;
        Ok((values, alphas, meta, invalid))
    }

    /// Draws the picture of each camera; returns the arrays of `meta` and the number of invalid rows left out.
    fn draw<'py, 'b>(
        &self,
        py: Python<'py>,
        call: &Call,
        pictures: impl ExactSizeIterator<Item = (&'b Camera, ChannelPicture<'b>)>,
        mut saved: Option<&mut Vec<SavedPicture>>,
    ) -> PyResult<(Named<'py>, u64)> {
        let splats = self.slices.means.len();
        let mut meta = match (self.drawing.meta, self.drawing.packed) {
            (false, _) => Meta::None,
            (true, true) => Meta::Packed(Vec::with_capacity(pictures.len())),
            (true, false) => Meta::All(AllPairs::zeroed([pictures.len(), splats])),
        };
        let mut idle = Some(renderer());
        let mut invalid = 0;
        for (number, (camera, mut picture)) in pictures.enumerate() {
            let renderer = idle.take().unwrap_or_default();
            let saves = saved.is_some();
            let (drawn, left_out) = call.run(py, |task| {
                self.draw_one(renderer, number, camera, &mut picture, saves, task)
            })?;
            invalid = invalid.max(left_out);
            let view = DrawnView {
                number,
                camera,
                profile: &self.profile,
                opacities: self.slices.opacities,
                renderer: drawn.renderer(),
            };
            match &mut meta {
                Meta::None => {}
                Meta::Packed(views) => views.push(view.packed(py, call)?),
                Meta::All(pairs) => call.run(py, |_| {
                    pairs.write(&view);
                    Ok(())
                })?,
            }
            match drawn {
                Drawn::Plain(renderer) => idle = Some(renderer),
                Drawn::Saved(picture) => {
                    if let Some(saved) = &mut saved {
                        saved.push(picture);
                    }
                }
            }
        }
        if let Some(renderer) = idle {
            keep(renderer, splats);
        }
        let named = match meta {
            Meta::None => Vec::new(),
            Meta::Packed(views) => joined(py, views)?,
            Meta::All(pairs) => pairs.into_arrays(py)?,
        };
        Ok((named, invalid))
    }

    /// Draws the picture of one camera; also returns the number of invalid rows left out.
    fn draw_one(
        &self,
        mut renderer: Renderer,
        number: usize,
        camera: &Camera,
        picture: &mut ChannelPicture<'_>,
        saves: bool,
        task: &Task,
    ) -> quadrille::Result<(Drawn, u64)> {
        let (slices, degree, channels) = self.inputs(number);
        let rows = SplatRows::new(slices, degree)?;
        let settings = RenderSettings { profile: self.profile, ..RenderSettings::default() };
        let (drawn, counts) = if saves {
            let (saved, counts) =
                renderer.render_saved(&rows, camera, &settings, &channels, picture, task)?;
            (Drawn::Saved(saved), counts)
        } else {
            let counts =
                renderer.render_channels(&rows, camera, &settings, &channels, picture, task)?;
            (Drawn::Plain(renderer), counts)
        };
        Ok((drawn, rows.invalid() + counts.invalid_rows))
    }
}

/// Arrays of `meta` in one of gsplat's two layouts.
enum Meta<'py> {
    None,
    /// Per camera, arrays with one element per visible splat.
    Packed(Vec<Named<'py>>),
    All(AllPairs),
}

/// Colours of splats: spherical harmonics or values of channels.
#[derive(Clone, Copy)]
struct Colors<'a> {
    values: &'a [f32],
    /// Length of the last axis: the number of channels.
    last: usize,
    /// Number of `values` per camera, if every camera has its own colours.
    of_one: Option<usize>,
}

impl<'a> Colors<'a> {
    fn of(colors: &'a Floats<'_>, drawing: &Drawing) -> PyResult<Self> {
        let values = numbers("colors", colors)?;
        let shape = colors.shape();
        let of_one = drawing.per_camera.then(|| shape.iter().skip(1).product());
        Ok(Self { values, last: shape.last().copied().unwrap_or(0), of_one })
    }

    fn of_camera(self, camera: usize) -> &'a [f32] {
        match self.of_one {
            Some(of_one) => &self.values[camera * of_one..][..of_one],
            None => self.values,
        }
    }
}

/// Writes splats to a file from raw parameters: log scales and opacity logits.
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
        quadrille::write_table(&path, &table, WriteOptions::new(format).task(task))?;
        Ok(format.losses(&table))
    })
}
