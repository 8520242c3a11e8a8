//! Quads that passed the depth test become quads for the shader, through a merging unit.
//!
//! A unit that is flushed after every grid works on all chunks side by side; one that is flushed
//! after every draw works on all chunks of a draw in order.

use rayon::prelude::*;

use super::chunk::Chunk;
use super::settings::FrameSettings;
use super::visible::Visible;
use crate::mesh::grid::{Grid, Source};
use crate::mesh::index::index32;
use crate::mesh::merge::{MergeCounters, MergeDriver, MergeUnitKind, QuadFragment, Scope};
use crate::pipeline::statistics::Counter;

/// No quad of the shader.
pub(crate) const NOT_SHADED: u32 = u32::MAX;

/// A quad that the shader runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderQuad {
    /// The chunk that its fragments are of.
    pub chunk: u32,
    /// For each shading pixel: the quad of that chunk whose triangle gives the shading inputs.
    pub inputs: [u32; 4],
    /// Samples covered, shading pixel by shading pixel.
    pub coverage: u64,
}

/// What the shader runs on.
#[derive(Debug, Clone, Default)]
pub struct Shading {
    /// The quads.
    pub quads: Vec<ShaderQuad>,
    /// By chunk: which quads of the shader its quads became part of, and the number of the first.
    parts: Vec<(Parts, u32)>,
    /// What the quads were made of.
    pub counters: MergeCounters,
}

/// For each quad of a chunk, the quad of the shader that it became part of, counted in the group,
/// or [`NOT_SHADED`]; for each of its four shading pixels where units split quads.
type Parts = Vec<u32>;

impl Shading {
    /// The quad of the shader that colours a shading pixel of a chunk's quad.
    #[inline]
    pub fn of(&self, visible: &Visible, chunk: usize, quad: u32, cell: usize) -> u32 {
        let (parts, base) = &self.parts[chunk];
        let is_split = parts.len() > visible.chunks[chunk].quads.len();
        let local = if is_split {
            parts[quad as usize * 4 + cell]
        } else {
            parts[quad as usize]
        };
        if local == NOT_SHADED {
            local
        } else {
            base + local
        }
    }
}

impl Visible {
    /// Sends the quads through a unit.
    #[must_use]
    pub fn merged(&self, source: &dyn Source, unit: MergeUnitKind) -> Shading {
        let groups: Vec<_> = match unit.unit().rules().scope {
            Scope::Grid => self.chunks.chunks(1).collect(),
            Scope::Draw => self.chunks.chunk_by(|a, b| a.draw == b.draw).collect(),
        };
        let mut first = 0;
        let mut numbered = Vec::with_capacity(groups.len());
        for group in groups {
            numbered.push((first, group));
            first += group.len();
        }
        let merged: Vec<_> = numbered
            .into_par_iter()
            .map(|(first, chunks)| {
                let mut group = Group::new(chunks, index32(first), unit, &self.settings);
                group.merge(chunks, source, &self.settings);
                group
            })
            .collect();
        let mut shading = Shading::default();
        for group in merged {
            let base = index32(shading.quads.len());
            shading.quads.extend(group.quads);
            let parts = group.parts.into_iter().map(|p| (p, base));
            shading.parts.extend(parts);
            shading.counters.add(&group.counters);
        }
        shading
    }

    /// Number of fragments shaded at each shading pixel of the picture, row by row: four per quad,
    /// covered or not.
    #[cfg(feature = "cli")]
    #[allow(clippy::cast_sign_loss, reason = "shading pixels of the picture")]
    pub(crate) fn fragments_per_shading_pixel(&self, shading: &Shading) -> Vec<u32> {
        let picture = self.settings.cells();
        let (width, height) = (picture.x1 as usize, picture.y1 as usize);
        let mut counts = vec![0; width * height];
        for quad in &shading.quads {
            let of = &self.chunks[quad.chunk as usize].quads[quad.inputs[0] as usize];
            for cell in 0..4 {
                let x = usize::from(of.position[0]) * 2 + (cell & 1);
                let y = usize::from(of.position[1]) * 2 + (cell >> 1);
                if x < width && y < height {
                    counts[y * width + x] += 1;
                }
            }
        }
        counts
    }
}

