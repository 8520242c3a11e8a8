//! The command line: raw arguments, checked options, one file a command.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 a comparison or check
//! failed, 2 wrong usage, 3 unreadable input, 4 could not write.
#![allow(
    clippy::print_stderr,
    reason = "warnings and errors are the command line's to print"
)]

mod bench;
mod compare;
mod completions;
mod frames;
mod gpu_options;
mod info;
mod man;
mod mesh;
mod microbench;
mod output_path;
mod render;
mod render_options;
mod sim;
mod sim_options;
mod stdout;
mod synth;
mod views;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Fault};

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

/// How much goes to stderr.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Verbosity {
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more on stderr
    #[arg(short, long, global = true)]
    verbose: bool,
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

/// What a command that ran to its end found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done; whatever was checked holds.
    Done,
    /// A comparison or check failed.
    CheckFailed,
}

impl Verbosity {
    /// Prints what failed a check on stderr, quiet or not.
    pub(crate) fn fail(self, text: &str) {
        eprintln!("quadrille: error: {text}");
    }

    /// Prints a warning on stderr unless quiet.
    pub(crate) fn warn(self, text: &str) {
        if !self.quiet {
            eprintln!("quadrille: warning: {text}");
        }
    }

    /// Prints a remark on stderr if verbose.
    pub(crate) fn remark(self, text: &str) {
        if self.verbose {
            eprintln!("quadrille: {text}");
        }
    }

    /// Whether progress bars may be drawn (they draw themselves on terminals only).
    pub(crate) fn progress(self) -> bool {
        !self.quiet
    }
}

/// Runs the program on this process's arguments.
#[must_use]
pub fn run() -> ExitCode {
    let Arguments { command, verbosity } = Arguments::parse();
    let outcome: anyhow::Result<Outcome> = match command {
        Command::Bench(args) => bench::run(&args, verbosity).map_err(Into::into),
        Command::Compare(args) => compare::run(&args, verbosity),
        Command::Completions(args) => completions::run(&args).map_err(Into::into),
        Command::Info(args) => info::run(&args, verbosity).map_err(Into::into),
        Command::Man(args) => man::run(&args).map_err(Into::into),
        Command::Mesh(args) => mesh::run(&args, verbosity).map_err(Into::into),
        Command::Microbench(args) => microbench::run(&args, verbosity).map_err(Into::into),
        Command::Render(args) => render::run(&args, verbosity).map_err(Into::into),
        Command::Sim(args) => sim::run(&args, verbosity).map_err(Into::into),
        Command::Synth(args) => synth::run(&args, verbosity).map_err(Into::into),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(error) => {
            eprintln!("quadrille: error: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

/// The exit code for an error: by who has to act on it.
fn exit_code(error: &anyhow::Error) -> u8 {
    match error
        .chain()
        .find_map(|e| e.downcast_ref::<Error>())
        .map(Error::fault)
    {
        Some(Fault::Caller) | None => 2,
        Some(Fault::Input) => 3,
        Some(Fault::Output) => 4,
    }
}
