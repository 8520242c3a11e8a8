//! Colours and fonts of charts: as rules of a page's style sheet, and as values that files write into their elements.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::COLOURS;
use crate::font::{FAMILIES, FILE};

const RULES: &str = include_str!("chart.css");
/// Variables with their light and dark colours. The series (`s0` to `s7`) differ for colour-blind readers too, and all
/// contrast with the ground; the tests have the bounds.
const VARIABLES: [(&str, [&str; 2]); 16] = [
    ("ground", ["#ffffff", "#14161a"]),
    ("raised", ["#f6f7f9", "#1d2026"]),
    ("ink", ["#1a1d23", "#e6e8ec"]),
    ("muted", ["#5b6370", "#a0a7b3"]),
    ("rule", ["#d9dde3", "#343943"]),
    ("accent", ["#1f5fa8", "#7db3ee"]),
    ("good", ["#1c7c43", "#6cc48f"]),
    ("bad", ["#a33a2a", "#e88a78"]),
    ("s0", ["#4e84ce", "#72b6f7"]),
    ("s1", ["#d2731a", "#e0935e"]),
    ("s2", ["#3b9a65", "#74cb98"]),
    ("s3", ["#7b4e9b", "#a881c0"]),
    ("s4", ["#9e7e3b", "#debd52"]),
    ("s5", ["#c65286", "#ca6885"]),
    ("s6", ["#0b9aa5", "#6dd3e0"]),
    ("s7", ["#595e60", "#9ea3af"]),
];

/// A colour in sRGB, 8 bits per channel.
pub type Rgb = [u8; 3];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeriesColour {
    pub(crate) number: usize,
    pub(crate) is_published: bool,
}

/// Meaning of a shape, which determines its colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Style {
    Ground,
    Grid,
    Axis,
    Band,
    Mark {
        is_published: bool,
    },
    Fill(SeriesColour),
    Most(SeriesColour),
    /// A line, with the number of lines of the same course that it covers.
    Line {
        series: SeriesColour,
        covered: u32,
    },
    Shade {
        number: usize,
        opacity: f64,
    },
    Cell(Rgb),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Rgb,
    pub(crate) width: f64,
    pub(crate) dash: Option<[f64; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Paint {
    pub(crate) fill: Option<Rgb>,
    pub(crate) fill_opacity: f64,
    pub(crate) stroke: Option<Stroke>,
}

impl Paint {
    fn filled(colour: Rgb) -> Self {
        Self { fill: Some(colour), fill_opacity: 1.0, stroke: None }
    }

    fn stroked(colour: Rgb, width: f64, dash: Option<[f64; 2]>) -> Self {
        Self { fill: None, fill_opacity: 1.0, stroke: Some(Stroke { colour, width, dash }) }
    }
}

impl SeriesColour {
    fn class(self) -> String {
        let number = self.number % COLOURS;
        let published = if self.is_published { " pub" } else { "" };
        format!("s{number}{published}")
    }

    fn colour(self) -> Rgb {
        of_series(self.number)
    }
}

impl Style {
    pub(crate) fn class(self) -> String {
        match self {
            Self::Ground | Self::Cell(_) => "ground".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Axis => "axis".to_owned(),
            Self::Band => "band".to_owned(),
            Self::Mark { is_published: true } => "mark pub".to_owned(),
            Self::Mark { .. } => "mark".to_owned(),
            Self::Fill(series) => format!("fill {}", series.class()),
            Self::Most(series) => format!("most {}", series.class()),
            Self::Line { series, .. } => format!("line {}", series.class()),
            Self::Shade { number, .. } => format!("shade s{}", number % COLOURS),
        }
    }

    /// Colours in a file, equal to the light colours of `chart.css`. Of published values, only bars are dashed.
    pub(crate) fn paint(self, is_bar: bool) -> Paint {
        match self {
            Self::Ground => Paint::filled(light("raised")),
            Self::Grid => Paint::stroked(light("rule"), 1.0, None),
            Self::Axis | Self::Band => Paint::stroked(light("ink"), 1.2, None),
            Self::Mark { is_published: true } => {
                Paint::stroked(light("ink"), 1.2, Some([6.0, 4.0]))
            }
            Self::Mark { .. } => Paint::stroked(light("muted"), 1.2, None),
            Self::Fill(series) if series.is_published => Paint {
                fill: Some(series.colour()),
                fill_opacity: 0.22,
                ..Paint::stroked(series.colour(), 1.5, is_bar.then_some([4.0, 2.5]))
            },
            Self::Fill(series) => Paint::filled(series.colour()),
            Self::Most(series) => Paint::stroked(series.colour(), 2.5, Some([4.0, 2.0])),
            Self::Line { series, covered } => Paint::stroked(series.colour(), 2.0, dash(covered)),
            Self::Shade { number, opacity } => {
                Paint { fill_opacity: opacity, ..Paint::filled(of_series(number)) }
            }
            Self::Cell(colour) => Paint::filled(colour),
        }
    }
}

/// Dash of a line that covers others, which leaves an equal share of the course to each of them.
fn dash(covered: u32) -> Option<[f64; 2]> {
    const PERIOD: f64 = 12.0;
    let dash = PERIOD / f64::from(covered + 1);
    (covered > 0).then_some([dash, PERIOD - dash])
}

fn of_series(number: usize) -> Rgb {
    light(&format!("s{}", number % COLOURS))
}

pub(crate) fn light(name: &str) -> Rgb {
    rgb(name, 0)
}

/// Colour of a variable in light (`scheme` 0) or in dark (1).
fn rgb(name: &str, scheme: usize) -> Rgb {
    let found = VARIABLES.iter().find(|(variable, _)| *variable == name);
    let hex = found.map_or("#000000", |(_, colours)| colours[scheme]);
    [1, 3, 5].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0))
}

