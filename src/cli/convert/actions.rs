//! Flags of actions, which are applied in the order in which they are given.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};

use crate::cli::interrupt;
use crate::cli::outputs::parse_numbers;
use crate::cli::usage::{finite, parsed, positive, whole_number};
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_render::convert::{Action, Amount, Condition};
use quadrille_scene::{LoadOptions, Scene, SplatAxes, SplatTable, load_table_task, load_task};

/// An action as it is given: the flag, its value, and the action.
#[derive(Debug, Clone)]
pub(super) struct GivenAction {
    pub(super) text: String,
    pub(super) action: Step,
}

/// An action, or one that needs the views.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Table(Action),
    /// Drops splats whose weight stays below this.
    Prune(f32),
}

/// Actions in the order in which they are given.
#[derive(Debug, Clone, Default)]
pub(super) struct OrderedActions(pub(super) Vec<GivenAction>);

/// A flag of an action: name, value name (none for a switch), help, parser of the value.
type ActionFlag = (
    &'static str,
    Option<&'static str>,
    &'static str,
    fn(&str) -> std::result::Result<Step, String>,
);

/// All flags of actions.
const ACTIONS: [ActionFlag; 13] = [
    (
        "keep-box",
        Some("X,Y,Z,X,Y,Z"),
        "Keep splats whose centre is inside a box, from its least to its greatest corner",
        |text| {
            let [x, y, z, u, v, w] = numbers(text, "six numbers such as -1,-1,-1,1,1,1")?;
            if x > u || y > v || z > w {
                return Err("expected the least corner first, then the greatest".into());
            }
            Ok(Step::Table(Action::KeepBox([x, y, z], [u, v, w])))
        },
    ),
    (
        "keep-sphere",
        Some("X,Y,Z,RADIUS"),
        "Keep splats whose centre is inside a sphere",
        |text| {
            let [x, y, z, radius] = numbers(text, "four numbers such as 0,0,0,2.5")?;
            if radius < 0.0 {
                return Err("expected a radius of at least 0".into());
            }
            Ok(Step::Table(Action::KeepSphere([x, y, z], radius)))
        },
    ),
    (
        "where",
        Some("CONDITION"),
        "Keep splats for which a condition holds, such as 'opacity > 0.1 && scale_max < 2': opacity is \
         0 to 1, scale_min and scale_max are standard deviations, other names are columns of a PLY",
        |text| {
            parsed(text, Condition::parse).map(|condition| Step::Table(Action::Where(condition)))
        },
    ),
    (
        "sh",
        Some("DEGREE"),
        "Drop spherical harmonics above a degree, 0 to 4",
        |text| {
            let degree = whole_number(text).ok().filter(|degree| *degree <= 4);
            let degree = degree.ok_or("expected a degree from 0 to 4")?;
            Ok(Step::Table(Action::LimitSh(degree)))
        },
    ),
    (
        "drop-nan",
        None,
        "Drop rows with a number that is not finite or a rotation of zero",
        |_| Ok(Step::Table(Action::DropNan)),
    ),
    ("translate", Some("X,Y,Z"), "Move all splats", |text| {
        numbers(text, "three numbers such as 0,1,0")
            .map(|value| Step::Table(Action::Translate(value)))
    }),
    (
        "rotate",
        Some("X,Y,Z"),
        "Rotate all splats around the origin, with their spherical harmonics, by degrees around x, then \
         y, then z",
        |text| {
            numbers(text, "three numbers such as 90,0,0")
                .map(|value| Step::Table(Action::Rotate(value)))
        },
    ),
    (
        "scale",
        Some("FACTOR"),
        "Scale all splats around the origin",
        |text| positive(text).map(|value| Step::Table(Action::Scale(value))),
    ),
    (
        "flip-axes",
        Some("AXES"),
        "Turn everything from these axes to right, down, forward: three letters as in RUB (right, up, \
         back) or, with a vertical z, RBU",
        |text| parsed(text, str::parse::<SplatAxes>).map(|value| Step::Table(Action::Axes(value))),
    ),
    (
        "prune",
        Some("WEIGHT"),
        "Drop splats whose largest weight (transmittance times alpha) in any pixel of the views stays below \
         this, for example 0.01; the views are the cameras beside the scene, or given by flags",
        |text| {
            let weight = text.parse().ok().filter(|w| (0.0..=1.0).contains(w));
            let weight = weight.ok_or("expected a weight from 0 to 1")?;
            Ok(Step::Prune(weight))
        },
    ),
    (
        "drop-floaters",
        Some("FACTOR"),
        "Drop splats that stand apart: those whose 16 nearest neighbours are this many times as far away as \
         is usual among the neighbours, for example 3",
        |text| positive(text).map(|factor| Step::Table(Action::DropFloaters(factor))),
    ),
    (
        "decimate",
        Some("N|P%"),
        "Merge neighbours of similar colour until N splats, or P percent of them, are left",
        |text| amount(text).map(|amount| Step::Table(Action::Decimate(amount))),
    ),
    (
        "morton",
        None,
        "Order splats along a Morton curve, so that neighbours are close in the file",
        |_| Ok(Step::Table(Action::Morton)),
    ),
];

