//! `man`: prints a manual page.

use super::console::{Exit, print_bytes};
use super::usage::unknown_command;
use quadrille_base::error::{Error, Result};

/// Print the manual page of the program or of a command
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  quadrille man | man -l -\n  quadrille man render > quadrille-render.1"
)]
pub(super) struct Args {
    command: Option<String>,
}

pub(super) fn run(args: &Args, mut program: clap::Command) -> Result<Exit> {
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            program.find_subcommand(name).cloned().ok_or_else(|| unknown_command(name, &program))?
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut roff)
        .map_err(|e| Error::write("<stdout>".as_ref(), e))?;
    print_bytes(roff)?;
    Ok(Exit::Done)
}
