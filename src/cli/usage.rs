//! Errors of the argument parser in the form of all other errors.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use quadrille_base::error::Error;
use quadrille_base::words::{did_you_mean, nearest};

/// Words that users may type instead of a flag, with the flags to suggest, the best first.
const OTHER_WORDS: [(&[&str], &[&str]); 26] = [
    (&["crop", "box", "bounds", "clip"], &["keep-box", "keep-sphere"]),
    (&["filter", "select", "opacity", "min-opacity", "max-scale"], &["where"]),
    (&["depth", "normals", "alpha", "layers"], &["aov", "layers"]),
    (&["resize", "size", "resolution", "res", "thumbnail"], &["width", "picture-scale"]),
    (&["framerate", "frame-rate", "seconds", "duration"], &["fps"]),
    (&["j", "jobs", "cores", "workers"], &["threads"]),
    (&["format", "type", "ext"], &["format", "output"]),
    (&["out", "file", "to"], &["output"]),
    (&["pose", "poses", "trajectory"], &["cameras"]),
    (&["views"], &["view"]),
    (&["num-views", "turntable"], &["orbit", "propose-views"]),
    (&["bg", "transparent", "colour", "color"], &["background"]),
    (&["zoom", "focal", "angle"], &["fov"]),
    (&["move", "offset", "position"], &["translate", "eye"]),
    (&["rotation", "turn"], &["rotate"]),
    (&["simplify", "reduce", "downsample", "subsample"], &["decimate"]),
    (&["clean", "clean-floaters", "remove-floaters", "denoise", "outliers"], &["drop-floaters"]),
    (&["target-size", "max-size", "max-bytes", "budget"], &["decimate", "sh"]),
    (&["threshold", "tolerance", "min-psnr"], &["fail-under-psnr"]),
    (&["samples", "spp", "aa", "antialias", "msaa"], &["msaa", "samples"]),
    (&["motion-blur", "blur"], &["shutter", "motion"]),
    (&["speed", "velocity"], &["move", "shutter"]),
    (&["fstop", "f-stop", "dof", "depth-of-field", "bokeh"], &["aperture", "lens"]),
    (&["height", "altitude"], &["elevation"]),
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

/// Names the commands of `program` that have the unknown `flag` of `command`.
fn other_commands(flag: &str, program: &clap::Command, command: &clap::Command) -> Option<String> {
    let long = flag.strip_prefix("--")?;
    let others = program.get_subcommands().filter(|other| other.get_name() != command.get_name());
    let having = others.filter(|other| other.get_arguments().any(|a| a.get_long() == Some(long)));
    let names: Vec<_> = having.map(|other| format!("`quadrille {}`", other.get_name())).collect();
    let verb = if names.len() == 1 { "has" } else { "have" };
    (!names.is_empty()).then(|| format!("; {} {verb} {flag}", names.join(", ")))
}

/// Formats the error of an unknown flag. `words` are the arguments of the call.
fn unknown_flag(
    flag: &str,
    words: &[&str],
    program: &clap::Command,
    command: &clap::Command,
) -> String {
    let has = |long: &str| command.get_arguments().any(|arg| arg.get_long() == Some(long));
    if flag.strip_prefix("--").is_some_and(has) {
        let name = command.get_name();
        return format!(
            "{flag}: expected behind the command (quadrille {name} ... {flag}), found before it"
        );
    }
    // A long flag with one dash is read as short flags.
    let is_long = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
    let mut longs = words.iter().filter(is_long).filter(|word| word.contains(&flag[1..]));
    if let Some(word) = longs.find(|word| has(&word[1..])) {
        return format!("{word}: expected a flag with two dashes, -{word}, found one dash");
    }
    let similar = other_words(flag, command).or_else(|| near_flag(flag, program, command));
    let similar = similar.map_or(String::new(), |s| format!("; did you mean {s}?"));
    let others = other_commands(flag, program, command).unwrap_or_default();
    format!("{flag}: expected a flag or value of this command, found {flag}{similar}{others}")
}

pub(super) fn unknown_command(name: &str, program: &clap::Command) -> Error {
    let names = program.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    let expected = match Path::new(name).extension() {
        Some(_) => format!(
            "a command before the file (`quadrille info {name}` describes a scene, `quadrille render {name} -o \
             picture.png` and `quadrille mesh MESH -o picture.png` draw)"
        ),
        None if name == "view" => {
            "a command of this build (`cargo install --features view` builds the viewer)".to_owned()
        }
        None => "a command that `quadrille --help` lists".to_owned(),
    };
    Error::unknown_name("command", expected, name, names)
}

/// Formats an error of the argument parser: what was expected, what was found, and the remedy. `command` is the
/// command of `program` whose arguments were parsed, or `program` itself, and `words` the arguments of the call.
pub(super) fn message(
    error: &clap::Error,
    words: &[&str],
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
        ErrorKind::UnknownArgument => unknown_flag(flag, words, program, command),
        ErrorKind::TooManyValues => {
            let remedy = match flag {
                "--json" | "--csv" => {
                    format!(" ({flag} writes to standard output: {flag} > {found})")
                }
                _ => String::new(),
            };
            format!("{flag}: expected no value{remedy}, found {found}")
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
