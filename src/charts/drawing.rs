//! Finished drawings: elements with their places, which are written as SVG or PDF.

use crate::canvas::{Canvas, Look, MARGIN};
use crate::font;
use crate::labels::{Anchor, Size, TEXT_SIZE};
use crate::style::Style;
use crate::{pdf, svg};
use quadrille_base::error::{Error, Result};

/// Widths in pixels of the drawings for wide and for narrow screens.
pub(crate) const WIDTHS: [f64; 2] = [520.0, 320.0];
/// Points per inch.
pub(crate) const POINTS_PER_INCH: f64 = 72.0;
/// Points per pixel of a page: CSS has 96 pixels per inch.
const POINTS_PER_PIXEL: f64 = 0.75;
/// Millimetres per inch.
pub(crate) const MM_PER_INCH: f64 = 25.4;
/// Height of the area of a plot over the width of the drawing, without a height of its own.
const PLOT_OVER_WIDTH: f64 = 0.42;
/// Least height of the area of a plot in units.
const LEAST_PLOT: f64 = 30.0;

/// A shape of dots: a regular polygon, by its number of corners and the direction of the first in degrees clockwise
/// from the right; a circle without corners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    corners: u32,
    first_degrees: f64,
    /// Distance of the corners over the radius, so that all shapes look equally large.
    reach: f64,
}

/// The shapes of series, in order: circle, square, triangle, diamond, triangle on its tip, pentagon.
const SHAPES: [Shape; 6] = [
    Shape::polygon(0, 0.0, 1.0),
    Shape::polygon(4, 45.0, 1.25),
    Shape::polygon(3, -90.0, 1.4),
    Shape::polygon(4, 0.0, 1.35),
    Shape::polygon(3, 90.0, 1.4),
    Shape::polygon(5, -90.0, 1.2),
];

impl Shape {
    const fn polygon(corners: u32, first_degrees: f64, reach: f64) -> Self {
        Self {
            corners,
            first_degrees,
            reach,
        }
    }

    /// The shape of a series.
    pub(crate) fn of(series: usize) -> Self {
        SHAPES[series % SHAPES.len()]
    }

    /// The corners about a point; none of a circle.
    pub(crate) fn corners(self, [x, y]: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
        let corners = (0..self.corners).map(|n| {
            let turn = 360.0 * f64::from(n) / f64::from(self.corners);
            let (sin, cos) = (self.first_degrees + turn).to_radians().sin_cos();
            [x + radius * self.reach * cos, y + radius * self.reach * sin]
        });
        corners.collect()
    }
}

/// An element of a drawing, in its units, from the top left.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Element {
    Text {
        at: [f64; 2],
        /// Degrees clockwise about the point.
        angle: f64,
        anchor: Anchor,
        size: Size,
        text: String,
    },
    Rect {
        at: [f64; 2],
        size: [f64; 2],
        style: Style,
        title: String,
    },
    Shade {
        at: [f64; 2],
        size: [f64; 2],
        style: Style,
    },
    Dot {
        at: [f64; 2],
        radius: f64,
        shape: Shape,
        style: Style,
        title: String,
    },
    Line {
        from: [f64; 2],
        to: [f64; 2],
        style: Style,
    },
    Polyline {
        points: Vec<[f64; 2]>,
        style: Style,
    },
}

/// A finished drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Accessible title.
    pub(crate) title: String,
    /// Width and height in units.
    pub(crate) size: [f64; 2],
    pub(crate) elements: Vec<Element>,
    /// Points per unit.
    pub(crate) points: f64,
}

impl Drawing {
    /// Draws at a look. `paint` returns the height.
    fn draw(title: &str, look: Look, points: f64, paint: impl Fn(&mut Canvas) -> f64) -> Self {
        let mut canvas = Canvas::new(look);
        let height = paint(&mut canvas);
        Self {
            title: title.to_owned(),
            size: [canvas.look.width, height],
            elements: canvas.elements,
            points,
        }
    }

    /// The drawing as an SVG file: colours, sizes and fonts stand in its elements, and it refers to nothing.
    pub fn svg(&self) -> String {
        svg::file(self)
    }

    /// The drawing as a PDF file of one page, with its font embedded. Equal drawings have equal bytes.
    ///
    /// # Errors
    /// Failures of the compression.
    pub fn pdf(&self) -> std::io::Result<Vec<u8>> {
        pdf::file(self)
    }

    /// The characters that the font of PDF files lacks, each once; the files have question marks in their place.
    pub fn lacking(&self) -> String {
        let mut lacking = String::new();
        for element in &self.elements {
            if let Element::Text { text, .. } = element {
                for character in font::lacking(text) {
                    if !lacking.contains(character) {
                        lacking.push(character);
                    }
                }
            }
        }
        lacking
    }
}

/// A chart as drawn for wide and for narrow screens.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawings([Drawing; 2]);

impl Drawings {
    /// Draws a chart at both widths. `paint` draws it and returns its height.
    pub(crate) fn draw(title: &str, paint: impl Fn(&mut Canvas) -> f64) -> Self {
        let draw = |width| Drawing::draw(title, Look::screen(width), POINTS_PER_PIXEL, &paint);
        Self(WIDTHS.map(draw))
    }

    /// Both drawings as elements of a page, whose style sheet shows one of them.
    pub fn inline(&self) -> String {
        let drawings = self.0.iter().zip(["wide", "narrow"]);
        drawings
            .map(|(drawing, class)| svg::inline(drawing, class))
            .collect()
    }

    /// The drawing for wide screens.
    pub fn wide(&self) -> &Drawing {
        &self.0[0]
    }
}

/// Sizes of a chart in a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Paper {
    /// Width in millimetres.
    pub width_mm: f64,
    /// Height in millimetres; by the width if none.
    pub height_mm: Option<f64>,
    /// Size of the names of groups and series in points.
    pub text_pt: f64,
    /// Heading above the chart; may be empty.
    pub heading: String,
}

impl Paper {
    /// A column of a paper of two columns: 3.5 inches, as IEEE's are, with text of 8 points.
    #[must_use]
    pub fn column() -> Self {
        Self {
            width_mm: 88.9,
            height_mm: None,
            text_pt: 8.0,
            heading: String::new(),
        }
    }

    /// Draws a chart.
    ///
    /// # Errors
    /// [`Error::Argument`] for a height without room for the plot.
    pub(crate) fn draw(&self, title: &str, paint: impl Fn(&mut Canvas) -> f64) -> Result<Drawing> {
        let points = self.text_pt / TEXT_SIZE;
        let units = |mm: f64| mm / MM_PER_INCH * POINTS_PER_INCH / points;
        let width = units(self.width_mm);
        let draw = |plot| {
            let look = Look::paper(width, plot, &self.heading);
            Drawing::draw(title, look, points, |canvas| paint(canvas) + MARGIN)
        };
        let plot = (width * PLOT_OVER_WIDTH).max(LEAST_PLOT);
        let drawn = draw(plot);
        let Some(height) = self.height_mm else {
            return Ok(drawn);
        };
        let around = drawn.size[1] - plot;
        let wanted = units(height) - around;
        if wanted < LEAST_PLOT {
            let least = (around + LEAST_PLOT) / units(1.0);
            let expected = format!("at least {:.0} mm for this chart", least.ceil());
            return Err(Error::argument("height", expected, format!("{height} mm")));
        }
        Ok(draw(wanted))
    }
}
