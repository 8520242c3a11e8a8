//! `man`: the manual page, on stdout.

use clap::CommandFactory;

use super::{Outcome, stdout};
use crate::error::{Error, Result};

/// Print the manual page, or a command's
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command whose page to print; without it, the program's
    command: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut program = super::Arguments::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Error::caller("command", "a command of this program", name.clone()))?,
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut roff)
        .map_err(|e| Error::write("<stdout>".as_ref(), e))?;
    stdout::write(&roff)?;
    Ok(Outcome::Done)
}
