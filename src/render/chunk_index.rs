//! Index of a PLY: bounds of chunks of rows, with which a renderer skips chunks that no view sees.
//!
//! The index is a separate file: some readers of PLY fail at unknown elements, and others at bytes behind the last row.
//! It starts with a mark and a [`Stamp`], has a [`Chunk`] for every [`CHUNK`] rows, and ends with a checksum.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::preprocess::{ViewTransform, cut_radius_squared};
use quadrille_base::math::narrow;
use quadrille_base::output::write_whole;
use quadrille_base::shading::{ALPHA_CUT, Profile};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::formats::{SplatBatches, open_batches};
use quadrille_scene::{BLOCK, Camera, LoadOptions, Splats};

/// Splats per chunk (assumed): 60 KB of rows of degree 3.
const CHUNK: usize = 256;
const _: () = assert!(CHUNK.is_multiple_of(BLOCK));

const MARK: [u8; 16] = *b"quadrille index1";

/// Radius of a splat in the bounds, relative to its radius at the alpha cut in world space. A footprint is a linear
/// approximation that enlarges splats beside the picture. Most profiles clamp their slope to 1.3 times the slope of the
/// picture's edge; with that limit, this factor suffices for every field of view.
const REACH: f64 = 1.5;
/// Margin around a picture for rounding, in pixels.
const MARGIN_PX: f64 = 1.0;
/// Bound on the relative rounding error of f32 coordinates, with a factor of 32 to spare.
const ROUNDING: f64 = 1.0 / (1 << 17) as f64;

/// State of the PLY when its index was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Stamp {
    bytes: u64,
    /// Seconds since 1970.
    modified_s: u64,
    modified_ns: u64,
    rows: u64,
    header: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Chunk {
    low: [f32; 3],
    high: [f32; 3],
    rows: u32,
}

/// Bounds and checksums of the chunks of a PLY, and the state of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkIndex {
    stamp: Stamp,
    chunks: Vec<Chunk>,
}

/// Path of the index of the PLY `scene`.
pub fn index_path(scene: &Path) -> PathBuf {
    let mut name = scene.as_os_str().to_owned();
    name.push(".index");
    name.into()
}

impl Stamp {
    fn of(scene: &Path, batches: &SplatBatches) -> Result<Self> {
        let failed = |e| Error::read(scene, e);
        let meta = fs::metadata(scene).map_err(failed)?;
        let modified = meta.modified().map_err(failed)?;
        let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            bytes: meta.len(),
            modified_s: modified.as_secs(),
            modified_ns: modified.subsec_nanos().into(),
            rows: batches.rows() as u64,
            header: crc32fast::hash(batches.header().unwrap_or_default()).into(),
        })
    }
}

fn ranges(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(CHUNK).map(move |first| first..rows.min(first + CHUNK))
}

impl Chunk {
    /// Bounds of splats, with the checksum `rows` of their `count` rows. A chunk with an invalid row always counts as seen.
    fn of(splats: &Splats, count: usize, rows: u32) -> Self {
        let mut chunk = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3], rows };
        if splats.len() < count {
            std::mem::swap(&mut chunk.low, &mut chunk.high);
        }
        for index in 0..splats.len() {
            let splat = splats.geometry(index);
            let opacity = f64::from(splat.opacity).max(ALPHA_CUT);
            let scale = splat.scale.into_iter().fold(0.0, f32::max);
            let reach = REACH * cut_radius_squared(opacity).sqrt() * f64::from(scale);
            for (axis, mean) in splat.mean.into_iter().enumerate() {
                let [low, high] = [-reach, reach].map(|reach| narrow(f64::from(mean) + reach));
                chunk.low[axis] = chunk.low[axis].min(low.next_down());
                chunk.high[axis] = chunk.high[axis].max(high.next_up());
            }
        }
        chunk
    }

    fn may_be_seen(&self, planes: &[Plane]) -> bool {
        let [low, high] = [self.low, self.high].map(|corner| corner.map(f64::from));
        let is_outside = |plane: &Plane| plane.is_above(low, high);
        !planes.iter().any(is_outside)
    }
}

/// Plane in world space. Splats above it are out of view.
struct Plane {
    normal: [f64; 3],
    offset: f64,
}

impl Plane {
    fn is_above(&self, low: [f64; 3], high: [f64; 3]) -> bool {
        let (mut least, mut terms) = (self.offset, self.offset.abs());
        for (axis, normal) in self.normal.into_iter().enumerate() {
            let ends = [normal * low[axis], normal * high[axis]];
            least += ends[0].min(ends[1]);
            terms += ends[0].abs().max(ends[1].abs());
        }
        least > ROUNDING * terms
    }
}

