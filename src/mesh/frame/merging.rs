//! Sends the quads that pass the depth test through a merging unit and collects the quads that the
//! shader runs on.
//!
//! With a unit that is flushed after every grid, chunks run in parallel; with one that is flushed
//! after every draw, draws do.

use rayon::prelude::*;

use super::chunk::Chunk;
use super::settings::FrameSettings;
use super::visible_frame::VisibleFrame;
use crate::mesh::grid::{Grid, GridSource};
use crate::mesh::index::index32;
use crate::mesh::merge::{MergeCounters, MergeDriver, MergeScope, MergeUnitKind, QuadFragment};
use crate::pipeline::statistics::Counter;

/// Marks a quad that reaches no quad of the shader.
pub(crate) const NOT_SHADED: u32 = u32::MAX;

/// A quad that the shader runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderQuad {
    /// Index of the chunk that its fragments belong to.
    pub chunk: u32,
    /// For each shading pixel: the quad of that chunk whose triangle gives the shading inputs.
    pub inputs: [u32; 4],
    /// Samples covered, shading pixel by shading pixel.
    pub coverage: u64,
}

/// The quads that the shader runs on, and how the quads of the raster map to them.
#[derive(Debug, Clone, Default)]
pub struct Shading {
    /// The quads.
    pub quads: Vec<ShaderQuad>,
    /// By chunk: the [targets](Targets) of its quads, and the index of the quad that they count from.
    targets: Vec<(Targets, u32)>,
    /// Counters of the quads before the unit, and of the unit.
    pub counters: MergeCounters,
}

/// For each quad of a chunk, the quad of the shader that it became part of, counted within the
/// group, or [`NOT_SHADED`]. Has an item per shading pixel where the unit splits quads.
type Targets = Vec<u32>;

impl Shading {
    /// Index of the quad of the shader that colours a shading pixel of a chunk's quad.
    #[inline]
    pub(crate) fn target(
        &self,
        visible: &VisibleFrame,
        chunk: usize,
        quad: u32,
        pixel: usize,
    ) -> u32 {
        let (targets, base) = &self.targets[chunk];
        let is_split = targets.len() > visible.chunks[chunk].quads.len();
        let local = if is_split {
            targets[quad as usize * 4 + pixel]
        } else {
            targets[quad as usize]
        };
        if local == NOT_SHADED {
            local
        } else {
            base + local
        }
    }
}

