//! Tile lists: for every screen tile, the splats that a block of the raster kernel visits, in drawing order.
//!
//! Renderers on shader cores duplicate each splat for the tiles it touches and sort the pairs by tile and depth. The splats
//! of a draw are already in drawing order, so appending them to the lists of their tiles gives the same lists.

use rayon::prelude::*;

use crate::draw::Draw;
use crate::geometry::splat_box::semi_axes_px;
use quadrille_base::math::{fit, index, whole};
use quadrille_base::raster::geometry::{SUBPIXEL_BITS, Vertex};
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_render::preprocess::ProjectedSplat;

const CHUNK: usize = 4096;
const PER_PX: f64 = (1 << SUBPIXEL_BITS) as f64;
/// Half the side of the square in standard deviations (`my_radius` in forward.cu of diff-gaussian-rasterization).
const SQUARE_DEVIATIONS: f64 = 3.0;
const LEAST_DISCRIMINANT: f64 = 0.1;

/// Test that decides in which tiles a splat is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileTest {
    /// The oriented box around the footprint, where alpha reaches the cut (VR-Pipe III-A).
    OrientedBox,
    /// The square of three standard deviations of the longer axis, as in the original renderer.
    Square,
}

/// Tiles of one row in which a splat is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) splat: u32,
    pub(crate) row: u16,
    pub(crate) columns: [u16; 2],
}

/// Lists of splats of all screen tiles.
#[derive(Debug, PartialEq, Eq)]
pub struct TileLists {
    entries: Vec<u32>,
    ends: Vec<usize>,
}

impl TileLists {
    /// Lists the splats of `draw` in the tiles that `test` selects. Primitives other than splats are in no list.
    pub fn new(draw: &Draw, test: TileTest) -> Self {
        let layout = TileLayout::new(draw.width, draw.height);
        let spans = spans(draw, test, TILE_PX);
        let mut positions = vec![0_usize; layout.tiles() + 1];
        let tiles = |span: &Span| {
            let first = usize::from(span.row) * layout.tiles_across as usize;
            let [from, to] = span.columns.map(usize::from);
            first + from..first + to
        };
        for span in spans.iter().flatten() {
            for tile in tiles(span) {
                positions[tile + 1] += 1;
            }
        }
        for tile in 1..positions.len() {
            positions[tile] += positions[tile - 1];
        }
        let ends = positions[1..].to_vec();
        let mut entries = vec![0; positions[layout.tiles()]];
        for span in spans.iter().flatten() {
            for tile in tiles(span) {
                entries[positions[tile]] = span.splat;
                positions[tile] += 1;
            }
        }
        Self { entries, ends }
    }

    /// Lists with the given entries of each tile.
    pub(crate) fn of_tiles(tiles: &[Vec<u32>]) -> Self {
        let ends = tiles.iter().scan(0, |end, tile| {
            *end += tile.len();
            Some(*end)
        });
        Self { ends: ends.collect(), entries: tiles.concat() }
    }

