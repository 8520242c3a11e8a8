//! Quads that passed the depth test become quads for the shader: as they are, or through a merging
//! unit.
//!
//! Quad-fragment merging works grid by grid, so chunks go side by side. The pixel merge unit works
//! draw by draw, over all chunks of a draw in order.

use rayon::prelude::*;

use super::chunk::{Chunk, index};
use super::settings::FrameSettings;
use crate::mesh::grid::{Grid, Source};
use crate::mesh::merge::pmu::{PixelMerge, PmuCounters, PmuSettings};
use crate::mesh::merge::qfm::{QfmCounters, QfmSettings, QuadMerge};
use crate::mesh::merge::{MergedQuad, Merges, Merging, QuadFragment};

/// The unit between the depth test and the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// None: every quad is shaded.
    None,
    /// Quad-fragment merging.
    Qfm(QfmSettings),
    /// The pixel merge unit.
    Pmu(PmuSettings),
}

/// No quad of the shader.
pub const NOT_SHADED: u32 = u32::MAX;

/// A quad that the shader runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadedQuad {
    /// The chunk that its fragments are of.
    pub chunk: u32,
    /// For each cell: the quad of that chunk whose triangle gives the shading inputs.
    pub inputs: [u32; 4],
    /// Samples covered, cell by cell.
    pub coverage: u64,
}

/// Which quad of the shader a chunk's quads became part of: numbers in the chunk's group, or
/// [`NOT_SHADED`].
#[derive(Debug, Clone)]
enum PartOf {
    /// All four cells of each quad alike.
    Quads(Vec<u32>),
    /// Cell by cell.
    Cells(Vec<[u32; 4]>),
}

/// What the shader runs on.
#[derive(Debug, Clone, Default)]
pub struct Shading {
    /// The quads.
    pub quads: Vec<ShadedQuad>,
    /// By chunk: which quad each of its own became part of, and the number of the first.
    parts: Vec<(PartOf, u32)>,
    /// What the quads were made of.
    pub counters: MergeCounters,
}

impl Shading {
    /// The quad of the shader that colours cell `cell` of a chunk's quad.
    #[must_use]
    #[inline]
    pub fn of(&self, chunk: usize, quad: u32, cell: usize) -> u32 {
        let (parts, base) = &self.parts[chunk];
        let local = match parts {
            PartOf::Quads(of) => of[quad as usize],
            PartOf::Cells(of) => of[quad as usize][cell],
        };
        if local == NOT_SHADED {
            local
        } else {
            base + local
        }
    }
}

/// What came to the unit, and what the unit counted.
#[derive(Debug, Clone, Default)]
pub struct MergeCounters {
    /// Quads with a sample, of grids that are not hidden.
    pub rasterized: u64,
    /// Of these: those of which no sample passed the depth test.
    pub culled: u64,
    /// Of those left: those with a cell that is covered in part.
    pub partial: u64,
    /// Quads of draws whose shader bars merging pixels.
    pub barred: u64,
    /// The unit's own, where it is quad-fragment merging.
    pub qfm: Option<QfmCounters>,
    /// The unit's own, where it is the pixel merge unit.
    pub pmu: Option<PmuCounters>,
}

impl MergeCounters {
    /// Quads that came to the unit with a sample.
    #[must_use]
    pub fn tested(&self) -> u64 {
        self.rasterized - self.culled
    }

    fn add(&mut self, other: &Self) {
        self.rasterized += other.rasterized;
        self.culled += other.culled;
        self.partial += other.partial;
        self.barred += other.barred;
        if let Some(counters) = &other.qfm {
            *self.qfm.get_or_insert_default() += *counters;
        }
        if let Some(counters) = &other.pmu {
            *self.pmu.get_or_insert_default() += *counters;
        }
    }
}

/// What a group, one task of merging, came to.
struct Group {
    quads: Vec<ShadedQuad>,
    /// By chunk of the group.
    parts: Vec<PartOf>,
    counters: MergeCounters,
}

/// A frame's chunks on their way to the shader.
struct Context<'a> {
    source: &'a dyn Source,
    settings: &'a FrameSettings,
}

