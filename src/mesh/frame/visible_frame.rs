//! Depth-tested frame of a mesh, from which pictures and counts are made.

use rayon::prelude::*;

use super::chunk::{Chunk, MemoryBudget};
use super::drawn_area::DrawnArea;
use super::settings::FrameSettings;
use super::visibility::{self, VisibilityBuffer};
use crate::shade::AlphaTests;
use quadrille_base::bytes::Bytes;
use quadrille_base::image::crop::CropArea;
use quadrille_base::raster::sample_depth::NO_OWNER;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::{Error, Result, Task};
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::{GridSource, draw_runs};

/// Quad indices have 32 bits, one of which marks targets in the disjoint sets of merged fragments.
const MAX_QUADS: u64 = (1 << 31) - 1;

/// A frame with its visibility resolved, before any shading.
#[derive(Debug)]
pub struct VisibleFrame {
    /// Grids and quads in drawing order, with blended chunks last.
    pub chunks: Vec<Chunk>,
    /// Visibility buffers of the bins of the picture, in row order.
    pub bins: Vec<VisibilityBuffer>,
    /// Camera that the frame is rasterized for, in the coordinates of the source.
    pub view: MeshCamera,
    /// Settings that the frame was made with.
    pub settings: FrameSettings,
    /// Number of grids tessellated.
    pub grids: u64,
    /// Number of triangles in the tessellated grids.
    pub triangles: u64,
    /// Number and area of the drawn triangles, hidden or not.
    pub drawn: DrawnArea,
    /// After its cancellation, merging and shading stop and their results are invalid.
    pub(super) task: Task,
}

impl VisibleFrame {
    /// Tessellates a scene for the first of `views`, then rasterizes and depth-tests it in the second. After later uses of
    /// the frame ([`Self::merged`], [`Self::picture`]), check `task`, which ends them early.
    ///
    /// # Errors
    /// [`Error::Argument`] if the triangles and quads take more memory than
    /// [`FrameSettings::memory_bytes`]; [`Error::Limit`] if there are 2^31 quads or more; [`Error::Cancelled`].
    pub fn new(
        source: &dyn GridSource,
        views: [&MeshCamera; 2],
        settings: &FrameSettings,
        task: &Task,
    ) -> Result<Self> {
        quadrille_base::span!("visibility");
        let alpha = AlphaTests::new(source.materials(), source.textures());
        let budget = MemoryBudget::new(settings.memory_bytes, task);
        let mut chunks: Vec<_> = draw_runs(source)
            .into_par_iter()
            .map(|run| Chunk::new(source, run, views, settings, &alpha, &budget))
            .collect();
        task.check()?;
        if budget.is_spent() {
            let expected = format!(
                "at most {} of triangles and quads (choose larger triangles, less displacement, a smaller picture or more \
                 memory)",
                Bytes(settings.memory_bytes)
            );
            return Err(Error::argument("memory", expected, "more"));
        }
        let mut quads: u64 = 0;
        for chunk in &mut chunks {
            chunk.first_quad = u32::try_from(quads).unwrap_or(u32::MAX);
            quads += chunk.quads.len() as u64;
        }
        Error::check_limit("quads of a frame", MAX_QUADS, quads)?;
        let bins = visibility::test(&chunks, settings, task);
        task.check()?;
        Ok(Self {
            bins,
            task: task.without_progress(),
            view: views[1].clone(),
            settings: *settings,
            grids: chunks.iter().map(|c| c.grids_in).sum(),
            triangles: chunks.iter().map(|c| c.triangles_in).sum(),
            drawn: chunks.iter().fold(DrawnArea::default(), |drawn, c| drawn.with(c.drawn)),
            chunks,
        })
    }

    /// Draws an enlarged part of the picture, with one sample at the centre of each pixel and the same tessellation.
    pub fn enlarged(&self, source: &dyn GridSource, part: CropArea) -> Result<Self> {
        let [size, corner] = [part.size, part.corner].map(|px| px.map(|px| px * part.zoom));
        let view = self.view.enlarged(part.zoom, corner, size);
        let settings =
            FrameSettings { size, pattern: SamplePattern::standard(1)?.shared(), ..self.settings };
        Self::new(source, [&self.view, &view], &settings, &self.task)
    }

    /// Returns the chunk of a quad and its index in the chunk, from its index in the frame.
    #[inline]
    pub fn find(&self, quad: u32) -> (usize, u32) {
        let after = self.chunks.partition_point(|c| c.first_quad <= quad);
        (after - 1, quad - self.chunks[after - 1].first_quad)
    }

    pub(crate) fn pixels_covered(&self) -> u64 {
        let pattern = self.settings.pattern;
        let (per_pixel, count) = (pattern.per_pixel() as usize, pattern.count() as usize);
        let covered = |bin: &VisibilityBuffer| {
            let pixels = bin.quads.iter().map(|quad| {
                let [first, end] = quad.blended.map(|at| at as usize);
                let passed = bin.blended[first..end].iter().map(|&owner| {
                    let (chunk, quad) = self.find(owner);
                    self.chunks[chunk].passed(quad)
                });
                let blended = passed.fold(0, |all, passed| all | passed);
                let owners = &bin.samples[quad.first as usize..][..4 * count];
                let pixels = owners.chunks_exact(per_pixel).enumerate();
                let covers = |sample: usize, owner| owner != NO_OWNER || blended >> sample & 1 == 1;
                let is_covered = |(at, owners): &(usize, &[u32])| {
                    (at * per_pixel..).zip(*owners).any(|(k, &owner)| covers(k, owner))
                };
                pixels.filter(is_covered).count() as u64
            });
            pixels.sum::<u64>()
        };
        self.bins.par_iter().map(covered).sum()
    }
}
