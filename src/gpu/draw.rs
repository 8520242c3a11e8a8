//! Draw calls: splats with their boxes, or flat triangles and rectangles.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::geometry::splat_box::splat_box;
use super::raster::coverage::{Coverage, KeptTiles};
use crate::warp::fragment::FragmentShader;
use quadrille_base::math::{SimdLevel, fit};
use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape, SUBPIXEL_BITS, Vertex};
use quadrille_machine::Primitive;
use quadrille_render::preprocess::{Preprocessed, ProjectedSplat};

/// Largest alpha of a fragment, as in the reference renderer.
const ALPHA_CAP: f64 = 0.99;

/// Primitives of a draw.
#[derive(Debug)]
enum Boxes {
    /// A box of two triangles per splat.
    Splats(Vec<[Vertex; 4]>),
    /// One primitive per splat.
    Primitives(Vec<PrimitiveShape>),
}

/// A triangle of one colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlatTriangle {
    /// Corners, either winding.
    pub corners: [Vertex; 3],
    /// Red, green and blue, not premultiplied.
    pub colour: [f32; 3],
    /// Alpha from 0 to 1. Fragments below 1/255 are pruned; larger values are capped at 0.99.
    pub alpha: f32,
    /// Depth for Hi-Z and the depth test.
    pub depth: f32,
}

/// A splat with constant alpha.
fn flat(colour: [f32; 3], alpha: f32, depth: f32) -> ProjectedSplat {
    ProjectedSplat {
        log2_opacity: alpha.log2(),
        colour,
        depth,
        ..bytemuck::Zeroable::zeroed()
    }
}

/// A draw call: splats in drawing order on a picture of a given size.
#[derive(Debug)]
pub struct Draw {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The splats, in drawing order.
    pub splats: Vec<ProjectedSplat>,
    boxes: Boxes,
    /// A pause in the input: before splat `.0`, of `.1` cycles after the splat before it.
    pub bubble: Option<(u32, u64)>,
    /// Coverage of the boxes, if it is kept.
    coverage: OnceLock<Coverage>,
}

/// The primitives of a splat, in order.
#[derive(Debug, Clone, Copy)]
pub struct Primitives {
    primitive: u32,
    shapes: [Option<PrimitiveShape>; 2],
}

impl Iterator for Primitives {
    type Item = Primitive;

    #[inline]
    fn next(&mut self) -> Option<Primitive> {
        let shape = self.shapes[0].take()?;
        self.shapes.swap(0, 1);
        Some(Primitive {
            primitive: self.primitive,
            shape,
            bounds: PixelRect::default(),
        })
    }
}

impl Draw {
    /// Draws the splats of a frame, each as the two triangles of its oriented bounding box.
    pub fn splats(frame: &Preprocessed, width: u32, height: u32) -> Self {
        let splats = frame.in_order().map(|(splat, _)| *splat);
        Self::projected(splats.collect(), width, height)
    }

    /// Draws splats on the picture plane in this order, each as the two triangles of its oriented bounding
    /// box.
    pub fn projected(splats: Vec<ProjectedSplat>, width: u32, height: u32) -> Self {
        let boxes = splats.par_iter().map(|s| splat_box(s, width, height));
        Self {
            width,
            height,
            boxes: Boxes::Splats(boxes.collect()),
            splats,
            bubble: None,
            coverage: OnceLock::new(),
        }
    }

