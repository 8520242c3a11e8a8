//! Colours and fonts of charts: as rules of a page's style sheet, and as values that files write into their elements.

use crate::COLOURS;

const RULES: &str = include_str!("chart.css");
/// Variables with their light and dark colours.
const VARIABLES: [(&str, [&str; 2]); 16] = [
    ("ground", ["#ffffff", "#14161a"]),
    ("raised", ["#f6f7f9", "#1d2026"]),
    ("ink", ["#1a1d23", "#e6e8ec"]),
    ("muted", ["#5b6370", "#a0a7b3"]),
    ("rule", ["#d9dde3", "#343943"]),
    ("accent", ["#1f5fa8", "#7db3ee"]),
    ("good", ["#1c7c43", "#6cc48f"]),
    ("bad", ["#a33a2a", "#e88a78"]),
    ("s0", ["#3574b8", "#6ba5e0"]),
    ("s1", ["#d9762b", "#eb9a5b"]),
    ("s2", ["#3d9a63", "#6cc190"]),
    ("s3", ["#8b5fb5", "#b592d8"]),
    ("s4", ["#b0902a", "#d5b758"]),
    ("s5", ["#c2517d", "#e283a8"]),
    ("s6", ["#3a9aa3", "#6cc3cb"]),
    ("s7", ["#7b7f87", "#a3a8b1"]),
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
    Mark { is_published: bool },
    Fill(SeriesColour),
    Most(SeriesColour),
    Line(SeriesColour),
    Shade { number: usize, opacity: f64 },
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
            Self::Line(series) => format!("line {}", series.class()),
            Self::Shade { number, .. } => format!("shade s{}", number % COLOURS),
        }
    }

    /// Colours in a file, equal to the light colours of `chart.css`. Only bars of published values are dashed.
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
            Self::Line(series) => Paint::stroked(series.colour(), 2.0, None),
            Self::Shade { number, opacity } => {
                Paint { fill_opacity: opacity, ..Paint::filled(of_series(number)) }
            }
            Self::Cell(colour) => Paint::filled(colour),
        }
    }
}

fn of_series(number: usize) -> Rgb {
    light(&format!("s{}", number % COLOURS))
}

pub(crate) fn light(name: &str) -> Rgb {
    let found = VARIABLES.iter().find(|(variable, _)| *variable == name);
    let hex = found.map_or("#000000", |(_, [light, _])| light);
    [1, 3, 5].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0))
}

fn in_dark(rules: &str) -> String {
    format!("@media (prefers-color-scheme: dark) {{\n{rules}\n}}\n")
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

/// Style sheet for the charts of a page: variables in light and in dark, and the rules that use them.
pub fn of_page() -> String {
    let [light, dark] = [0, 1].map(|scheme| {
        let variables = VARIABLES.iter();
        let variables = variables.map(|(name, colours)| format!("--{name}: {};", colours[scheme]));
        format!(":root {{ {} }}", variables.collect::<Vec<_>>().join(" "))
    });
    format!(":root {{ color-scheme: light dark; }}\n{light}\n{}{}", in_dark(&dark), rules())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Size;

    /// The declarations of a rule of the style sheet.
    fn rule(selector: &str) -> String {
        let rules = rules();
        let (_, after) = rules.split_once(&format!("{selector} {{")).unwrap();
        after.split('}').next().unwrap().to_owned()
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
            ("svg .line", Style::Line(series(false))),
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
        assert_eq!(Style::Fill(series(false)).paint(true).fill, Some([0xd9, 0x76, 0x2b]));
    }
}
