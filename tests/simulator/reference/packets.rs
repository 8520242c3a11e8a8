//! What units pass to each other, and what they draw.

use quadrille::raster::polygon::Polygon;

/// Side of a screen tile in pixels.
pub(super) const TILE: i32 = 16;
/// Side of a raster tile in pixels.
pub(super) const RASTER_TILE: i32 = 8;
/// Quads of a warp.
pub(super) const WARP: usize = 8;
/// Quads of a beat.
pub(super) const BEAT: usize = 8;

/// Pixels from (`x0`, `y0`) up to, but without, (`x1`, `y1`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) x0: i32,
    pub(super) y0: i32,
    pub(super) x1: i32,
    pub(super) y1: i32,
}

impl Rect {
    pub(super) fn within(self, other: Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// The square of `side` pixels in column `x` and row `y` of a grid of such squares.
    pub(super) fn square(x: i32, y: i32, side: i32) -> Self {
        Self { x0: x * side, y0: y * side, x1: (x + 1) * side, y1: (y + 1) * side }
    }
}

/// Outline of a splat.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outline {
    /// A rectangle along the pixel grid.
    Rectangle(Rect),
    /// A triangle; `None` if it has no area.
    Triangle(Option<Polygon>),
}

impl Outline {
    /// Pixels that may be covered; `None` without area.
    pub(super) fn bounds(&self) -> Option<Rect> {
        match self {
            Self::Rectangle(rect) => (!rect.is_empty()).then_some(*rect),
            Self::Triangle(polygon) => polygon.as_ref().map(|polygon| {
                let bounds = polygon.pixel_bounds();
                Rect { x0: bounds.x0, y0: bounds.y0, x1: bounds.x1, y1: bounds.y1 }
            }),
        }
    }

    fn covers(&self, x: i32, y: i32) -> bool {
        match self {
            Self::Rectangle(r) => (r.x0..r.x1).contains(&x) && (r.y0..r.y1).contains(&y),
            Self::Triangle(polygon) => polygon.as_ref().is_some_and(|p| p.covers(x, y)),
        }
    }

    /// The coarse raster's test of a square of pixels.
    pub(super) fn touches(&self, square: Rect) -> bool {
        match self {
            Self::Rectangle(rect) => !rect.within(square).is_empty(),
            Self::Triangle(polygon) => {
                let side = square.x1 - square.x0;
                (polygon.as_ref()).is_some_and(|p| p.touches(square.x0, square.y0, side))
            }
        }
    }

    /// Coverage of the four pixels of the quad at (`x`, `y`) that lie in `clip`.
    pub(super) fn quad_mask(&self, x: i32, y: i32, clip: Rect) -> u8 {
        let pixels = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
        (0..).zip(pixels).fold(0, |mask, (bit, (x, y))| {
            let inside = !clip.within(Rect::square(x, y, 1)).is_empty();
            mask | u8::from(inside && self.covers(x, y)) << bit
        })
    }
}

/// A splat of one colour.
#[derive(Debug, Clone)]
pub(super) struct FlatSplat {
    pub(super) outline: Outline,
    /// Alpha of all its fragments; `None` if they are pruned.
    pub(super) alpha: Option<f32>,
    pub(super) colour: [f32; 3],
}

/// A draw of flat splats.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) splats: Vec<FlatSplat>,
}

impl Scene {
    pub(super) fn rect(&self) -> Rect {
        Rect { x0: 0, y0: 0, x1: self.width.cast_signed(), y1: self.height.cast_signed() }
    }

    pub(super) fn tiles_across(&self) -> u32 {
        self.width.div_ceil(TILE as u32)
    }

    pub(super) fn tiles(&self) -> u32 {
        self.tiles_across() * self.height.div_ceil(TILE as u32)
    }
}

/// A splat, inside the picture or a tile grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Primitive {
    pub(super) splat: usize,
    pub(super) bounds: Rect,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quad {
    pub(super) splat: usize,
    /// Position in the screen tile, row by row.
    pub(super) position: u8,
    pub(super) mask: u8,
}

/// Covered quads of a splat in a raster tile.
#[derive(Debug, Clone)]
pub(super) struct RasterTile {
    pub(super) splat: usize,
    pub(super) tile: u32,
    pub(super) quads: Vec<Quad>,
}

/// Up to eight quads of a flush.
#[derive(Debug, Clone, Default)]
pub(super) struct Beat {
    pub(super) tile: u32,
    pub(super) quads: Vec<Quad>,
    pub(super) last: bool,
    /// By quad pair: whether it is to be merged.
    pub(super) pairs: u8,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Warp {
    pub(super) tile: u32,
    pub(super) quads: Vec<Quad>,
    pub(super) pairs: u8,
}

/// Red, green, blue and alpha of four fragments.
pub(super) type Colour = [[f32; 4]; 4];

/// A quad to blend.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColourQuad {
    pub(super) tile: u32,
    pub(super) position: u8,
    pub(super) mask: u8,
    pub(super) colour: Colour,
}

pub(super) fn fragments(mask: u8) -> u64 {
    u64::from(mask.count_ones())
}
