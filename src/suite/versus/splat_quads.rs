//! Quads of a draw of splats, sent through a merging unit and blended.
#![allow(
    clippy::cast_possible_truncation,
    reason = "pictures have at most 2^15 pixels per side, grids 512 triangles, boxes two"
)]

use rayon::prelude::*;

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::geometry::{PixelRect, Vertex};
use quadrille_base::raster::outline::Outline;
use quadrille_base::raster::sampled::SampledPolygon;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::shading::under_channel;
use quadrille_base::task::Task;
use quadrille_geometry::files::ShaderEffects;
use quadrille_geometry::grid::{MAX_GRID_TRIANGLES, NO_NEIGHBOUR, Topology};
use quadrille_gpu::draw::Draw;
use quadrille_gpu::warp::fragment::FragmentShader;
use quadrille_mesh::merge::{DisjointSet, MergeDriver, MergeStream, MergeUnitKind, MergedQuad};
use quadrille_mesh::merge::{QfmCounters, QuadFragment};
use quadrille_mesh::project::touched_quads;

/// Effects of the splats' fragment shader other than colour: it discards fragments whose alpha is below 1/255.
pub const SPLAT_SHADER: ShaderEffects = ShaderEffects {
    discards: true,
    writes_depth: false,
    writes_memory: false,
    alpha_to_coverage: false,
    reads_primitive_id: false,
    reads_coverage: false,
};

/// Capacity of a triangle mask, so that the units could merge quads of different splats if their boxes shared an edge.
const SPLATS_PER_GRID: u32 = MAX_GRID_TRIANGLES as u32 / 2;
const SPLATS_PER_BATCH: u32 = 1 << 16;
const SPLATS_PER_TASK: usize = 256;
/// Limit on the number of splats, whose corners have 32-bit numbers.
const MAX_SPLATS: u64 = 1 << 30;
/// Limit on the number of quads. A quad takes 32 bytes, and 16 more during merging.
const MAX_QUADS: u64 = 1 << 26;

/// Index in drawing order of the splat of a quad, whose box has four corners of its own.
fn splat_of(quad: &QuadFragment) -> u32 {
    quad.ids[0] / 4
}

/// The quads of a draw's splats in drawing order.
#[derive(Debug)]
pub struct SplatQuads {
    /// The quads, including quads without coverage.
    pub quads: Vec<QuadFragment>,
    /// Sample positions.
    pub pattern: &'static SamplePattern,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
}

impl SplatQuads {
    /// Rasterizes the splats of a draw; the level changes no result.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are more than 2^30 splats or 2^26 quads, and [`Error::Cancelled`].
    pub fn new(
        draw: &Draw,
        pattern: &'static SamplePattern,
        level: SimdLevel,
        task: &Task,
    ) -> Result<Self> {
        Error::check_limit("splats in view", MAX_SPLATS, draw.len().into())?;
        let size = [draw.width, draw.height];
        let mut quads: Vec<QuadFragment> = Vec::new();
        let mut next = 0;
        while next < draw.len() {
            let end = draw.len().min(next.saturating_add(SPLATS_PER_BATCH));
            let batch: Vec<u32> = (next..end).collect();
            let tasks: Vec<Vec<_>> = batch
                .par_chunks(SPLATS_PER_TASK)
                .map(|splats| {
                    let mut out = Vec::new();
                    for &splat in splats {
                        task.check()?;
                        let halves = draw.box_triangles(splat).into_iter().flatten();
                        for (corners, half) in halves.zip(0..) {
                            raster(corners, [splat, half], size, pattern, level, &mut out);
                        }
                    }
                    Ok(out)
                })
                .collect::<Result<_>>()?;
            tasks.into_iter().for_each(|task| quads.extend(task));
            let what = "quads of the splats (choose a smaller picture)";
            Error::check_limit(what, MAX_QUADS, quads.len() as u64)?;
            next = end;
        }
        Ok(Self { quads, pattern, size })
    }

    pub(crate) fn covered(&self) -> u64 {
        self.quads.iter().filter(|q| q.coverage != 0).count() as u64
    }

