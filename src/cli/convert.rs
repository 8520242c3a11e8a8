//! `convert`: scenes between formats, with filters and transforms.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use indicatif::HumanBytes;
use serde_json::{Value, json};

use super::console::{Exit, Verbosity, print, print_json};
use super::inputs::SceneFlags;
use super::outputs::{Outputs, parse_numbers};
use super::usage::{finite, parsed, positive, whole};
use crate::convert::{Action, Condition, concatenate};
use crate::error::{Error, Result};
use crate::report::table::TextTable;
use crate::scene::{OutputFormat, SplatAxes, SplatTable, load_table, write_table};

/// Convert scenes between formats, filter and move splats
///
/// Several inputs are joined. Actions are applied in the order in which they are given. What the output
/// format cannot hold is refused, or left out with a warning; columns that only PLY has are kept in PLY.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Scene files or SOG folders; "-" reads standard input
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
    /// File to write: .ply, .compressed.ply, .spz, .sog, .splat or .glb
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Format of the output [default: by its name; .spz is version 4]
    #[arg(long, value_name = "NAME", value_parser = parse_format)]
    format: Option<OutputFormat>,
    /// Print a JSON document instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: SceneFlags,
    #[command(flatten)]
    actions: OrderedActions,
}

const EXAMPLES: &str = "Examples:
  quadrille convert scene.ply -o scene.spz
  quadrille convert a.spz b.ply --translate 0,1,0 -o both.ply
  quadrille convert scene.ply --drop-nan --sh 1 --keep-sphere 0,0,0,4 \\
    -o small.compressed.ply";

fn parse_format(text: &str) -> std::result::Result<OutputFormat, String> {
    parsed(text, OutputFormat::named)
}

/// An action as it is given: the flag, its value, and the action.
#[derive(Debug, Clone)]
struct GivenAction {
    text: String,
    action: Action,
}

/// Actions in the order in which they are given.
#[derive(Debug, Clone, Default)]
struct OrderedActions(Vec<GivenAction>);

/// A flag of an action: name, value name (none for a switch), help, parser of the value.
type ActionFlag = (
    &'static str,
    Option<&'static str>,
    &'static str,
    fn(&str) -> std::result::Result<Action, String>,
);

/// All flags of actions.
const ACTIONS: [ActionFlag; 10] = [
    (
        "keep-box",
        Some("X,Y,Z,X,Y,Z"),
        "Keep splats whose centre is inside a box, from its least to its greatest corner",
        |text| {
            let [x, y, z, u, v, w] = numbers(text, "six numbers such as -1,-1,-1,1,1,1")?;
            Ok(Action::KeepBox([x, y, z], [u, v, w]))
        },
    ),
    (
        "keep-sphere",
        Some("X,Y,Z,RADIUS"),
        "Keep splats whose centre is inside a sphere",
        |text| {
            let [x, y, z, radius] = numbers(text, "four numbers such as 0,0,0,2.5")?;
            Ok(Action::KeepSphere([x, y, z], radius))
        },
    ),
    (
        "where",
        Some("CONDITION"),
        "Keep splats for which a condition holds, such as 'opacity > 0.1 && scale_max < 2': opacity is \
         0 to 1, scale_min and scale_max are standard deviations, other names are columns of a PLY",
        |text| parsed(text, Condition::parse).map(Action::Where),
    ),
    (
        "sh",
        Some("DEGREE"),
        "Drop spherical harmonics above a degree, 0 to 4",
        |text| {
            let degree = whole(text).ok().filter(|degree| *degree <= 4);
            let degree = degree.ok_or("expected a degree from 0 to 4")?;
            Ok(Action::LimitSh(degree))
        },
    ),
    (
        "drop-nan",
        None,
        "Drop rows with a number that is not finite or a rotation of zero",
        |_| Ok(Action::DropNan),
    ),
    ("translate", Some("X,Y,Z"), "Move all splats", |text| {
        numbers(text, "three numbers such as 0,1,0").map(Action::Translate)
    }),
    (
        "rotate",
        Some("X,Y,Z"),
        "Rotate all splats around the origin, with their spherical harmonics, by degrees around x, then \
         y, then z",
        |text| numbers(text, "three numbers such as 90,0,0").map(Action::Rotate),
    ),
    (
        "scale",
        Some("FACTOR"),
        "Scale all splats around the origin",
        |text| positive(text).map(Action::Scale),
    ),
    (
        "flip-axes",
        Some("AXES"),
        "Change the signs of axes from these to right, down, forward: three letters as in RUB (right, \
         up, back)",
        |text| parsed(text, str::parse::<SplatAxes>).map(Action::Axes),
    ),
    (
        "morton",
        None,
        "Order splats along a Morton curve, so that neighbours are close in the file",
        |_| Ok(Action::Morton),
    ),
];

fn numbers<const N: usize>(text: &str, example: &str) -> std::result::Result<[f64; N], String> {
    let numbers: Option<[f64; N]> = parse_numbers(text);
    let is_finite = |numbers: &[f64; N]| numbers.iter().all(|n| finite(&n.to_string()).is_ok());
    numbers
        .filter(is_finite)
        .ok_or_else(|| format!("expected {example}"))
}

