//! The command line: arguments, their checks, and one file per command.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 a comparison
//! or check failed, 2 wrong usage, 3 unreadable input, 4 could not write.

mod bench;
mod compare;
mod completions;
mod console;
mod convert;
mod deferred;
mod exposures;
mod figures;
mod film;
mod frames;
mod info;
mod inputs;
mod interrupt;
mod layer_files;
mod layers;
mod limits;
mod man;
mod mesh;
mod microbench;
mod options;
mod outputs;
mod placed_meshes;
mod plot;
mod render;
mod resume;
mod scene_sequence;
mod session;
mod sim;
mod synth;
#[cfg(feature = "trace")]
mod trace;
mod usage;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "view")]
mod view_mesh;
#[cfg(feature = "view")]
mod view_open;
mod view_page;
#[cfg(feature = "view")]
mod view_token;
mod views;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use serde_json::json;

use console::{Exit, Verbosity};
use limits::LimitFlags;
use quadrille_base::error::{Error, Fault};
use quadrille_gpu::config::Config;
use quadrille_gpu::extension::Extension;
use session::{HostFlags, Session};

/// Render Gaussian-splatting scenes exactly, and emulate the GPUs that draw them
#[derive(Debug, Parser)]
#[command(name = "quadrille", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value per process")]
enum Command {
    Bench(bench::Args),
    Compare(compare::Args),
    Completions(completions::Args),
    Convert(convert::Args),
    Deferred(deferred::Args),
    Figures(figures::Args),
    Info(info::Args),
    Man(man::Args),
    Mesh(mesh::Args),
    Microbench(microbench::Args),
    Plot(plot::Args),
    Render(render::Args),
    Sim(sim::Args),
    Synth(synth::Args),
    #[cfg(feature = "view")]
    View(view::Args),
}

/// Exit code of wrong usage.
const USAGE: u8 = 2;

/// Exit code of an output that cannot be written.
const UNWRITABLE: u8 = 4;

const NO_ARGUMENTS: clap::error::ErrorKind =
    clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

/// Runs the program on the arguments of the process.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::from(run_from(std::env::args_os()))
}

/// Runs the program on arguments whose first one is its name, and returns the exit code. Does not end the process,
/// except on a second interrupt, or some time after the first one if the command does not stop.
///
/// ```
/// assert_eq!(quadrille::cli::run_from(["quadrille", "--version"]), 0);
/// assert_eq!(quadrille::cli::run_from(["quadrille", "render"]), 2);
/// ```
#[must_use]
pub fn run_from<T: Into<OsString>>(args: impl IntoIterator<Item = T>) -> u8 {
    run_with([], args)
}

/// Runs the program as [`run_from`] does, with units and methods of another crate: `--set`, `--config`, `--config-dump`
/// and suites reach their fields, and `--method` the methods. See `examples/own_program.rs`.
#[must_use]
pub fn run_with<T: Into<OsString>>(
    extensions: impl IntoIterator<Item = Extension>,
    args: impl IntoIterator<Item = T>,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let mut extensions = extensions.into_iter();
    let base = extensions.try_fold(Config::default(), |base, own| base.with_extension(own));
    let code = match base {
        Ok(base) => run_command(&args, base),
        Err(error) => {
            console::fail(&error.to_string());
            USAGE
        }
    };
    // Called from Python, nothing else flushes the last line of Rust's stdout.
    let _ = std::io::stdout().flush();
    code
}

fn run_command(args: &[OsString], base: Config) -> u8 {
    console::set_command(args);
    let program = program();
    let matches = program.clone().try_get_matches_from(args);
    let parsed = matches.and_then(|matches| {
        let (name, of_command) = matches.subcommand().unwrap_or(("", &matches));
        let is_set = |id: &str| of_command.try_get_one(id).is_ok_and(|set| set == Some(&true));
        let is_json = is_set("json");
        let formats = console::OWN_FORMATS.into_iter();
        for flag in formats.filter(|flag| is_set(flag.trim_start_matches('-'))) {
            // Both flags together are refused by the command.
            let _ = console::take_stdout(flag);
        }
        Ok((name.to_owned(), is_json, Arguments::from_arg_matches(&matches)?))
    });
    let (name, is_json, Arguments { command, verbosity }) = match parsed {
        Ok(parsed) => parsed,
        // Help or version.
        Err(error) if !error.use_stderr() || error.kind() == NO_ARGUMENTS => {
            return match console::print_help(&error) {
                Ok(()) => error.exit_code().try_into().unwrap_or(USAGE),
                Err(error) => {
                    console::fail(&error.to_string());
                    UNWRITABLE
                }
            };
        }
        Err(error) => {
            let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).collect();
            let command = words.iter().find_map(|word| program.find_subcommand(word));
            let command = command.unwrap_or(&program);
            console::fail(&usage::message(&error, &words, &program, command));
            return USAGE;
        }
    };
    interrupt::install();
    let session = Session::new(verbosity, command.host(), base);
    session.print_spans();
    remark_renamed(args, program.find_subcommand(&name), &session);
    match command.run(&session, program.clone()) {
        Ok(Exit::Done) => 0,
        Ok(Exit::CheckFailed) => 1,
        #[cfg(feature = "view")]
        Ok(Exit::Interrupted) => interrupt::EXIT_CODE,
        Err(error) => {
            let code = exit_code(&error);
            let error = match (error.downcast::<Error>(), program.find_subcommand(&name)) {
                (Ok(error), Some(command)) => usage::with_flag(error, command).into(),
                (Ok(error), None) => error.into(),
                (Err(other), _) => other,
            };
            let text = format!("{error:#}");
            console::fail(&text);
            // A reader of the document learns of the failure; wrong usage is the fault of who made the call.
            if is_json && code != USAGE && !console::has_printed_json() {
                // The code of the first error is returned.
                let _ = console::print_json(json!({ "error": text, "exit_code": code }));
            }
            code
        }
    }
}

