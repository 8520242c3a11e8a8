//! Errors of the argument parser in the form of all other errors, and parsers of numbers.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use quadrille_base::error::Error;
use quadrille_base::words::edit_distance;

/// A word may differ from the word that was meant by one letter per this number of letters.
const LETTERS_PER_CHANGE: usize = 3;
/// Letters of the shortest word that is recognized as a part of another one.
const LEAST_PART: usize = 4;

/// Words for which the flag has another name, and the flags, the best first.
const OTHER_WORDS: [(&[&str], &[&str]); 19] = [
    (
        &["crop", "box", "bounds", "clip"],
        &["keep-box", "keep-sphere"],
    ),
    (
        &["filter", "select", "opacity", "min-opacity", "max-scale"],
        &["where"],
    ),
    (&["depth", "normals", "alpha", "layers"], &["aov", "layers"]),
    (
        &["resize", "size", "resolution", "res", "thumbnail"],
        &["width", "picture-scale"],
    ),
    (&["framerate", "frame-rate", "rate"], &["fps"]),
    (&["format", "type", "ext"], &["format", "output"]),
    (&["out", "file", "to"], &["output"]),
    (&["pose", "poses", "trajectory"], &["cameras"]),
    (
        &["views", "num-views", "turntable"],
        &["orbit", "propose-views"],
    ),
    (&["bg", "transparent", "colour", "color"], &["background"]),
    (&["zoom", "focal", "angle"], &["fov"]),
    (&["move", "offset", "position"], &["translate", "eye"]),
    (&["rotation", "turn"], &["rotate"]),
    (
        &["simplify", "reduce", "downsample", "subsample"],
        &["decimate"],
    ),
    (&["clean", "denoise", "outliers"], &["drop-floaters"]),
    (
        &["threshold", "tolerance", "min-psnr"],
        &["fail-under-psnr"],
    ),
    (&["samples", "spp", "aa", "antialias"], &["msaa"]),
    (&["wireframe", "wire", "outlines"], &["overlay"]),
    (&["subdivide", "triangle-size", "area"], &["tessellate"]),
];

/// The flags of `command` that the unknown `flag` stands for in [`OTHER_WORDS`].
fn other_words(flag: &str, command: Option<&clap::Command>) -> Option<String> {
    let word = flag.trim_start_matches('-').to_ascii_lowercase();
    let (_, flags) = OTHER_WORDS
        .iter()
        .find(|(words, _)| words.contains(&&*word))?;
    let has = |flag: &&&str| {
        command?
            .get_arguments()
            .find(|a| a.get_long() == Some(**flag))
    };
    let known: Vec<String> = flags
        .iter()
        .filter(|flag| has(flag).is_some())
        .map(|flag| format!("--{flag}"))
        .collect();
    (!known.is_empty()).then(|| known.join(" or "))
}

/// Whether `other` is `word` with a few letters changed, or longer or shorter at an end.
fn is_near(word: &str, other: &str) -> bool {
    let [word, other] = [word, other].map(|text| text.trim_start_matches('-').to_ascii_lowercase());
    let [short, long] = if word.len() < other.len() {
        [&word, &other]
    } else {
        [&other, &word]
    };
    let is_part =
        short.len() >= LEAST_PART && (long.starts_with(&**short) || long.ends_with(&**short));
    let most = (word.chars().count() / LETTERS_PER_CHANGE).max(1);
    is_part || edit_distance(&word, &other) <= most
}

/// Formats an error of the argument parser: what was expected, what was found, and the remedy. `command` is the
/// command whose arguments were parsed.
pub(super) fn message(error: &clap::Error, command: Option<&clap::Command>) -> String {
    let text = |kind| error.get(kind).map(ToString::to_string);
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = argument.split(' ').next().unwrap_or_default();
    let value = text(ContextKind::InvalidValue);
    let found = match value.as_deref() {
        None | Some("") => "none".to_owned(),
        Some(value) => value.to_owned(),
    };
    let listed = |kind| match error.get(kind) {
        Some(ContextValue::Strings(values)) => values.join(", "),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let similar = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let similar = similar.into_iter().map(listed).find(|s| !s.is_empty());
    let given = match error.kind() {
        ErrorKind::UnknownArgument => flag.to_owned(),
        ErrorKind::InvalidSubcommand => listed(ContextKind::InvalidSubcommand),
        _ => found.clone(),
    };
    let near = similar.filter(|s| s.split(", ").any(|one| is_near(&given, one)));
    let similar = other_words(flag, command).or(near);
    let similar = similar.map_or(String::new(), |s| format!("; did you mean {s}?"));
    match error.kind() {
        ErrorKind::InvalidValue => {
            let values = listed(ContextKind::ValidValue);
            let expected = match values.as_str() {
                "" => "a value".to_owned(),
                values => format!("one of {values}"),
            };
            format!("{flag}: expected {expected}, found {found}{similar}")
        }
        ErrorKind::ValueValidation => {
            let expected = std::error::Error::source(error).map(ToString::to_string);
            let expected = expected.unwrap_or_else(|| "expected another value".to_owned());
            format!("{flag}: {expected}, found {found}")
        }
        ErrorKind::UnknownArgument => {
            format!("{flag}: expected a flag or value of this command, found {flag}{similar}")
        }
        ErrorKind::InvalidSubcommand => {
            let found = listed(ContextKind::InvalidSubcommand);
            format!("command: expected one that `quadrille --help` lists, found {found}{similar}")
        }
        ErrorKind::ArgumentConflict => {
            let other = listed(ContextKind::PriorArg);
            format!("{flag}: expected no {other} beside it, found both")
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = listed(ContextKind::InvalidArg);
            format!("expected {missing}, found none; `--help` lists all flags with examples")
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.trim_start_matches("error: ").to_owned()
        }
    }
}

/// Replaces the name of an argument of the library by the flag of that name, if `command` has one.
pub(super) fn with_flag(error: Error, command: &clap::Command) -> Error {
    let Error::Argument { what, .. } = &error else {
        return error;
    };
    let long = what.replace('_', "-");
    let is_flag = command.get_arguments().any(|a| a.get_long() == Some(&long));
    match is_flag {
        true => error.about(&format!("--{long}")),
        false => error,
    }
}

/// Parses a number; commands check its range.
pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let number = text.parse().ok();
    number.ok_or_else(|| "expected a number such as 40 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_near_by_few_letters_or_as_parts() {
        for (word, other) in [
            ("--camera", "--cameras"),
            ("--heigth", "--height"),
            ("--floaters", "--drop-floaters"),
        ] {
            assert!(is_near(word, other), "{word} {other}");
        }
        for (word, other) in [
            ("--crop", "--drop-nan"),
            ("--depth", "--repeat"),
            ("--quality", "--quiet"),
        ] {
            assert!(!is_near(word, other), "{word} {other}");
        }
    }
}