fn in_dark(rules: &str) -> String {
    format!("@media screen and (prefers-color-scheme: dark) {{\n{rules}\n}}\n")
}

fn rules() -> String {
    let series = (0..COLOURS).map(|n| {
        format!(
            "svg .s{n}.fill, svg .s{n}.shade {{ fill: var(--s{n}); }}\n\
             svg .s{n}.line, svg .s{n}.most, svg .s{n}.fill.pub {{ stroke: var(--s{n}); }}\n"
        )
    });
    RULES.to_owned() + &series.collect::<String>()
}

/// Style sheet for the charts of a page: variables in light and in dark, the rules that use them, and the font in whose
/// widths texts are placed. Paper is light.
pub fn of_page() -> String {
    let [light, dark] = [0, 1].map(|scheme| {
        let variables = VARIABLES.iter();
        let variables = variables.map(|(name, colours)| format!("--{name}: {};", colours[scheme]));
        format!(":root {{ {} }}", variables.collect::<Vec<_>>().join(" "))
    });
    let font = format!(
        "@font-face {{ font-family: charts; src: url(data:font/ttf;base64,{}); }}\n\
         svg {{ font-family: charts, {FAMILIES}; }}\n",
        STANDARD.encode(FILE)
    );
    format!(":root {{ color-scheme: light dark; }}\n{light}\n{}{font}{}", in_dark(&dark), rules())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Size;
    use quadrille_base::image::srgb::decode_srgb;

    /// The declarations of a rule of the style sheet.
    fn rule(selector: &str) -> String {
        let rules = rules();
        let (_, after) = rules.split_once(&format!("{selector} {{")).unwrap();
        after.split('}').next().unwrap().to_owned()
    }

    /// Linear RGB as seen in full protanopia and deuteranopia (severity 1.0): Machado, Oliveira and Fernandes, "A
    /// Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009.
    const VISIONS: [(&str, [[f64; 3]; 3]); 3] = [
        ("normal vision", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
    ];
    /// CIE XYZ of linear sRGB (IEC 61966-2-1), over the white of D65. The second row is the luminance.
    const XYZ: [[f64; 3]; 3] = [
        [0.412_456_4 / 0.950_47, 0.357_576_1 / 0.950_47, 0.180_437_5 / 0.950_47],
        [0.212_672_9, 0.715_152_2, 0.072_175],
        [0.019_333_9 / 1.088_83, 0.119_192 / 1.088_83, 0.950_304_1 / 1.088_83],
    ];
    /// Least CIE76 difference of two series, several times the 2.3 that is just noticeable.
    const LEAST_DIFFERENCE: f64 = 15.0;
    /// Least contrasts of graphics and of text with the ground: WCAG 2.2, success criteria 1.4.11 and 1.4.3.
    const LEAST_CONTRASTS: [f64; 2] = [3.0, 4.5];

    fn product(matrix: [[f64; 3]; 3], colour: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| (0..3).map(|at| row[at] * colour[at]).sum::<f64>())
    }

    fn linear(colour: Rgb) -> [f64; 3] {
        decode_srgb(colour.map(|channel| f32::from(channel) / 255.0)).map(f64::from)
    }

    /// CIE L*a*b* of linear RGB.
    fn lab(colour: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = product(XYZ, colour).map(|share| match share {
            low if low <= 216.0 / 24_389.0 => (24_389.0 / 27.0 * low + 16.0) / 116.0,
            high => high.cbrt(),
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Contrast of two colours in WCAG 2.2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let [a, b] = [a, b].map(|colour| product(XYZ, linear(colour))[1] + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn colour_blind_readers_can_tell_series_apart() {
        for scheme in [0, 1] {
            for (vision, matrix) in VISIONS {
                let seen = (0..COLOURS).map(|number| {
                    let colour = linear(rgb(&format!("s{number}"), scheme));
                    lab(product(matrix, colour).map(|channel| channel.clamp(0.0, 1.0)))
                });
                let seen: Vec<[f64; 3]> = seen.collect();
                for (a, b) in (0..COLOURS).flat_map(|b| (0..b).map(move |a| (a, b))) {
                    let squares = (0..3).map(|at| (seen[a][at] - seen[b][at]).powi(2));
                    let difference = squares.sum::<f64>().sqrt();
                    let pair = format!("s{a} and s{b} in {vision}, scheme {scheme}");
                    assert!(difference >= LEAST_DIFFERENCE, "{pair}: {difference}");
                }
            }
        }
    }

    #[test]
    fn marks_and_texts_contrast_with_the_page() {
        let series = (0..COLOURS).map(|number| format!("s{number}"));
        let texts = ["ink", "muted", "accent", "good", "bad"];
        let names = series.map(|name| (name, 0)).chain(texts.map(|name| (name.to_owned(), 1)));
        for (name, kind) in names {
            for (ground, scheme) in
                ["ground", "raised"].into_iter().flat_map(|ground| [(ground, 0), (ground, 1)])
            {
                let contrast = contrast(rgb(&name, scheme), rgb(ground, scheme));
                let least = LEAST_CONTRASTS[kind];
                assert!(contrast >= least, "{name} on {ground}, scheme {scheme}: {contrast}");
            }
        }
    }

    #[test]
    fn texts_of_files_are_those_of_pages() {
        for size in [Size::Text, Size::Axis, Size::Value, Size::Line, Size::Gap] {
            let selector = match size {
                Size::Text => "svg text".to_owned(),
                size => format!("svg text.{}", size.class()),
            };
            let rule = rule(&selector);
            let (colour, halo) = size.paint();
            if size != Size::Gap {
                assert!(rule.contains(&format!("{}px", size.pixels())), "{rule}");
            }
            let stroke = format!("stroke-width: {}px", halo.unwrap_or(0.0));
            assert_eq!(rule.contains(&stroke), halo.is_some(), "{rule}");
            let name = ["ink", "muted", "bad"].into_iter().find(|n| light(n) == colour);
            let fill = format!("fill: var(--{})", name.unwrap());
            assert!(rule.contains(&fill) || name == Some("ink"), "{rule}");
        }
    }

    #[test]
    fn shapes_of_files_are_those_of_pages() {
        let series = |is_published| SeriesColour { number: 9, is_published };
        for (selector, style) in [
            ("svg .grid", Style::Grid),
            ("svg .axis, svg .band", Style::Axis),
            ("svg .mark", Style::Mark { is_published: false }),
            ("svg .most", Style::Most(series(true))),
            ("svg .line", Style::Line { series: series(false), covered: 0 }),
            ("svg .fill.pub", Style::Fill(series(true))),
        ] {
            let (rule, paint) = (rule(selector), style.paint(true));
            let stroke = paint.stroke.unwrap();
            assert!(rule.contains(&format!("stroke-width: {}", stroke.width)), "{rule}");
            if paint.fill.is_some() {
                assert!(rule.contains(&format!("fill-opacity: {}", paint.fill_opacity)));
            }
        }
        let dash = |style: Style| style.paint(true).stroke.unwrap().dash.unwrap();
        assert_eq!(dash(Style::Mark { is_published: true }), [6.0, 4.0]);
        assert!(rule("svg .mark.pub").contains("6 4"));
        assert_eq!(dash(Style::Fill(series(true))), [4.0, 2.5]);
        assert!(rule("svg rect.fill.pub").contains("4 2.5"));
        assert_eq!(Style::Fill(series(true)).class(), "fill s1 pub");
        assert_eq!(Style::Fill(series(false)).paint(true).fill, Some(light("s1")));
    }
}
