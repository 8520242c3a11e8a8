//! `completions`: the shell's completion script, on stdout.

use clap::CommandFactory;

use super::{Arguments, Outcome, stdout};
use crate::error::Result;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut Arguments::command(),
        "quadrille",
        &mut script,
    );
    stdout::write(&script)?;
    Ok(Outcome::Done)
}