    /// Sends the quads of a draw through a unit, without regard to the unit's rules about shaders.
    ///
    /// As in hardware, the unit is not flushed between grids: fully covered quads leave it at once and
    /// overtake quads of earlier splats.
    pub fn merged(
        &self,
        draw: &Draw,
        shader: FragmentShader<'_>,
        unit: MergeUnitKind,
        task: &Task,
    ) -> Result<SplatsMerged> {
        let mut blending = Blending::new(self, draw, shader);
        let mut driver = MergeDriver::new(unit.build(), self.pattern);
        let boxes = topology();
        let mut grid = None;
        let mut shaded = 0;
        let mut blend = |stream: &mut MergeStream| {
            for quad in stream.out.drain(..) {
                shaded += 1;
                blending.blend(&quad);
            }
        };
        for quad in &self.quads {
            let grid_of_quad = splat_of(quad) / SPLATS_PER_GRID;
            if grid != Some(grid_of_quad) {
                task.check()?;
                grid = Some(grid_of_quad);
                driver.unit.begin_grid(&boxes, false);
            }
            driver.push(quad, false);
            blend(&mut driver.stream);
        }
        driver.flush();
        blend(&mut driver.stream);
        Ok(SplatsMerged {
            quads: self.covered(),
            shaded,
            between_splats: between_splats(self, &driver.stream.fragments),
            qfm: driver.counters().qfm,
            picture: blending.resolve(),
        })
    }
}

/// Outcome of a merging unit on a draw of splats.
#[derive(Debug, Clone)]
pub struct SplatsMerged {
    /// Number of quads into the unit that cover a sample.
    pub quads: u64,
    /// Number of quads out of the unit. All of them are shaded.
    pub shaded: u64,
    /// Number of quads into the unit, including quads without coverage, in which at least one pixel is shaded
    /// with a quad of another splat.
    pub between_splats: u64,
    /// Counters of quad-fragment merging, if that is the unit.
    pub qfm: Option<QfmCounters>,
    /// Picture that results from blending quads in the order in which they leave the unit.
    pub picture: Frame,
}

impl SplatsMerged {
    /// Number of quads that need no shading thanks to the unit.
    pub fn saved(&self) -> u64 {
        self.quads - self.shaded
    }
}

fn raster(
    corners: [Vertex; 3],
    [splat, half]: [u32; 2],
    size: [u32; 2],
    pattern: &'static SamplePattern,
    level: SimdLevel,
    out: &mut Vec<QuadFragment>,
) {
    let [x1, y1] = size.map(u32::cast_signed);
    let (x0, y0) = (0, 0);
    let picture = PixelRect { x0, y0, x1, y1 };
    let Some(outline) = SampledPolygon::triangle(corners, pattern, level) else { return };
    let area = outline.bounds().intersect(picture);
    if area.is_empty() {
        return;
    }
    let ids = [0, 1 + half, 2 + half].map(|corner| 4 * splat + corner);
    touched_quads(&outline, area, |position, quad| {
        out.push(QuadFragment {
            position,
            coverage: quad.coverage,
            centres: quad.centres,
            is_front: outline.is_front(),
            triangle: (splat % SPLATS_PER_GRID * 2 + half) as u16,
            ids,
        });
    });
}

fn topology() -> Topology {
    let splats = 0..u16::try_from(SPLATS_PER_GRID).unwrap_or(0);
    let corners = |k: u16| [[4 * k, 4 * k + 1, 4 * k + 2], [4 * k, 4 * k + 2, 4 * k + 3]];
    let across = |k: u16| {
        let [first, second] = [2 * k, 2 * k + 1];
        [[NO_NEIGHBOUR, NO_NEIGHBOUR, second], [first, NO_NEIGHBOUR, NO_NEIGHBOUR]]
    };
    Topology {
        triangles: splats.clone().flat_map(corners).collect(),
        neighbours: splats.flat_map(across).collect(),
    }
}

