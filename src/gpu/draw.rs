//! Draw calls: splats with their boxes, or flat triangles and rectangles.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::geometry::splat_box::{splat_box, splat_rectangle};
use crate::warp::fragment::FragmentShader;
use quadrille_base::math::{SimdLevel, fit};
use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape, SUBPIXEL_BITS, Vertex};
use quadrille_machine::Primitive;
use quadrille_render::preprocess::{Preprocessed, ProjectedSplat};

const ALPHA_CAP: f64 = 0.99;

#[derive(Debug)]
enum Boxes {
    Splats(Vec<[Vertex; 4]>),
    Primitives(Vec<PrimitiveShape>),
}

/// Shape in which a splat is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplatPrimitive {
    /// Oriented box of two triangles with four vertices.
    #[default]
    Triangles,
    /// Axis-aligned rectangle: one primitive with three vertices, whose bounding box is filled
    /// (`VK_NV_fill_rectangle`).
    FillRectangle,
}

impl SplatPrimitive {
    /// Vertices per splat.
    pub fn vertices(self) -> u64 {
        match self {
            Self::Triangles => 4,
            Self::FillRectangle => 3,
        }
    }
}

/// Triangle of one colour, alpha and depth.
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

fn flat(colour: [f32; 3], alpha: f32, depth: f32) -> ProjectedSplat {
    ProjectedSplat { log2_opacity: alpha.log2(), colour, depth, ..bytemuck::Zeroable::zeroed() }
}

/// A draw call: splats in drawing order on a picture of a given size.
#[derive(Debug)]
pub struct Draw {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Projected splats in drawing order, front to back.
    pub splats: Vec<ProjectedSplat>,
    boxes: Boxes,
    /// Pause in the input: before splat `.0`, of `.1` cycles after the previous splat.
    pub bubble: Option<(u32, u64)>,
}

/// Iterator over the primitives of a splat: the two triangles of its box, or one other shape.
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
        Some(Primitive { primitive: self.primitive, shape, bounds: PixelRect::default() })
    }
}

impl Draw {
    /// Draws the splats of a frame, each as the two triangles of its oriented bounding box.
    pub fn splats(frame: &Preprocessed, width: u32, height: u32) -> Self {
        Self::projected(frame.in_order().map(|(splat, _)| *splat).collect(), width, height)
    }

    /// Draws splats in the given order, each as the two triangles of its oriented bounding box.
    pub fn projected(splats: Vec<ProjectedSplat>, width: u32, height: u32) -> Self {
        let boxes = splats.par_iter().map(|s| splat_box(s, width, height));
        Self { width, height, boxes: Boxes::Splats(boxes.collect()), splats, bubble: None }
    }

    /// Draws rectangles (x, y, width, height in pixels) of one colour and alpha, one primitive each.
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
        }
    }

    /// Draws flat triangles front to back: the first lies in front.
    pub fn triangles(width: u32, height: u32, triangles: &[FlatTriangle]) -> Self {
        let splats = triangles.iter().map(|t| flat(t.colour, t.alpha, t.depth));
        let shapes = triangles.iter().map(|t| PrimitiveShape::Triangle(t.corners));
        Self {
            width,
            height,
            splats: splats.collect(),
            boxes: Boxes::Primitives(shapes.collect()),
            bubble: None,
        }
    }

    /// Fragment shader of the draw: caps alpha at 0.99 and decides fragments near the alpha cut in f32.
    pub fn shader(&self) -> FragmentShader<'_> {
        let size = [self.width, self.height];
        FragmentShader::new(&self.splats, size, ALPHA_CAP, SimdLevel::best(), None)
    }

    /// Number of splats in the draw.
    pub fn len(&self) -> u32 {
        fit(self.splats.len())
    }

    /// Whether the draw has no splats.
    pub fn is_empty(&self) -> bool {
        self.splats.is_empty()
    }

    /// Returns the two triangles of a splat's box, which share the edge from the last to the first corner of the first one.
    /// Returns `None` for other primitives, and for splats outside the draw.
    pub fn box_triangles(&self, splat: u32) -> Option<[[Vertex; 3]; 2]> {
        let Boxes::Splats(boxes) = &self.boxes else { return None };
        let [a, b, c, d] = *boxes.get(splat as usize)?;
        Some([[a, b, c], [a, c, d]])
    }

    #[allow(clippy::cast_possible_wrap, reason = "pictures have at most 2^16 pixels a side")]
    fn screen_triangles(&self) -> [Option<PrimitiveShape>; 2] {
        let [right, bottom] = [self.width, self.height].map(|side| (side << SUBPIXEL_BITS) as i32);
        let [a, b, c, d] = [(0, 0), (right, 0), (right, bottom), (0, bottom)];
        let triangle = |corners: [(i32, i32); 3]| {
            Some(PrimitiveShape::Triangle(corners.map(|(x, y)| Vertex { x, y })))
        };
        [triangle([a, b, c]), triangle([a, c, d])]
    }

    /// Primitives of a splat, drawn in `shape`. The index after the last splat stands for a stencil update, which covers the
    /// whole picture.
    #[inline]
    pub(super) fn primitives(&self, splat: u32, shape: SplatPrimitive) -> Primitives {
        let shapes = match &self.boxes {
            _ if splat == self.len() => self.screen_triangles(),
            Boxes::Splats(_) if shape == SplatPrimitive::FillRectangle => {
                let of = &self.splats[splat as usize];
                let corners = splat_rectangle(of, self.width, self.height);
                [Some(PrimitiveShape::Rectangle(corners)), None]
            }
            Boxes::Splats(boxes) => {
                let [a, b, c, d] = boxes[splat as usize];
                [
                    Some(PrimitiveShape::Triangle([a, b, c])),
                    Some(PrimitiveShape::Triangle([a, c, d])),
                ]
            }
            Boxes::Primitives(shapes) => [Some(shapes[splat as usize]), None],
        };
        Primitives { primitive: splat, shapes }
    }
}
