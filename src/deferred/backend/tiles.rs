//! The second pass of a frame, tile by tile on all cores: load, sort, scan, shade, scatter, resolve (4.3, figure 6).

use rayon::prelude::*;

use super::attributes::{VertexCache, VertexCacheSpec};
use super::forward::ForwardTarget;
use super::radix::{SortCounters, SortEntry, TileSort, value_bits};
use super::resolve::Background;
use super::scan::quads;
use super::shade::QuadShader;
use crate::forward::heat_shares::EXECUTIONS_PER_QUAD;
use crate::forward::memo::Memo;
use crate::frame::StochasticFrame;
use crate::raster::cost::RasterCounters;
use crate::shading::grid_cache::GridCache;
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_mesh::shade::Shader;

/// Settings of the second pass and its optional outputs.
#[derive(Debug, Clone, Copy)]
pub struct TiledPass<'a> {
    /// Side of the tiles in pixels; `None` for one tile that covers the picture.
    pub tile_px: Option<u32>,
    /// Shader of the view half-way through the exposure, and background; `None` for no picture.
    pub picture: Option<(&'a Shader<'a>, Background)>,
    /// Whether shader executions are counted per pixel.
    pub heat: bool,
    /// Whether the sort measures the size of packed keys, which takes longer than the sort.
    pub measures_packed: bool,
    /// Capacity of the memo of forward draws in quads; `None` for no limit. The memo is emptied after each tile.
    pub memo_quads: Option<u32>,
    /// Configuration of the vertex cache.
    pub vertex_cache: &'a VertexCacheSpec,
}

/// Counters of the second pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TiledCounters {
    /// Quads shaded, including forward draws, with four shader executions each.
    pub quads: u64,
    /// Counters of the raster of forward draws. Triangles are set up in each tile that their box overlaps.
    pub forward: RasterCounters,
    /// Visible opaque primitives, summed over the tiles.
    pub primitives: u64,
    /// Vertices whose attributes are shaded.
    pub vertices: u64,
    /// Draws visible in a tile, summed over the tiles.
    pub(crate) draws_shown: u64,
    /// Draws skipped because they have no visible primitive in a tile, summed over the tiles.
    pub draws_skipped: u64,
    /// Samples that an opaque primitive covers.
    pub samples_covered: u64,
    /// Pixels with at least one covered sample, by opaque or forward-drawn primitives.
    pub pixels_covered: u64,
    /// Counters of the sort, summed over the tiles.
    pub sort: SortCounters,
}

impl TiledCounters {
    fn add(&mut self, other: &Self) {
        self.quads += other.quads;
        self.forward.add(&other.forward);
        self.primitives += other.primitives;
        self.vertices += other.vertices;
        self.draws_shown += other.draws_shown;
        self.draws_skipped += other.draws_skipped;
        self.samples_covered += other.samples_covered;
        self.pixels_covered += other.pixels_covered;
        self.sort += other.sort;
    }
}

/// Result of the second pass.
#[derive(Debug)]
pub struct TiledOutcome {
    /// Counters summed over all tiles.
    pub counters: TiledCounters,
    /// Picture in linear light, if it was requested.
    pub picture: Option<Frame>,
    /// Shader executions per pixel, row by row, if requested. The samples that take a quad's colours share its cost.
    pub heat: Option<Vec<f64>>,
}

struct TileOutcome {
    rect: TileRect,
    counters: TiledCounters,
    pixels: Vec<[f32; 4]>,
    heat: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct TileRect {
    corner: [u32; 2],
    size: [u32; 2],
}

impl StochasticFrame {
    /// Runs the second pass over all tiles in parallel.
    pub fn tiled(&self, pass: &TiledPass<'_>) -> TiledOutcome {
        let [width, height] = self.view.size();
        let side = pass.tile_px.unwrap_or(u32::MAX);
        let tile = [side.min(width), side.min(height)];
        let [across, down] = [width.div_ceil(tile[0]), height.div_ceil(tile[1])];
        let draws = self.draws();
        let has_forward = self.geometry.forward() > 0;
        let outcomes: Vec<_> = (0..across * down)
            .into_par_iter()
            .map_init(
                || Backend::new(self, pass, draws, has_forward),
                |backend, at| {
                    let corner = [at % across * tile[0], at / across * tile[1]];
                    let size = [tile[0].min(width - corner[0]), tile[1].min(height - corner[1])];
                    backend.run(TileRect { corner, size }, tile)
                },
            )
            .collect();
        let mut counters = TiledCounters::default();
        outcomes.iter().for_each(|tile| counters.add(&tile.counters));
        let picture = pass.picture.map(|_| {
            let pixels = assembled([width, height], &outcomes, |tile| &tile.pixels);
            Frame::from_pixels(width, height, pixels).taken_as(ColourSpace::Linear)
        });
        let heat = pass.heat.then(|| assembled([width, height], &outcomes, |tile| &tile.heat));
        TiledOutcome { counters, picture, heat }
    }