    /// Draws rectangles of one colour and alpha as one primitive each. They are given as x, y, width and
    /// height in pixels.
    #[allow(
        clippy::cast_possible_wrap,
        reason = "rectangles lie inside pictures of at most 2^16 pixels a side"
    )]
    pub fn rectangles(
        width: u32,
        height: u32,
        rectangles: &[[u32; 4]],
        colour: [f32; 3],
        alpha: f32,
    ) -> Self {
        let corner = |x: u32, y: u32| Vertex {
            x: (x << SUBPIXEL_BITS) as i32,
            y: (y << SUBPIXEL_BITS) as i32,
        };
        let boxes = rectangles
            .iter()
            .map(|&[x, y, w, h]| PrimitiveShape::Rectangle([corner(x, y), corner(x + w, y + h)]));
        Self {
            width,
            height,
            splats: vec![flat(colour, alpha, 0.0); rectangles.len()],
            boxes: Boxes::Primitives(boxes.collect()),
            bubble: None,
            coverage: OnceLock::new(),
        }
    }

    /// Draws flat triangles front to back: the first lies in front.
    pub fn triangles(width: u32, height: u32, triangles: &[FlatTriangle]) -> Self {
        let splats = triangles.iter().map(|t| flat(t.colour, t.alpha, t.depth));
        let shapes = triangles
            .iter()
            .map(|t| PrimitiveShape::Triangle(t.corners));
        Self {
            width,
            height,
            splats: splats.collect(),
            boxes: Boxes::Primitives(shapes.collect()),
            bubble: None,
            coverage: OnceLock::new(),
        }
    }

    /// The fragment shader of the draw, which caps alphas at 0.99 and decides fragments near the alpha
    /// cut in f32.
    pub fn shader(&self) -> FragmentShader<'_> {
        let size = [self.width, self.height];
        FragmentShader::new(&self.splats, size, ALPHA_CAP, SimdLevel::best(), None)
    }

    /// Keeps the coverage of splats from now on, so that of several runs of this draw one finds it and the others
    /// read it. A draw of other primitives keeps none.
    pub fn keep_coverage(&self) {
        if matches!(self.boxes, Boxes::Splats(_)) {
            self.coverage.get_or_init(|| Coverage::new(self.len()));
        }
    }

    /// The raster tiles of a triangle of a splat's box, which has an area inside the picture; `None` if they are not
    /// kept.
    #[inline]
    pub(super) fn kept_tiles(&self, primitive: &Primitive) -> Option<KeptTiles<'_>> {
        let (PrimitiveShape::Triangle(corners), Boxes::Splats(boxes)) =
            (&primitive.shape, &self.boxes)
        else {
            return None;
        };
        let scene = (&boxes[..], self.rect());
        (self.coverage.get()?).of(scene, primitive.primitive, corners)
    }

    /// The picture's rectangle.
    pub(super) fn rect(&self) -> PixelRect {
        PixelRect {
            x0: 0,
            y0: 0,
            x1: self.width.cast_signed(),
            y1: self.height.cast_signed(),
        }
    }

    /// Number of splats.
    pub fn len(&self) -> u32 {
        fit(self.splats.len())
    }

    /// Whether the draw has no splats.
    pub fn is_empty(&self) -> bool {
        self.splats.is_empty()
    }

    /// The two triangles of a splat's box, which share its diagonal: the edge from the first's last
    /// corner to its first. `None` of other primitives, and of splats that the draw has not.
    pub fn box_triangles(&self, splat: u32) -> Option<[[Vertex; 3]; 2]> {
        let Boxes::Splats(boxes) = &self.boxes else {
            return None;
        };
        let [a, b, c, d] = *boxes.get(splat as usize)?;
        Some([[a, b, c], [a, c, d]])
    }

    /// The two triangles of a rectangle over the whole picture.
    #[allow(
        clippy::cast_possible_wrap,
        reason = "pictures have at most 2^16 pixels a side"
    )]
    fn screen_triangles(&self) -> [Option<PrimitiveShape>; 2] {
        let [right, bottom] = [self.width, self.height].map(|side| (side << SUBPIXEL_BITS) as i32);
        let [a, b, c, d] = [(0, 0), (right, 0), (right, bottom), (0, bottom)];
        let triangle = |corners: [(i32, i32); 3]| {
            Some(PrimitiveShape::Triangle(
                corners.map(|(x, y)| Vertex { x, y }),
            ))
        };
        [triangle([a, b, c]), triangle([a, c, d])]
    }

    /// The primitives of a splat. The number after the last splat stands for a rectangle over the whole
    /// picture, for a stencil update.
    #[inline]
    pub(super) fn primitives(&self, splat: u32) -> Primitives {
        let shapes = match &self.boxes {
            _ if splat == self.len() => self.screen_triangles(),
            Boxes::Splats(boxes) => {
                let [a, b, c, d] = boxes[splat as usize];
                [
                    Some(PrimitiveShape::Triangle([a, b, c])),
                    Some(PrimitiveShape::Triangle([a, c, d])),
                ]
            }
            Boxes::Primitives(shapes) => [Some(shapes[splat as usize]), None],
        };
        Primitives {
            primitive: splat,
            shapes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_base::raster::outline::TileVisitor;
    use quadrille_base::raster::outline::raster_tiles;

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
        let splats = (0..2057).map(|_| splat(&mut random));
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
