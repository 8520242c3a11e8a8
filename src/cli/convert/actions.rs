//! Flags of actions, which are applied in the order in which they are given.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};

use quadrille_base::{Result, Task};
use quadrille_render::convert::{Change, ChangeKind, Step, filtered};
use quadrille_scene::{LoadOptions, Scene, SceneInput, load, load_table};

/// Changes in command-line order. `ALL` is false for commands that accept only [`Change::FILTERS`].
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Changes<const ALL: bool>(pub(super) Vec<Step>);

pub(super) type OrderedActions = Changes<true>;
pub(in crate::cli) type Filters = Changes<false>;

fn augmented<'a>(
    command: clap::Command,
    actions: impl Iterator<Item = &'a ChangeKind>,
) -> clap::Command {
    actions.fold(command, |command, kind| {
        let arg = Arg::new(kind.name).long(kind.name).help(kind.help);
        let parse = kind.parse;
        command.arg(match kind.value {
            Some(value) => arg
                .value_name(value)
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .value_parser(move |text: &str| {
                    let change = parse(text)?;
                    let text = text.to_owned();
                    Ok::<_, String>(Step { input: None, text, change })
                }),
            None => arg.action(ArgAction::SetTrue),
        })
    })
}

fn given<'a>(matches: &ArgMatches, actions: impl Iterator<Item = &'a ChangeKind>) -> Vec<Step> {
    let mut placed: Vec<(usize, Step)> = Vec::new();
    for kind in actions {
        let name = kind.name;
        let flag = format!("--{name}");
        if kind.value.is_none() {
            // A switch takes no value, so its parser cannot fail.
            if let (true, Ok(change)) = (matches.get_flag(name), (kind.parse)("")) {
                let step = Step { input: None, text: flag, change };
                placed.push((matches.index_of(name).unwrap_or(0), step));
            }
            continue;
        }
        let given = matches.get_many::<Step>(name).into_iter().flatten();
        let indices = matches.indices_of(name).into_iter().flatten();
        for (at, given) in indices.zip(given) {
            let text = format!("{flag} {}", given.text);
            let change = given.change.clone();
            placed.push((at, Step { input: None, text, change }));
        }
    }
    placed.sort_by_key(|(at, _)| *at);
    let inputs = inputs(matches);
    let of_input = |(at, step): (usize, Step)| {
        let before = inputs.iter().rev().find(|(place, _)| *place < at);
        Step { input: before.and_then(|(_, input)| *input), ..step }
    };
    placed.into_iter().map(of_input).collect()
}

/// Flag that limits the actions behind it to one input.
const INPUT: &str = "input";

/// Number of an input, from 0; `None` for all together.
type OneInput = Option<usize>;

fn input_flag() -> Arg {
    Arg::new(INPUT)
        .long(INPUT)
        .value_name("N|all")
        .action(ArgAction::Append)
        .help(
            "Apply the moves and crops behind this flag only to input N, from 1, before inputs are joined, until the next \
             --input; all returns to all inputs together",
        )
        .value_parser(|text: &str| match (text, text.parse::<usize>()) {
            ("all", _) => Ok(None),
            (_, Ok(number @ 1..)) => Ok::<OneInput, String>(Some(number - 1)),
            _ => Err("expected the number of an input, from 1, or all".to_owned()),
        })
}

/// Places of the flag in the command line, and its values.
fn inputs(matches: &ArgMatches) -> Vec<(usize, OneInput)> {
    let given = matches.try_get_many::<OneInput>(INPUT).ok().flatten();
    let indices = given.is_some().then(|| matches.indices_of(INPUT)).flatten();
    indices.into_iter().flatten().zip(given.into_iter().flatten().copied()).collect()
}

impl Filters {
    #[cfg(feature = "view")]
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let words = self.0.iter().flat_map(|step| {
            let (flag, value) = step.text.split_once(' ').unwrap_or((&step.text, ""));
            [flag, value].map(str::to_owned)
        });
        words.filter(|word| !word.is_empty()).collect()
    }

    /// These filters, and then `steps`.
    #[cfg(feature = "view")]
    pub(in crate::cli) fn with(&self, steps: &[Step]) -> Self {
        Self([&self.0, steps].concat())
    }

    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::cli) fn load(
        &self,
        path: &Path,
        options: LoadOptions,
        task: &Task,
    ) -> Result<Scene> {
        let input = SceneInput::file(path).options(options).task(task);
        if self.0.is_empty() {
            return load(input);
        }
        filtered(load_table(input)?, &self.0, path, task)
    }
}

impl<const ALL: bool> Changes<ALL> {
    const HEADING: &str =
        if ALL { "Actions, in the given order" } else { "Filters, in the given order" };

    fn kinds() -> impl Iterator<Item = &'static ChangeKind> {
        Change::KINDS.iter().filter(|kind| ALL || Change::FILTERS.contains(&kind.name))
    }
}

impl<const ALL: bool> clap::Args for Changes<ALL> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = augmented(command.next_help_heading(Self::HEADING), Self::kinds());
        if ALL { command.arg(input_flag()) } else { command }
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<const ALL: bool> FromArgMatches for Changes<ALL> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(Self(given(matches, Self::kinds())))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