    fn draws(&self) -> u64 {
        let mut draws: Vec<u32> = self.geometry.chunks.iter().map(|c| c.draw).collect();
        draws.dedup();
        draws.len() as u64
    }
}

/// Copies per-pixel values from tiles into picture order.
fn assembled<'t, T: Copy + Default + 't>(
    [width, height]: [u32; 2],
    tiles: &'t [TileOutcome],
    values: impl Fn(&'t TileOutcome) -> &'t [T],
) -> Vec<T> {
    let mut all = vec![T::default(); width as usize * height as usize];
    for tile in tiles {
        let [columns, _] = tile.rect.size.map(|v| v as usize);
        for (row, values) in values(tile).chunks_exact(columns).enumerate() {
            let y = tile.rect.corner[1] as usize + row;
            let first = y * width as usize + tile.rect.corner[0] as usize;
            all[first..first + columns].copy_from_slice(values);
        }
    }
    all
}

struct Backend<'a> {
    frame: &'a StochasticFrame,
    pass: &'a TiledPass<'a>,
    draws: u64,
    has_forward: bool,
    sorter: TileSort,
    entries: Vec<SortEntry>,
    /// Premultiplied linear RGBA colour of each sample.
    colours: Vec<[f32; 4]>,
    depths: Vec<f32>,
    vertices: VertexCache,
}

impl<'a> Backend<'a> {
    fn new(
        frame: &'a StochasticFrame,
        pass: &'a TiledPass<'a>,
        draws: u64,
        has_forward: bool,
    ) -> Self {
        Self {
            frame,
            pass,
            draws,
            has_forward,
            sorter: TileSort::new(pass.measures_packed),
            entries: Vec::new(),
            colours: Vec::new(),
            depths: Vec::new(),
            vertices: VertexCache::new(pass.vertex_cache),
        }
    }

    /// Shades a tile. `tile` is the size of a full tile; `rect` is smaller at the right and bottom border.
    fn run(&mut self, rect: TileRect, tile: [u32; 2]) -> TileOutcome {
        let samples = self.frame.visible.samples;
        let mut counters = TiledCounters::default();
        self.load(rect, tile[0]);
        let bits = value_bits(u64::from(tile[0]) * u64::from(tile[1]) * u64::from(samples));
        counters.sort = self.sorter.sort(&mut self.entries, bits);
        let count = tile[0] as usize * rect.size[1] as usize * samples as usize;
        self.colours.clear();
        if self.pass.picture.is_some() {
            self.colours.resize(count, [0.0; 4]);
        }
        let mut heat = Vec::new();
        if self.pass.heat {
            heat.resize(rect.size[0] as usize * rect.size[1] as usize, 0.0);
        }
        self.shade(rect, tile[0], &mut counters, &mut heat);
        let mut covered = self.covered(rect);
        if self.has_forward {
            self.forward(rect, tile[0], &mut counters, &mut heat, &mut covered);
        }
        counters.pixels_covered = covered.iter().filter(|c| **c).count() as u64;
        counters.draws_skipped = self.draws - counters.draws_shown;
        TileOutcome { rect, counters, pixels: self.resolve(rect, tile[0]), heat }
    }

    fn load(&mut self, rect: TileRect, width: u32) {
        let visible = &self.frame.visible;
        let samples = visible.samples;
        self.entries.clear();
        for y in (0..rect.size[1]).take_while(|_| !self.frame.task.is_cancelled()) {
            for x in 0..rect.size[0] {
                let [column, row] = [rect.corner[0] + x, rect.corner[1] + y];
                let first = visible.pixel(column, row);
                let value = (y * width + x) * samples;
                let spids = &visible.spids[first..first + samples as usize];
                let entries = spids.iter().zip(value..);
                self.entries.extend(entries.map(|(&spid, value)| SortEntry { spid, value }));
            }
        }
    }

