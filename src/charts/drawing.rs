//! Finished drawings: elements with their places, which are written as SVG or PDF.

use crate::canvas::{Canvas, Look, MARGIN};
use crate::element::Element;
use crate::font;
use crate::labels::TEXT_SIZE;
use quadrille_base::error::{Error, Result};

/// Widths in pixels for wide and for narrow screens.
pub(crate) const WIDTHS: [f64; 2] = [520.0, 320.0];
pub(crate) const POINTS_PER_INCH: f64 = 72.0;
/// Points per CSS pixel, of which an inch has 96.
const POINTS_PER_PIXEL: f64 = 0.75;
pub(crate) const MM_PER_INCH: f64 = 25.4;
/// Plot height over drawing width, by default.
const PLOT_OVER_WIDTH: f64 = 0.42;
const LEAST_PLOT: f64 = 30.0;

/// A finished drawing, which can be written as SVG or PDF.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    pub(crate) title: String,
    pub(crate) size: [f64; 2],
    pub(crate) elements: Vec<Element>,
    /// Typographic points per unit of the drawing.
    pub(crate) points: f64,
}

impl Drawing {
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

    /// Returns the characters that the font of PDF files lacks, each once; the files have question marks in their place.
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

/// A chart drawn for wide and for narrow screens.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawings(pub(crate) [Drawing; 2]);

impl Drawings {
    /// Draws a chart at both widths; `paint` returns its height.
    pub(crate) fn draw(title: &str, paint: impl Fn(&mut Canvas) -> f64) -> Self {
        let draw = |width| Drawing::draw(title, Look::screen(width), POINTS_PER_PIXEL, &paint);
        Self(WIDTHS.map(draw))
    }

    /// Returns the drawing for wide screens.
    pub fn wide(&self) -> &Drawing {
        &self.0[0]
    }
}

/// Format of a chart in a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintFormat {
    /// Width in millimetres.
    pub width_mm: f64,
    /// Height in millimetres; `None` derives it from the width.
    pub height_mm: Option<f64>,
    /// Size of the names of groups and series in points.
    pub text_pt: f64,
    /// Heading above the chart; may be empty.
    pub heading: String,
}

impl PrintFormat {
    /// Creates the format of a column of 3.5 inches, as in two-column papers of the IEEE, with text of 8 points.
    #[must_use]
    pub fn column() -> Self {
        Self { width_mm: 88.9, height_mm: None, text_pt: 8.0, heading: String::new() }
    }

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
        let Some(height) = self.height_mm else { return Ok(drawn) };
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
