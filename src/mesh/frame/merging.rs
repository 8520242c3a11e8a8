//! Sends the quads that pass the depth test through a merging unit and collects the quads that the shader runs on.
//!
//! Chunks run in parallel if the unit is flushed after every grid, draws if it is flushed after every draw.

use rayon::prelude::*;

use super::chunk::Chunk;
use super::settings::FrameSettings;
use super::visible_frame::VisibleFrame;
use crate::merge::unit::{NO_TARGET, target};
use crate::merge::{MergeCounters, MergeDriver, MergeScope, MergeUnitKind, QuadFragment};
use quadrille_base::math::{fit, prefetch};
use quadrille_base::task::Task;
use quadrille_geometry::grid::{Grid, GridSource};
use quadrille_machine::Counter;

/// Vertex ids per 64-byte cache line of the host.
const IDS_PER_LINE: usize = 16;

/// A quad of shading pixels that the shader runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderQuad {
    /// Index of the chunk with the fragments of the quad.
    pub chunk: u32,
    /// For each shading pixel, the quad of that chunk whose triangle provides the shading inputs.
    pub inputs: [u32; 4],
    /// Mask of covered samples, shading pixel by shading pixel.
    pub coverage: u64,
}

/// Quads that the shader runs on, and the map from rasterized quads to them.
#[derive(Debug, Clone, Default)]
pub struct Shading {
    /// Quads that the shader receives, group by group of chunks.
    pub quads: Vec<ShaderQuad>,
    groups: Vec<GroupTargets>,
    /// Group of each chunk, and the number of quads in earlier chunks of the group.
    chunks: Vec<[u32; 2]>,
    /// Counters of the quads before the merging unit and of the unit itself.
    pub counters: MergeCounters,
}

#[derive(Debug, Clone)]
struct GroupTargets {
    targets: Targets,
    /// Index of the group's first shader quad, which the targets are relative to.
    base: u32,
}

/// Shader quad of each quad of a group, relative to the group and encoded for [`target`].
#[derive(Debug, Clone)]
enum Targets {
    Whole(Vec<u32>),
    /// One target per shading pixel, for units that split quads.
    Split(Vec<[u32; 4]>),
}

impl Shading {
    /// Shader quad that colours a shading pixel of a chunk's quad; `None` if the pixel is not shaded.
    #[inline]
    pub(crate) fn target(&self, chunk: usize, quad: u32, pixel: usize) -> Option<u32> {
        let [group, first] = self.chunks[chunk];
        let GroupTargets { targets, base } = &self.groups[group as usize];
        let quad = (first + quad) as usize;
        let local = match targets {
            Targets::Whole(targets) => targets[quad],
            Targets::Split(targets) => targets[quad][pixel],
        };
        target(local).map(|local| base + local)
    }
}

