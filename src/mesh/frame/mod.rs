//! A frame of the mesh path without time: every count and the picture, on all cores.
//!
//! ```text
//! batches --chunk--> quads, in submission order      (all chunks side by side)
//!         --visibility--> what passes the depth test (all bins side by side, each in order)
//!         --merging--> quads for the shader          (grids, or draws, side by side)
//!         --picture--> shaded, resolved
//! ```
//!
//! It uses the emulated pipeline's own edge functions, coverage and depth test, and the merging
//! units' own buffers: the timed pipeline gives the same counts and the same picture.

pub mod chunk;
pub mod merging;
pub mod picture;
pub mod reyes;
pub mod settings;
pub mod visibility;

use rayon::prelude::*;

use chunk::{Chunk, RasterCounters};
use merging::{Shading, Unit};
use picture::{CellColours, Numbers, Shaded};
use reyes::VertexColours;
use settings::FrameSettings;
use visibility::Owners;

use super::grid::Source;
use super::shade::Shader;
use super::shade::quad::Sampling;
use super::view::View;
use crate::error::{Error, Result};
use crate::image::Frame;
use crate::raster::sample_depth::NO_OWNER;

/// Chunks that a frame is cut into, if it has as many batches: enough to keep many cores busy to
/// the end, few enough that each is worth a task.
const CHUNKS: usize = 256;
/// Most quads of a frame: their numbers are 32 bits wide, and one is kept for "none".
const MAX_QUADS: u64 = u32::MAX as u64 - 1;

/// A frame with its visibility resolved, before any shading.
#[derive(Debug)]
pub struct Visible {
    /// The quads.
    pub chunks: Vec<Chunk>,
    /// What each bin shows.
    pub owners: Vec<Owners>,
    /// The view.
    pub view: View,
    /// The settings.
    pub settings: FrameSettings,
    /// What the raster found.
    pub counters: RasterCounters,
}

impl Visible {
    /// Tessellates a scene as finely as `made_for` asks for, rasters and depth-tests it in `view`.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are 2^32 quads or more.
    pub fn new(
        source: &dyn Source,
        made_for: &View,
        view: &View,
        settings: &FrameSettings,
    ) -> Result<Self> {
        let mut chunks: Vec<_> = runs(source)
            .into_par_iter()
            .map(|batches| Chunk::new(source, batches, [made_for, view], settings))
            .collect();
        let mut counters = RasterCounters::default();
        let mut quads: u64 = 0;
        for chunk in &mut chunks {
            counters += chunk.counters;
            chunk.first_quad = u32::try_from(quads).unwrap_or(u32::MAX);
            quads += chunk.quads.len() as u64;
        }
        if quads > MAX_QUADS {
            return Err(Error::Limit {
                what: "quads of a frame".to_owned(),
                limit: MAX_QUADS,
                found: quads,
            });
        }
        let owners = visibility::test(&chunks, settings);
        Ok(Self {
            chunks,
            owners,
            view: view.clone(),
            settings: *settings,
            counters,
        })
    }

    /// Sends the quads through a unit.
    #[must_use]
    pub fn merged(&self, source: &dyn Source, unit: Unit) -> Shading {
        merging::merge(&self.chunks, source, unit, &self.settings)
    }

    /// The picture that a unit leaves.
    #[must_use]
    pub fn picture(
        &self,
        shader: &Shader<'_>,
        shading: &Shading,
        sampling: Sampling,
        background: Option<[f32; 3]>,
    ) -> Frame {
        let shaded = self.shaded(shader);
        let colours = shaded.colours(shading, sampling);
        let numbers = Numbers::of(&self.chunks);
        let colours = CellColours {
            shading,
            colours: &colours,
            numbers: &numbers,
        };
        shaded.resolve(&colours, background)
    }

    /// The picture that Reyes leaves.
    #[must_use]
    pub fn reyes_picture(&self, shader: &Shader<'_>, background: Option<[f32; 3]>) -> Frame {
        let shaded = self.shaded(shader);
        let numbers = Numbers::of(&self.chunks);
        shaded.resolve(&VertexColours::new(&shaded, &numbers), background)
    }

    fn shaded<'a>(&'a self, shader: &'a Shader<'a>) -> Shaded<'a> {
        Shaded {
            chunks: &self.chunks,
            owners: &self.owners,
            settings: &self.settings,
            view: &self.view,
            shader,
        }
    }

    /// Pixels with a sample that shows anything.
    #[must_use]
    pub fn pixels_covered(&self) -> u64 {
        let per_pixel = self.settings.pattern.per_pixel() as usize;
        let covered = |bin: &Owners| {
            let pixels = bin.samples.chunks_exact(per_pixel);
            pixels.filter(|p| p.iter().any(|&o| o != NO_OWNER)).count() as u64
        };
        self.owners.par_iter().map(covered).sum()
    }

    /// Fragments shaded at each cell of the picture, row by row: four cells a quad, covered or not.
    #[must_use]
    #[allow(clippy::cast_sign_loss, reason = "cells of the picture")]
    pub fn fragments_a_cell(&self, shading: &Shading) -> Vec<u32> {
        let cells = self.settings.cells();
        let (width, height) = (cells.x1 as usize, cells.y1 as usize);
        let mut counts = vec![0; width * height];
        for quad in &shading.quads {
            let place = self.chunks[quad.chunk as usize].quads[quad.inputs[0] as usize].place;
            for cell in 0..4 {
                let x = usize::from(place[0]) * 2 + (cell & 1);
                let y = usize::from(place[1]) * 2 + (cell >> 1);
                if x < width && y < height {
                    counts[y * width + x] += 1;
                }
            }
        }
        counts
    }
}

/// The batches in runs, none across two draws.
fn runs(source: &dyn Source) -> Vec<std::ops::Range<usize>> {
    let length = source.batches().div_ceil(CHUNKS).max(1);
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for batch in 0..source.batches() {
        match runs.last_mut() {
            Some(run) if run.len() < length && source.draw(run.start) == source.draw(batch) => {
                run.end = batch + 1;
            }
            _ => runs.push(batch..batch + 1),
        }
    }
    runs
}
