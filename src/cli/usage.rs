//! Errors of the argument parser in the form of all other errors.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use quadrille_base::error::Error;
use quadrille_base::words::{did_you_mean, nearest};

/// Words that users may type instead of a flag, with the flags to suggest, the best first.
const OTHER_WORDS: [(&[&str], &[&str]); 19] = [
    (&["crop", "box", "bounds", "clip"], &["keep-box", "keep-sphere"]),
    (&["filter", "select", "opacity", "min-opacity", "max-scale"], &["where"]),
    (&["depth", "normals", "alpha", "layers"], &["aov", "layers"]),
    (&["resize", "size", "resolution", "res", "thumbnail"], &["width", "picture-scale"]),
    (&["framerate", "frame-rate", "rate"], &["fps"]),
    (&["format", "type", "ext"], &["format", "output"]),
    (&["out", "file", "to"], &["output"]),
    (&["pose", "poses", "trajectory"], &["cameras"]),
    (&["views", "num-views", "turntable"], &["orbit", "propose-views"]),
    (&["bg", "transparent", "colour", "color"], &["background"]),
    (&["zoom", "focal", "angle"], &["fov"]),
    (&["move", "offset", "position"], &["translate", "eye"]),
    (&["rotation", "turn"], &["rotate"]),
    (&["simplify", "reduce", "downsample", "subsample"], &["decimate"]),
    (&["clean", "denoise", "outliers"], &["drop-floaters"]),
    (&["threshold", "tolerance", "min-psnr"], &["fail-under-psnr"]),
    (&["samples", "spp", "aa", "antialias"], &["msaa"]),
    (&["wireframe", "wire", "outlines"], &["overlay"]),
    (&["subdivide", "triangle-size", "area"], &["tessellate"]),
];

fn other_words(flag: &str, command: &clap::Command) -> Option<String> {
    let word = flag.trim_start_matches('-').to_ascii_lowercase();
    let (_, flags) = OTHER_WORDS.iter().find(|(words, _)| words.contains(&&*word))?;
    let has = |flag: &&&str| command.get_arguments().find(|a| a.get_long() == Some(**flag));
    let known: Vec<String> =
        flags.iter().filter(|flag| has(flag).is_some()).map(|flag| format!("--{flag}")).collect();
    (!known.is_empty()).then(|| known.join(" or "))
}

fn near_flag(flag: &str, program: &clap::Command, command: &clap::Command) -> Option<String> {
    let arguments = program.get_arguments().chain(command.get_arguments());
    let near = nearest(flag.trim_start_matches('-'), arguments.filter_map(clap::Arg::get_long))?;
    Some(format!("--{near}"))
}

pub(super) fn unknown_command(name: &str, program: &clap::Command) -> Error {
    let names = program.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    Error::unknown_name("command", "a command that `quadrille --help` lists", name, names)
}

/// Formats an error of the argument parser: what was expected, what was found, and the remedy. `command` is the
/// command of `program` whose arguments were parsed, or `program` itself.
pub(super) fn message(
    error: &clap::Error,
    program: &clap::Command,
    command: &clap::Command,
) -> String {
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
    match error.kind() {
        ErrorKind::InvalidValue => {
            let values = listed(ContextKind::ValidValue);
            let expected = match values.as_str() {
                "" => "a value".to_owned(),
                values => format!("one of {values}"),
            };
            let similar = did_you_mean(&found, values.split(", "));
            format!("{flag}: expected {expected}, found {found}{similar}")
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error);
            match source.and_then(|source| source.downcast_ref()) {
                Some(Error::Argument { expected, found, .. }) => {
                    Error::argument(flag, expected, found).to_string()
                }
                Some(other) => format!("{flag}: {other}"),
                None => {
                    let expected = source.map(ToString::to_string);
                    let expected = expected.unwrap_or_else(|| "expected another value".to_owned());
                    format!("{flag}: {expected}, found {found}")
                }
            }
        }
        ErrorKind::UnknownArgument if !flag.starts_with('-') => one_more(flag, command),
        ErrorKind::UnknownArgument => {
            let similar = other_words(flag, command).or_else(|| near_flag(flag, program, command));
            let similar = similar.map_or(String::new(), |s| format!("; did you mean {s}?"));
            format!("{flag}: expected a flag or value of this command, found {flag}{similar}")
        }
        ErrorKind::InvalidSubcommand => {
            unknown_command(&listed(ContextKind::InvalidSubcommand), program).to_string()
        }
        ErrorKind::ArgumentConflict => {
            Error::conflict(flag, listed(ContextKind::PriorArg)).to_string()
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = listed(ContextKind::InvalidArg);
            format!("expected {missing}, found none; `--help` lists all flags with examples")
        }
        _ => {
            let text = error.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    }
}

