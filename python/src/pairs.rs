//! Arrays of gsplat's `meta`: the projected splats in view of each camera.

use bytemuck::Zeroable;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use quadrille::{Camera, OpacityFactor, Profile, ProjectedSplat, Renderer, SimdLevel};
use quadrille_scene::BLOCK;
use rayon::prelude::*;
use rayon::slice::ChunksMut;

use crate::arrays::{array, empty};
use crate::run::Call;

/// Arrays of `meta` with their names.
pub(crate) type Named<'py> = Vec<(&'static str, Bound<'py, PyAny>)>;

/// One value for each of sixteen splats, which are converted together.
type Lanes<T> = [T; BLOCK];

/// View that has been drawn, with the renderer that holds its projected splats.
pub(crate) struct DrawnView<'a> {
    /// Index of the camera in the call.
    pub(crate) number: usize,
    pub(crate) camera: &'a Camera,
    pub(crate) profile: &'a Profile,
    /// Opacity of each splat as passed by the caller, without the factor of the profile.
    pub(crate) opacities: &'a [f32],
    pub(crate) renderer: &'a Renderer,
}

/// Values of `meta` for sixteen splats in view of one camera.
struct Seen {
    splats: Lanes<i64>,
    radii: Lanes<[i32; 2]>,
    means: Lanes<[f32; 2]>,
    depths: Lanes<f32>,
    conics: Lanes<[f32; 3]>,
    opacities: Lanes<f32>,
}

impl DrawnView<'_> {
    fn seen(&self, splats: &Lanes<ProjectedSplat>, level: SimdLevel) -> Seen {
        let half = [self.camera.width, self.camera.height].map(|side| side as f32 / 2.0);
        let shapes = ProjectedSplat::shapes(level, splats);
        let whole = |radius| i32::try_from(radius).unwrap_or(i32::MAX);
        // Without a factor, the caller's value is copied: the stored logarithm gives a rounded one.
        let opacities = match self.profile.opacity_factor {
            OpacityFactor::None => each(splats, |splat| self.opacities[splat.index as usize]),
            OpacityFactor::Determinants { .. } => each(splats, ProjectedSplat::opacity),
        };
        Seen {
            splats: each(splats, |splat| i64::from(splat.index)),
            radii: shapes.radii.map(|radii| radii.map(whole)),
            means: each(splats, |splat| [0, 1].map(|axis| splat.mean_px[axis] + half[axis])),
            depths: each(splats, |splat| splat.depth),
            conics: shapes.conics,
            opacities,
        }
    }

    /// Returns the arrays of `meta` with one element per splat in view, in the scene's order. All threads write them in one
    /// pass to uninitialised memory, which saves a pass on one thread to clear the memory.
    pub(crate) fn packed<'py>(&self, py: Python<'py>, call: &Call) -> PyResult<Named<'py>> {
        let chunks = drawn(self.renderer);
        let packed = Packed::empty(py, chunks.iter().map(|chunk| chunk.len()).sum())?;
        let camera = [i64::try_from(self.number).unwrap_or(i64::MAX); BLOCK];
        let level = SimdLevel::best();
        let mut ids = packed.ids.each_ref().map(|ids| ids.readwrite());
        let mut radii = packed.radii.readwrite();
        let mut floats = packed.floats.each_ref().map(|values| values.readwrite());
        let [batches, cameras, splats] = &mut ids;
        let [means, depths, conics, opacities] = &mut floats;
        let ids = (
            batches.as_slice_mut()?.par_chunks_mut(BLOCK),
            cameras.as_slice_mut()?.par_chunks_mut(BLOCK),
            splats.as_slice_mut()?.par_chunks_mut(BLOCK),
        );
        let (radii, means, conics) = (
            sixteens(radii.as_slice_mut()?),
            sixteens(means.as_slice_mut()?),
            sixteens(conics.as_slice_mut()?),
        );
        let numbers = (
            depths.as_slice_mut()?.par_chunks_mut(BLOCK),
            opacities.as_slice_mut()?.par_chunks_mut(BLOCK),
        );
        let parts = (
            starts(&chunks).into_par_iter(),
            ids.into_par_iter(),
            (radii, means, conics).into_par_iter(),
            numbers.into_par_iter(),
        );
        call.run(py, |_| {
            parts.into_par_iter().for_each(|((chunk, first), ids, rows, numbers)| {
                let seen = match chunks[chunk][first..].first_chunk() {
                    Some(all) => self.seen(all, level),
                    None => self.seen(&sixteen(&chunks[chunk..], first), level),
                };
                store(ids.0, &[0; BLOCK]);
                store(ids.1, &camera);
                store(ids.2, &seen.splats);
                store(rows.0, &seen.radii);
                store(rows.1, &seen.means);
                store(rows.2, &seen.conics);
                store(numbers.0, &seen.depths);
                store(numbers.1, &seen.opacities);
            });
            Ok(())
        })?;
        Ok(packed.named())
    }
}

