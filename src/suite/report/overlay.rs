//! Drawings over an enlarged picture of a mesh: shaded quads, outlines of triangles, samples and vertices.

use super::canvas::{Canvas, INK};
use super::heat::{self, HeatMap, LEGEND_UNITS, MIN_WIDTH_PX, SHADINGS};
use super::scale::Scale;
use crate::merging_runs::MergedFrame;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::crop::CropArea;
use quadrille_base::math::{byte, whole};

choice! {
    /// Drawing over a picture.
    pub enum Overlay {
        /// Shaded quads of 2x2 pixels, coloured by the number of shadings
        Quads = "quads",
        /// Outlines of the visible triangles
        Edges = "edges",
        /// Sample positions, coloured by the triangle that each sample shows
        Samples = "samples",
        /// Vertices of visible grids, which reyes shades
        Vertices = "vertices",
    }
}

const MAX_SIDE_PX: u32 = 4096;
/// Positions of samples are multiples of 1/16 px.
const MAX_ZOOM: u32 = 16;
/// Least zoom at which a quad's pixels and frame are distinguishable.
const MIN_ZOOM: u32 = 4;

/// Colours of triangles by number, repeated: the set of Okabe and Ito, which colour-blind people can
/// distinguish, without black.
const TRIANGLES: [[u8; 3]; 7] = [
    [230, 159, 0],
    [86, 180, 233],
    [0, 158, 115],
    [240, 228, 66],
    [0, 114, 178],
    [213, 94, 0],
    [204, 121, 167],
];
const BACKGROUND_SAMPLE: [u8; 3] = [128; 3];
const FRAME: [u8; 3] = [0; 3];
const PIXEL_GRID: [u8; 3] = [96; 3];
/// Colour of edges on a picture; on tinted quads, edges have the colour of text.
const EDGE: [u8; 3] = [220, 0, 0];
const VERTEX: [u8; 3] = [255, 255, 0];

/// An overlay with its position in the picture.
#[derive(Debug)]
pub struct OverlayDrawing<'a> {
    /// Title of the legend of shaded quads.
    pub title: String,
    /// The part of the picture and its zoom: [`OverlayDrawing::part`].
    pub part: CropArea,
    /// The drawings, in any order.
    pub overlays: &'a [Overlay],
    /// Scale of the number of times that a quad is shaded.
    pub scale: Scale,
}