/// Warns of flags and placeholders with old names, which are hidden aliases of `--method` and `{method}` until the next
/// release.
fn remark_renamed(args: &[OsString], command: Option<&clap::Command>, session: &Session) {
    let flags = command.into_iter().flat_map(clap::Command::get_arguments);
    let old = flags.filter(|flag| flag.get_long() == Some("method"));
    for name in old.filter_map(clap::Arg::get_all_aliases).flatten() {
        let flag = format!("--{name}");
        let is_it = |word: &str| word == flag || word.starts_with(&format!("{flag}="));
        if args.iter().filter_map(|word| word.to_str()).any(is_it) {
            session.warn(&format!(
                "{flag} is now --method; the old name is read until the next release"
            ));
        }
    }
    let (old, new) = (outputs::OLD_METHOD, outputs::METHOD);
    if args.iter().filter_map(|word| word.to_str()).any(|word| word.contains(old)) {
        session.warn(&format!("{old} is now {new}; the old name is read until the next release"));
    }
}

/// Creates the parser. Flags accept negative numbers, so that these are refused as out of range and not as
/// unknown flags.
fn program() -> clap::Command {
    let with_numbers = |command: clap::Command| {
        command.mut_args(|arg| {
            let is_flag = arg.get_long().is_some() && arg.get_action().takes_values();
            match is_flag {
                true => arg.allow_negative_numbers(true),
                false => arg,
            }
        })
    };
    Arguments::command().mut_subcommands(with_numbers)
}

impl Command {
    fn host(&self) -> Option<&HostFlags> {
        match self {
            Self::Bench(args) => Some(&args.host),
            Self::Deferred(args) => Some(&args.host),
            Self::Figures(args) => Some(&args.host),
            Self::Mesh(args) => Some(&args.host),
            Self::Render(args) => Some(&args.flags.draw.host),
            Self::Sim(args) => Some(&args.flags.host),
            #[cfg(feature = "view")]
            Self::View(args) => Some(&args.draw.host),
            Self::Compare(_)
            | Self::Completions(_)
            | Self::Convert(_)
            | Self::Info(_)
            | Self::Man(_)
            | Self::Microbench(_)
            | Self::Plot(_)
            | Self::Synth(_) => None,
        }
    }

    fn run(&self, session: &Session, program: clap::Command) -> anyhow::Result<Exit> {
        Ok(match self {
            Self::Bench(args) => bench::run(args, session)?,
            Self::Compare(args) => reported(&args.limits, compare::run(args, session))?,
            Self::Convert(args) => {
                reported(&args.limits, convert::run(args, session).map_err(Into::into))?
            }
            Self::Completions(args) => completions::run(args, program)?,
            Self::Figures(args) => figures::run(args, session)?,
            Self::Deferred(args) => deferred::run(args, session)?,
            Self::Info(args) => info::run(args, session)?,
            Self::Man(args) => man::run(args, program)?,
            Self::Mesh(args) => mesh::run(args, session)?,
            Self::Microbench(args) => microbench::run(args, session)?,
            Self::Plot(args) => plot::run(args, session)?,
            Self::Render(args) => render::run(args, session)?,
            Self::Sim(args) => sim::run(args, session)?,
            Self::Synth(args) => synth::run(args, session)?,
            #[cfg(feature = "view")]
            Self::View(args) => view::run(args, session)?,
        })
    }
}

/// A result, whose error is also in the file of `--junit` unless the call is wrong.
fn reported(limits: &LimitFlags, result: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    if let Err(error) = result.as_ref()
        && exit_code(error) != USAGE
    {
        limits.report(error)?;
    }
    result
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let mut causes = error.chain().filter_map(|e| e.downcast_ref::<Error>());
    match causes.next().map(Error::fault) {
        Some(Fault::Argument) | None => USAGE,
        Some(Fault::Input) => 3,
        Some(Fault::Output) => UNWRITABLE,
        Some(Fault::Cancelled) => interrupt::EXIT_CODE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old names, which are read with a warning until the next release.
    const RENAMED: &str = "method";

    #[test]
    fn no_flag_is_hidden() {
        for command in program().get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.get_long() != Some(RENAMED)) {
                let place = format!("{} {}", command.get_name(), arg.get_id());
                assert!(!arg.is_hide_set(), "{place}");
                assert_eq!(arg.get_all_aliases(), arg.get_visible_aliases(), "{place}");
            }
        }
    }
}