const SEVERAL_INPUTS: [(&[&str], &str); 3] = [
    (
        &["compare"],
        "for several pairs, give two folders whose files have the same names, or call it once per pair",
    ),
    (&["render", "sim", "view"], "`quadrille convert A B -o JOINED` joins scenes"),
    (&["mesh", "deferred", "bench"], "call it once per input"),
];

fn one_more(found: &str, command: &clap::Command) -> String {
    let names: Vec<String> = command.get_positionals().map(ToString::to_string).collect();
    let expected = match names.as_slice() {
        [] => "flags alone".to_owned(),
        names => format!("{} and flags", names.join(", ")),
    };
    let mut remedies = SEVERAL_INPUTS.iter();
    let remedy = remedies.find(|(commands, _)| commands.contains(&command.get_name()));
    let remedy = remedy.map_or(String::new(), |(_, remedy)| format!(" ({remedy})"));
    format!("{found}: expected {expected}{remedy}, found an additional value")
}

/// Flags whose output has the content of a file extension.
const WRITERS: [(&[&str], &[&str]); 5] = [
    (&["csv", "tsv"], &["csv", "json"]),
    (&["json"], &["json"]),
    (&["txt"], &["stats"]),
    (&["md"], &["markdown"]),
    (&["tex"], &["latex"]),
];

fn writer_of(found: &str, command: &clap::Command) -> Option<String> {
    let extension = Path::new(found).extension()?.to_str()?.to_ascii_lowercase();
    let (_, flags) = WRITERS.iter().find(|(extensions, _)| extensions.contains(&&*extension))?;
    flags.iter().find_map(|flag| {
        let arg = command.get_arguments().find(|a| a.get_long() == Some(flag))?;
        let sign = if arg.get_action().takes_values() { "" } else { "> " };
        // The last flag is a fallback that writes another format.
        let own = flag == &flags[0] || *flag == extension;
        let name = if own {
            found.to_owned()
        } else {
            Path::new(found).with_extension(flag).display().to_string()
        };
        Some(format!("; --{flag} {sign}{name} writes the numbers"))
    })
}

/// Adds the remedy to an error about a file of a wrong kind, and replaces the name of an argument of the library by the
/// flag of that name, if `command` has one.
pub(super) fn with_flag(error: Error, command: &clap::Command) -> Error {
    if let Error::Argument { what, expected, found } = &error
        && what == "-o"
        && expected.starts_with("a name that ends in")
    {
        let remedy = writer_of(found, command).unwrap_or_default();
        return Error::argument(what, format!("{expected}{remedy}"), found);
    }
    let flag_of = |word: &str| {
        let long = word.trim_end_matches(',').replace('_', "-");
        let is_flag = command.get_arguments().any(|a| a.get_long() == Some(&long));
        is_flag.then(|| format!("--{}", word.replace('_', "-")))
    };
    // `what` holds one name, or several as in "eye, target or up".
    error.renamed(|what| {
        let words = what.split(' ').map(|word| match word {
            "or" => Some(word.to_owned()),
            name => flag_of(name),
        });
        words.collect::<Option<Vec<_>>>().map_or(what.clone(), |words| words.join(" "))
    })
}
