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

    /// The raster tiles of the triangle with `corners` of splat `splat`, which has an area inside the picture; `None`
    /// if they are not kept.
    #[inline]
    pub(crate) fn of(
        &self,
        (boxes, picture): (&[[Vertex; 4]], PixelRect),
        splat: u32,
        corners: &[Vertex; 3],
    ) -> Option<KeptTiles<'_>> {
        // Only the first triangle has the corner that both share last.
        let [_, _, shared, _] = boxes.get(splat as usize)?;
        let block = self.blocks.get((splat / BLOCK_SPLATS) as usize)?;
        let number = (splat / BLOCK_SPLATS) as usize;
        let block = block
            .get_or_init(|| self.fill(boxes.chunks(BLOCK_SPLATS as usize).nth(number)?, picture));
        let block = block.as_ref()?;
        let triangle = splat % BLOCK_SPLATS * 2 + u32::from(corners[2] != *shared);
        Some(KeptTiles {
            block,
            triangle: block.triangles[triangle as usize],
        })
    }

    /// Rasterizes the boxes of a block on a `picture`; `None` if there is no room for it.
    #[cold]
    fn fill(&self, boxes: &[[Vertex; 4]], picture: PixelRect) -> Option<Block> {
        if self.bytes.load(Ordering::Relaxed) > MOST_BYTES {
            return None;
        }
        let largest = self.largest.load(Ordering::Relaxed);
        let mut block = Block {
            triangles: Vec::with_capacity(2 * BLOCK_SPLATS as usize),
            screen_tiles: Vec::with_capacity(largest),
            masks: Vec::with_capacity(largest),
        };
        for &[a, b, c, d] in boxes {
            block.add([a, b, c], picture);
            block.add([a, c, d], picture);
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
    pub(crate) fn visit(&self, bounds: PixelRect, visitor: &mut impl TileVisitor<()>) {
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