impl OverlayDrawing<'_> {
    /// The part of a picture that is drawn: the crop or all of it, with the zoom of the crop or the largest one that
    /// keeps the enlarged picture small.
    ///
    /// # Errors
    /// [`Error::Argument`] for a zoom that is too small to show quads.
    pub fn part(size: [u32; 2], crop: Option<CropArea>) -> Result<CropArea> {
        let part = crop.unwrap_or(CropArea { corner: [0; 2], size, zoom: 1 });
        let [width, height] = part.size;
        let zoom = match part.zoom {
            1 => MAX_ZOOM.min(MAX_SIDE_PX / width.max(height)),
            zoom => zoom,
        };
        let expected = format!(
            "a zoom of {MIN_ZOOM} or more, and without one at most {0} by {0} pixels (choose a part with --crop, or \
                 --width and --height)",
            MAX_SIDE_PX / MIN_ZOOM
        );
        let found = format!("{width} by {height} pixels, zoom {zoom}");
        Error::refuse_if(zoom < MIN_ZOOM, "overlay", expected, found)?;
        Ok(CropArea { zoom, ..part })
    }

    /// Draws over the picture of a frame; returns the enlarged, opaque part, with a legend below it if it shows quads.
    ///
    /// # Errors
    /// [`Error::Argument`] for a part outside of the picture; errors of rasterizing the enlarged triangles.
    pub fn of(&self, picture: &Frame, frame: &MergedFrame<'_>) -> Result<Frame> {
        let pixels = CropArea { zoom: 1, ..self.part }.of(&picture.to_srgb())?;
        let counts = self.counts(frame);
        let legend = counts.as_ref().map(|counts| HeatMap {
            title: self.title.clone(),
            nothing: "none",
            size: self.part.size,
            counts,
            scale: self.scale,
            scale_end: "--heat-max",
            palette: SHADINGS,
        });
        let [width, height] = self.part.size.map(|side| self.zoomed(side));
        let [least_width, room] = match legend {
            Some(_) => [MIN_WIDTH_PX, LEGEND_UNITS],
            None => [0; 2],
        };
        let mut canvas = Canvas::new(width.max(least_width), height + room);
        self.draw_pixels(&mut canvas, &pixels, counts.as_deref(), frame);
        if self.has(Overlay::Edges) {
            self.draw_edges(&mut canvas, frame)?;
        }
        if self.has(Overlay::Samples) {
            self.draw_samples(&mut canvas, frame);
        }
        if self.has(Overlay::Vertices) {
            for at in frame.visible.vertices_px() {
                self.dot(&mut canvas, at, self.part.zoom / 4, VERTEX);
            }
        }
        if let Some(map) = legend {
            heat::legend(&mut canvas, &map, height, 1);
        }
        Ok(canvas.into_frame())
    }

    fn has(&self, overlay: Overlay) -> bool {
        self.overlays.contains(&overlay)
    }

    fn zoomed(&self, pixels: u32) -> usize {
        (pixels * self.part.zoom) as usize
    }

    /// Pixels of the part by row: column and row in the picture, and on the canvas.
    fn positions(&self) -> impl Iterator<Item = ([u32; 2], [usize; 2])> {
        let CropArea { corner, size, .. } = self.part;
        let all = (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y]));
        all.map(move |[x, y]| ([corner[0] + x, corner[1] + y], [x, y].map(|v| self.zoomed(v))))
    }

    fn counts(&self, frame: &MergedFrame<'_>) -> Option<Vec<u32>> {
        let shading = frame.shading.filter(|_| self.has(Overlay::Quads))?;
        let settings = &frame.visible.settings;
        let counts = frame.visible.fragments_per_shading_pixel(shading);
        let across = settings.shading_area().x1.cast_unsigned();
        let side = settings.pattern.side_px().cast_unsigned();
        let at = self.positions().map(|([x, y], _)| y / side * across + x / side);
        Some(at.map(|at| counts[at as usize]).collect())
    }

    fn draw_pixels(
        &self,
        canvas: &mut Canvas,
        pixels: &Frame,
        counts: Option<&[u32]>,
        frame: &MergedFrame<'_>,
    ) {
        let zoom = self.zoomed(1);
        let quad_px = 2 * frame.visible.settings.pattern.side_px().cast_unsigned();
        let line = zoom.div_ceil(16);
        let ramp = SHADINGS.ramp();
        for (index, (at, [left, top])) in self.positions().enumerate() {
            let [r, g, b, _] = pixels.pixels()[index];
            let colour = [r, g, b].map(|c| byte((c * 255.0).into()));
            let count = counts.map_or(0, |counts| counts[index]);
            if count == 0 {
                canvas.fill([left, top], [zoom; 2], colour);
                if self.has(Overlay::Samples) {
                    canvas.fill([left, top], [1, zoom], PIXEL_GRID);
                    canvas.fill([left, top], [zoom, 1], PIXEL_GRID);
                }
                continue;
            }
            let tint = ramp(self.scale.position(count));
            let shade = [0, 1, 2].map(|c| tinted(colour[c], tint[c]));
            canvas.fill([left, top], [zoom; 2], shade);
            for axis in [0, 1] {
                let last = [left, top][axis] + zoom;
                let mut bar = |from: usize, width: usize, colour| {
                    let (mut corner, mut size) = ([left, top], [zoom; 2]);
                    (corner[axis], size[axis]) = (from, width);
                    canvas.fill(corner, size, colour);
                };
                if at[axis] % quad_px == 0 {
                    bar(last - zoom, line, FRAME);
                } else {
                    bar(last - zoom, 1, shade.map(|c| c / 2));
                }
                if at[axis] % quad_px == quad_px - 1 {
                    bar(last - line, line, FRAME);
                }
            }
        }
    }

    /// Draws a line where another triangle, or none, begins to the right or below.
    fn draw_edges(&self, canvas: &mut Canvas, frame: &MergedFrame<'_>) -> Result<()> {
        let ids = frame.visible.enlarged(frame.source, self.part)?.triangles_of_samples();
        let [width, height] = self.part.size.map(|side| self.zoomed(side));
        let line = self.zoomed(1).div_ceil(16);
        let colour = if self.has(Overlay::Quads) { INK } else { EDGE };
        for (index, id) in ids.iter().enumerate() {
            let [x, y] = [index % width, index / width];
            let is_other = |is_inside: bool, step: usize| is_inside && ids[index + step] != *id;
            if is_other(x + 1 < width, 1) || is_other(y + 1 < height, width) {
                canvas.fill([x, y], [line; 2], colour);
            }
        }
        Ok(())
    }

    fn draw_samples(&self, canvas: &mut Canvas, frame: &MergedFrame<'_>) {
        let settings = &frame.visible.settings;
        let ids = frame.visible.triangles_of_samples();
        let per_pixel = settings.pattern.per_pixel() as usize;
        let offsets = &settings.pattern.offsets()[..per_pixel];
        for ([x, y], _) in self.positions() {
            let first = (y * settings.size[0] + x) as usize * per_pixel;
            for (offset, id) in offsets.iter().zip(&ids[first..]) {
                let [dx, dy] = offset.map(|v| f64::from(v) / 256.0);
                let colour = match id {
                    &u32::MAX => BACKGROUND_SAMPLE,
                    id => TRIANGLES[*id as usize % TRIANGLES.len()],
                };
                let at = [f64::from(x) + dx, f64::from(y) + dy];
                self.dot(canvas, at, self.part.zoom / 8, colour);
            }
        }
    }

    fn dot(&self, canvas: &mut Canvas, at: [f64; 2], side: u32, colour: [u8; 3]) {
        let side = side.max(2);
        let half = f64::from(side) / 2.0;
        let corner = [0, 1].map(|axis| {
            let from_corner = at[axis] - f64::from(self.part.corner[axis]);
            from_corner * f64::from(self.part.zoom) - half
        });
        let is_inside = |axis: usize| {
            let end = f64::from(self.part.size[axis] * self.part.zoom);
            corner[axis] >= -half && corner[axis] < end
        };
        if !is_inside(0) || !is_inside(1) {
            return;
        }
        let corner = corner.map(|v| whole::<usize>(v.max(0.0).round()));
        let side = side as usize;
        canvas.fill(corner.map(|v| v.saturating_sub(1)), [side + 2; 2], FRAME);
        canvas.fill(corner, [side; 2], colour);
    }
}

/// A quarter of the picture, so that its shapes show, and three quarters of the tint.
fn tinted(picture: u8, tint: u8) -> u8 {
    let sum = u16::from(picture) + 3 * u16::from(tint);
    u8::try_from(sum / 4).unwrap_or(u8::MAX)
}