impl clap::Args for OrderedActions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = command.next_help_heading("Actions, in the given order");
        ACTIONS
            .iter()
            .fold(command, |command, (name, value, help, parse)| {
                let arg = Arg::new(*name).long(*name).help(*help);
                let parse = *parse;
                command.arg(match value {
                    Some(value) => arg
                        .value_name(*value)
                        .action(ArgAction::Append)
                        .allow_hyphen_values(true)
                        .value_parser(move |text: &str| {
                            let action = parse(text)?;
                            let text = text.to_owned();
                            Ok::<_, String>(GivenAction { text, action })
                        }),
                    None => arg.action(ArgAction::SetTrue),
                })
            })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OrderedActions {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut placed: Vec<(usize, GivenAction)> = Vec::new();
        for (name, value, _, parse) in &ACTIONS {
            let flag = format!("--{name}");
            if value.is_none() {
                // A switch takes no value, so its parser cannot fail.
                if let (true, Ok(action)) = (matches.get_flag(name), parse("")) {
                    let at = matches.index_of(name).unwrap_or(0);
                    placed.push((at, GivenAction { text: flag, action }));
                }
                continue;
            }
            let given = matches.get_many::<GivenAction>(name).into_iter().flatten();
            let indices = matches.indices_of(name).into_iter().flatten();
            for (at, given) in indices.zip(given) {
                let text = format!("{flag} {}", given.text);
                let action = given.action.clone();
                placed.push((at, GivenAction { text, action }));
            }
        }
        placed.sort_by_key(|(at, _)| *at);
        Ok(Self(placed.into_iter().map(|(_, given)| given).collect()))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A step of the conversion, for the results.
struct Step {
    name: String,
    splats: usize,
    sh_degree: u8,
    bytes: Option<u64>,
    format: Option<&'static str>,
}

impl Step {
    fn of(name: String, table: &SplatTable) -> Self {
        Self {
            name,
            splats: table.rows(),
            sh_degree: table.sh_degree(),
            bytes: None,
            format: None,
        }
    }
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let format = args.format.or_else(|| OutputFormat::of_name(&args.output));
    let format = format.ok_or_else(|| {
        let expected =
            "a name that ends in .ply, .compressed.ply, .spz, .sog, .splat or .glb, or --format";
        Error::argument("-o", expected, args.output.display().to_string())
    })?;
    let mut outputs = Outputs::beside(args.scenes.iter().map(PathBuf::as_path));
    outputs.add("-o", &args.output)?;
    let mut steps = Vec::new();
    let mut tables = Vec::new();
    for path in &args.scenes {
        let table = load_table(path, args.reading.options())?;
        warn_of_encoding(path, &table, verbosity);
        steps.push(Step {
            bytes: Some(table.file_bytes),
            format: Some(table.format.name()),
            ..Step::of(path.display().to_string(), &table)
        });
        tables.push(table);
    }
    let Some(mut table) = concatenate(tables)? else {
        return Ok(Exit::Done);
    };
    let first = args.scenes.first().map_or(Path::new("-"), PathBuf::as_path);
    for given in &args.actions.0 {
        let applied = given.action.apply(&mut table, first);
        applied.map_err(|error| match given.action {
            Action::Where(_) => error.about("--where"),
            _ => error,
        })?;
        steps.push(Step::of(given.text.clone(), &table));
    }
    for loss in format.losses(&table) {
        verbosity.warn(&format!("{}: {loss}", args.output.display()));
    }
    write_table(&args.output, &table, format)?;
    let written = std::fs::metadata(&args.output).map(|meta| meta.len());
    steps.push(Step {
        bytes: written.ok(),
        format: Some(format.name()),
        ..Step::of(args.output.display().to_string(), &table)
    });
    if args.json {
        print_json(document(&steps, args.scenes.len()))?;
    } else {
        print(page(&steps))?;
    }
    Ok(Exit::Done)
}

/// Warns of axes that a file does not state, and of what was left out of it.
fn warn_of_encoding(path: &Path, table: &SplatTable, verbosity: Verbosity) {
    let (file, encoding) = (path.display(), &table.encoding);
    if !encoding.axes_stated {
        verbosity.remark(&format!(
            "{file}: the file does not state its axes; they are taken as {}, which --axes changes",
            encoding.axes
        ));
    }
    for note in encoding
        .notes
        .iter()
        .filter(|note| note.ends_with("left out"))
    {
        verbosity.warn(&format!("{file}: {note}"));
    }
}

fn page(steps: &[Step]) -> String {
    let mut table = TextTable::new(&["<step", "splats", "SH", "<format", "size"]);
    for step in steps {
        let bytes = step.bytes.map(|bytes| HumanBytes(bytes).to_string());
        table.row([
            step.name.clone(),
            step.splats.to_string(),
            step.sh_degree.to_string(),
            step.format.unwrap_or_default().to_owned(),
            bytes.unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn document(steps: &[Step], inputs: usize) -> Value {
    let file = |step: &Step| {
        json!({
            "path": step.name,
            "format": step.format,
            "splats": step.splats,
            "sh_degree": step.sh_degree,
            "file_bytes": step.bytes,
        })
    };
    let (read, rest) = steps.split_at(inputs.min(steps.len()));
    let (written, actions) = match rest.split_last() {
        Some((written, actions)) => (Some(file(written)), actions),
        None => (None, rest),
    };
    let action = |step: &Step| json!({"action": step.name, "splats": step.splats});
    json!({
        "inputs": read.iter().map(file).collect::<Vec<_>>(),
        "actions": actions.iter().map(action).collect::<Vec<_>>(),
        "output": written,
    })
}
