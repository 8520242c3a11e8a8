//! The call of gsplat: splats in arrays of the caller, from several cameras at once.

use std::path::PathBuf;
use std::sync::Mutex;

use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use quadrille::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
use quadrille::nalgebra::{Matrix3, Vector3};
use quadrille::{
    Camera, Intrinsics, Profile, ProjectedSplat, RenderSettings, Renderer, SimdLevel, SplatRows,
    SplatSlices, SplatTable,
};
use quadrille_base::image::check_memory;
use quadrille_scene::BLOCK;
use rayon::prelude::*;

use crate::arrays::{Floats, array, numbers, rows};
use crate::errors::to_python;
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

/// The splats that cameras see, one element per pair of a camera and a splat.
#[derive(Default)]
struct Pairs {
    cameras: Vec<i64>,
    splats: Vec<i64>,
    radii: Vec<[i32; 2]>,
    means: Vec<[f32; 2]>,
    depths: Vec<f32>,
    conics: Vec<[f32; 3]>,
    opacities: Vec<f32>,
}

impl Pairs {
    /// Memory for every pair of a camera and a splat.
    fn zeroed(pairs: usize) -> Self {
        Self {
            radii: vec![[0; 2]; pairs],
            means: vec![[0.0; 2]; pairs],
            depths: vec![0.0; pairs],
            conics: vec![[0.0; 3]; pairs],
            opacities: vec![0.0; pairs],
            ..Self::default()
        }
    }

    /// Adds the splats that a camera sees, on all threads: at the end if `splats` is `None`, else at their rows of so many.
    fn add(&mut self, camera: usize, view: &Camera, renderer: &Renderer, splats: Option<usize>) {
        let centre = [view.width, view.height].map(|side| side as f32 / 2.0);
        let chunks = renderer.drawn_chunks().map(|(splats, _)| splats);
        let chunks: Vec<&[ProjectedSplat]> = chunks.filter(|chunk| !chunk.is_empty()).collect();
        let first = match splats {
            Some(splats) => camera * splats,
            None => self.grow(camera, chunks.iter().map(|chunk| chunk.len()).sum()),
        };
        let mut rest = self.part(first);
        let mut parts = Vec::with_capacity(chunks.len());
        let mut taken = 0;
        for chunk in chunks {
            // Rows ascend from chunk to chunk.
            let end = match splats {
                Some(_) => chunk[chunk.len() - 1].index as usize + 1,
                None => taken + chunk.len(),
            };
            let (part, after) = rest.split_at(end - taken);
            parts.push((part, chunk, taken));
            (rest, taken) = (after, end);
        }
        let (parts, level) = (parts.into_par_iter(), SimdLevel::best());
        parts.for_each(|(mut part, chunk, taken)| {
            for (block, of_block) in chunk.chunks(BLOCK).enumerate() {
                let radii = ProjectedSplat::radii_of(level, of_block);
                for (lane, splat) in of_block.iter().enumerate() {
                    let at = match splats {
                        Some(_) => splat.index as usize - taken,
                        None => block * BLOCK + lane,
                    };
                    part.write(at, splat, radii[lane], centre);
                }
            }
        });
    }

    /// Adds zeros for the splats of a camera; returns the place of the first one.
    fn grow(&mut self, camera: usize, seen: usize) -> usize {
        /// The first values come as zeroed memory, which the threads that write them touch first.
        fn grow<T: Clone>(values: &mut Vec<T>, more: usize, value: T) {
            if values.is_empty() {
                *values = vec![value; more];
            } else {
                values.reserve_exact(more);
                values.resize(values.len() + more, value);
            }
        }
        let first = self.depths.len();
        let camera = i64::try_from(camera).unwrap_or(i64::MAX);
        grow(&mut self.cameras, seen, camera);
        grow(&mut self.splats, seen, 0);
        grow(&mut self.radii, seen, [0; 2]);
        grow(&mut self.means, seen, [0.0; 2]);
        grow(&mut self.depths, seen, 0.0);
        grow(&mut self.conics, seen, [0.0; 3]);
        grow(&mut self.opacities, seen, 0.0);
        first
    }

    /// The pairs from `first` on.
    fn part(&mut self, first: usize) -> Part<'_> {
        Part {
            splats: self.splats.get_mut(first..).unwrap_or_default(),
            radii: &mut self.radii[first..],
            means: &mut self.means[first..],
            depths: &mut self.depths[first..],
            conics: &mut self.conics[first..],
            opacities: &mut self.opacities[first..],
        }
    }

    /// The arrays by their names in `meta`, with `shape` in front.
    fn into_arrays<'py>(self, py: Python<'py>, shape: Option<[usize; 2]>) -> PyResult<Named<'py>> {
        let mut named = Vec::new();
        let shape = match shape {
            Some(shape) => shape.to_vec(),
            None => {
                let pairs = [self.splats.len()];
                named.push(("batch_ids", array(py, vec![0_i64; pairs[0]], &pairs)?));
                named.push(("camera_ids", array(py, self.cameras, &pairs)?));
                named.push(("gaussian_ids", array(py, self.splats, &pairs)?));
                pairs.to_vec()
            }
        };
        let with = |last: usize| [shape.as_slice(), &[last]].concat();
        named.push(("radii", array(py, self.radii.into_flattened(), &with(2))?));
        named.push(("means2d", array(py, self.means.into_flattened(), &with(2))?));
        named.push(("depths", array(py, self.depths, &shape)?));
        named.push(("conics", array(py, self.conics.into_flattened(), &with(3))?));
        named.push(("opacities", array(py, self.opacities, &shape)?));
        Ok(named)
    }
}

/// Consecutive pairs.
struct Part<'a> {
    /// Empty if pairs are found by their place.
    splats: &'a mut [i64],
    radii: &'a mut [[i32; 2]],
    means: &'a mut [[f32; 2]],
    depths: &'a mut [f32],
    conics: &'a mut [[f32; 3]],
    opacities: &'a mut [f32],
}

impl Part<'_> {
    fn split_at(self, pairs: usize) -> (Self, Self) {
        let splats = self.splats.split_at_mut(pairs.min(self.splats.len()));
        let radii = self.radii.split_at_mut(pairs);
        let means = self.means.split_at_mut(pairs);
        let depths = self.depths.split_at_mut(pairs);
        let conics = self.conics.split_at_mut(pairs);
        let opacities = self.opacities.split_at_mut(pairs);
        let first = Self {
            splats: splats.0,
            radii: radii.0,
            means: means.0,
            depths: depths.0,
            conics: conics.0,
            opacities: opacities.0,
        };
        let rest = Self {
            splats: splats.1,
            radii: radii.1,
            means: means.1,
            depths: depths.1,
            conics: conics.1,
            opacities: opacities.1,
        };
        (first, rest)
    }

    #[inline]
    fn write(&mut self, at: usize, splat: &ProjectedSplat, radii: [u32; 2], centre: [f32; 2]) {
        if let Some(row) = self.splats.get_mut(at) {
            *row = i64::from(splat.index);
        }
        self.radii[at] = radii.map(|radius| i32::try_from(radius).unwrap_or(i32::MAX));
        self.means[at] = [splat.mean_px[0] + centre[0], splat.mean_px[1] + centre[1]];
        self.depths[at] = splat.depth;
        self.conics[at] = splat.conic();
        self.opacities[at] = splat.opacity();
    }
}

/// Arrays by their names.
type Named<'py> = Vec<(&'static str, Bound<'py, PyAny>)>;

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
                let all = (!is_packed).then_some(splats);
                pairs_of.add(index, camera, &renderer, all);
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
