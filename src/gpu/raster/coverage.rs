//! Coverage of the splats of a draw, kept for all runs of it. Which pixels a splat covers depends on neither
//! method nor configuration, so that of several runs one rasterizes and the others read; times are each run's
//! own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use quadrille_base::math::{fit, index};
use quadrille_base::raster::geometry::{PixelRect, Vertex};
use quadrille_base::raster::outline::{TileVisitor, raster_tiles};
use quadrille_base::raster::polygon::Polygon;
use quadrille_base::raster::tiles::TILE_PX;

use super::screen::TileSource;
use crate::draw::Draw;

/// Splats per block, which the first run that reaches it rasterizes while others that need it wait.
const BLOCK_SPLATS: u32 = 1024;
/// Bytes of all blocks above which no other is kept (assumption: far below the memory of a host that runs several
/// simulations).
const MOST_BYTES: usize = 1 << 30;
/// Raster tiles of a block above which it is not kept; their numbers have 28 bits.
const MOST_RASTER_TILES: usize = 1 << 24;

/// Coverage of the two triangles of each splat.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    blocks: Vec<OnceLock<Option<Block>>>,
    /// Bytes of the blocks so far.
    bytes: AtomicUsize,
    /// Raster tiles of the largest block so far, for which the next has room from the start.
    largest: AtomicUsize,
}

/// Coverage of the splats of a block.
#[derive(Debug, Default)]
struct Block {
    /// Two per splat.
    triangles: Vec<Triangle>,
    /// Screen tiles in the bounds of each triangle, row by row: bits 0 to 3 for the raster tiles that it touches, and
    /// above them the number of the first of these masks.
    screen_tiles: Vec<u32>,
    /// Coverage masks of the raster tiles touched.
    masks: Vec<u64>,
}

/// Screen tiles of a triangle.
#[derive(Debug, Clone, Copy, Default)]
struct Triangle {
    /// Number of the first among those of the block.
    first: u32,
    /// Column and row of the first.
    corner: [u32; 2],
    /// Screen tiles per row.
    columns: u32,
}

/// The first and the last column, and the first and the last row, of the screen tiles in `bounds`, which lie in the
/// picture.
#[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
fn tiles_in(bounds: PixelRect) -> [[u32; 2]; 2] {
    let sides = [[bounds.x0, bounds.x1 - 1], [bounds.y0, bounds.y1 - 1]];
    sides.map(|side| side.map(|pixel| pixel as u32 / TILE_PX))
}

impl Coverage {
    /// Creates room for the coverage of `splats` splats.
    pub(crate) fn new(splats: u32) -> Self {
        let blocks = splats.div_ceil(BLOCK_SPLATS);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
            ..Self::default()
        }
    }

    /// The raster tiles of the triangle with `corners` of splat `splat` of `draw`, which has an area inside the
    /// picture; `None` if they are not kept.
    #[inline]
    pub(crate) fn of(
        &self,
        draw: &Draw,
        splat: u32,
        corners: &[Vertex; 3],
    ) -> Option<KeptTiles<'_>> {
        let block = self.blocks.get((splat / BLOCK_SPLATS) as usize)?;
        let block = block.get_or_init(|| self.fill(draw, splat / BLOCK_SPLATS));
        let block = block.as_ref()?;
        // Only the first triangle has the corner that both share last.
        let [[_, _, shared], _] = draw.box_triangles(splat)?;
        let triangle = splat % BLOCK_SPLATS * 2 + u32::from(corners[2] != shared);
        Some(KeptTiles {
            block,
            triangle: block.triangles[triangle as usize],
        })
    }

    /// Rasterizes block `number`; `None` if there is no room for it.
    #[cold]
    fn fill(&self, draw: &Draw, number: u32) -> Option<Block> {
        if self.bytes.load(Ordering::Relaxed) > MOST_BYTES {
            return None;
        }
        let largest = self.largest.load(Ordering::Relaxed);
        let mut block = Block {
            triangles: Vec::with_capacity(2 * BLOCK_SPLATS as usize),
            screen_tiles: Vec::with_capacity(largest),
            masks: Vec::with_capacity(largest),
        };
        let first = number * BLOCK_SPLATS;
        for splat in first..draw.len().min(first + BLOCK_SPLATS) {
            for corners in draw.box_triangles(splat)? {
                block.add(corners, draw.rect());
            }
            if block.masks.len().max(block.screen_tiles.len()) > MOST_RASTER_TILES {
                return None;
            }
        }
        self.largest.fetch_max(block.masks.len(), Ordering::Relaxed);
        self.bytes.fetch_add(block.bytes(), Ordering::Relaxed);
        Some(block)
    }
}

impl Block {
    /// Adds a triangle on a `picture`. Without area inside it, nothing will ask for its tiles.
    fn add(&mut self, corners: [Vertex; 3], picture: PixelRect) {
        let outline = Polygon::triangle(corners);
        let bounds = outline.map_or_else(PixelRect::default, |outline| {
            outline.pixel_bounds().intersect(picture)
        });
        let mut triangle = Triangle::default();
        if let Some(outline) = outline.filter(|_| !bounds.is_empty()) {
            let [[left, right], [top, _]] = tiles_in(bounds);
            triangle = Triangle {
                first: fit(self.screen_tiles.len()),
                corner: [left, top],
                columns: right - left + 1,
            };
            raster_tiles(&outline, bounds, self);
        }
        self.triangles.push(triangle);
    }

    fn bytes(&self) -> usize {
        let Self {
            triangles,
            screen_tiles,
            masks,
        } = self;
        size_of_val(&triangles[..]) + size_of_val(&screen_tiles[..]) + size_of_val(&masks[..])
    }
}

