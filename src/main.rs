//! The command line: parse, run, exit code.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