/// Splits an array of rows of `N` numbers into parallel blocks of sixteen rows.
fn sixteens<T: Send, const N: usize>(numbers: &mut [T]) -> ChunksMut<'_, [T; N]> {
    numbers.as_chunks_mut().0.par_chunks_mut(BLOCK)
}

/// Arrays of `meta` with one element per visible pair of camera and splat.
struct Packed<'py> {
    /// Indices of batches, cameras and splats.
    ids: [Bound<'py, PyArrayDyn<i64>>; 3],
    radii: Bound<'py, PyArrayDyn<i32>>,
    /// Means, depths, conics, opacities.
    floats: [Bound<'py, PyArrayDyn<f32>>; 4],
}

impl<'py> Packed<'py> {
    /// Allocates the arrays for `pairs` elements without initialising them.
    fn empty(py: Python<'py>, pairs: usize) -> PyResult<Self> {
        let ids = || empty(py, &[pairs]);
        Ok(Self {
            ids: [ids()?, ids()?, ids()?],
            radii: empty(py, &[pairs, 2])?,
            floats: [
                empty(py, &[pairs, 2])?,
                empty(py, &[pairs])?,
                empty(py, &[pairs, 3])?,
                empty(py, &[pairs])?,
            ],
        })
    }

    fn named(self) -> Named<'py> {
        let [batches, cameras, splats] = self.ids;
        let [means, depths, conics, opacities] = self.floats;
        vec![
            ("batch_ids", batches.into_any()),
            ("camera_ids", cameras.into_any()),
            ("gaussian_ids", splats.into_any()),
            ("radii", self.radii.into_any()),
            ("means2d", means.into_any()),
            ("depths", depths.into_any()),
            ("conics", conics.into_any()),
            ("opacities", opacities.into_any()),
        ]
    }
}

/// Concatenates the arrays of several cameras by name.
pub(crate) fn joined<'py>(py: Python<'py>, mut views: Vec<Named<'py>>) -> PyResult<Named<'py>> {
    if views.len() < 2 {
        let none = || Ok(Packed::empty(py, 0)?.named());
        return views.pop().map_or_else(none, Ok);
    }
    let numpy = py.import(intern!(py, "numpy"))?;
    let names = views[0].iter().map(|(name, _)| *name).enumerate();
    let join = |(column, name): (usize, &'static str)| {
        let parts: Vec<_> = views.iter().map(|view| &view[column].1).collect();
        Ok((name, numpy.call_method1(intern!(py, "concatenate"), (PyList::new(py, parts)?,))?))
    };
    names.map(join).collect()
}

/// Computes a value for each of sixteen splats. `map` on the array copies the splats first.
#[inline(always)]
fn each<T>(splats: &Lanes<ProjectedSplat>, value: impl Fn(&ProjectedSplat) -> T) -> Lanes<T> {
    std::array::from_fn(|lane| value(&splats[lane]))
}

/// Writes lanes to a slice of at most sixteen values. The common case of sixteen compiles to stores instead of a call.
#[inline(always)]
fn store<T: Copy>(array: &mut [T], lanes: &Lanes<T>) {
    match array.first_chunk_mut() {
        Some(all) => *all = *lanes,
        None => array.copy_from_slice(&lanes[..array.len()]),
    }
}

/// Start of each block of sixteen splats: index of the chunk, and index of the splat in the chunk.
fn starts(chunks: &[&[ProjectedSplat]]) -> Vec<(usize, usize)> {
    let seen: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let (mut starts, mut start) = (Vec::with_capacity(seen / BLOCK + 1), 0);
    for (at, chunk) in chunks.iter().enumerate() {
        starts.extend((start..chunk.len()).step_by(BLOCK).map(|first| (at, first)));
        // The last block of sixteen extends into the next chunk.
        start += (chunk.len().saturating_sub(start)).next_multiple_of(BLOCK);
        start -= chunk.len();
    }
    starts
}

/// Non-empty chunks of the splats that `renderer` has drawn.
fn drawn(renderer: &Renderer) -> Vec<&[ProjectedSplat]> {
    renderer.drawn_chunks().map(|(splats, _)| splats).filter(|chunk| !chunk.is_empty()).collect()
}