/// Chunks that one task sends through a unit.
struct Group {
    driver: MergeDriver,
    /// Number of the first chunk in the frame.
    first: u32,
    quads: Vec<ShaderQuad>,
    /// By chunk of the group.
    parts: Vec<Parts>,
    /// Chunk of the group, and quad of it, of every fragment that went to the unit since it was
    /// last empty.
    sent: Vec<(u32, u32)>,
    /// For each of these that leads: its quad of the shader.
    leads: Vec<u32>,
    counters: MergeCounters,
}

impl Group {
    fn new(chunks: &[Chunk], first: u32, unit: MergeUnitKind, settings: &FrameSettings) -> Self {
        let driver = MergeDriver::new(unit.unit(), settings.pattern);
        let per_quad = if driver.unit.rules().splits_quads {
            4
        } else {
            1
        };
        let none = |c: &Chunk| vec![NOT_SHADED; c.quads.len() * per_quad];
        Self {
            driver,
            first,
            quads: Vec::new(),
            parts: chunks.iter().map(none).collect(),
            sent: Vec::new(),
            leads: Vec::new(),
            counters: MergeCounters::default(),
        }
    }

    fn merge(&mut self, chunks: &[Chunk], source: &dyn Source, settings: &FrameSettings) {
        let rules = self.driver.unit.rules();
        for (number, chunk) in (0..).zip(chunks) {
            for visible in chunk.visible() {
                let grid = &visible.grid;
                let material = &source.materials()[grid.material as usize];
                let is_barred = rules.bypassed_by_effects && material.effects.any();
                self.driver.unit.begin_grid(&grid.topology);
                for quad in visible.quads.clone() {
                    let coverage = self.count(chunk, quad, settings);
                    let only_touched = chunk.quads[quad as usize].coverage == 0;
                    if coverage != 0 || only_touched && rules.takes_empties {
                        self.sent.push((number, quad));
                        self.driver
                            .push(&fragment(chunk, grid, quad, coverage), is_barred);
                    }
                }
                if rules.scope == Scope::Grid {
                    self.flush();
                }
            }
        }
        self.flush();
        self.counters.add(&self.driver.counters());
    }

    /// Counts a quad of a visible grid; returns its samples that are shaded.
    #[inline]
    fn count(&mut self, chunk: &Chunk, quad: u32, settings: &FrameSettings) -> u64 {
        if chunk.quads[quad as usize].coverage == 0 {
            return 0;
        }
        let coverage = chunk.shaded_coverage(quad, settings);
        self.counters.rasterized += 1;
        self.counters.culled += u64::from(coverage == 0);
        coverage
    }

    /// Empties the unit and notes what became of the fragments that went to it.
    fn flush(&mut self) {
        self.driver.flush();
        let stream = &mut self.driver.stream;
        self.leads.clear();
        self.leads.resize(self.sent.len(), NOT_SHADED);
        for merged in stream.out.drain(..) {
            self.leads[merged.leader as usize] = index32(self.quads.len());
            self.quads.push(ShaderQuad {
                chunk: self.first + self.sent[merged.leader as usize].0,
                inputs: merged.inputs.map(|k| self.sent[k as usize].1),
                coverage: merged.coverage,
            });
        }
        let splits_quads = self.driver.unit.rules().splits_quads;
        for (&(chunk, quad), k) in self.sent.iter().zip(0..) {
            let (parts, quad) = (&mut self.parts[chunk as usize], quad as usize);
            let lead = |cell| self.leads[stream.fragments.find(k, cell) as usize];
            if splits_quads {
                (0..4).for_each(|cell| parts[quad * 4 + cell] = lead(cell));
            } else {
                parts[quad] = lead(0);
            }
        }
        stream.fragments.clear();
        self.sent.clear();
    }
}

/// A quad as a merging unit takes it.
#[inline]
fn fragment(chunk: &Chunk, grid: &Grid, quad: u32, coverage: u64) -> QuadFragment {
    let quad = &chunk.quads[quad as usize];
    let corners = grid.topology.triangles[usize::from(quad.triangle)];
    QuadFragment {
        position: quad.position,
        coverage,
        centres: quad.centres,
        is_front: quad.is_front,
        triangle: quad.triangle,
        ids: corners.map(|c| grid.vertices[usize::from(c)].id),
    }
}