/// Planes around the frustum of a pinhole, for discs those before and behind it alone; none for other projections.
fn planes(view: &ViewTransform) -> Vec<Plane> {
    let mut planes = Vec::new();
    if !view.projection.is_pinhole() || view.near < 0.0 {
        return planes;
    }
    // Adds the plane of the points in view space whose product with `normal` is `offset`.
    let mut add = |normal: [f64; 3], offset: f64| {
        let dot = |axis: usize| (0..3).map(|row| normal[row] * view.rotation[row][axis]).sum();
        let moved: f64 = (0..3).map(|row| normal[row] * view.translation_in_view[row]).sum();
        planes.push(Plane { normal: [dot(0), dot(1), dot(2)], offset: moved - offset });
    };
    add([0.0, 0.0, -1.0], -view.near);
    if view.far.is_finite() {
        add([0.0, 0.0, 1.0], view.far);
    }
    if view.is_disc || view.points_px.is_some() {
        // The stretch of a footprint has no limit here; a disc that the plane of the camera cuts may reach any pixel.
        return planes;
    }
    let blur = (cut_radius_squared(1.0) * view.low_pass_px2).sqrt();
    for axis in 0..2 {
        let focal = view.focal_px[axis];
        let widest = view.slope_limits[axis].map(f64::abs);
        let stretch = widest[0].max(widest[1]).hypot(1.0);
        for side in [-1.0, 1.0] {
            // Slope of the edge of the picture, with a margin for the low-pass filter.
            let edge = view.half_size_px()[axis] - side * view.principal_from_centre_px[axis];
            let slope = (edge + blur + MARGIN_PX) / focal;
            // Beside the picture, half the width of a footprint is at most the radius times `stretch`.
            if focal > 0.0 && REACH * slope.hypot(1.0) > stretch {
                let mut normal = [0.0, 0.0, -slope];
                normal[axis] = side;
                add(normal, 0.0);
            }
        }
    }
    planes
}

impl ChunkIndex {
    /// Makes the index of the PLY `scene`: reads all of its rows.
    pub fn of(scene: &Path, task: &Task) -> Result<Self> {
        let batches = open_batches(scene, LoadOptions::default())?;
        let found = "another format";
        Error::malformed_if(batches.header().is_none(), scene, "format", "a binary PLY", found)?;
        let stamp = Stamp::of(scene, &batches)?;
        let mut rows = ranges(batches.rows());
        let mut chunks = Vec::new();
        batches.for_each(CHUNK, task, &mut |splats| {
            let rows = rows.next().unwrap_or_default();
            chunks.push(Chunk::of(splats, rows.len(), crc32fast::hash(batches.row_bytes(rows))));
            Ok(())
        })?;
        Ok(Self { stamp, chunks })
    }

    /// Writes the index beside the PLY `scene`. An interrupted write leaves an old index unchanged.
    pub fn write(&self, scene: &Path, task: &Task) -> Result<()> {
        let parts =
            [&MARK[..], bytemuck::bytes_of(&self.stamp), bytemuck::cast_slice(&self.chunks)];
        let mut bytes = parts.concat();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        write_whole(&index_path(scene), task, |out| out.write_all(&bytes))
    }

    /// Reads the index beside the PLY `scene`, which is open as `batches`; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Malformed`] if the file is damaged or belongs to other vertices.
    pub fn read(scene: &Path, batches: &SplatBatches) -> Result<Option<Self>> {
        let path = index_path(scene);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::read(&path, error)),
        };
        let remedy = "(make it again with `quadrille convert --index`, or remove it)";
        let damaged = |found: &str| {
            let expected = format!("an index of {} {remedy}", scene.display());
            Error::malformed(&path, "content", expected, found)
        };
        let index =
            Self::parse(&bytes).ok_or_else(|| damaged("a damaged file or another format"))?;
        match index.is_of(&Stamp::of(scene, batches)?, batches) {
            true => Ok(Some(index)),
            false => Err(damaged("an index of other vertices")),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk()?;
        let (stamp, chunks) = content.strip_prefix(&MARK)?.split_at_checked(size_of::<Stamp>())?;
        let summed = &bytes[..bytes.len() - checksum.len()];
        let is_whole = crc32fast::hash(summed) == u32::from_le_bytes(*checksum);
        let chunks = chunks.chunks_exact(size_of::<Chunk>());
        (is_whole && chunks.remainder().is_empty()).then(|| Self {
            stamp: bytemuck::pod_read_unaligned(stamp),
            chunks: chunks.map(bytemuck::pod_read_unaligned).collect(),
        })
    }

    /// Whether the index belongs to the vertices in `batches`: the PLY is unmodified, or all checksums agree.
    fn is_of(&self, found: &Stamp, batches: &SplatBatches) -> bool {
        let is_untouched = self.stamp == *found;
        let same_form =
            Stamp { modified_s: found.modified_s, modified_ns: found.modified_ns, ..self.stamp };
        if same_form != *found || self.chunks.len() != batches.rows().div_ceil(CHUNK) {
            return false;
        }
        let rows: Vec<Range<usize>> = ranges(batches.rows()).collect();
        let agrees = |(chunk, rows): (&Chunk, Range<usize>)| {
            crc32fast::hash(batches.row_bytes(rows)) == chunk.rows
        };
        is_untouched || self.chunks.par_iter().zip(rows).all(agrees)
    }

    /// Ranges of rows that contain all splats in view of any of `cameras`.
    pub fn seen(&self, cameras: &[Camera], profile: &Profile, rows: usize) -> Vec<Range<usize>> {
        let none = Splats::from_splats(0, []);
        let views =
            cameras.iter().map(|camera| planes(&ViewTransform::new(&none, camera, profile)));
        let views: Vec<Vec<Plane>> = views.collect();
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (chunk, rows) in self.chunks.iter().zip(ranges(rows)) {
            if !views.iter().any(|planes| chunk.may_be_seen(planes)) {
                continue;
            }
            match spans.last_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => spans.push(rows),
            }
        }
        spans
    }
}

#[cfg(test)]
#[path = "tests/units/chunk_index.rs"]
mod tests;
