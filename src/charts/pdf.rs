//! Drawings as PDF: one page of the drawing's size, with the font embedded, and without times or random identifiers.

use std::collections::BTreeSet;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{FontFlags, LineJoinStyle, TextRenderingMode};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Settings, Str, TextStr};

use crate::drawing::Drawing;
use crate::element::Element;
use crate::font;
use crate::labels::{Anchor, Size};
use crate::style::{Paint, Rgb, light};
use crate::widths::WIDTHS;
use quadrille_base::math::{byte, fit, narrow};

const CATALOG: i32 = 1;
const PAGES: i32 = 2;
const PAGE: i32 = 3;
const CONTENT: i32 = 4;
const FONT: i32 = 5;
const DESCRIPTOR: i32 = 6;
const FONT_FILE: i32 = 7;
const INFORMATION: i32 = 8;
/// First object of the opacity states; the percentage is added.
const OPACITIES: i32 = 100;

const FONT_NAME: Name<'static> = Name(b"F");
/// A prefix of six letters marks a subset.
const BASE_FONT: Name<'static> = Name(b"CHARTS+LiberationSans");
/// Vertical stem width in thousandths of the size; readers use it only without the embedded font.
const STEM_V: f32 = 80.0;
/// Control point distance of a quarter circle over its radius: 4/3 (sqrt(2) - 1).
const CIRCLE: f64 = 0.552_284_75;

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn opacity_name(percent: u8) -> String {
    format!("G{percent}")
}

struct Page {
    content: Content,
    /// Opacities in use, in percent.
    opacities: BTreeSet<u8>,
}

impl Page {
    fn fill_colour(&mut self, colour: Rgb) {
        let [r, g, b] = colour.map(|c| f32::from(c) / 255.0);
        self.content.set_fill_rgb(r, g, b);
    }

    fn stroke_colour(&mut self, colour: Rgb) {
        let [r, g, b] = colour.map(|c| f32::from(c) / 255.0);
        self.content.set_stroke_rgb(r, g, b);
    }

    fn paint(&mut self, paint: &Paint, path: impl FnOnce(&mut Content)) {
        self.content.save_state();
        if let Some(fill) = paint.fill {
            self.fill_colour(fill);
        }
        if paint.fill_opacity < 1.0 {
            let percent = byte(paint.fill_opacity * 100.0);
            self.opacities.insert(percent);
            self.content.set_parameters(Name(opacity_name(percent).as_bytes()));
        }
        if let Some(stroke) = &paint.stroke {
            self.stroke_colour(stroke.colour);
            self.content.set_line_width(narrow(stroke.width));
            self.content.set_line_join(LineJoinStyle::RoundJoin);
            if let Some(dash) = stroke.dash {
                self.content.set_dash_pattern(dash.map(narrow), 0.0);
            }
        }
        path(&mut self.content);
        match (paint.fill, paint.stroke) {
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, Some(_)) => self.content.stroke(),
            (None, None) => self.content.end_path(),
        };
        self.content.restore_state();
    }

    fn text(&mut self, [x, y]: [f64; 2], angle: f64, anchor: Anchor, size: Size, text: &str) {
        let (sin, cos) = angle.to_radians().sin_cos();
        let back = font::width(text) * size.pixels() * anchor.share();
        let at = [x - back * cos, y - back * sin];
        // The y axis of the page points down, the y axis of glyphs up.
        let matrix = [cos, sin, sin, -cos, at[0], at[1]].map(narrow);
        let (colour, halo) = size.paint();
        self.content.save_state();
        self.content.begin_text();
        self.content.set_font(FONT_NAME, narrow(size.pixels()));
        self.content.set_text_matrix(matrix);
        let codes = font::codes(text);
        if let Some(width) = halo {
            self.stroke_colour(light("ground"));
            self.content.set_line_width(narrow(width));
            self.content.set_line_join(LineJoinStyle::RoundJoin);
            self.content.set_text_rendering_mode(TextRenderingMode::Stroke);
            self.content.show(Str(&codes));
            self.content.set_text_rendering_mode(TextRenderingMode::Fill);
            self.content.set_text_matrix(matrix);
        }
        self.fill_colour(colour);
        self.content.show(Str(&codes));
        self.content.end_text();
        self.content.restore_state();
    }

    fn element(&mut self, element: &Element) {
        match element {
            Element::Text { at, angle, anchor, size, text } => {
                self.text(*at, *angle, *anchor, *size, text);
            }
            Element::Rect { at, size, style, .. } | Element::Shade { at, size, style } => {
                let [x, y, width, height] = [at[0], at[1], size[0], size[1]].map(narrow);
                self.paint(&style.paint(true), |content| {
                    content.rect(x, y, width, height);
                });
            }
            Element::Dot { at, radius, shape, style, .. } => {
                let corners = shape.corners(*at, *radius);
                self.paint(&style.paint(false), |content| {
                    match corners.is_empty() {
                        true => circle(content, *at, *radius),
                        false => outline(content, &corners),
                    };
                    content.close_path();
                });
            }
            Element::Line { from, to, style } => {
                self.paint(&style.paint(false), |content| {
                    outline(content, &[*from, *to]);
                });
            }
            Element::Polyline { points, style } => {
                self.paint(&style.paint(false), |content| outline(content, points));
            }
        }
    }
}