fn numbers<const N: usize>(text: &str, example: &str) -> std::result::Result<[f64; N], String> {
    let numbers: Option<[f64; N]> = parse_numbers(text);
    let is_finite = |numbers: &[f64; N]| numbers.iter().all(|n| finite(&n.to_string()).is_ok());
    numbers
        .filter(is_finite)
        .ok_or_else(|| format!("expected {example}"))
}

fn amount(text: &str) -> std::result::Result<Amount, String> {
    let percent = |text: &str| positive(text).ok().filter(|p| *p <= 100.0);
    let amount = match text.strip_suffix('%') {
        Some(text) => percent(text).map(|percent| Amount::Share(percent / 100.0)),
        None => whole_number(text)
            .ok()
            .filter(|n| *n > 0)
            .map(Amount::Splats),
    };
    amount.ok_or_else(|| "expected a number of splats or a percentage such as 50%".to_owned())
}

/// Adds the flags of `actions`.
fn augmented<'a>(
    command: clap::Command,
    actions: impl Iterator<Item = &'a ActionFlag>,
) -> clap::Command {
    actions.fold(command, |command, (name, value, help, parse)| {
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

/// The given flags of `actions`, in order.
fn given<'a>(
    matches: &ArgMatches,
    actions: impl Iterator<Item = &'a ActionFlag>,
) -> Vec<GivenAction> {
    let mut placed: Vec<(usize, GivenAction)> = Vec::new();
    for (name, value, _, parse) in actions {
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
    placed.into_iter().map(|(_, given)| given).collect()
}

impl clap::Args for OrderedActions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = command.next_help_heading("Actions, in the given order");
        augmented(command, ACTIONS.iter())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OrderedActions {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(Self(given(matches, ACTIONS.iter())))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Actions that choose the splats to draw.
const FILTERS: [&str; 3] = ["keep-box", "keep-sphere", "where"];

fn filters() -> impl Iterator<Item = &'static ActionFlag> {
    ACTIONS.iter().filter(|action| FILTERS.contains(&action.0))
}

/// Filters of a scene before it is drawn, in the order in which they are given.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Filters(Vec<GivenAction>);

impl Filters {
    /// Reads the scene `path`, without the splats that the filters drop.
    pub(in crate::cli) fn load(&self, path: &Path, options: LoadOptions) -> Result<Scene> {
        if self.0.is_empty() {
            return load_task(path, options, interrupt::task());
        }
        let mut table = load_table_task(path, options, interrupt::task())?;
        for given in &self.0 {
            if let Step::Table(action) = &given.action {
                apply(action, &given.text, &mut table, path, interrupt::task())?;
            }
        }
        table.into_scene()
    }
}

/// Applies `action`, which `text` is the flag of.
///
/// # Errors
/// As [`Action::apply_task`], and as [`check_left`].
pub(super) fn apply(
    action: &Action,
    text: &str,
    table: &mut SplatTable,
    path: &Path,
    task: &Task,
) -> Result<()> {
    let before = table.rows();
    action
        .apply_task(table, path, task)
        .map_err(|error| match action {
            Action::Where(_) => error.about("--where"),
            _ => error,
        })?;
    check_left(text, before, table.rows())
}

/// Refuses an action that drops all of `before` splats.
pub(super) fn check_left(text: &str, before: usize, left: usize) -> Result<()> {
    if left == 0 && before > 0 {
        let expected = "a splat that stays";
        return Err(Error::argument(text, expected, format!("none of {before}")));
    }
    Ok(())
}

impl clap::Args for Filters {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = command.next_help_heading("Filters, in the given order");
        augmented(command, filters())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Filters {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(Self(given(matches, filters())))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