    /// Number of entries of all lists: pairs of a splat and a tile.
    pub fn pairs(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Number of screen tiles, each with a list.
    pub fn tiles(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn start(&self, tile: usize) -> usize {
        tile.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Returns the list of a tile: indices of splats in drawing order.
    pub fn tile(&self, tile: usize) -> &[u32] {
        &self.entries[self.start(tile)..self.ends[tile]]
    }
}

pub(crate) fn spans(draw: &Draw, test: TileTest, side: u32) -> Vec<Vec<Span>> {
    draw.splats
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, splats)| {
            let mut spans = Vec::new();
            for (splat, number) in splats.iter().zip(index_u32(chunk * CHUNK)..) {
                spans_of(draw, splat, number, test, side, &mut spans);
            }
            spans
        })
        .collect()
}

fn index_u32(position: usize) -> u32 {
    fit(position)
}

fn spans_of(
    draw: &Draw,
    splat: &ProjectedSplat,
    number: u32,
    test: TileTest,
    side: u32,
    spans: &mut Vec<Span>,
) {
    let Some([[a, b, c], [_, _, d]]) = draw.box_triangles(number) else { return };
    let grid = [draw.width, draw.height].map(|px| f64::from(px.div_ceil(side)));
    let side = f64::from(side);
    let mut push = |row: f64, [from, to]: [f64; 2]| {
        let columns = [from, to].map(tile_number);
        if columns[0] < columns[1] {
            spans.push(Span { splat: number, row: tile_number(row), columns });
        }
    };
    match test {
        TileTest::OrientedBox => {
            let corners = [a, b, c, d].map(|corner| in_tiles(corner, side));
            if a == c {
                return; // a box without area
            }
            let rows = corners.map(|[_, y]| y);
            let (top, bottom) = (least(&rows).max(0.0), most(&rows));
            let mut row = top.floor();
            while row <= bottom && row < grid[1] {
                let [left, right] = reach_in_row(&corners, row);
                push(row, [left.floor().max(0.0), (right.floor() + 1.0).min(grid[0])]);
                row += 1.0;
            }
        }
        TileTest::Square => {
            let [columns, rows] = square(splat, [draw.width, draw.height], grid, side);
            let mut row = rows[0];
            while row < rows[1] {
                push(row, columns);
                row += 1.0;
            }
        }
    }
}

fn in_tiles(vertex: Vertex, side: f64) -> [f64; 2] {
    [vertex.x, vertex.y].map(|v| f64::from(v) / (PER_PX * side))
}

fn tile_number(number: f64) -> u16 {
    whole(number)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Least and largest x of a convex quadrilateral in row `row` of tiles; it meets exactly the tiles between them.
fn reach_in_row(corners: &[[f64; 2]; 4], row: f64) -> [f64; 2] {
    let [top, bottom] = [row, row + 1.0];
    let mut reach = [f64::INFINITY, f64::NEG_INFINITY];
    let mut include = |x: f64| reach = [reach[0].min(x), reach[1].max(x)];
    for (i, &[x, y]) in corners.iter().enumerate() {
        if (top..=bottom).contains(&y) {
            include(x);
        }
        let [next_x, next_y] = corners[(i + 1) % corners.len()];
        for edge in [top, bottom] {
            if (y < edge) != (next_y < edge) {
                include(x + (edge - y) / (next_y - y) * (next_x - x));
            }
        }
    }
    reach
}

/// Half-open columns and rows of the tiles in a splat's square, which ends a pixel early, as in the original renderer.
fn square(splat: &ProjectedSplat, size: [u32; 2], grid: [f64; 2], tile: f64) -> [[f64; 2]; 2] {
    // The original kernel places pixels at their corners; here positions are pixel centres.
    let centre =
        [0, 1].map(|axis| f64::from(splat.mean_px[axis]) + f64::from(size[axis]) / 2.0 - 0.5);
    let radius = square_radius_px(splat);
    [0, 1].map(|axis| {
        let first = ((centre[axis] - radius) / tile).floor();
        let end = ((centre[axis] + radius + tile - 1.0) / tile).floor();
        [first, end].map(|number| number.clamp(0.0, grid[axis]))
    })
}

fn square_radius_px(splat: &ProjectedSplat) -> f64 {
    let [shorter, longer] = semi_axes_px(splat).map(|axis| axis * axis);
    let (middle, half_difference) = (0.5 * (longer + shorter), 0.5 * (longer - shorter));
    let largest = middle + (half_difference * half_difference).max(LEAST_DISCRIMINANT).sqrt();
    let radius = (SQUARE_DEVIATIONS * largest.sqrt()).ceil();
    if radius.is_finite() { radius } else { 0.0 }
}

/// Bits of the sort key for `tiles` tiles: the tile number and 32 bits of depth.
pub fn key_bits(tiles: usize) -> u64 {
    32 + u64::from((tiles as u64).checked_ilog2().map_or(0, |bits| bits + 1))
}

/// Visits the pairs of splat and tile that `wide` lists and `narrow` does not. Both have at most one span per splat and
/// row.
pub(super) fn tiles_beyond(
    wide: &[Span],
    narrow: &[Span],
    tiles_across: u32,
    mut visit: impl FnMut(u32, usize),
) {
    let mut rest = narrow;
    for span in wide {
        let key = |s: &Span| (s.splat, s.row);
        rest = &rest[rest.partition_point(|s| key(s) < key(span))..];
        let [from, to] = rest.first().filter(|s| key(s) == key(span)).map_or([0, 0], |s| s.columns);
        for column in span.columns[0]..span.columns[1] {
            if !(from..to).contains(&column) {
                let tile = u64::from(span.row) * u64::from(tiles_across) + u64::from(column);
                visit(span.splat, index(tile));
            }
        }
    }
}
