//! `man`: the manual page, on stdout.

use clap::CommandFactory;

use super::Outcome;
use crate::error::Error;

/// Print the manual page, or a command's
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command whose page to print; without it, the program's
    command: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut program = super::Arguments::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Error::caller("command", "a command of this program", name.clone()))?,
    };
    clap_mangen::Man::new(page)
        .render(&mut std::io::stdout())
        .map_err(|e| Error::write("<stdout>".as_ref(), e))?;
    Ok(Outcome::Done)
}