impl VisibleFrame {
    /// Sends the quads through a unit.
    pub fn merged(&self, source: &dyn GridSource, unit: MergeUnitKind) -> Shading {
        let groups: Vec<_> = match unit.build().rules().scope {
            MergeScope::Grid => self.chunks.chunks(1).collect(),
            MergeScope::Draw => self.chunks.chunk_by(|a, b| a.draw == b.draw).collect(),
        };
        let mut next = 0;
        let numbered = groups.into_iter().map(|chunks| {
            next += chunks.len();
            (next - chunks.len(), chunks)
        });
        let merged: Vec<_> = numbered
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|(first, chunks)| {
                let mut group = Group::new(chunks, index32(first), unit, &self.settings);
                match (unit, chunks) {
                    (MergeUnitKind::None, [chunk]) => group.pass(chunk, &self.settings),
                    _ => group.merge(chunks, source, &self.settings),
                }
                group
            })
            .collect();
        let mut shading = Shading::default();
        for mut group in merged {
            let base = index32(shading.quads.len());
            if base == 0 {
                shading.quads = group.quads;
            } else {
                shading.quads.append(&mut group.quads);
            }
            let targets = group.targets.into_iter().map(|t| (t, base));
            shading.targets.extend(targets);
            shading.counters.add(&group.counters);
        }
        shading
    }

    /// Number of fragments shaded at each shading pixel of the picture, in row order. A quad counts
    /// as four, covered or not.
    #[cfg(feature = "cli")]
    #[allow(clippy::cast_sign_loss, reason = "shading pixels of the picture")]
    pub(crate) fn fragments_per_shading_pixel(&self, shading: &Shading) -> Vec<u32> {
        let picture = self.settings.shading_area();
        let (width, height) = (picture.x1 as usize, picture.y1 as usize);
        let mut counts = vec![0; width * height];
        for quad in &shading.quads {
            let input = &self.chunks[quad.chunk as usize].quads[quad.inputs[0] as usize];
            for pixel in 0..4 {
                let x = usize::from(input.position[0]) * 2 + (pixel & 1);
                let y = usize::from(input.position[1]) * 2 + (pixel >> 1);
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
    /// Index of the first chunk in the frame.
    first: u32,
    quads: Vec<ShaderQuad>,
    /// By chunk of the group.
    targets: Vec<Targets>,
    /// The fragments that went to the unit since it was last empty, by their numbers in its stream.
    sent: Vec<SentFragment>,
    counters: MergeCounters,
}

#[derive(Debug, Clone, Copy)]
struct SentFragment {
    /// Its chunk in the group.
    chunk: u32,
    /// Its quad in the chunk.
    quad: u32,
    /// The quad of the shader that it leads, or [`NOT_SHADED`].
    leads: u32,
}

impl Group {
    fn new(chunks: &[Chunk], first: u32, unit: MergeUnitKind, settings: &FrameSettings) -> Self {
        let mut driver = MergeDriver::new(unit.build(), settings.pattern);
        let rules = driver.unit.rules();
        let room = match rules.scope {
            MergeScope::Grid => 0,
            // Most fragments of a draw stay until its end.
            MergeScope::Draw => chunks.iter().map(|c| c.quads.len()).sum(),
        };
        driver.stream.fragments.reserve(room);
        Self {
            driver,
            first,
            quads: Vec::with_capacity(room),
            targets: chunks
                .iter()
                .map(|c| Vec::with_capacity(c.quads.len() * rules.targets_per_quad()))
                .collect(),
            sent: Vec::with_capacity(room),
            counters: MergeCounters::default(),
        }
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

    /// Shades every quad of a chunk as it is: the result of [`merge`](Self::merge) without a unit, and
    /// without the cost of its bookkeeping.
    fn pass(&mut self, chunk: &Chunk, settings: &FrameSettings) {
        for quad in chunk.visible().flat_map(|grid| grid.quads.clone()) {
            let coverage = self.count(chunk, quad, settings);
            if coverage == 0 {
                continue;
            }
            let is_partial = settings.pattern.has_partial_pixel(coverage);
            self.counters.partial += u64::from(is_partial);
            let target = index32(self.quads.len());
            set_targets(&mut self.targets[0], quad, [target]);
            self.quads.push(ShaderQuad {
                chunk: self.first,
                inputs: [quad; 4],
                coverage,
            });
        }
        self.fill_targets([chunk]);
    }

    fn merge(&mut self, chunks: &[Chunk], source: &dyn GridSource, settings: &FrameSettings) {
        let rules = self.driver.unit.rules();
        for (number, chunk) in (0..).zip(chunks) {
            for visible in chunk.visible() {
                let grid = &visible.grid;
                let material = &source.materials()[grid.material as usize];
                let is_barred = rules.bypassed_by_effects && material.effects.any();
                self.driver.unit.begin_grid(&grid.topology);
                for quad in visible.quads.clone() {
                    let only_touched = chunk.quads[quad as usize].coverage == 0;
                    let coverage = self.count(chunk, quad, settings);
                    if coverage != 0 || only_touched && rules.takes_empties {
                        self.sent.push(SentFragment {
                            chunk: number,
                            quad,
                            leads: NOT_SHADED,
                        });
                        self.driver
                            .push(&fragment(chunk, grid, quad, coverage), is_barred);
                    }
                }
                match rules.scope {
                    MergeScope::Grid => self.flush(),
                    MergeScope::Draw => self.collect(),
                }
            }
        }
        self.flush();
        self.fill_targets(chunks);
        self.counters.add(&self.driver.counters());
    }

    /// Takes the quads that have left the unit.
    fn collect(&mut self) {
        for merged in self.driver.stream.out.drain(..) {
            let leads = index32(self.quads.len());
            let leader = &mut self.sent[merged.leader as usize];
            leader.leads = leads;
            let SentFragment { chunk, quad, .. } = *leader;
            let inputs = if merged.inputs == [merged.leader; 4] {
                [quad; 4]
            } else {
                merged.inputs.map(|k| self.sent[k as usize].quad)
            };
            self.quads.push(ShaderQuad {
                chunk: self.first + chunk,
                inputs,
                coverage: merged.coverage,
            });
        }
    }

    /// Empties the unit and records which quad of the shader each fragment became part of.
    fn flush(&mut self) {
        self.driver.flush();
        self.collect();
        let fragments = &mut self.driver.stream.fragments;
        let splits_quads = self.driver.unit.rules().splits_quads;
        for (sent, number) in self.sent.iter().zip(0..) {
            let targets = &mut self.targets[sent.chunk as usize];
            if splits_quads {
                let leads = fragments
                    .leaders(number)
                    .map(|k| self.sent[k as usize].leads);
                set_targets(targets, sent.quad, leads);
            } else {
                let leader = fragments.find(number, 0) as usize;
                set_targets(targets, sent.quad, [self.sent[leader].leads]);
            }
        }
        fragments.clear();
        self.sent.clear();
    }

    /// Completes the targets of chunks of which all quads have been sent.
    fn fill_targets<'a>(&mut self, chunks: impl IntoIterator<Item = &'a Chunk>) {
        let per_quad = self.driver.unit.rules().targets_per_quad();
        for (targets, chunk) in self.targets.iter_mut().zip(chunks) {
            targets.resize(chunk.quads.len() * per_quad, NOT_SHADED);
        }
    }
}

/// Appends the targets of a quad, after those of the quads before it that are not shaded.
#[inline]
fn set_targets<const N: usize>(targets: &mut Targets, quad: u32, of_quad: [u32; N]) {
    let first = quad as usize * N;
    // Most gaps are short.
    while targets.len() < first {
        targets.extend_from_slice(&[NOT_SHADED; N]);
    }
    targets.extend_from_slice(&of_quad);
}

/// Returns a quad in the form that merging units take.
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
