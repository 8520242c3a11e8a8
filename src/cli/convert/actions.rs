//! Flags of actions, which are applied in the order in which they are given.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};

use quadrille_base::error::Result;
use quadrille_base::task::Task;
use quadrille_render::convert::{Change, ChangeKind, Step, apply_step};
use quadrille_scene::{LoadOptions, Scene, SceneInput, load, load_table};

/// Actions in command-line order.
#[derive(Debug, Clone, Default)]
pub(super) struct OrderedActions(pub(super) Vec<Step>);

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
                    Ok::<_, String>(Step { text, change })
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
                let at = matches.index_of(name).unwrap_or(0);
                placed.push((at, Step { text: flag, change }));
            }
            continue;
        }
        let given = matches.get_many::<Step>(name).into_iter().flatten();
        let indices = matches.indices_of(name).into_iter().flatten();
        for (at, given) in indices.zip(given) {
            let text = format!("{flag} {}", given.text);
            let change = given.change.clone();
            placed.push((at, Step { text, change }));
        }
    }
    placed.sort_by_key(|(at, _)| *at);
    placed.into_iter().map(|(_, given)| given).collect()
}

impl clap::Args for OrderedActions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = command.next_help_heading("Actions, in the given order");
        augmented(command, Change::KINDS.iter())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OrderedActions {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(Self(given(matches, Change::KINDS.iter())))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

const FILTERS: [&str; 3] = ["keep-box", "keep-sphere", "where"];

fn filters() -> impl Iterator<Item = &'static ChangeKind> {
    Change::KINDS.iter().filter(|kind| FILTERS.contains(&kind.name))
}

#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Filters(Vec<Step>);

impl Filters {
    #[cfg(feature = "view")]
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let words = self.0.iter().flat_map(|step| {
            let (flag, value) = step.text.split_once(' ').unwrap_or((&step.text, ""));
            [flag, value].map(str::to_owned)
        });
        words.filter(|word| !word.is_empty()).collect()
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
        let mut table = load_table(input)?;
        for step in &self.0 {
            if let Change::Action(action) = &step.change {
                apply_step(action, &step.text, &mut table, path, task)?;
            }
        }
        table.into_scene()
    }
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