/// Adds the raster tiles of a triangle.
impl TileVisitor<()> for Block {
    fn enter(&mut self, _column: u32, _row: u32) -> bool {
        self.screen_tiles.push(fit::<u32>(self.masks.len()) << 4);
        true
    }

    fn touch(&mut self, _tile: [u32; 2], quarter: u8, mask: u64, (): &()) {
        self.masks.push(mask);
        if let Some(tile) = self.screen_tiles.last_mut() {
            *tile |= 1 << quarter;
        }
    }
}

/// Raster tiles of a triangle that are kept.
#[derive(Debug, Clone, Copy)]
pub struct KeptTiles<'a> {
    block: &'a Block,
    triangle: Triangle,
}

/// Raster tiles of a splat's triangle: kept, or to be found from its edges.
#[derive(Debug, Clone, Copy)]
pub enum SplatTiles<'a> {
    /// By the edges.
    Edges(Polygon),
    /// Kept.
    Kept(KeptTiles<'a>),
}

impl KeptTiles<'_> {
    /// Visits the raster tiles in `bounds`, as [`raster_tiles`] does.
    #[inline(always)]
    fn visit(&self, bounds: PixelRect, visitor: &mut impl TileVisitor<()>) {
        let Triangle {
            first,
            corner: [left, top],
            columns,
        } = self.triangle;
        let [[column, last_column], [row, last_row]] = tiles_in(bounds);
        for row in row..=last_row {
            let begin = index(u64::from(first + (row - top) * columns + (column - left)));
            let tiles = &self.block.screen_tiles[begin..];
            for (column, &tile) in (column..=last_column).zip(tiles) {
                if !visitor.enter(column, row) {
                    continue;
                }
                let mut quarters = tile & 15;
                for mask in &self.block.masks[(tile >> 4) as usize..] {
                    if quarters == 0 {
                        break;
                    }
                    let quarter = fit::<u8>(quarters.trailing_zeros());
                    quarters &= quarters - 1;
                    visitor.touch([column, row], quarter, *mask, &());
                }
            }
        }
    }
}

impl TileSource for SplatTiles<'_> {
    type Samples = ();

    #[inline(always)]
    fn visit(&self, bounds: PixelRect, visitor: &mut impl TileVisitor<()>) {
        match self {
            Self::Edges(polygon) => raster_tiles(polygon, bounds, visitor),
            Self::Kept(tiles) => tiles.visit(bounds, visitor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_base::raster::geometry::PrimitiveShape;
    use quadrille_base::raster::outline::TileVisitor;
    use quadrille_machine::Primitive;
    use quadrille_render::preprocess::ProjectedSplat;

    /// The screen tiles entered, and the raster tiles touched with their masks.
    #[derive(Debug, Default, PartialEq)]
    struct Seen(Vec<[u32; 2]>, Vec<([u32; 2], u8, u64)>);

    /// Leaves every fifth screen tile out, as if another GPC owned it.
    impl TileVisitor<()> for Seen {
        fn enter(&mut self, column: u32, row: u32) -> bool {
            self.0.push([column, row]);
            !(column + row).is_multiple_of(5)
        }

        fn touch(&mut self, tile: [u32; 2], quarter: u8, mask: u64, (): &()) {
            self.1.push((tile, quarter, mask));
        }
    }

    /// A splat of a size between a pixel and the picture, partly outside of it or not.
    fn splat(random: &mut impl FnMut() -> f32) -> ProjectedSplat {
        let per_px = 0.5_f32.powf(1.0 + 6.0 * random());
        let [x, y] = [160.0 * (random() - 0.5), 120.0 * (random() - 0.5)];
        let (u_per_x, u_per_y, v_per_y) = (per_px, per_px * (random() - 0.5), per_px * random());
        ProjectedSplat {
            u_per_x,
            u_per_y,
            v_per_y,
            u_at_centre: u_per_y * y - u_per_x * x,
            v_at_centre: -v_per_y * y,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    /// Whole triangles, and their parts in grids of 64x64 pixels.
    #[test]
    fn kept_tiles_are_those_of_the_edges() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let splats = (0..2 * BLOCK_SPLATS + 9).map(|_| splat(&mut random));
        let draw = Draw::projected(splats.collect(), 150, 110);
        draw.keep_coverage();
        let mut compared = 0;
        for primitive in (0..draw.len()).flat_map(|splat| draw.primitives(splat)) {
            let Some(edges) = primitive.shape.polygon() else {
                continue;
            };
            let bounds = edges.pixel_bounds().intersect(draw.rect());
            if bounds.is_empty() {
                continue;
            }
            let kept = draw.kept_tiles(&primitive).unwrap();
            let grids = (0..2).flat_map(|y| (0..3).map(move |x| [64 * x, 64 * y]));
            let grids = grids.map(|[x0, y0]| PixelRect {
                x0,
                y0,
                x1: x0 + 64,
                y1: y0 + 64,
            });
            let parts = grids.map(|grid| bounds.intersect(grid));
            for part in std::iter::once(bounds).chain(parts.filter(|part| !part.is_empty())) {
                let [mut found, mut expected] = [Seen::default(), Seen::default()];
                kept.visit(part, &mut found);
                raster_tiles(&edges, part, &mut expected);
                assert_eq!(found, expected, "{primitive:?} in {part:?}");
                compared += found.1.len();
            }
        }
        assert!(compared > 10_000, "{compared}");
        // The rectangle of a stencil update is not kept.
        let update = draw.primitives(draw.len()).next().unwrap();
        assert!(draw.kept_tiles(&update).is_none());
        assert!(matches!(
            update,
            Primitive {
                shape: PrimitiveShape::Triangle(_),
                ..
            }
        ));
    }
}
