//! The command line: raw arguments, checked options, one file a command.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 a comparison or check
//! failed, 2 wrong usage, 3 unreadable input, 4 could not write.

mod bench;
mod compare;
mod completions;
mod console;
mod frames;
mod info;
mod inputs;
mod man;
mod mesh;
mod microbench;
mod options;
mod outputs;
mod render;
mod sim;
mod synth;
mod views;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{Error, Fault};
use console::{Exit, Verbosity};

/// Render trained 3D Gaussian-splatting scenes on the CPU, exactly as the reference renderer would.
#[derive(Debug, Parser)]
#[command(
    name = "quadrille",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value a process")]
enum Command {
    Bench(bench::Args),
    Compare(compare::Args),
    Completions(completions::Args),
    Info(info::Args),
    Man(man::Args),
    Mesh(mesh::Args),
    Microbench(microbench::Args),
    Render(render::Args),
    Sim(sim::Args),
    Synth(synth::Args),
}

/// Runs the program on this process's arguments.
#[must_use]
pub fn run() -> ExitCode {
    let Arguments { command, verbosity } = Arguments::parse();
    crate::output::clean_up_on_interrupt();
    match command.run(verbosity) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::CheckFailed) => ExitCode::from(1),
        Err(error) => {
            verbosity.fail(&format!("{error:#}"));
            ExitCode::from(exit_code(&error))
        }
    }
}

impl Command {
    fn run(&self, verbosity: Verbosity) -> anyhow::Result<Exit> {
        Ok(match self {
            Self::Bench(args) => bench::run(args, verbosity)?,
            Self::Compare(args) => compare::run(args, verbosity)?,
            Self::Completions(args) => completions::run(args, Arguments::command())?,
            Self::Info(args) => info::run(args, verbosity)?,
            Self::Man(args) => man::run(args, Arguments::command())?,
            Self::Mesh(args) => mesh::run(args, verbosity)?,
            Self::Microbench(args) => microbench::run(args, verbosity)?,
            Self::Render(args) => render::run(args, verbosity)?,
            Self::Sim(args) => sim::run(args, verbosity)?,
            Self::Synth(args) => synth::run(args, verbosity)?,
        })
    }
}

/// The exit code for an error: by who has to act on it.
fn exit_code(error: &anyhow::Error) -> u8 {
    let mut causes = error.chain().filter_map(|e| e.downcast_ref::<Error>());
    match causes.next().map(Error::fault) {
        Some(Fault::Caller) | None => 2,
        Some(Fault::Input) => 3,
        Some(Fault::Output) => 4,
    }
}