/// Copies up to sixteen splats, from splat `first` of the first chunk on, and pads them with zeros.
fn sixteen(chunks: &[&[ProjectedSplat]], first: usize) -> Lanes<ProjectedSplat> {
    let mut splats = [ProjectedSplat::zeroed(); BLOCK];
    let (mut filled, mut first) = (0, first);
    for chunk in chunks {
        let part = &chunk[first..];
        let taken = part.len().min(BLOCK - filled);
        splats[filled..filled + taken].copy_from_slice(&part[..taken]);
        (filled, first) = (filled + taken, 0);
        if filled == BLOCK {
            break;
        }
    }
    splats
}

/// Arrays [C, N] of `meta`, with zeros where a splat is not in view of a camera.
pub(crate) struct AllPairs {
    /// Number of cameras C and number of splats N.
    shape: [usize; 2],
    radii: Vec<[i32; 2]>,
    means: Vec<[f32; 2]>,
    depths: Vec<f32>,
    conics: Vec<[f32; 3]>,
    opacities: Vec<f32>,
}

impl AllPairs {
    /// Allocates zeros for every pair of a camera and a splat.
    pub(crate) fn zeroed(shape: [usize; 2]) -> Self {
        let pairs = shape[0] * shape[1];
        Self {
            shape,
            radii: vec![[0; 2]; pairs],
            means: vec![[0.0; 2]; pairs],
            depths: vec![0.0; pairs],
            conics: vec![[0.0; 3]; pairs],
            opacities: vec![0.0; pairs],
        }
    }

    /// Writes the splats in view of a camera to the camera's rows, on all threads.
    pub(crate) fn write(&mut self, view: &DrawnView<'_>) {
        let first = view.number * self.shape[1];
        let mut rest = Rows {
            radii: &mut self.radii[first..],
            means: &mut self.means[first..],
            depths: &mut self.depths[first..],
            conics: &mut self.conics[first..],
            opacities: &mut self.opacities[first..],
        };
        let mut parts = Vec::new();
        let mut taken = 0;
        for chunk in drawn(view.renderer) {
            // Splat indices ascend across chunks, so each chunk gets its own part of the rows.
            let end = chunk[chunk.len() - 1].index as usize + 1;
            let (part, after) = rest.split_at(end - taken);
            parts.push((part, chunk, taken));
            (rest, taken) = (after, end);
        }
        let level = SimdLevel::best();
        parts.into_par_iter().for_each(|(mut rows, chunk, taken)| {
            for first in (0..chunk.len()).step_by(BLOCK) {
                let seen = match chunk[first..].first_chunk() {
                    Some(splats) => view.seen(splats, level),
                    None => view.seen(&sixteen(&[chunk], first), level),
                };
                for (lane, splat) in chunk[first..].iter().take(BLOCK).enumerate() {
                    rows.write(splat.index as usize - taken, &seen, lane);
                }
            }
        });
    }

    /// Returns the arrays by their names in `meta`, with leading axes [C, N].
    pub(crate) fn into_arrays(self, py: Python<'_>) -> PyResult<Named<'_>> {
        let shape = self.shape;
        let with = |last: usize| [shape.as_slice(), &[last]].concat();
        Ok(vec![
            ("radii", array(py, self.radii.into_flattened(), &with(2))?),
            ("means2d", array(py, self.means.into_flattened(), &with(2))?),
            ("depths", array(py, self.depths, &shape)?),
            ("conics", array(py, self.conics.into_flattened(), &with(3))?),
            ("opacities", array(py, self.opacities, &shape)?),
        ])
    }
}

/// Consecutive rows of a camera, one per splat.
struct Rows<'a> {
    radii: &'a mut [[i32; 2]],
    means: &'a mut [[f32; 2]],
    depths: &'a mut [f32],
    conics: &'a mut [[f32; 3]],
    opacities: &'a mut [f32],
}

impl Rows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let radii = self.radii.split_at_mut(rows);
        let means = self.means.split_at_mut(rows);
        let depths = self.depths.split_at_mut(rows);
        let conics = self.conics.split_at_mut(rows);
        let opacities = self.opacities.split_at_mut(rows);
        let first = Self {
            radii: radii.0,
            means: means.0,
            depths: depths.0,
            conics: conics.0,
            opacities: opacities.0,
        };
        let rest = Self {
            radii: radii.1,
            means: means.1,
            depths: depths.1,
            conics: conics.1,
            opacities: opacities.1,
        };
        (first, rest)
    }

    #[inline]
    fn write(&mut self, row: usize, seen: &Seen, lane: usize) {
        self.radii[row] = seen.radii[lane];
        self.means[row] = seen.means[lane];
        self.depths[row] = seen.depths[lane];
        self.conics[row] = seen.conics[lane];
        self.opacities[row] = seen.opacities[lane];
    }
}