/// Sends a frame's quads through a unit.
#[must_use]
pub fn merge(
    chunks: &[Chunk],
    source: &dyn Source,
    unit: Unit,
    settings: &FrameSettings,
) -> Shading {
    let context = Context { source, settings };
    let whole_draws = matches!(unit, Unit::Pmu(_));
    let groups: Vec<_> = if whole_draws {
        chunks.chunk_by(|a, b| a.draw == b.draw).collect()
    } else {
        chunks.chunks(1).collect()
    };
    let firsts: Vec<_> = groups
        .iter()
        .scan(0, |next, group| {
            let first = *next;
            *next += group.len();
            Some(index(first))
        })
        .collect();
    let run = |(group, &first): (&&[Chunk], &u32)| match unit {
        Unit::None => context.unmerged(&group[0], first),
        Unit::Qfm(unit) => context.by_grids(&group[0], first, unit),
        Unit::Pmu(unit) => context.by_draw(group, first, unit),
    };
    let merged: Vec<_> = groups.par_iter().zip(&firsts).map(run).collect();
    let mut shading = Shading::default();
    for group in merged {
        let base = index(shading.quads.len());
        shading.quads.extend(group.quads);
        shading
            .parts
            .extend(group.parts.into_iter().map(|p| (p, base)));
        shading.counters.add(&group.counters);
    }
    shading
}

