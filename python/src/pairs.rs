//! The splats that cameras see, as arrays.

use bytemuck::Zeroable;
use pyo3::prelude::*;
use quadrille::{Camera, ProjectedSplat, Renderer, SimdLevel};
use quadrille_scene::BLOCK;
use rayon::prelude::*;

use crate::arrays::array;

/// Arrays by their names.
pub(crate) type Named<'py> = Vec<(&'static str, Bound<'py, PyAny>)>;

/// Values of sixteen splats.
type Lanes<T> = [T; BLOCK];

/// Three columns of values, as a parallel iterator of their lanes is divided.
type Columns<A, B, C> = (Vec<Lanes<A>>, (Vec<Lanes<B>>, Vec<Lanes<C>>));
/// Indices, depths and opacities; radii, means and conics.
type AllColumns = (
    Columns<i64, f32, f32>,
    Columns<[i32; 2], [f32; 2], [f32; 3]>,
);

/// The splats that cameras see, one element per pair of a camera and a splat.
#[derive(Default)]
pub(crate) struct Pairs {
    cameras: Vec<i64>,
    splats: Vec<i64>,
    radii: Vec<[i32; 2]>,
    means: Vec<[f32; 2]>,
    depths: Vec<f32>,
    conics: Vec<[f32; 3]>,
    opacities: Vec<f32>,
}

/// The values of sixteen splats that a camera sees.
struct Seen {
    splats: Lanes<i64>,
    radii: Lanes<[i32; 2]>,
    means: Lanes<[f32; 2]>,
    depths: Lanes<f32>,
    conics: Lanes<[f32; 3]>,
    opacities: Lanes<f32>,
}

impl Seen {
    /// `half` is half the size of the picture in pixels.
    fn of(splats: &Lanes<ProjectedSplat>, level: SimdLevel, half: [f32; 2]) -> Self {
        let shapes = ProjectedSplat::shapes(level, splats);
        let whole = |radius| i32::try_from(radius).unwrap_or(i32::MAX);
        Self {
            splats: splats.map(|splat| i64::from(splat.index)),
            radii: shapes.radii.map(|radii| radii.map(whole)),
            means: splats.map(|splat| [0, 1].map(|axis| splat.mean_px[axis] + half[axis])),
            depths: splats.map(|splat| splat.depth),
            conics: shapes.conics,
            opacities: splats.map(|splat| splat.opacity()),
        }
    }
}

/// The splats that `renderer` has drawn, by chunks that are not empty.
fn drawn(renderer: &Renderer) -> Vec<&[ProjectedSplat]> {
    let chunks = renderer.drawn_chunks().map(|(splats, _)| splats);
    chunks.filter(|chunk| !chunk.is_empty()).collect()
}

/// Up to sixteen splats from splat `first` of the first chunk on, with zeros behind the last one.
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

/// Appends the first `len` values of lanes; the first ones are not copied.
fn append<T: Copy>(values: &mut Vec<T>, lanes: Vec<Lanes<T>>, len: usize) {
    let mut flat = lanes.into_flattened();
    flat.truncate(len);
    match values.is_empty() {
        true => *values = flat,
        false => values.append(&mut flat),
    }
}

impl Pairs {
    /// Memory for every pair of a camera and a splat.
    pub(crate) fn zeroed(pairs: usize) -> Self {
        Self {
            radii: vec![[0; 2]; pairs],
            means: vec![[0.0; 2]; pairs],
            depths: vec![0.0; pairs],
            conics: vec![[0.0; 3]; pairs],
            opacities: vec![0.0; pairs],
            ..Self::default()
        }
    }

    /// Appends the splats that a camera sees, on all threads. All arrays are made in one pass, into memory that is not
    /// cleared before, which one thread would do.
    pub(crate) fn append(&mut self, camera: usize, view: &Camera, renderer: &Renderer) {
        let chunks = drawn(renderer);
        let seen = chunks.iter().map(|chunk| chunk.len()).sum();
        // Chunk and splat in it that each sixteen start with.
        let (mut starts, mut start) = (Vec::with_capacity(seen / BLOCK + 1), 0);
        for (at, chunk) in chunks.iter().enumerate() {
            starts.extend((start..chunk.len()).step_by(BLOCK).map(|first| (at, first)));
            // The last sixteen reach into the next chunk.
            start += (chunk.len().saturating_sub(start)).next_multiple_of(BLOCK);
            start -= chunk.len();
        }
        let (level, half) = (SimdLevel::best(), half_of(view));
        let camera = i64::try_from(camera).unwrap_or(i64::MAX);
        let columns = starts.into_par_iter().map(|(chunk, first)| {
            let seen = match chunks[chunk][first..].first_chunk() {
                Some(splats) => Seen::of(splats, level, half),
                None => Seen::of(&sixteen(&chunks[chunk..], first), level, half),
            };
            let numbers = (seen.splats, (seen.depths, seen.opacities));
            (numbers, (seen.radii, (seen.means, seen.conics)))
        });
        let columns: AllColumns = columns.unzip();
        let ((splats, (depths, opacities)), (radii, (means, conics))) = columns;
        match self.cameras.is_empty() {
            // Zeros for the first camera, which come as cleared memory.
            true => self.cameras = vec![camera; seen],
            false => self.cameras.resize(self.cameras.len() + seen, camera),
        }
        append(&mut self.splats, splats, seen);
        append(&mut self.radii, radii, seen);
        append(&mut self.means, means, seen);
        append(&mut self.depths, depths, seen);
        append(&mut self.conics, conics, seen);
        append(&mut self.opacities, opacities, seen);
    }

    /// Writes the splats that a camera sees to their rows, which are from `first` on, on all threads.
    pub(crate) fn write(&mut self, first: usize, view: &Camera, renderer: &Renderer) {
        let mut rest = Rows {
            radii: &mut self.radii[first..],
            means: &mut self.means[first..],
            depths: &mut self.depths[first..],
            conics: &mut self.conics[first..],
            opacities: &mut self.opacities[first..],
        };
        let mut parts = Vec::new();
        let mut taken = 0;
        for chunk in drawn(renderer) {
            // Rows ascend from chunk to chunk.
            let end = chunk[chunk.len() - 1].index as usize + 1;
            let (part, after) = rest.split_at(end - taken);
            parts.push((part, chunk, taken));
            (rest, taken) = (after, end);
        }
        let (level, half) = (SimdLevel::best(), half_of(view));
        parts.into_par_iter().for_each(|(mut rows, chunk, taken)| {
            for first in (0..chunk.len()).step_by(BLOCK) {
                let seen = match chunk[first..].first_chunk() {
                    Some(splats) => Seen::of(splats, level, half),
                    None => Seen::of(&sixteen(&[chunk], first), level, half),
                };
                for (lane, splat) in chunk[first..].iter().take(BLOCK).enumerate() {
                    rows.write(splat.index as usize - taken, &seen, lane);
                }
            }
        });
    }

    /// The arrays by their names in `meta`, with `shape` in front.
    pub(crate) fn into_arrays<'py>(
        self,
        py: Python<'py>,
        shape: Option<[usize; 2]>,
    ) -> PyResult<Named<'py>> {
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

/// Half the size of a picture in pixels.
fn half_of(view: &Camera) -> [f32; 2] {
    [view.width, view.height].map(|side| side as f32 / 2.0)
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
