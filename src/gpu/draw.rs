//! What is drawn: splats with their boxes, or plain rectangles.

use rayon::prelude::*;

use super::geometry::splat_box::splat_box;
use crate::pipeline::packets::Primitive;
use crate::preprocess::{Preprocessed, ProjectedSplat};
use crate::raster::geometry::PrimitiveShape;
use crate::raster::geometry::{PixelRect, SUBPIXEL_BITS, Vertex};

/// How splats are drawn.
#[derive(Debug)]
enum Boxes {
    /// Two triangles each.
    Splats(Vec<[Vertex; 4]>),
    /// One rectangle each.
    Rectangles(Vec<[Vertex; 2]>),
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
    /// When the input is held up: before splat `.0`, until `.1` cycles after the one before it.
    pub bubble: Option<(u32, u64)>,
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
    /// A frame's splats, each as the two triangles of its oriented bounding box.
    #[must_use]
    pub fn splats(frame: &Preprocessed, width: u32, height: u32) -> Self {
        let splats: Vec<_> = frame.in_order().map(|(splat, _)| *splat).collect();
        let boxes = splats.par_iter().map(|s| splat_box(s, width, height));
        Self {
            width,
            height,
            boxes: Boxes::Splats(boxes.collect()),
            splats,
            bubble: None,
        }
    }

    /// Rectangles of one colour and alpha each, as fill-rectangle draws: one primitive each. Given
    /// as x, y, width and height in pixels.
    #[must_use]
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
            .map(|&[x, y, w, h]| [corner(x, y), corner(x + w, y + h)]);
        // A falloff that is the same everywhere.
        let flat = ProjectedSplat {
            log2_opacity: alpha.log2(),
            colour,
            ..bytemuck::Zeroable::zeroed()
        };
        Self {
            width,
            height,
            splats: vec![flat; rectangles.len()],
            boxes: Boxes::Rectangles(boxes.collect()),
            bubble: None,
        }
    }

    /// Splats in the draw.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "scenes hold fewer than 2^32 splats"
    )]
    pub fn len(&self) -> u32 {
        self.splats.len() as u32
    }

    /// Whether nothing is drawn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.splats.is_empty()
    }

    /// The two triangles of a splat's box, which share its diagonal: the edge from the first's last
    /// corner to its first. `None` of rectangles, and of splats that the draw has not.
    #[must_use]
    pub fn triangles(&self, splat: u32) -> Option<[[Vertex; 3]; 2]> {
        let Boxes::Splats(boxes) = &self.boxes else {
            return None;
        };
        let [a, b, c, d] = *boxes.get(splat as usize)?;
        Some([[a, b, c], [a, c, d]])
    }

    /// The primitives of a splat.
    #[inline]
    pub(super) fn primitives(&self, splat: u32) -> Primitives {
        let shapes = match &self.boxes {
            Boxes::Splats(boxes) => {
                let [a, b, c, d] = boxes[splat as usize];
                [
                    Some(PrimitiveShape::Triangle([a, b, c])),
                    Some(PrimitiveShape::Triangle([a, c, d])),
                ]
            }
            Boxes::Rectangles(boxes) => {
                [Some(PrimitiveShape::Rectangle(boxes[splat as usize])), None]
            }
        };
        Primitives {
            primitive: splat,
            shapes,
        }
    }
}