impl Context<'_> {
    /// Counts a quad of a visible grid; returns its samples that are shaded.
    #[inline]
    fn count(&self, chunk: &Chunk, quad: usize, counters: &mut MergeCounters) -> u64 {
        if chunk.quads[quad].coverage == 0 {
            return 0;
        }
        counters.rasterized += 1;
        let coverage = chunk.shaded_coverage(quad, self.settings);
        if coverage == 0 {
            counters.culled += 1;
        } else {
            let pattern = self.settings.pattern;
            let full = pattern.full_cell();
            let is_partial = (0..4).any(|c| ![0, full].contains(&pattern.cell(coverage, c)));
            counters.partial += u64::from(is_partial);
        }
        coverage
    }

    fn unmerged(&self, chunk: &Chunk, number: u32) -> Group {
        let mut counters = MergeCounters::default();
        let mut part_of = vec![NOT_SHADED; chunk.quads.len()];
        let mut quads = Vec::new();
        for (_, span) in chunk.visible() {
            for quad in span.first_quad..span.end_quad {
                let coverage = self.count(chunk, quad as usize, &mut counters);
                if coverage != 0 {
                    part_of[quad as usize] = index(quads.len());
                    quads.push(ShadedQuad {
                        chunk: number,
                        inputs: [quad; 4],
                        coverage,
                    });
                }
            }
        }
        Group {
            quads,
            parts: vec![PartOf::Quads(part_of)],
            counters,
        }
    }

    /// A quad as a merging unit takes it.
    #[inline]
    fn fragment(chunk: &Chunk, grid: &Grid, quad: u32, coverage: u64) -> QuadFragment {
        let quad = &chunk.quads[quad as usize];
        let corners = grid.topology.triangles[usize::from(quad.triangle)];
        QuadFragment {
            place: quad.place,
            coverage,
            centres: quad.centres,
            is_front: quad.is_front,
            triangle: quad.triangle,
            ids: corners.map(|c| grid.vertices[usize::from(c)].id),
        }
    }

    fn by_grids(&self, chunk: &Chunk, number: u32, settings: QfmSettings) -> Group {
        let pattern = self.settings.pattern;
        let mut counters = MergeCounters::default();
        let mut unit = QuadMerge::new(settings);
        let mut merges = Merges::default();
        let mut part_of = vec![NOT_SHADED; chunk.quads.len()];
        let mut quads: Vec<ShadedQuad> = Vec::new();
        // Quads of the grid at hand, by their number in the unit's stream.
        let mut stream = Vec::new();
        // Numbers of leaders and of the quads they were sent to the shader as.
        let mut sent = Vec::new();
        for (grid, span) in chunk.visible() {
            merges.clear();
            stream.clear();
            sent.clear();
            unit.begin_grid(&grid.topology);
            let first = quads.len();
            let mut emit = |merged: MergedQuad| {
                sent.push((merged.leader, index(quads.len())));
                quads.push(ShadedQuad {
                    chunk: number,
                    inputs: merged.inputs,
                    coverage: merged.coverage,
                });
            };
            for quad in span.first_quad..span.end_quad {
                let only_touched = chunk.quads[quad as usize].coverage == 0;
                let coverage = self.count(chunk, quad as usize, &mut counters);
                if only_touched || coverage != 0 {
                    stream.push(quad);
                    let fragment = Self::fragment(chunk, grid, quad, coverage);
                    unit.push(&fragment, pattern, &mut merges, &mut emit);
                }
            }
            unit.flush(pattern, &mut merges, &mut emit);
            for quad in &mut quads[first..] {
                quad.inputs = quad.inputs.map(|k| stream[k as usize]);
            }
            // Leaders first, then all that follow them.
            for &(leader, as_quad) in &sent {
                part_of[stream[leader as usize] as usize] = as_quad;
            }
            for (&quad, k) in stream.iter().zip(0..) {
                let leader = merges.root(k, 0);
                part_of[quad as usize] = part_of[stream[leader as usize] as usize];
            }
        }
        counters.qfm = Some(unit.counters);
        Group {
            quads,
            parts: vec![PartOf::Quads(part_of)],
            counters,
        }
    }

    fn by_draw(&self, chunks: &[Chunk], number: u32, settings: PmuSettings) -> Group {
        let pattern = self.settings.pattern;
        let mut counters = MergeCounters::default();
        let mut unit = PixelMerge::new(settings);
        let mut merges = Merges::default();
        let mut quads: Vec<ShadedQuad> = Vec::new();
        let mut sent = Vec::new();
        // Chunk of the group and quad of it, by number in the unit's stream.
        let mut stream: Vec<(u32, u32)> = Vec::new();
        let mut emit = |merged: MergedQuad| {
            sent.push((merged.leader, index(quads.len())));
            quads.push(ShadedQuad {
                chunk: 0,
                inputs: merged.inputs,
                coverage: merged.coverage,
            });
        };
        for (chunk, k) in chunks.iter().zip(0..) {
            for (grid, span) in chunk.visible() {
                let material = &self.source.materials()[grid.material as usize];
                let is_barred = material.effects.any();
                for quad in span.first_quad..span.end_quad {
                    let coverage = self.count(chunk, quad as usize, &mut counters);
                    if coverage == 0 {
                        continue;
                    }
                    stream.push((k, quad));
                    if is_barred {
                        counters.barred += 1;
                        // What is held came first and may lie below.
                        unit.flush(pattern, &mut merges, &mut emit);
                        let leader = merges.push();
                        emit(MergedQuad {
                            leader,
                            coverage,
                            inputs: [leader; 4],
                        });
                    } else {
                        let fragment = Self::fragment(chunk, grid, quad, coverage);
                        unit.push(&fragment, pattern, &mut merges, &mut emit);
                    }
                }
            }
        }
        unit.flush(pattern, &mut merges, &mut emit);
        for quad in &mut quads {
            let (chunk, _) = stream[quad.inputs[0] as usize];
            quad.chunk = number + chunk;
            quad.inputs = quad.inputs.map(|k| stream[k as usize].1);
        }
        let mut as_quad = vec![NOT_SHADED; stream.len()];
        for &(leader, quad) in &sent {
            as_quad[leader as usize] = quad;
        }
        let empty = |c: &Chunk| vec![[NOT_SHADED; 4]; c.quads.len()];
        let mut parts: Vec<_> = chunks.iter().map(empty).collect();
        for (&(chunk, quad), k) in stream.iter().zip(0..) {
            let cells = &mut parts[chunk as usize][quad as usize];
            for (cell, part) in cells.iter_mut().enumerate() {
                *part = as_quad[merges.root(k, cell) as usize];
            }
        }
        counters.pmu = Some(unit.counters);
        Group {
            quads,
            parts: parts.into_iter().map(PartOf::Cells).collect(),
            counters,
        }
    }
}