    /// Scans the sorted identifiers, shades their quads, and scatters the colours to samples.
    fn shade(
        &mut self,
        rect: TileRect,
        width: u32,
        counters: &mut TiledCounters,
        heat: &mut [f64],
    ) {
        let frame = self.frame;
        let samples = frame.visible.samples;
        let mut shader = self.pass.picture.as_ref().map(|(s, _)| QuadShader::new(frame, s));
        let (mut last, mut last_draw) = (0, None);
        self.vertices.clear();
        let before = self.vertices.misses;
        for quad in quads(&self.entries).take_while(|_| !frame.task.is_cancelled()) {
            counters.quads += 1;
            counters.samples_covered += u64::from(quad.count);
            if quad.primitive != last {
                last = quad.primitive;
                counters.primitives += 1;
                let found = frame.geometry.find(quad.primitive);
                self.vertices.fetch(&found, quad.primitive - u32::from(found.triangle));
                if last_draw != Some(found.chunk.draw) {
                    last_draw = Some(found.chunk.draw);
                    counters.draws_shown += 1;
                }
            }
            let entries = quad.entries(&self.entries);
            if let Some(shader) = &mut shader {
                let colours = shader.shade(quad.primitive, quad.quad, quad.wanted(&self.entries));
                for entry in entries {
                    let [r, g, b, _] = colours[usize::from(entry.spid.corner())];
                    self.colours[entry.value as usize] = [r, g, b, 1.0];
                }
            }
            if self.pass.heat {
                let share = f64::from(EXECUTIONS_PER_QUAD) / f64::from(quad.count);
                for entry in entries {
                    let pixel = entry.value / samples;
                    let (x, y) = (pixel % width, pixel / width);
                    heat[(y * rect.size[0] + x) as usize] += share;
                }
            }
        }
        counters.vertices = self.vertices.misses - before;
    }

    /// For each pixel of a tile, whether an opaque primitive covers a sample.
    fn covered(&self, rect: TileRect) -> Vec<bool> {
        let visible = &self.frame.visible;
        let pixels = (0..rect.size[0] * rect.size[1]).map(|at| {
            let [x, y] = [at % rect.size[0], at / rect.size[0]];
            let first = visible.pixel(rect.corner[0] + x, rect.corner[1] + y);
            let spids = &visible.spids[first..first + visible.samples as usize];
            spids.iter().any(|spid| !spid.is_background())
        });
        pixels.collect()
    }

    fn resolve(&self, rect: TileRect, width: u32) -> Vec<[f32; 4]> {
        let Some((_, background)) = &self.pass.picture else { return Vec::new() };
        let samples = self.frame.visible.samples;
        let pixels = (0..rect.size[1]).flat_map(|y| (0..rect.size[0]).map(move |x| [x, y]));
        let pixels = pixels.map(|[x, y]| {
            let first = ((y * width + x) * samples) as usize;
            background.resolve(&self.colours[first..first + samples as usize])
        });
        pixels.collect()
    }

    fn forward(
        &mut self,
        rect: TileRect,
        width: u32,
        counters: &mut TiledCounters,
        heat: &mut [f64],
        covered: &mut [bool],
    ) {
        let visible = &self.frame.visible;
        let samples = visible.samples as usize;
        self.depths.clear();
        self.depths.resize(width as usize * rect.size[1] as usize * samples, 0.0);
        for y in 0..rect.size[1] {
            for x in 0..rect.size[0] {
                let from = visible.pixel(rect.corner[0] + x, rect.corner[1] + y);
                let to = (y * width + x) as usize * samples;
                let depths = &visible.depths[from..from + samples];
                self.depths[to..to + samples].copy_from_slice(depths);
            }
        }
        let [left, top] = rect.corner;
        let area = [left, top, left + rect.size[0], top + rect.size[1]];
        let shader = self.pass.picture.as_ref().map(|(s, _)| QuadShader::new(self.frame, s));
        let mut target = ForwardTarget {
            frame: self.frame,
            area,
            width,
            shader,
            memo: Memo::new(self.pass.memo_quads),
            grids: GridCache::new(self.frame.grid_view()),
            depths: &mut self.depths,
            colours: &mut self.colours,
            covered,
            heat,
        };
        counters.forward = target.draw();
        counters.quads += target.memo.counters().misses;
    }
}
