//! `completions`: prints a completion script for a shell.

use super::console::{Exit, print_bytes};
use quadrille_base::error::Result;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  quadrille completions zsh > ~/.zfunc/_quadrille")]
pub(super) struct Args {
    /// Shell to complete commands in
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args, mut program: clap::Command) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "quadrille", &mut script);
    print_bytes(script)?;
    Ok(Exit::Done)
}
