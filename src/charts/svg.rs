//! Drawings as SVG: elements of a page, coloured by its style sheet, and files that contain their colours.

use std::fmt::Write;

use crate::drawing::{Drawing, Drawings, MM_PER_INCH, POINTS_PER_INCH};
use crate::element::{Element, Shape};
use crate::font::FAMILIES;
use crate::labels::{Anchor, Size};
use crate::style::{Rgb, Style, light};

/// Replaces the characters that have a meaning in SVG and HTML, and leaves out control characters, which neither
/// may contain.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            // XML allows these characters not even as references.
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

fn anchor_name(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    }
}

fn place([x, y]: [f64; 2], angle: f64) -> String {
    if angle == 0.0 {
        format!("x=\"{x:.1}\" y=\"{y:.1}\"")
    } else {
        format!("transform=\"translate({x:.1} {y:.1}) rotate({angle})\"")
    }
}

fn pairs(points: &[[f64; 2]]) -> String {
    points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn dashes([dash, gap]: [f64; 2]) -> String {
    format!(" stroke-dasharray=\"{dash} {gap}\"")
}

enum Colours {
    OfPage,
    OfFile,
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

impl Colours {
    fn of_shape(&self, style: Style, is_bar: bool) -> String {
        if let Self::OfPage = self {
            return format!("class=\"{}\"", style.class());
        }
        let paint = style.paint(is_bar);
        let mut attributes = match paint.fill {
            Some(fill) => format!("fill=\"{}\"", hex(fill)),
            None => "fill=\"none\"".to_owned(),
        };
        if paint.fill_opacity < 1.0 {
            let _ = write!(attributes, " fill-opacity=\"{:.2}\"", paint.fill_opacity);
        }
        if let Some(stroke) = paint.stroke {
            let (colour, width) = (hex(stroke.colour), stroke.width);
            let _ = write!(attributes, " stroke=\"{colour}\" stroke-width=\"{width}\"");
            attributes += &stroke.dash.map_or(String::new(), dashes);
        }
        attributes
    }

    /// Text elements. In a file, a halo element precedes a text that crosses lines, since some programs ignore
    /// `paint-order`.
    fn text(&self, place: &str, anchor: Anchor, size: Size, text: &str) -> String {
        let (anchor, text) = (anchor_name(anchor), escaped(text));
        let place = format!("{place} text-anchor=\"{anchor}\"");
        if let Self::OfPage = self {
            return format!("<text {place} class=\"{}\">{text}</text>", size.class());
        }
        let (colour, halo) = size.paint();
        let pixels = size.pixels();
        let halo = halo.map_or(String::new(), |width| {
            let ground = hex(light("ground"));
            format!(
                "<text {place} font-size=\"{pixels}\" fill=\"{ground}\" stroke=\"{ground}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\" aria-hidden=\"true\">{text}</text>"
            )
        });
        let fill = hex(colour);
        format!("{halo}<text {place} font-size=\"{pixels}\" fill=\"{fill}\">{text}</text>")
    }

    fn dot(&self, [x, y]: [f64; 2], radius: f64, shape: Shape, style: Style) -> String {
        let colours = self.of_shape(style, false);
        let corners = shape.corners([x, y], radius);
        match corners.is_empty() {
            true => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {colours}>"),
            false => format!("<polygon points=\"{}\" {colours}>", pairs(&corners)),
        }
    }

    fn element(&self, element: &Element) -> String {
        match element {
            Element::Text { at, angle, anchor, size, text } => {
                self.text(&place(*at, *angle), *anchor, *size, text)
            }
            Element::Rect { at: [x, y], size: [width, height], style, title } => {
                let (colours, title) = (self.of_shape(*style, true), escaped(title));
                format!(
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {colours}><title>{title}</title></rect>"
                )
            }
            Element::Shade { at: [x, y], size: [width, height], style } => {
                let mut colours = self.of_shape(*style, true);
                if let (Self::OfPage, Style::Shade { opacity, .. }) = (self, style) {
                    let _ = write!(colours, " fill-opacity=\"{opacity:.2}\"");
                }
                format!(
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" {colours}/>"
                )
            }
            Element::Dot { at, radius, shape, style, title } => {
                let dot = self.dot(*at, *radius, *shape, *style);
                let name = dot[1..].split(' ').next().unwrap_or_default();
                let end = format!("<title>{}</title></{name}>", escaped(title));
                dot.clone() + &end
            }
            Element::Line { from: [x1, y1], to: [x2, y2], style } => {
                let colours = self.of_shape(*style, false);
                format!(
                    "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {colours}/>"
                )
            }
            Element::Polyline { points, style } => {
                let mut colours = self.of_shape(*style, false);
                match (self, style.paint(false).stroke.and_then(|stroke| stroke.dash)) {
                    (Self::OfPage, Some(dash)) => colours += &dashes(dash),
                    (Self::OfPage, None) => {}
                    (Self::OfFile, _) => colours += " stroke-linejoin=\"round\"",
                }
                format!("<polyline points=\"{}\" {colours}/>", pairs(points))
            }
        }
    }

    fn body(&self, drawing: &Drawing) -> String {
        drawing.elements.iter().map(|element| self.element(element)).collect()
    }
}

impl Drawing {
    /// Returns the drawing as an SVG file: its elements contain colours, sizes and fonts, and it refers to no other file.
    pub fn svg(&self) -> String {
        file(self)
    }
}

impl Drawings {
    /// Returns both drawings as elements of a page, whose style sheet shows one of them.
    pub fn inline(&self) -> String {
        let drawings = self.0.iter().zip(["wide", "narrow"]);
        drawings.map(|(drawing, class)| inline(drawing, class)).collect()
    }
}

fn inline(drawing: &Drawing, class: &str) -> String {
    let ([width, height], title) = (drawing.size, escaped(&drawing.title));
    let body = Colours::OfPage.body(drawing);
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">{body}</svg>"
    )
}

fn file(drawing: &Drawing) -> String {
    let [width, height] = drawing.size;
    let mm = drawing.points / POINTS_PER_INCH * MM_PER_INCH;
    let (title, ground) = (escaped(&drawing.title), hex(light("ground")));
    let body = Colours::OfFile.body(drawing);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.2} {height:.2}\" width=\"{:.2}mm\" \
         height=\"{:.2}mm\" font-family=\"{FAMILIES}\" role=\"img\" aria-label=\"{title}\">\
         <rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>{body}</svg>\n",
        width * mm,
        height * mm
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let hostile = "<script>alert(\"x\" & 'y')</script>\u{0}\u{1b}\n]]>";
        assert_eq!(
            escaped(hostile),
            "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt; ]]&gt;"
        );
    }
}
