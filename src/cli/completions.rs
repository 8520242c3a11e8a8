//! `completions`: the shell's completion script, on stdout.

use clap::CommandFactory;

use super::{Arguments, Outcome};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut command = Arguments::command();
    clap_complete::generate(
        args.shell,
        &mut command,
        "quadrille",
        &mut std::io::stdout(),
    );
    Outcome::Done
}