impl VisibleFrame {
    /// Sends the quads that pass the depth test through a merging unit; returns the quads to shade.
    pub fn merged(&self, source: &dyn GridSource, unit: MergeUnitKind) -> Shading {
        quadrille_base::span!("merge");
        let groups: Vec<_> = match unit.build().rules().scope {
            MergeScope::Grid => self.chunks.chunks(1).collect(),
            MergeScope::Draw => {
                let state = |chunk: &Chunk| (chunk.draw, chunk.is_blended);
                self.chunks.chunk_by(|a, b| state(a) == state(b)).collect()
            }
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
                let mut group = Group::new(chunks, fit::<u32>(first), unit, &self.settings);
                match (unit, chunks) {
                    (MergeUnitKind::None, [chunk]) => group.pass(chunk, &self.settings),
                    _ => group.merge(chunks, source, &self.settings, &self.task),
                }
                group
            })
            .collect();
        let mut shading = Shading::default();
        for mut group in merged {
            let base = fit::<u32>(shading.quads.len());
            if base == 0 {
                shading.quads = group.quads;
            } else {
                shading.quads.append(&mut group.quads);
            }
            let number = fit::<u32>(shading.groups.len());
            shading.chunks.extend(group.starts.into_iter().map(|first| [number, first]));
            shading.groups.push(GroupTargets { targets: group.targets, base });
            shading.counters.add(&group.counters);
        }
        shading
    }

    /// Number of fragments shaded at each shading pixel, in row order. A quad counts as four fragments, covered or not.
    #[allow(clippy::cast_sign_loss, reason = "shading pixels of the picture")]
    pub fn fragments_per_shading_pixel(&self, shading: &Shading) -> Vec<u32> {
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

/// Chunks that one task sends through a merging unit, with consecutive quad numbers.
struct Group {
    driver: MergeDriver,
    first: u32,
    starts: Vec<u32>,
    end: u32,
    quads: Vec<ShaderQuad>,
    targets: Targets,
    /// Index in the group of the quad that is fragment 0 of the unit's stream.
    stream_start: u32,
    counters: MergeCounters,
}

impl Group {
    fn new(chunks: &[Chunk], first: u32, unit: MergeUnitKind, settings: &FrameSettings) -> Self {
        let mut driver = MergeDriver::new(unit.build(), settings.pattern);
        let rules = driver.unit.rules();
        let mut count = 0;
        let starts = chunks.iter().map(|chunk| {
            count += chunk.quads.len();
            fit::<u32>(count - chunk.quads.len())
        });
        let starts = starts.collect();
        let room = match rules.scope {
            MergeScope::Grid => 0,
            // Most fragments stay in the stream until the draw ends.
            MergeScope::Draw => count,
        };
        driver.stream.fragments.reserve(room);
        Self {
            driver,
            first,
            starts,
            end: fit::<u32>(count),
            quads: Vec::with_capacity(room),
            targets: if rules.splits_quads {
                Targets::Split(Vec::new())
            } else {
                Targets::Whole(Vec::with_capacity(count))
            },
            stream_start: 0,
            counters: MergeCounters::default(),
        }
    }

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

    /// Passes every quad of a chunk on unchanged: a faster equivalent of [`merge`](Self::merge) without a unit.
    fn pass(&mut self, chunk: &Chunk, settings: &FrameSettings) {
        let mut targets = vec![NO_TARGET; chunk.quads.len()];
        for quad in chunk.visible().flat_map(|grid| grid.quads.clone()) {
            let coverage = self.count(chunk, quad, settings);
            if coverage == 0 {
                continue;
            }
            self.counters.partial += u64::from(settings.pattern.has_partial_pixel(coverage));
            targets[quad as usize] = fit::<u32>(self.quads.len());
            self.quads.push(ShaderQuad { chunk: self.first, inputs: [quad; 4], coverage });
        }
        self.targets = Targets::Whole(targets);
    }

    fn merge(
        &mut self,
        chunks: &[Chunk],
        source: &dyn GridSource,
        settings: &FrameSettings,
        task: &Task,
    ) {
        let rules = self.driver.unit.rules();
        for (at, chunk) in chunks.iter().enumerate() {
            let start = self.starts[at];
            let mut grids = chunk.visible().peekable();
            while let Some(visible) = grids.next()
                && !task.is_cancelled()
            {
                let next = grids.peek().map_or(&[][..], |next| &next.grid.ids[..]);
                let grid = &visible.grid;
                let material = &source.materials()[grid.material as usize];
                let is_barred = rules.bars(material.effects.any(), chunk.is_blended);
                (self.driver.unit).begin_grid(&grid.topology, chunk.is_blended);
                if self.driver.stream.fragments.len() == 0 {
                    self.stream_start = start + visible.quads.start;
                }
                // The grids have left the host's caches by now, so the next one's vertex ids are prefetched.
                for first in (0..next.len()).step_by(IDS_PER_LINE) {
                    prefetch(next, first);
                }
                for quad in visible.quads.clone() {
                    let only_touched = chunk.quads[quad as usize].coverage == 0;
                    let coverage = self.count(chunk, quad, settings);
                    if coverage != 0 || only_touched && rules.takes_empties {
                        let number = start + quad - self.stream_start;
                        // Fragments have the numbers of their quads, so the unit's leaders become targets in place,
                        // without a table that leads back.
                        self.driver.stream.fragments.skip_to(number);
                        self.driver.push(&fragment(chunk, grid, quad, coverage), is_barred);
                    }
                }
                match rules.scope {
                    MergeScope::Grid => self.flush(at),
                    MergeScope::Draw => self.collect(at),
                }
            }
        }
        self.flush(chunks.len().saturating_sub(1));
        self.targets.fill_to(self.end);
        self.counters.add(&self.driver.counters());
    }

    /// Collects the quads that have left the unit. They come from chunk `last` of the group or earlier chunks.
    fn collect(&mut self, last: usize) {
        let stream = &mut self.driver.stream;
        for merged in stream.out.drain(..) {
            stream.fragments.set_target(merged.leader, fit::<u32>(self.quads.len()));
            let quad = self.stream_start + merged.leader;
            let mut chunk = last;
            // A short search: most quads leave the unit while their own chunk is processed.
            while self.starts[chunk] > quad {
                chunk -= 1;
            }
            let first = self.stream_start.wrapping_sub(self.starts[chunk]);
            self.quads.push(ShaderQuad {
                chunk: self.first + fit::<u32>(chunk),
                inputs: merged.inputs.map(|k| first.wrapping_add(k)),
                coverage: merged.coverage,
            });
        }
        if let Targets::Split(_) = self.targets {
            stream.fragments.resolve();
        }
    }

    /// Empties the unit and records the shader quad of each fragment; `last` as for [`collect`](Self::collect).
    fn flush(&mut self, last: usize) {
        self.driver.flush();
        self.collect(last);
        self.targets.fill_to(self.stream_start);
        let fragments = &mut self.driver.stream.fragments;
        match &mut self.targets {
            Targets::Whole(targets) => targets.extend(fragments.whole_targets()),
            Targets::Split(targets) => {
                let more = fragments.targets();
                if targets.is_empty() {
                    *targets = std::mem::take(more);
                } else {
                    targets.append(more);
                }
            }
        }
        fragments.clear();
    }
}

impl Targets {
    fn fill_to(&mut self, quads: u32) {
        let quads = quads as usize;
        match self {
            Self::Whole(targets) => targets.resize(targets.len().max(quads), NO_TARGET),
            Self::Split(targets) => targets.resize(targets.len().max(quads), [NO_TARGET; 4]),
        }
    }
}

#[inline]
fn fragment(chunk: &Chunk, grid: &Grid, quad: u32, coverage: u64) -> QuadFragment {
    let quad = &chunk.quads[quad as usize];
    QuadFragment {
        position: quad.position,
        coverage,
        centres: quad.centres,
        is_front: quad.is_front,
        triangle: quad.triangle,
        ids: grid.corner_ids(quad.triangle),
    }
}