/// Counts the quads in which a pixel is shaded with another splat's quad.
fn between_splats(quads: &SplatQuads, merged: &DisjointSet) -> u64 {
    let all = quads.quads.iter().zip(0..);
    let is_between = |&(quad, number): &(&QuadFragment, u32)| {
        let of_other = |root: u32| splat_of(&quads.quads[root as usize]) != splat_of(quad);
        (0..4).any(|pixel| of_other(merged.find(number, pixel)))
    };
    all.filter(is_between).count() as u64
}

/// Colour buffer with samples, blended front to back as in the emulated pipeline. A fragment is shaded
/// once, at the pixel's centre, for all its samples.
struct Blending<'a> {
    quads: &'a SplatQuads,
    draw: &'a Draw,
    shader: FragmentShader<'a>,
    /// Premultiplied colours by row, pixel and sample.
    samples: Vec<[f32; 4]>,
}

impl<'a> Blending<'a> {
    fn new(quads: &'a SplatQuads, draw: &'a Draw, shader: FragmentShader<'a>) -> Self {
        let [width, height] = quads.size.map(|side| side as usize);
        let count = quads.pattern.count() as usize;
        Self { quads, draw, shader, samples: vec![[0.0; 4]; width * height * count] }
    }

    /// Blends a quad; each pixel has the colour and alpha of the splat that supplies its inputs.
    fn blend(&mut self, quad: &MergedQuad) {
        let pattern = self.quads.pattern;
        let count = pattern.count() as usize;
        let width = self.quads.size[0];
        for (pixel, &input) in quad.inputs.iter().enumerate() {
            let covered = pattern.pixel(quad.coverage, pixel);
            if covered == 0 {
                continue;
            }
            let input = &self.quads.quads[input as usize];
            let x = u32::from(input.position[0]) * 2 + (pixel as u32 & 1);
            let y = u32::from(input.position[1]) * 2 + (pixel as u32 >> 1);
            let splat = &self.draw.splats[splat_of(input) as usize];
            let Some(alpha) = self.shader.fragment(splat, x, y) else { continue };
            let [r, g, b] = splat.colour.map(|c| alpha * c);
            let at = (y as usize * width as usize + x as usize) * count;
            for (sample, stored) in self.samples[at..at + count].iter_mut().enumerate() {
                if covered >> sample & 1 == 1 {
                    let front = stored[3];
                    for (channel, back) in stored.iter_mut().zip([r, g, b, alpha]) {
                        *channel = under_channel(*channel, front, back);
                    }
                }
            }
        }
    }

    fn resolve(self) -> Frame {
        let count = self.quads.pattern.count() as usize;
        let share = 1.0 / f32::from(u16::try_from(count).unwrap_or(1));
        let mean = |samples: &[[f32; 4]]| {
            [0, 1, 2, 3].map(|k| samples.iter().map(|s| s[k]).sum::<f32>() * share)
        };
        let [width, height] = self.quads.size;
        Frame::from_pixels(width, height, self.samples.chunks_exact(count).map(mean).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The merges are made by hand, since no unit merges quads of different splats.
    #[test]
    fn merges_between_splats_are_seen() {
        let quad = |splat: u32, half| QuadFragment {
            position: [3, 4],
            coverage: 1,
            centres: 1,
            is_front: true,
            triangle: half,
            ids: [4 * splat, 0, 0],
        };
        let quads = SplatQuads {
            quads: vec![quad(0, 0), quad(0, 1), quad(1, 0), quad(1, 1)],
            pattern: SamplePattern::standard(1).unwrap().shared(),
            size: [16, 16],
        };
        let mut merges = DisjointSet::default();
        (0..4).for_each(|k| assert_eq!(merges.push(), k));
        assert_eq!(between_splats(&quads, &merges), 0);
        merges.merge(1, 0);
        assert_eq!(between_splats(&quads, &merges), 0);
        merges.merge_pixel(3, 0, 2);
        assert_eq!(between_splats(&quads, &merges), 1);
        merges.merge(2, 1);
        assert_eq!(between_splats(&quads, &merges), 2);
    }
}
