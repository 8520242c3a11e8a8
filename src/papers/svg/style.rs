//! Colours and fonts of charts: those of a page as variables, and those of a file written out.

use super::COLOURS;

/// Rules of the elements of charts, over the variables of [`VARIABLES`].
const RULES: &str = include_str!("chart.css");
/// Variables with their colours in light and in dark.
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

/// Rules that hold in dark.
fn in_dark(rules: &str) -> String {
    format!("@media (prefers-color-scheme: dark) {{\n{rules}\n}}\n")
}

/// The rules of charts.
fn rules() -> String {
    let series = (0..COLOURS).map(|n| {
        format!(
            "svg .s{n}.fill, svg .s{n}.shade {{ fill: var(--s{n}); }}\n\
             svg .s{n}.line, svg .s{n}.most, svg .s{n}.fill.pub {{ stroke: var(--s{n}); }}\n"
        )
    });
    RULES.to_owned() + &series.collect::<String>()
}

/// The style of the charts of a page: variables in light and in dark, and the rules over them.
pub(crate) fn of_page() -> String {
    let [light, dark] = [0, 1].map(|scheme| {
        let variables = VARIABLES.iter();
        let variables = variables.map(|(name, colours)| format!("--{name}: {};", colours[scheme]));
        format!(":root {{ {} }}", variables.collect::<Vec<_>>().join(" "))
    });
    format!(
        ":root {{ color-scheme: light dark; }}\n{light}\n{}{}",
        in_dark(&dark),
        rules()
    )
}

/// The style of a file, without variables, which not every program knows.
pub(super) fn of_file() -> String {
    let [light, dark] = [0, 1].map(|scheme| {
        let variables = VARIABLES.iter();
        variables.fold(rules(), |rules, (name, colours)| {
            rules.replace(&format!("var(--{name})"), colours[scheme])
        })
    });
    light + &in_dark(&dark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::labels::Size;

    #[test]
    fn files_have_colours_and_sizes_of_their_own() {
        let style = of_file();
        assert!(!style.contains("var("), "{style}");
        for (_, [light, dark]) in VARIABLES.iter().filter(|(name, _)| name.starts_with('s')) {
            assert!(style.contains(light) && style.contains(dark));
        }
        let [light, _] = style.split("@media").collect::<Vec<_>>()[..] else {
            panic!("{style}");
        };
        for size in [Size::Text, Size::Axis, Size::Value, Size::Line] {
            let pixels = format!("{}px", size.pixels());
            let rule = match size {
                Size::Text => "svg text {".to_owned(),
                size => format!("svg text.{} {{", size.class()),
            };
            let (_, after) = light.split_once(&rule).unwrap();
            let rule = after.split('}').next().unwrap();
            assert!(rule.contains(&pixels), "{size:?}: {rule}");
        }
    }
}