fn outline(content: &mut Content, points: &[[f64; 2]]) {
    for (at, point) in points.iter().enumerate() {
        let [x, y] = point.map(narrow);
        match at {
            0 => content.move_to(x, y),
            _ => content.line_to(x, y),
        };
    }
}

fn circle(content: &mut Content, [x, y]: [f64; 2], radius: f64) {
    let bend = radius * CIRCLE;
    content.move_to(narrow(x + radius), narrow(y));
    let mut out = [1.0, 0.0];
    for _ in 0..4 {
        // Direction after a quarter turn.
        let next = [-out[1], out[0]];
        let point = |along: [f64; 2], across: [f64; 2], by: f64| {
            [0, 1].map(|axis| narrow([x, y][axis] + radius * along[axis] + by * across[axis]))
        };
        let [first, second] = [point(out, next, bend), point(next, out, bend)];
        let end = point(next, out, 0.0);
        content.cubic_to(first[0], first[1], second[0], second[1], end[0], end[1]);
        out = next;
    }
}

fn write_font(pdf: &mut Pdf) -> io::Result<()> {
    let mut dict = pdf.indirect(Ref::new(FONT)).dict();
    dict.pair(Name(b"Type"), Name(b"Font"));
    dict.pair(Name(b"Subtype"), Name(b"TrueType"));
    dict.pair(Name(b"BaseFont"), BASE_FONT);
    dict.pair(Name(b"FirstChar"), i32::from(font::FIRST));
    dict.pair(Name(b"LastChar"), i32::from(u8::MAX));
    dict.insert(Name(b"Widths")).array().items(WIDTHS.iter().map(|width| i32::from(*width)));
    dict.pair(Name(b"FontDescriptor"), Ref::new(DESCRIPTOR));
    dict.pair(Name(b"Encoding"), Name(b"WinAnsiEncoding"));
    dict.finish();
    let [left, bottom, right, top] = font::BOX;
    let mut descriptor = pdf.font_descriptor(Ref::new(DESCRIPTOR));
    descriptor
        .name(BASE_FONT)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(font::ASCENT)
        .descent(font::DESCENT)
        .cap_height(font::CAP_HEIGHT)
        .stem_v(STEM_V)
        .font_file2(Ref::new(FONT_FILE));
    descriptor.finish();
    let bytes = compressed(font::FILE)?;
    let mut stream = pdf.stream(Ref::new(FONT_FILE), &bytes);
    stream.filter(Filter::FlateDecode);
    stream.pair(Name(b"Length1"), fit::<i32>(font::FILE.len()));
    stream.finish();
    Ok(())
}

impl Drawing {
    /// Returns the drawing as a PDF file of one page, with its font embedded. Equal drawings have equal bytes.
    pub fn pdf(&self) -> io::Result<Vec<u8>> {
        file(self)
    }
}

fn file(drawing: &Drawing) -> io::Result<Vec<u8>> {
    let [width, height] = drawing.size.map(|side| narrow(side * drawing.points));
    let mut page = Page { content: Content::new(), opacities: BTreeSet::new() };
    let scale = narrow(drawing.points);
    page.content.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
    for element in &drawing.elements {
        page.element(element);
    }
    let content = page.content.finish();
    let mut pdf = Pdf::with_settings(Settings { pretty: false });
    pdf.catalog(Ref::new(CATALOG)).pages(Ref::new(PAGES));
    pdf.pages(Ref::new(PAGES)).kids([Ref::new(PAGE)]).count(1);
    let mut object = pdf.page(Ref::new(PAGE));
    object
        .parent(Ref::new(PAGES))
        .media_box(Rect::new(0.0, 0.0, width, height))
        .contents(Ref::new(CONTENT));
    let mut resources = object.resources();
    resources.fonts().pair(FONT_NAME, Ref::new(FONT));
    let opacities = || page.opacities.iter().copied();
    let state = |percent: u8| Ref::new(OPACITIES + i32::from(percent));
    if !page.opacities.is_empty() {
        let mut states = resources.ext_g_states();
        for percent in opacities() {
            states.pair(Name(opacity_name(percent).as_bytes()), state(percent));
        }
    }
    resources.finish();
    object.finish();
    for percent in opacities() {
        pdf.ext_graphics(state(percent)).non_stroking_alpha(f32::from(percent) / 100.0);
    }
    pdf.stream(Ref::new(CONTENT), &compressed(content.as_slice())?).filter(Filter::FlateDecode);
    write_font(&mut pdf)?;
    pdf.document_info(Ref::new(INFORMATION))
        .title(TextStr(&drawing.title))
        .creator(TextStr("Quadrille"));
    Ok(pdf.finish())
}
